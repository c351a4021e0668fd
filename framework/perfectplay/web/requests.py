"""Requests: the site they share, the guard in front of it, reading parameters, and answering with JSON or an error.

The server is meant for the machine it runs on. A page of another site must not be able to use it through the user's
browser, so the guard checks the headers Host (against DNS rebinding) and Origin (against cross-site requests).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perfectplay.errors import PerfectPlayError, UsageError, did_you_mean
from perfectplay.web.bounded import BoundedError, run_bounded
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.matches import Sessions

MAX_TEXT = 1000
"""Characters of a position or a move, far more than any notation needs."""
MAX_BODY = 16 * 1024
"""Bytes."""
MAX_QUERY = 16 * 1024
"""Bytes, enough for a link with a thousand moves."""
MIN_COMPRESSED_BYTES = 500
"""Shorter answers are not compressed."""
MAX_HEADER_BYTES = 32 * 1024
"""The path and the headers together. uvicorn's limit applies only to headers that arrive in parts."""
RATE = 100.0
"""Sustained requests per second of a client on another machine. Clients on this machine are not limited."""
BURST = 400.0
"""Requests that such a client may make at once."""
MAX_CLIENTS = 10_000
VARIANTS_COOKIE = "perfectplay_variants"
"""The names of variants without a table that a browser has opened, newest first."""
MAX_REMEMBERED = 5
_REMEMBERED = "perfectplay.remembered"
"""The key of the cookie's new text in the scope of a request."""

_SITE = "perfectplay.site"
"""The key of the site in the scope of a request."""

_LOCAL_CLIENTS = ("127.0.0.1", "::1", "testclient")
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
EMBED = "/embed/"
"""The addresses that pages of other sites may show in a frame, if the server allows it."""


@dataclass(frozen=True, slots=True)
class Site:
    """The objects that all requests to one server share: its games, its visitors' games and its settings."""

    library: Library
    sessions: Sessions
    page: str
    """The HTML of the page, without the description of a game."""
    may_solve: bool
    """Whether games can be solved from the page."""
    open_to_others: bool
    """Whether other machines can connect."""
    process_slots: asyncio.Semaphore
    """Limits the number of processes that run the hooks of variants."""

    def add_to(self, scope: Scope) -> None:
        """Let `site_of` return this site for a request."""
        scope[_SITE] = self


def site_of(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.scope[_SITE]
    return site


def _encode_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), text.encode()) for name, text in {**headers, "cache-control": "no-cache"}.items()]


_ADDED_HEADERS = _encode_headers(SECURITY_HEADERS)


def _allow_framing(framers: Collection[str]) -> list[tuple[bytes, bytes]]:
    """Return the added headers of a page that these sites may show in a frame."""
    if not framers:
        return _ADDED_HEADERS
    policy = SECURITY_HEADERS["content-security-policy"].replace(
        "frame-ancestors 'none'", f"frame-ancestors {' '.join(framers)}"
    )
    headers = {**SECURITY_HEADERS, "content-security-policy": policy}
    del headers["x-frame-options"]  # it cannot name sites
    return _encode_headers(headers)


# ---- answers ----


def _plain(value: Any) -> Any:
    """Return a subclass of str, int or float, such as numpy.str_ from a hook, as its base type."""
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


class JSONAnswer(Response):
    """An answer of one of the types in answers.py, as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return _encoder.encode(content)
        except UnicodeEncodeError:  # an unpaired surrogate in a text of a plugin; Python's encoder escapes it
            return json.dumps(msgspec.to_builtins(content, enc_hook=_plain)).encode()


class Refusal(Exception):
    """A request that is refused: the HTTP status, and a sentence with the reason."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def _answer_error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers = {"retry-after": "1"}
    return JSONAnswer({"error": sentence}, status, headers)


