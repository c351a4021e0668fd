"""The universal web API of GamesCrafters, under /uwapi/, so that GamesmanUni's client can show our games.

The JSON is that of https://github.com/GamesCrafters/GamesCraftersUWAPI (README, routes). Its terms differ from ours: a
draw that ends by rule is a `tie`, an endless one is a `draw`, and a remoteness of -200 means no end. Our boards are not
in its AutoGUI format, so every game is of the kind `v0`, for which the client shows positions and moves as texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from perfectplay.analysis.moves import rate_each_move
from perfectplay.game.game import Game
from perfectplay.table.table import Table
from perfectplay.values import Outcome, Value
from perfectplay.web.answers import Answer
from perfectplay.web.library import ServedGame
from perfectplay.web.operations import Operation
from perfectplay.web.requests import MAX_TEXT, JSONAnswer, Refusal, parse_position, site_of

ENDLESS = -200
REGULAR = "regular"
"""The variant of a game that has only one."""

_BEST_FIRST = ("win", "tie", "draw", "lose", "unsolved")

# ---- types ----

UwapiValue = Literal["win", "tie", "draw", "lose", "unsolved"]


class UwapiListedGame(Answer):
    """A game in the list of games."""

    id: str
    name: str
    type: Literal["onePlayer", "twoPlayer"]
    gui: str = "v0"


class UwapiListedVariant(Answer):
    """A variant in the list of a game's variants."""

    id: str
    name: str
    gui: str = "v0"


class UwapiGame(Answer):
    """A game and its variants."""

    id: str
    name: str
    variants: list[UwapiListedVariant]
    allowCustomVariantCreation: bool
    supportsWinBy: bool


class UwapiVariant(Answer):
    """A variant and its start position."""

    id: str
    name: str
    startPosition: str
    autoguiStartPosition: str
    imageAutoGUIData: dict[str, Any]
    gui: str = "v0"


class UwapiValued(Answer, kw_only=True):
    """A position and its value."""

    position: str
    autoguiPosition: str
    positionValue: UwapiValue
    remoteness: Annotated[int, Meta(description="Plies to the end; -200 where there is none or it is not known.")]
    winby: Annotated[int, Meta(description="By how much the side to move wins, in a game with scores.")] | UnsetType = (
        UNSET
    )


class UwapiMove(UwapiValued, kw_only=True):
    """A move; the inherited fields are those of the position after it."""

    move: str
    autoguiMove: str
    moveValue: Annotated[UwapiValue, Meta(description="The value for the player who moves.")]
    deltaRemoteness: int = 0


class UwapiPosition(UwapiValued, kw_only=True):
    """A position, its value and its moves."""

    moves: list[UwapiMove]


class UwapiInstructions(Answer):
    """The rules of a game, in Markdown."""

    instructions: str


class UwapiNoQuery(Struct):
    """No parameters; unknown ones are ignored, because the client may send more than it needs."""


class UwapiQuery(UwapiNoQuery):
    """A position in any of the game's notations."""

    p: Annotated[str, Meta(description="A position.", extra_json_schema={"maxLength": MAX_TEXT})] = ""


# ---- endpoints ----


def list_games(request: Request, query: UwapiNoQuery) -> list[UwapiListedGame]:
    """Return every game once, whatever its variants."""
    library = site_of(request).library
    games: dict[str, Game] = {}
    for served in [*library.games.values()]:  # the first variant of a game is the one with default options
        games.setdefault(served.game.name, served.game)
    listed = [
        UwapiListedGame(game.name, game.about.title, "onePlayer" if game.is_puzzle else "twoPlayer")
        for game in games.values()
    ]
    return sorted(listed, key=lambda each: each.name)


def show_game(request: Request, query: UwapiNoQuery) -> UwapiGame:
    variants = _find_variants(request)
    game = next(iter(variants.values())).game
    listed = [UwapiListedVariant(name, _title(served)) for name, served in variants.items() if _is_offered(served)]
    return UwapiGame(game.name, game.about.title, listed, False, game.has_score)


def show_variant(request: Request, query: UwapiNoQuery) -> UwapiVariant:
    served, name = _find_variant(request)
    start = served.start
    return UwapiVariant(name, _title(served), served.game.decode(start), _autogui(served.game, start), {})


def show_position(request: Request, query: UwapiQuery) -> UwapiPosition:
    served, _ = _find_variant(request)
    if not query.p:
        raise Refusal(400, "the parameter `p`, a position, is missing")
    return describe_position(served.game, served.find_table(), parse_position(served, query.p))


def show_instructions(request: Request, query: UwapiNoQuery) -> UwapiInstructions:
    about = _find_variant(request)[0].game.about
    return UwapiInstructions(f"# {about.title}\n\n{about.rules}".strip())


# ---- positions ----


