"""The handlers of the JSON API: each reads a request, runs the hooks it needs and fills an answer.

Every GET about a position takes `?position=` (any notation) or `?id=`. Without either it is about the session's game,
which is at the start until a POST changes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from perfectplay.analysis.opponent import Strength
from perfectplay.analysis.selection import PuzzleLevel
from perfectplay.errors import UsageError
from perfectplay.game.drawing import Drawing, draw_svg
from perfectplay.game.game import Position
from perfectplay.game.match import Match
from perfectplay.table.compact import CompactTable
from perfectplay.table.table import Table
from perfectplay.values import Status
from perfectplay.web import answers, catalog, exploring, matches
from perfectplay.web.answers import Answer
from perfectplay.web.bounded import run_bounded
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.requests import (
    MAX_TEXT,
    JSONAnswer,
    NoInput,
    PositionQuery,
    Refusal,
    find_game,
    parse_id,
    parse_position,
    read_position,
    requested_variants,
    site_of,
)

COOKIE = "perfectplay_session"
SVG = "image/svg+xml"
MAX_AGE = 3600
"""Seconds for which answers about a named position of a finished table may be cached."""
_CACHING = {"cache-control": f"public, max-age={MAX_AGE}"}
MAX_PROBES = 10_000
MAX_PROBE_BODY = 512 * 1024
"""Bytes, enough for MAX_PROBES positions."""

T = TypeVar("T")
Handler = Callable[[Request, Any], Awaitable[Response]]
PositionAnswer = Callable[[ServedGame, int], Answer]

# ---- inputs ----

Text = Annotated[str, Meta(max_length=MAX_TEXT)]
SmallNumber = Annotated[int, Meta(ge=0, le=999_999_999)]


class CheckQuery(Struct, forbid_unknown_fields=True):
    """A text that may be a position."""

    position: Annotated[str, Meta(extra_json_schema={"maxLength": MAX_TEXT})]


class BoardQuery(PositionQuery):
    """A position, and how to draw it."""

    size: Annotated[int, Meta(ge=16, le=2000, description="The width in pixels.")] | UnsetType = UNSET
    flipped: Annotated[Literal["yes", "no"], Meta(description="Whether the second player is at the bottom.")] = "no"


class ReplayQuery(PositionQuery):
    """A game: its first position, its moves, and the position to describe."""

    moves: Annotated[str, Meta(description="The moves from there, separated by spaces; a space in a move is _.")] = ""
    ply: (
        Annotated[SmallNumber, Meta(description="The position to describe, counted in moves; by default the last.")]
        | UnsetType
    ) = UNSET


class ChooseQuery(PositionQuery):
    """A game so far, and the strength of the player who moves next."""

    moves: Annotated[str, Meta(description="The moves from there, separated by spaces; a space in a move is _.")] = ""
    strength: Annotated[Strength, Meta(description="How well to play.")] = Strength.PERFECT
    seed: Annotated[SmallNumber, Meta(description="Equal seeds give the same move.")] | UnsetType = UNSET


class FindQuery(Struct, forbid_unknown_fields=True):
    """A kind of position."""

    kind: Annotated[
        str,
        Meta(
            description="The outcome; a puzzle has exactly one winning move.",
            extra_json_schema={"enum": list(exploring.KINDS)},
        ),
    ] = "any"
    remoteness: Annotated[SmallNumber, Meta(description="Plies to the end.")] | UnsetType = UNSET
    seed: Annotated[SmallNumber, Meta(description="Equal seeds give the same position.")] | UnsetType = UNSET
    level: Annotated[Literal["easy", "medium", "hard"], Meta(description="Of a puzzle.")] | UnsetType = UNSET


Probes = Annotated[list[str], Meta(extra_json_schema={"maxItems": MAX_PROBES})] | UnsetType


class ProbeBody(Struct, forbid_unknown_fields=True):
    """Positions to look up, either by their numbers or by their texts."""

    ids: Probes = UNSET
    positions: Probes = UNSET


class MoveBody(Struct, forbid_unknown_fields=True):
    """A move by its name."""

    move: Text


class ImportBody(Struct, forbid_unknown_fields=True):
    """A position in any notation."""

    position: Text


class Check(Answer):
    """Whether a text is a position, and why not."""

    game: str
    possible: bool
    reason: str | None
    id: answers.Id | None


# ---- running hooks ----


async def run_hooks(request: Request, served: ServedGame, compute: Callable[[], T], *, slow: bool = False) -> T:
    """Return `compute()`. Anything that may take long runs in a thread, so that other requests need not wait.

    That includes all hooks in Python, and reading a compact table, which unpacks a frame for every probe. The hooks of
    a variant that a client has named run in a separate process, with limits.
    """
    if served.bounded:
        return await run_bounded(request, site_of(request).process_slots, compute)
    if slow or served.game.kernel is None or isinstance(served.table, CompactTable):
        return await run_in_threadpool(compute)
    return compute()


def _require_table(served: ServedGame) -> Table:
    if served.table is not None:
        return served.table
    if served.problem is not None:
        raise Refusal(409, f"the table of {served.game.name} cannot be read: {served.problem}")
    raise Refusal(409, f"{served.game.name} has no table yet: run `{served.game.command_line()}` first")


# ---- positions ----


def about_position(answer: PositionAnswer, *, needs_table: bool = False, slow: bool = False) -> Handler:
    async def handler(request: Request, query: PositionQuery) -> Response:
        served = await find_game(request)
        if needs_table:
            _require_table(served)
        is_named = query.id is not UNSET or query.position is not UNSET
        default = served.start if is_named else int(_session_match(request, served).position)

        def compute() -> Answer:
            return answer(served, read_position(query, served, default))

        answer_now = await run_hooks(request, served, compute, slow=slow)
        return JSONAnswer(answer_now, headers=_caching(served, query))

    return handler


async def draw_board(request: Request, query: BoardQuery) -> Response:
    """Answer with the picture that notebooks show too. Other sites may show it as an image."""
    served = await find_game(request)
    default = _session_match(request, served).position
    size = None if query.size is UNSET else query.size

    def compute() -> str | None:
        position = read_position(query, served, default)
        board = answers.find_drawing(served.game, position, served.game.mover(position))
        over = served.game.status(position) is not Status.ONGOING
        if board is None:
            return None
        return draw_svg(board, Drawing(size=size, flipped=query.flipped == "yes", over=over))

    picture = await run_hooks(request, served, compute)
    if picture is None:
        raise Refusal(404, f"the board of {served.game.name} cannot be drawn")
    headers = {"cross-origin-resource-policy": "cross-origin", **_caching(served, query, final=True)}
    return Response(picture, media_type=SVG, headers=headers)


def _caching(served: ServedGame, query: PositionQuery, *, final: bool = False) -> dict[str, str]:
    """Return the header for an answer that cannot change: about a named position, and with a finished table."""
    named = query.position is not UNSET or query.id is not UNSET
    final = final or (served.table is not None and served.table.complete)
    return _CACHING if named and final else {}


async def check_position(request: Request, query: CheckQuery) -> Response:
    """Answer whether a text is a position. A wrong text is not an error here, because the editor asks at every key."""
    served = await find_game(request)
    name = served.game.identity
    try:
        position = await run_hooks(request, served, lambda: parse_position(served, query.position))
    except UsageError as error:
        return JSONAnswer(Check(name, False, str(error.__cause__ or error), None))
    return JSONAnswer(Check(name, True, None, str(int(position))))


async def probe(request: Request, body: ProbeBody) -> Response:
    served = await find_game(request)
    table = _require_table(served)
    if (body.ids is UNSET) == (body.positions is UNSET):
        raise Refusal(400, 'the body must be {"ids": ["…"]} or {"positions": ["…"]}')
    parse, texts = (parse_position, body.positions) if body.ids is UNSET else (parse_id, body.ids)
    assert texts is not UNSET
    if len(texts) > MAX_PROBES:
        raise Refusal(413, f"at most {MAX_PROBES:,} positions are allowed at once")

    def compute() -> exploring.Probed:
        return exploring.probe_positions(served, table, [parse(served, text) for text in texts])

    return JSONAnswer(await run_hooks(request, served, compute, slow=len(texts) > 100))


# ---- whole tables ----


async def overview(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    return JSONAnswer(await run_in_threadpool(exploring.count_table, served, _require_table(served)))


async def find(request: Request, query: FindQuery) -> Response:
    served = await find_game(request)
    table = _require_table(served)
    if query.kind not in exploring.KINDS:
        raise Refusal(422, f"wrong parameter: kind must be one of {', '.join(exploring.KINDS)}")
    remoteness = None if query.remoteness is UNSET else query.remoteness
    seed = None if query.seed is UNSET else query.seed
    level = None if query.level is UNSET else PuzzleLevel(query.level)
    if level is not None and query.kind != "puzzle":
        raise Refusal(422, "wrong parameter: only a puzzle has a level")
    found = await run_in_threadpool(exploring.find_position, served, table, query.kind, remoteness, seed, level)
    return JSONAnswer(found)


# ---- whole games ----


async def replay(request: Request, query: ReplayQuery) -> Response:
    served = await find_game(request)

    def compute() -> matches.Replay:
        match = Match(served.game, start=read_position(query, served, served.start), exploring=True)
        matches.read_moves(match, query.moves)
        ply = len(match.moves) if query.ply is UNSET else query.ply
        if ply > len(match.moves):
            raise Refusal(422, f"wrong parameter: ply is at most the number of moves, {len(match.moves)}")
        return matches.answer_replay(served, match, ply)

    return JSONAnswer(await run_hooks(request, served, compute, slow=query.moves.count(" ") > 100))


async def choose(request: Request, query: ChooseQuery) -> Response:
    served = await find_game(request)
    seed = None if query.seed is UNSET else query.seed

    def compute() -> matches.Choice:
        match = Match(served.game, start=read_position(query, served, served.start), exploring=True)
        matches.read_moves(match, query.moves)
        return matches.answer_choice(served, match, query.strength, seed)

    return JSONAnswer(await run_hooks(request, served, compute, slow=True))


def _session_match(request: Request, served: ServedGame) -> Match:
    games = site_of(request).sessions.find(request.cookies.get(COOKIE)) or {}
    return games.get(served.game.identity) or Match(served.game, start=Position(served.game, served.start))


async def current_game(request: Request, query: PositionQuery) -> Response:
    served = await find_game(request)
    match = _session_match(request, served)

    def compute() -> matches.SessionGame:
        if query == PositionQuery():
            return matches.answer_game(served, match)
        return matches.answer_game(served, Match(served.game, start=read_position(query, served, served.start)))

    return JSONAnswer(await run_hooks(request, served, compute))


async def history(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    match = _session_match(request, served)
    return JSONAnswer(await run_hooks(request, served, lambda: matches.answer_history(served, match)))


def changing_match(change: Callable[[ServedGame, Match, Any], Match]) -> Handler:
    """Return a handler that changes the session's match. A refused change creates no session."""

    async def handler(request: Request, body: Struct) -> Response:
        served = await find_game(request)
        # Changes a copy, because hooks may fail or take long and the session's match must stay valid.
        copy = _session_match(request, served).copy()
        if served.bounded:  # a match cannot be sent between processes, so the first one is only a trial
            trial = _session_match(request, served).copy()
            slots = site_of(request).process_slots
            await run_bounded(request, slots, lambda: bool(change(served, trial, body)))
        match = await run_in_threadpool(change, served, copy, body)
        token = site_of(request).sessions.save(request.cookies.get(COOKIE), match)
        answer = JSONAnswer(await run_hooks(request, served, lambda: matches.answer_game(served, match)))
        answer.set_cookie(COOKIE, token, max_age=int(matches.MAX_IDLE_SECONDS), httponly=True, samesite="strict")
        return answer

    return handler