def _answer_exception(request: Request, error: Exception) -> Response:
    """Answer a request that was refused, or one that a plugin, a table or this server failed to answer."""
    if isinstance(error, (Refusal, BoundedError)):
        return _answer_error(error.status, str(error))
    if isinstance(error, PerfectPlayError):
        return _answer_error(400 if isinstance(error, UsageError) else 500, str(error))
    if isinstance(error, HTTPException):
        sentences = {
            404: "not found; see /api for the available endpoints",
            405: f"the method {request.method} is not allowed here",
        }
        sentence = sentences.get(error.status_code, HTTPStatus(error.status_code).phrase)
        return _answer_error(error.status_code, sentence, dict(error.headers or {}))
    if not _is_lost_connection(error):
        logging.getLogger("perfectplay.web").error("%s %s failed", request.method, request.url.path)
    return _answer_error(500, "internal server error; see the server log")


def _is_expected(error: Exception) -> bool:
    """Whether the answer says all about an error. For others the server writes a traceback to its log."""
    return isinstance(error, (Refusal, PerfectPlayError, HTTPException))


def _is_lost_connection(error: BaseException | None) -> bool:
    """Whether uvloop refused to write because the client has gone, which uvicorn misses for pipelined requests."""
    return isinstance(error, RuntimeError) and str(error).endswith("the handler is closed")


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter the log of uvicorn, which has a traceback for every client that goes without reading its answers."""
    return not (record.exc_info and _is_lost_connection(record.exc_info[1]))


# ---- reading ----

Input = TypeVar("Input", bound=Struct)


class NoInput(Struct, forbid_unknown_fields=True):
    """No parameters, or an empty body."""


class PositionQuery(Struct, forbid_unknown_fields=True):
    """A position by its text or its number."""

    position: (
        Annotated[
            str,
            Meta(
                description="A position in any of the game's notations; by default the position of the session.",
                extra_json_schema={"maxLength": MAX_TEXT},
            ),
        ]
        | UnsetType
    ) = UNSET
    id: (
        Annotated[str, Meta(description="A position by its number.", extra_json_schema={"pattern": "^[0-9]{1,20}$"})]
        | UnsetType
    ) = UNSET


async def find_game(request: Request) -> ServedGame:
    """Return the game that the path names; raises Refusal if there is none, or if it refuses the options.

    A variant without a table is loaded if the request comes from our own page, or from a program on this machine unless
    its name contains free text. Other sites and other machines get only what has been solved.
    """
    library = site_of(request).library
    name = request.path_params["game"]
    served = library.get(name) or await _open_variant(request, name)
    if served is not None:
        served.find_table()
        if served.requested:
            _remember_variant(request, served.game.identity)
        return served
    if name in library.broken:
        raise Refusal(404, f"the game {name} is installed but broken: {library.broken[name]}")
    raise Refusal(404, f"there is no game called {name[:60]!r}{did_you_mean(name, library.games)}")


async def _open_variant(request: Request, name: str) -> ServedGame | None:
    library = site_of(request).library
    variant = library.find_variant(name)
    if variant is None:
        return None
    site = request.headers.get("sec-fetch-site")
    own = site in ("same-origin", "none") or (site is None and not variant.has_text)
    wanted = own and not site_of(request).open_to_others
    if variant.has_text and not wanted and not library.has_solved(name):
        raise Refusal(404, f"the game {name[:60]!r} is not solved, so only the page of this server can open it")
    try:
        if variant.has_text:
            await run_bounded(request, site_of(request).process_slots, variant.check)
        game = await run_in_threadpool(variant.load)
    except BoundedError:
        raise
    except PerfectPlayError as error:  # the game refuses the options
        raise Refusal(422, str(error)) from None
    if library.get(game.identity) is None and not wanted and not library.has_solved(game.identity):
        raise Refusal(404, f"the game {name[:60]!r} is not solved, so only the page of this server can open it")
    return library.add(game)


def _remember_variant(request: Request, name: str) -> None:
    """Let the answer set a cookie, by which this client finds the variant in the list of games."""
    names = [quote(name, safe=""), *(each for each in _remembered(request) if unquote(each) != name)]
    request.scope[_REMEMBERED] = "!".join(names[:MAX_REMEMBERED])


def _remembered(request: Request) -> list[str]:
    return [each for each in request.cookies.get(VARIANTS_COOKIE, "").split("!") if each]


def requested_variants(request: Request) -> list[ServedGame]:
    """Return the variants without a table that this client has named."""
    library = site_of(request).library
    found = (library.requested.get(unquote(each)) for each in _remembered(request))
    return [served for served in found if served is not None]


def read_query(request: Request, kind: type[Input]) -> Input:
    """Return the query's parameters. Raises Refusal for malformed, repeated and unknown ones.

    A type that does not forbid unknown fields ignores unknown and repeated parameters.
    """
    names = kind.__struct_fields__
    pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = dict(pairs)
    if not kind.__struct_config__.forbid_unknown_fields:
        return msgspec.convert(query, kind)
    for name in query:
        if name not in names:
            known = f"known parameters: {', '.join(names)}" if names else "this endpoint takes no parameters"
            raise Refusal(422, f"unknown parameter {name[:60]!r}{did_you_mean(name, names)}; {known}")
    if len(query) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise Refusal(422, f"the parameter {repeated!r} is given more than once")
    try:
        values = msgspec.convert(query, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(422, f"wrong parameter: {_explain(error)}") from None
    for name, text in query.items():
        if type(getattr(values, name)) is int and not text.removeprefix("-").isdecimal():  # msgspec accepts 1e2
            raise Refusal(422, f"wrong parameter: {name}: expected a whole number in decimal digits")
    return values


async def read_body(request: Request, kind: type[Input], limit: int) -> Input:
    """Return the body of a request, a JSON object. Raises Refusal if it is too long or not as expected."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise Refusal(413, f"the body is too long: at most {limit:,} bytes are allowed")
    except ClientDisconnect:  # the client is gone, so nothing is logged
        raise Refusal(400, "the body is incomplete") from None
    names = kind.__struct_fields__
    if not body and not names:
        return kind()
    expected = "{" + ", ".join(f'"{name}": …' for name in names) + "}"
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, f"send JSON (Content-Type: application/json): {expected}")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Refusal(400, f"the body must be {expected}: {_explain(error)}") from None
    except (msgspec.DecodeError, RecursionError):
        raise Refusal(400, f"the body is not JSON; expected {expected}") from None


