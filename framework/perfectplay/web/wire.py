"""How answers travel: packed for a client that can unpack, and not at all where it has them already (ETag)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import xxhash
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST = 1400
"""A body that fits one packet is not worth packing."""

_KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}


def etag_of(body: bytes) -> str:
    return f'"{xxhash.xxh3_64_hexdigest(body)}"'


def _wants_gzip(headers: dict[bytes, bytes]) -> bool:
    return b"gzip" in headers.get(b"accept-encoding", b"")


class StaticFile:
    """One file of the page, read and packed once; browsers ask every time whether it has changed."""

    def __init__(self, name: str, body: bytes) -> None:
        self.body = body
        self.packed = gzip.compress(body, 9, mtime=0)
        self.etag = etag_of(body)
        self.kind = _KINDS[Path(name).suffix]

    def answer(self, request: Request, status: int = 200) -> Response:
        headers = {"etag": self.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if status == 200 and request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        body = self.body
        if _wants_gzip(dict(request.scope["headers"])):
            body = self.packed
            headers["content-encoding"] = "gzip"
        return Response(body, status, headers, self.kind)


class PackedJSON:
    """Packs JSON answers, and answers 304 to a browser that has the same one already.

    Only for clients that ask for it: programs that do not are answered as fast as ever.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] != "http" or scope["method"] != "GET" or not _wants_gzip(headers):
            await self.app(scope, receive, send)
            return
        began: Message = {}

        async def send_packed(message: Message) -> None:
            if message["type"] == "http.response.start":
                began.update(message)
                return
            if _is_whole_json(began, message):
                await _send_json(send, began, message.get("body", b""), headers)
                return
            if began:
                await send({**began})
                began.clear()
            await send(message)

        await self.app(scope, receive, send_packed)


def _is_whole_json(began: Message, message: Message) -> bool:
    """Whether an answer that began so is JSON, and is complete with this message."""
    if not began or began["status"] != 200 or message.get("more_body"):
        return False
    return dict(began["headers"]).get(b"content-type") == b"application/json"


async def _send_json(send: Send, began: Message, body: bytes, asked: dict[bytes, bytes]) -> None:
    etag = etag_of(body).encode()
    kept = [(name, value) for name, value in began["headers"] if name != b"content-length"]
    kept += [(b"etag", etag), (b"cache-control", b"no-cache"), (b"vary", b"accept-encoding, cookie")]
    status: Any = began["status"]
    if asked.get(b"if-none-match") == etag:
        status, body = 304, b""
    elif len(body) > LEAST:
        body = gzip.compress(body, 5, mtime=0)
        kept.append((b"content-encoding", b"gzip"))
    if status != 304:
        kept.append((b"content-length", str(len(body)).encode()))
    await send({**began, "status": status, "headers": kept})
    await send({"type": "http.response.body", "body": body})
