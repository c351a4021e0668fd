"""The JSON API under /api/: games and positions, whole tables, and the game of one session.

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
from perfectplay.game.game import Position
from perfectplay.game.match import Match
from perfectplay.table.compact import CompactTable
from perfectplay.table.table import Table
from perfectplay.web import answers, catalog, exploring, gamesman, matches
from perfectplay.web.answers import Answer
from perfectplay.web.bounded import run_bounded
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.matches import Sessions
from perfectplay.web.operations import Interface, Operation, describe, make_routes, summarize
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
)

COOKIE = "perfectplay_session"
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


async def _run_hooks(request: Request, served: ServedGame, compute: Callable[[], T], *, slow: bool = False) -> T:
    """Return `compute()`. Anything that may take long runs in a thread, so that other requests need not wait.

    That includes all hooks in Python, and reading a compact table, which unpacks a frame for every probe. The hooks of
    a variant that a client has named run in a separate process, with limits.
    """
    if served.bounded:
        return await run_bounded(request, compute)
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


def _about_position(answer: PositionAnswer, *, needs_table: bool = False, slow: bool = False) -> Handler:
    async def handler(request: Request, query: PositionQuery) -> Response:
        served = await find_game(request)
        if needs_table:
            _require_table(served)
        default = _session_match(request, served).position

        def compute() -> Answer:
            return answer(served, read_position(query, served, default))

        return JSONAnswer(await _run_hooks(request, served, compute, slow=slow))

    return handler


async def check_position(request: Request, query: CheckQuery) -> Response:
    """Answer whether a text is a position. A wrong text is not an error here, because the editor asks at every key."""
    served = await find_game(request)
    name = served.game.identity
    try:
        position = await _run_hooks(request, served, lambda: parse_position(served, query.position))
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

    return JSONAnswer(await _run_hooks(request, served, compute, slow=len(texts) > 100))


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

    return JSONAnswer(await _run_hooks(request, served, compute, slow=query.moves.count(" ") > 100))


async def choose(request: Request, query: ChooseQuery) -> Response:
    served = await find_game(request)
    seed = None if query.seed is UNSET else query.seed

    def compute() -> matches.Choice:
        match = Match(served.game, start=read_position(query, served, served.start), exploring=True)
        matches.read_moves(match, query.moves)
        return matches.answer_choice(served, match, query.strength, seed)

    return JSONAnswer(await _run_hooks(request, served, compute, slow=True))


def _session_match(request: Request, served: ServedGame) -> Match:
    sessions: Sessions = request.app.state.sessions
    games = sessions.find(request.cookies.get(COOKIE)) or {}
    return games.get(served.game.identity) or Match(served.game, start=Position(served.game, served.start))


async def current_game(request: Request, query: PositionQuery) -> Response:
    served = await find_game(request)
    match = _session_match(request, served)

    def compute() -> matches.SessionGame:
        if query == PositionQuery():
            return matches.answer_game(served, match)
        return matches.answer_game(served, Match(served.game, start=read_position(query, served, served.start)))

    return JSONAnswer(await _run_hooks(request, served, compute))


async def history(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    match = _session_match(request, served)
    return JSONAnswer(await _run_hooks(request, served, lambda: matches.answer_history(served, match)))


def _changing_match(change: Callable[[ServedGame, Match, Any], Match]) -> Handler:
    """Return a handler that changes the session's match. A refused change creates no session."""

    async def handler(request: Request, body: Struct) -> Response:
        served = await find_game(request)
        # Changes a copy, because hooks may fail or take long and the session's match must stay valid.
        copy = _session_match(request, served).copy()
        if served.bounded:  # a match cannot be sent between processes, so the first one is only a trial
            trial = _session_match(request, served).copy()
            await run_bounded(request, lambda: bool(change(served, trial, body)))
        match = await run_in_threadpool(change, served, copy, body)
        sessions: Sessions = request.app.state.sessions
        token = sessions.save(request.cookies.get(COOKIE), match)
        answer = JSONAnswer(await _run_hooks(request, served, lambda: matches.answer_game(served, match)))
        answer.set_cookie(COOKIE, token, max_age=int(matches.MAX_IDLE_SECONDS), httponly=True, samesite="strict")
        return answer

    return handler


def _play(served: ServedGame, match: Match, body: MoveBody) -> Match:
    result = match.result
    if result is not None and result.repetition:
        raise Refusal(409, "the game is over: draw by threefold repetition")
    if len(match.moves) >= matches.MAX_MOVES:
        raise Refusal(409, f"a game has at most {matches.MAX_MOVES:,} moves here; reset it")
    match.play_names([body.move])
    return match


def _undo(served: ServedGame, match: Match, body: NoInput) -> Match:
    if not match.moves:
        raise Refusal(409, "there is no move to undo")
    match.undo()
    return match


def _redo(served: ServedGame, match: Match, body: NoInput) -> Match:
    if not match.undone:
        raise Refusal(409, "there is no move to redo")
    match.redo()
    return match


def _reset(served: ServedGame, match: Match, body: NoInput) -> Match:
    return Match(served.game)


def _import(served: ServedGame, match: Match, body: ImportBody) -> Match:
    return Match(served.game, start=parse_position(served, body.position))