def _explain(error: msgspec.ValidationError) -> str:
    """Return msgspec's message without its notation for paths: "Expected `int` >= 0 - at `$.ply`"."""
    text = str(error).replace("Object missing required field", "missing field")
    text = text.replace("Object contains unknown field", "unknown field")
    text = text.replace("`int`", "a whole number").replace("`str`", "a string").replace("`", "")
    reason, _, path = text.partition(" - at $")
    name = path.removeprefix(".")
    reason = f"{reason[:1].lower()}{reason[1:]}"
    return f"{name}: {reason}" if name else reason


def read_position(query: PositionQuery, served: ServedGame, default: int) -> int:
    """Return the position that a query names, or else `default`."""
    if query.id is not UNSET and query.position is not UNSET:
        raise Refusal(422, "give either `id` or `position`, not both")
    if query.id is not UNSET:
        return parse_id(served, query.id)
    return default if query.position is UNSET else parse_position(served, query.position)


def parse_id(served: ServedGame, number: str) -> int:
    """Return the position with this number, the game's 64-bit encoding."""
    if not (number.isascii() and number.isdecimal() and len(number) <= 20):
        raise Refusal(400, "an id is a whole number in decimal digits, as in the answers")
    position = int(number)
    if not served.game.valid(position):
        raise Refusal(400, f"{number} is not a position of {served.game.name}")
    return position


