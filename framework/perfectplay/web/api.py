"""The JSON API under /api/ and /uwapi/: every operation with its path, name and types.

Routes and the OpenAPI document are made from them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from perfectplay.game.match import Match
from perfectplay.web import answers, catalog, exploring, gamesman, handlers, matches
from perfectplay.web.answers import Answer
from perfectplay.web.handlers import about_position
from perfectplay.web.library import ServedGame
from perfectplay.web.operations import Interface, Operation, describe, make_routes, summarize
from perfectplay.web.pages import write_api_page
from perfectplay.web.requests import JSONAnswer, NoInput, PositionQuery, site_of

# ---- the API itself ----


async def summary(request: Request, query: NoInput) -> Response:
    """Answer a browser with a readable page, and a program with JSON."""
    headers = {"vary": "accept"}
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(write_api_page(OPERATIONS, site_of(request).library), headers=headers)
    return JSONAnswer(summarize(OPERATIONS), headers=headers)


async def openapi(request: Request, query: NoInput) -> Response:
    return JSONAnswer(_document())


@cache
def _document() -> dict[str, Any]:
    return describe(OPERATIONS)  # takes 8 ms


def _get_position(path: str, name: str, summary: str, handler: handlers.Handler, answer: type[Answer]) -> Operation:
    return Operation("GET", f"/api/{{game}}/{path}", name, "positions", summary, handler, answer, PositionQuery)


def _post_change(
    path: str, name: str, summary: str, change: Callable[[ServedGame, Match, Any], Match], body: type[Struct] = NoInput
) -> Operation:
    handler = handlers.changing_match(change)
    return Operation("POST", f"/api/{{game}}/{path}", name, "session", summary, handler, matches.SessionGame, body)


# Routes are tried in this order, so the most frequent ones come first.
OPERATIONS = [
    _get_position(
        "moves/evaluated",
        "evaluateMoves",
        "All legal moves with their values, best first",
        about_position(answers.answer_evaluated_moves, needs_table=True),
        answers.EvaluatedMoves,
    ),
    _get_position(
        "position",
        "getPosition",
        "Everything about a position: board, value, verdict, moves",
        about_position(answers.answer_position),
        answers.Position,
    ),
    _get_position(
        "evaluate",
        "evaluatePosition",
        "Who wins, and in how many plies",
        about_position(answers.answer_evaluation, needs_table=True),
        answers.Evaluation,
    ),
    Operation(
        "GET",
        "/api/{game}/replay",
        "replayGame",
        "games",
        "A whole game by its moves: all values, mistakes, and everything about one position",
        handlers.replay,
        matches.Replay,
        handlers.ReplayQuery,
    ),
    Operation(
        "GET",
        "/api/{game}/choose",
        "chooseMove",
        "games",
        "A move of the computer at a strength; random if the game is not solved",
        handlers.choose,
        matches.Choice,
        handlers.ChooseQuery,
    ),
    Operation("GET", "/api", "summarizeApi", "about", "Summary of the API", summary, Interface),
    Operation("GET", "/api/games", "listGames", "games", "All games", handlers.list_games, catalog.Games),
    Operation(
        "POST",
        "/api/{game}/probe",
        "probePositions",
        "positions",
        f"The values of up to {handlers.MAX_PROBES:,} positions",
        handlers.probe,
        exploring.Probed,
        handlers.ProbeBody,
        max_body=handlers.MAX_PROBE_BODY,
    ),
    _get_position(
        "best-move",
        "getBestMove",
        "A best move",
        about_position(answers.answer_best_move, needs_table=True),
        answers.BestMove,
    ),
    _get_position(
        "line",
        "getBestLine",
        "Perfect play to the end",
        about_position(answers.answer_line, needs_table=True, slow=True),
        answers.Line,
    ),
    _get_position("moves", "listMoves", "The legal moves", about_position(answers.answer_legal_moves), answers.Moves),
    _get_position(
        "state/export",
        "exportPosition",
        "The position in every notation",
        about_position(answers.answer_state),
        answers.State,
    ),
    Operation(
        "GET",
        "/api/{game}/board.svg",
        "drawBoard",
        "positions",
        "A picture of the board",
        handlers.draw_board,
        str,
        handlers.BoardQuery,
        media_type=handlers.SVG,
    ),
    Operation(
        "GET",
        "/api/{game}/check",
        "checkPosition",
        "positions",
        "Whether a text is a position, and why not",
        handlers.check_position,
        handlers.Check,
        handlers.CheckQuery,
    ),
    Operation(
        "GET",
        "/api/{game}/overview",
        "surveyTable",
        "tables",
        "Statistics of the whole table",
        handlers.overview,
        exploring.Overview,
    ),
    Operation(
        "GET",
        "/api/{game}/find",
        "findPosition",
        "tables",
        "A random position",
        handlers.find,
        exploring.Found,
        handlers.FindQuery,
    ),
    Operation(
        "GET",
        "/api/{game}/game",
        "getSessionGame",
        "session",
        "The session's game",
        handlers.current_game,
        matches.SessionGame,
        PositionQuery,
    ),
    Operation(
        "GET",
        "/api/{game}/history",
        "getSessionHistory",
        "session",
        "The moves of the session's game",
        handlers.history,
        matches.History,
    ),
    _post_change("move", "playMove", "Play a move", handlers.play, handlers.MoveBody),
    _post_change("reset", "resetGame", "Start a new game", handlers.reset),
    _post_change("undo", "undoMove", "Undo a move", handlers.undo),
    _post_change("redo", "redoMove", "Redo a move", handlers.redo),
    _post_change(
        "state/import", "importPosition", "Start at a position", handlers.import_position, handlers.ImportBody
    ),
    Operation(
        "GET",
        "/api/{game}/solve",
        "getSolve",
        "solving",
        "The progress or the cost of a solve",
        handlers.solve_progress,
        catalog.Solve,
    ),
    Operation(
        "POST",
        "/api/{game}/solve",
        "startSolve",
        "solving",
        "Solve the game in the background",
        handlers.start_solve,
        catalog.Solve,
        status=202,
    ),
    Operation(
        "DELETE", "/api/{game}/solve", "stopSolve", "solving", "Stop the solve", handlers.stop_solve, catalog.Solve
    ),
    *gamesman.OPERATIONS,
]
_DOCUMENT = Operation("GET", "/api/openapi.json", "getOpenApi", "about", "The OpenAPI document", openapi, dict)

ROUTES = make_routes([*OPERATIONS, _DOCUMENT])