# ---- games and solving ----


async def list_games(request: Request, query: NoInput) -> Response:
    own = requested_variants(request)
    return JSONAnswer(await run_in_threadpool(catalog.list_games, request.app.state.library, own))


async def solve_progress(request: Request, query: NoInput) -> Response:
    served = await find_game(request)
    # An estimate takes half a second, so it is made only where a solve can be started.
    allowed = bool(request.app.state.may_solve)
    describe_solve = partial(catalog.describe_solve, served, allowed=allowed)
    return JSONAnswer(await _run_hooks(request, served, describe_solve, slow=allowed and served.job is None))


async def start_solve(request: Request, body: NoInput) -> Response:
    served = await find_game(request)
    if not request.app.state.may_solve:
        raise Refusal(403, "this server is open to other machines, so solves cannot be started from the page")
    if served.problem is not None:
        raise Refusal(409, f"the existing table cannot be read: {served.problem}; remove it first")
    if served.table is not None and not served.table.complete:
        raise Refusal(409, f"the table is unfinished; resume it with `{served.table.resume_command}`")
    if served.table is not None:
        raise Refusal(409, f"{served.game.name} is already solved")
    library: Library = request.app.state.library
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


# ---- the API itself ----


async def summary(request: Request, query: NoInput) -> Response:
    return JSONAnswer(summarize(OPERATIONS))


async def openapi(request: Request, query: NoInput) -> Response:
    return JSONAnswer(describe(OPERATIONS, list(request.app.state.library.games)))


def _get_position(path: str, summary: str, fill: PositionAnswer, answer: type[Answer], **options: bool) -> Operation:
    return Operation("GET", f"/api/{{game}}/{path}", summary, _about_position(fill, **options), answer, PositionQuery)


def _post_change(
    path: str, summary: str, change: Callable[[ServedGame, Match, Any], Match], body: type[Struct] = NoInput
) -> Operation:
    return Operation("POST", f"/api/{{game}}/{path}", summary, _changing_match(change), matches.SessionGame, input=body)


# Routes are tried in this order, so the most frequent ones come first.
OPERATIONS = [
    _get_position(
        "moves/evaluated",
        "All legal moves with their values, best first",
        answers.answer_evaluated_moves,
        answers.EvaluatedMoves,
        needs_table=True,
    ),
    _get_position(
        "position",
        "Everything about a position: board, value, verdict, moves",
        answers.answer_position,
        answers.Position,
    ),
    _get_position(
        "evaluate",
        "Who wins, and in how many plies",
        answers.answer_evaluation,
        answers.Evaluation,
        needs_table=True,
    ),
    Operation(
        "GET",
        "/api/{game}/replay",
        "A whole game by its moves: all values, mistakes, and everything about one position",
        replay,
        matches.Replay,
        ReplayQuery,
    ),
    Operation(
        "GET",
        "/api/{game}/choose",
        "A move of the computer at a strength; random if the game is not solved",
        choose,
        matches.Choice,
        ChooseQuery,
    ),
    Operation("GET", "/api", "Summary of the API", summary, Interface),
    Operation("GET", "/api/games", "All games", list_games, catalog.Games),
    Operation(
        "POST",
        "/api/{game}/probe",
        f"The values of up to {MAX_PROBES:,} positions",
        probe,
        exploring.Probed,
        ProbeBody,
        max_body=MAX_PROBE_BODY,
    ),
    _get_position("best-move", "A best move", answers.answer_best_move, answers.BestMove, needs_table=True),
    _get_position("line", "Perfect play to the end", answers.answer_line, answers.Line, needs_table=True, slow=True),
    _get_position("moves", "The legal moves", answers.answer_legal_moves, answers.Moves),
    _get_position("state/export", "The position in every notation", answers.answer_state, answers.State),
    Operation(
        "GET", "/api/{game}/check", "Whether a text is a position, and why not", check_position, Check, CheckQuery
    ),
    Operation("GET", "/api/{game}/overview", "Statistics of the whole table", overview, exploring.Overview),
    Operation("GET", "/api/{game}/find", "A random position", find, exploring.Found, FindQuery),
    Operation("GET", "/api/{game}/game", "The session's game", current_game, matches.SessionGame, PositionQuery),
    Operation("GET", "/api/{game}/history", "The moves of the session's game", history, matches.History),
    _post_change("move", "Play a move", _play, MoveBody),
    _post_change("reset", "Start a new game", _reset),
    _post_change("undo", "Undo a move", _undo),
    _post_change("redo", "Redo a move", _redo),
    _post_change("state/import", "Start at a position", _import, ImportBody),
    Operation("GET", "/api/{game}/solve", "The progress or the cost of a solve", solve_progress, catalog.Solve),
    Operation("POST", "/api/{game}/solve", "Solve the game in the background", start_solve, catalog.Solve, status=202),
    Operation("DELETE", "/api/{game}/solve", "Stop the solve", stop_solve, catalog.Solve),
    *gamesman.OPERATIONS,
]

ROUTES = make_routes([*OPERATIONS, Operation("GET", "/api/openapi.json", "The OpenAPI document", openapi, dict)])