def parse_position(served: ServedGame, text: str) -> int:
    """Return the position that a text in any of the game's notations stands for."""
    if len(text) > MAX_TEXT:
        raise Refusal(400, f"a position has at most {MAX_TEXT:,} characters")
    return served.game.encode(text)


# ---- the guard ----


class RequestGuard:
    """The outermost layer. It refuses requests that are too long, too frequent or from elsewhere, and answers errors.

    It also adds the security headers to every answer, and compresses it for clients that accept that. Other clients,
    which are mostly programs, are spared a layer.

    `hosts` are the names of this server, or None to accept any name. If the site is open to others, any IP address is
    accepted as well; only a name that someone else made to point here is an attack. `framers` are the sites whose
    pages may show the embeddable board in a frame.
    """

    def __init__(
        self,
        app: ASGIApp,
        site: Site,
        *,
        hosts: Collection[str] | None,
        framers: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self.compressing_app = GZipMiddleware(app, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=6)
        self.site = site
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        self._framed_headers = _allow_framing(framers)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        self.site.add_to(scope)
        added = self._framed_headers if scope["path"].startswith(EMBED) else _ADDED_HEADERS
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = message.get("headers", ())
                present = {name for name, _ in own}
                message["headers"] = [*own, *[header for header in added if header[0] not in present]]
                if _REMEMBERED in scope:
                    cookie = f"{VARIANTS_COOKIE}={scope[_REMEMBERED]}; HttpOnly; Path=/; SameSite=Strict"
                    message["headers"].append((b"set-cookie", cookie.encode("latin-1")))
            await send(message)

        try:
            headers = dict(scope["headers"])
            self._check(scope, headers)
            app = self.compressing_app if b"gzip" in headers.get(b"accept-encoding", b"") else self.app
            await app(scope, receive, send_guarded)
        except asyncio.CancelledError:  # the server is stopping
            if started:
                raise
            await _answer_error(503, "the server is stopping")(scope, receive, send_guarded)
        except Exception as error:
            if started:
                raise
            await _answer_exception(Request(scope), error)(scope, receive, send_guarded)
            if not _is_expected(error):
                raise

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        if not self._is_own_name(_host_name(headers.get(b"host", b""))):
            raise Refusal(403, "unknown host name; `solve serve --allow-host NAME` adds a name of this server")
        size = sum([len(name) + len(text) + 4 for name, text in scope["headers"]]) + len(scope.get("raw_path") or b"")
        if size > MAX_HEADER_BYTES:
            raise Refusal(431, f"the headers are too long: at most {MAX_HEADER_BYTES:,} bytes are allowed")
        if len(scope.get("query_string", b"")) > MAX_QUERY:
            raise Refusal(414, f"the query is too long: at most {MAX_QUERY:,} bytes are allowed")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and not _is_same_origin(headers):
            raise Refusal(403, "requests that change something must come from this server's own page")
        if not self._within_rate((scope.get("client") or ("",))[0]):
            raise Refusal(429, f"too many requests: at most {RATE:.0f} per second are allowed")

    def _is_own_name(self, name: str) -> bool:
        return self.hosts is None or name in self.hosts or (self.site.open_to_others and _is_address(name))

    def _within_rate(self, client: str) -> bool:
        """Take one token from the client's bucket of BURST tokens, which is refilled at RATE."""
        if client in _LOCAL_CLIENTS:
            return True
        now = self._clock()
        tokens, then = self._buckets.pop(client, (BURST, now))
        tokens = min(BURST, tokens + (now - then) * RATE)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return allowed


@lru_cache(maxsize=100)
def _host_name(host: bytes) -> str:
    """Return the name in a Host header, without the port and the brackets of an IPv6 address."""
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


def _is_same_origin(headers: dict[bytes, bytes]) -> bool:
    """Whether the request is from our own page, or from a program, which sends neither header."""
    if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    return origin is None or origin.partition(b"://")[2] == headers.get(b"host", b"")