def describe_position(game: Game, table: Table | None, position: int) -> UwapiPosition:
    """Return a position with its value and those of its moves, best first."""
    value = None if table is None else table.get(position)
    rated = rate_each_move(game, table, position)
    names = game.format_moves(position, [each.move for each in rated])
    moves = []
    for name, each in zip(names, rated, strict=True):
        child = None if table is None else table.get(each.child)
        fields = _value_fields(game, each.child, child)
        moves.append(UwapiMove(move=name, autoguiMove=name, moveValue=_value_name(each.value), **fields))
    if game.is_puzzle and not (value is not None and value.outcome_only):
        _rate_puzzle_moves(value, moves)
        moves.sort(key=lambda move: (_BEST_FIRST.index(move.moveValue), move.deltaRemoteness))
    else:
        _rate_moves(moves, [each.value for each in rated])
    return UwapiPosition(moves=moves, **_value_fields(game, position, value))


def _value_fields(game: Game, position: int, value: Value | None) -> dict[str, Any]:
    unsolvable = value is not None and (value.remoteness is None or (game.is_puzzle and value.outcome is Outcome.LOSS))
    fields = {
        "position": game.decode(position),
        "autoguiPosition": _autogui(game, position),
        "positionValue": _value_name(value),
        "remoteness": ENDLESS if value is None or unsolvable else value.remoteness,
    }
    if value is not None and game.has_score and not value.outcome_only:
        fields["winby"] = value.score
    return fields


def _rate_moves(moves: list[UwapiMove], values: list[Value | None]) -> None:
    """Set how many plies a win or a tie is longer, or a loss shorter, than by the best move with the same result."""
    results = [(move.moveValue, value and value.score) for move, value in zip(moves, values, strict=True)]
    for move, result in zip(moves, results, strict=True):
        plies = [other.remoteness for other, its in zip(moves, results, strict=True) if its == result]
        best = max(plies) if move.moveValue == "lose" else min(plies)
        move.deltaRemoteness = abs(move.remoteness - best)


def _rate_puzzle_moves(value: Value | None, moves: list[UwapiMove]) -> None:
    """In a puzzle a move is good if it leads closer to the solution, and bad if the solution is lost."""
    for move in moves:
        solvable = value is not None and value.remoteness is not None and move.remoteness != ENDLESS
        closer = (value.remoteness or 0) - move.remoteness if solvable and value is not None else 0
        move.deltaRemoteness = closer
        if move.positionValue != "unsolved":
            move.moveValue = "lose" if not solvable or closer < 0 else "win" if closer > 0 else "tie"


def _value_name(value: Value | None) -> UwapiValue:
    if value is None:
        return "unsolved"
    if value.outcome is Outcome.DRAW:
        return "draw" if value.remoteness is None else "tie"
    return "win" if value.outcome is Outcome.WIN else "lose"


def _autogui(game: Game, position: int) -> str:
    """Return the position's text after the number of the player to move, which the client reads."""
    return f"{(game.mover(position) or 0) + 1}_{game.decode(position)}"


# ---- variants ----


def _find_variants(request: Request) -> dict[str, ServedGame]:
    library = site_of(request).library
    name = request.path_params["game"]
    variants = {_variant_id(each.game): each for each in [*library.games.values()] if each.game.name == name}
    if not variants:
        raise Refusal(404, f"there is no game called {name[:60]!r}")
    return variants


def _find_variant(request: Request) -> tuple[ServedGame, str]:
    variants, name = _find_variants(request), request.path_params["variant"]
    by_unquoted = {unquote(each): each for each in variants}  # a client may or may not quote an id in a path
    name = by_unquoted.get(name, name)
    if name not in variants:
        game = request.path_params["game"]
        raise Refusal(404, f"{game} has no variant {name[:60]!r}; its variants are {', '.join(variants)}")
    return variants[name], name


def _variant_id(game: Game) -> str:
    return game.identity.removeprefix(game.name).removeprefix("-") or REGULAR


def _title(served: ServedGame) -> str:
    return served.game.about.title if served.game.declared_options else "Regular"


def _is_offered(served: ServedGame) -> bool:
    """Whether a variant is listed. Variants without a table that visitors only looked at are not."""
    return served.table is not None or not served.requested


# ---- operations ----


def _get(
    path: str,
    name: str,
    summary: str,
    handler: Callable[[Request, Any], Any],
    answer: Any,
    query: type[Struct] = UwapiNoQuery,
) -> Operation:
    async def handle(request: Request, given: Struct) -> Response:
        # In a thread, because hooks may take long.
        return JSONAnswer(await run_in_threadpool(handler, request, given))

    return Operation("GET", f"/uwapi/{path}", name, "uwapi", summary, handle, answer, query)


OPERATIONS = [
    _get("", "uwapiGames", "All games", list_games, list[UwapiListedGame]),
    _get("{game}/", "uwapiGame", "A game's variants", show_game, UwapiGame),
    _get("{game}/{variant}/", "uwapiVariant", "A variant and its start position", show_variant, UwapiVariant),
    _get(
        "{game}/{variant}/positions/",
        "uwapiPosition",
        "A position and its moves",
        show_position,
        UwapiPosition,
        UwapiQuery,
    ),
    _get("{game}/{variant}/instructions/", "uwapiInstructions", "The rules", show_instructions, UwapiInstructions),
]