def play(served: ServedGame, match: Match, body: MoveBody) -> Match:
    result = match.result
    if result is not None and result.repetition:
        raise Refusal(409, "the game is over: draw by threefold repetition")
    if len(match.moves) >= matches.MAX_MOVES:
        raise Refusal(409, f"a game has at most {matches.MAX_MOVES:,} moves here; reset it")
    match.play_names([body.move])
    return match


def undo(served: ServedGame, match: Match, body: NoInput) -> Match:
    if not match.moves:
        raise Refusal(409, "there is no move to undo")
    match.undo()
    return match


def redo(served: ServedGame, match: Match, body: NoInput) -> Match:
    if not match.undone:
        raise Refusal(409, "there is no move to redo")
    match.redo()
    return match


def reset(served: ServedGame, match: Match, body: NoInput) -> Match:
    return Match(served.game)


def import_position(served: ServedGame, match: Match, body: ImportBody) -> Match:
    return Match(served.game, start=parse_position(served, body.position))


# ---- games and solving ----


async def list_games(request: Request, query: NoInput) -> Response:
    own = requested_variants(request)
    return JSONAnswer(await run_in_threadpool(catalog.list_games, site_of(request).library, own))


async def solve_progress(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    # An estimate takes half a second, so it is made only where a solve can be started.
    allowed = site_of(request).may_solve
    describe_solve = partial(catalog.describe_solve, served, allowed=allowed)
    return JSONAnswer(await run_hooks(request, served, describe_solve, slow=allowed and served.job is None))


async def start_solve(request: Request, body: NoInput) -> Response:
    served = await find_game(request)
    if not site_of(request).may_solve:
        raise Refusal(403, "this server is open to other machines, so solves cannot be started from the page")
    if served.problem is not None:
        raise Refusal(409, f"the existing table cannot be read: {served.problem}; remove it first")
    if served.table is not None and not served.table.complete:
        raise Refusal(409, f"the table is unfinished; resume it with `{served.table.resume_command}`")
    if served.table is not None:
        raise Refusal(409, f"{served.game.name} is already solved")
    library = site_of(request).library
    if library.start_solving(served) is None:
        raise Refusal(409, f"{_describe_running(library)}; only one solve can run at a time")
    return JSONAnswer(catalog.describe_solve(served), 202)


def _describe_running(library: Library) -> str:
    other = library.find_solving()
    if other is None or other.job is None:
        return "another game was being solved"
    return f"{other.game.about.title} is being solved ({other.job.describe_progress()})"


async def stop_solve(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    if served.job is None or not served.solving:
        raise Refusal(409, "no solve of this game is running")
    await run_in_threadpool(served.job.stop)
    return JSONAnswer(catalog.describe_solve(served))
