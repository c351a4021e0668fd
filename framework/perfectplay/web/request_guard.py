"""Stands before the application: refuses what is too large, too fast or from elsewhere, and adds security headers.

The server is meant for the machine it runs on. A page of another site must not be able to use it through the
user's browser: hence the checks of Host (DNS rebinding) and of Origin (cross-site POSTs).
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perfectplay.web.requests import TOO_MANY, Answer, Refusal, answer_to

MAX_BODY = 16 * 1024
MAX_PROBE_BODY = 512 * 1024
"""Bytes: ten thousand positions to be probed at once."""
MAX_QUERY = 16 * 1024
"""Bytes: a link with a thousand moves."""
RATE = 100.0
"""Requests a second that a client on another machine may make for long …"""
BURST = 400.0
"""… and at once. The user's own machine is not limited."""
MAX_CLIENTS = 10_000

_LOCAL_CLIENTS = ("127.0.0.1", "::1", "testclient")
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """The outermost layer. `hosts` are the names the server answers to, None for any.

    With `open_to_others` a bare address is as good as a name: what a Host header must not be is a name that somebody
    else made to point here.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] | None,
        open_to_others: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        self.open_to_others = open_to_others
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
                started = True
            await send(message)

        try:
            self._refuse(scope)
            if scope["method"] not in ("GET", "HEAD"):
                receive = await _read_body(scope, receive)
            await self.app(scope, receive, send_guarded)
        except Exception as error:
            answer = answer_to(error, scope["method"])
            if answer is None:  # it goes to the terminal; the client learns only that
                logging.getLogger("perfectplay.web").exception("failed on %s %s", scope["method"], scope["path"])
                answer = Answer({"error": "the server failed on this request; its terminal says more"}, 500)
            if started:
                raise
            await answer(scope, receive, send_guarded)

    def _refuse(self, scope: Scope) -> None:
        """Refuse what the application should not even see."""
        headers = dict(scope["headers"])
        if not self._is_own_name(_host_name(headers.get(b"host", b""))):
            raise Refusal(
                403, "this server answers only under its own address; `solve serve --allow-host NAME` adds a name"
            )
        if len(scope.get("query_string", b"")) > MAX_QUERY:
            raise Refusal(414, f"the query is too long: at most {MAX_QUERY:,} characters")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and not _same_origin(headers):
            raise Refusal(403, "requests that change something must come from this server's own page")
        if not self._within_rate((scope.get("client") or ("",))[0]):
            raise Refusal(TOO_MANY, f"too many requests: at most {RATE:.0f} a second")

    def _is_own_name(self, name: str) -> bool:
        return self.hosts is None or name in self.hosts or (self.open_to_others and _is_address(name))

    def _within_rate(self, client: str) -> bool:
        """A bucket of BURST requests for each client, refilled at RATE."""
        if client in _LOCAL_CLIENTS:
            return True
        now = self._clock()
        left, then = self._buckets.pop(client, (BURST, now))
        left = min(BURST, left + (now - then) * RATE)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return allowed


def _host_name(host: bytes) -> str:
    """The name in a Host header, without the port; an IPv6 address without its brackets."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(headers: dict[bytes, bytes]) -> bool:
    """Whether a browser sent this from our own page; programs send neither header and are welcome."""
    if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    return origin is None or origin.partition(b"://")[2] == headers.get(b"host", b"")


async def _read_body(scope: Scope, receive: Receive) -> Receive:
    """Read the whole body, unless it is too long; a `receive` that gives it again, and then whatever comes next."""
    limit = MAX_PROBE_BODY if scope["path"].endswith("/probe") else MAX_BODY
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
            raise Refusal(413, f"the request is too long: at most {limit:,} bytes")
        more = message.get("more_body", False)
    pending = [bytes(body)]

    async def replay() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return replay
