"""Connections that cannot be used to wear the server out: half a request is not waited for, and there are not too many.

uvicorn limits how long an idle connection is kept after an answer, but waits for ever for a request to be complete.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

REQUEST_SECONDS = 10.0
"""A request has to be complete, body and all, so long after its connection was made or its last answer given."""
MAX_CONNECTIONS = 500
"""Those above are closed at once."""
MAX_HEADER = 32 * 1024
"""Bytes of a request's line and headers."""


class _InOnePiece:
    """A transport that sends the head of an answer together with the body that follows it: one call of the system, and
    one packet for a short answer. uvicorn writes them apart."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._head and data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 1"):
            self._head = data
        else:
            self._transport.write(self._head + data)
            self._head = b""

    def flush(self) -> None:
        """Send a head that no body has followed."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""

    def close(self) -> None:
        self.flush()
        self._transport.close()


class CarefulProtocol(HttpToolsProtocol):
    """uvicorn's HTTP, with a clock on every request and a count of all connections."""

    _deadline: asyncio.TimerHandle | None = None
    _waiting = True
    """Whether the rest of a request is still to come."""
    _head = 0
    """Bytes of the request's head so far."""
    _in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_InOnePiece(transport))  # type: ignore[arg-type]
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEADER:
            self.send_400_response("The request's head is too long.")
        elif not self._waiting:
            self._stop_watching()
        elif self._deadline is None:
            self._watch()

    def on_message_begin(self) -> None:
        self._waiting = self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._waiting, self._head = False, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def _watch(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()


def server_options() -> dict[str, Any]:
    """What `uvicorn.Config` needs to be told for it."""
    return {"http": CarefulProtocol, "timeout_keep_alive": 30, "timeout_graceful_shutdown": 2}
