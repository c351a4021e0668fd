"""The universal web API of GamesCrafters, under /uwapi/: so that GamesmanUni's client can show our games.

The JSON is that of https://github.com/GamesCrafters/GamesCraftersUWAPI (README, routes). Its words differ from ours: a
draw that the rules end is a `tie`, an endless one a `draw`, and -200 stands for a remoteness without end. Our boards
are not in its AutoGUI format, so every game is of the kind `v0`: the client shows positions and moves as texts.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from perfectplay.analysis.moves import rate_each_move
from perfectplay.game.game import Game
from perfectplay.table.table import Table
from perfectplay.values import Outcome, Value
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.requests import Answer, Refusal, read_position

JSON = dict[str, Any]

PREFIX = "/uwapi"
ENDLESS = -200
REGULAR = "regular"
"""The variant of a game that has only one."""

_OPEN = {"access-control-allow-origin": "*"}  # the client is served from elsewhere; everything here is read-only
_BEST_FIRST = ("win", "tie", "draw", "lose", "unsolved")


# What follows is no coroutine, so Starlette runs it in a thread: hooks are asked, which may take long.


def _answer(content: Any) -> Response:
    return Answer(content, headers=_OPEN)


def games(request: Request) -> Response:
    """Every game once, whatever its variants."""
    library: Library = request.app.state.library
    found = {served.game.name: _game_line(served.game) for served in [*library.games.values()]}
    return _answer(sorted(found.values(), key=lambda game: str(game["name"])))


def _game_line(game: Game) -> JSON:
    return {
        "id": game.name,
        "name": game.about.title,
        "type": "onePlayer" if game.is_puzzle else "twoPlayer",
        "gui": "v0",
    }


def game(request: Request) -> Response:
    variants = _variants(request)
    first = next(iter(variants.values())).game
    return _answer(
        {
            "id": first.name,
            "name": first.about.title,
            "variants": [{"id": name, "name": _title(name), "gui": "v0"} for name in variants],
            "allowCustomVariantCreation": False,
            "supportsWinBy": first.has_score,
        }
    )


def variant(request: Request) -> Response:
    served, name = _variant(request)
    return _answer(
        {
            "id": name,
            "name": _title(name),
            "startPosition": served.game.decode(served.start),
            "autoguiStartPosition": _autogui(served.game, served.start),
            "imageAutoGUIData": {},
            "gui": "v0",
        }
    )


def position(request: Request) -> Response:
    served, _ = _variant(request)
    text = request.query_params.get("p")
    if text is None:
        raise Refusal(400, "say which position: ?p=…")
    return _answer(position_json(served.game, served.find_table(), read_position(served, text)))


def instructions(request: Request) -> Response:
    served, _ = _variant(request)
    about = served.game.about
    return _answer({"instructions": f"# {about.title}\n\n{about.rules}".strip()})


def position_json(game: Game, table: Table | None, position: int) -> JSON:
    """A position with its value and those of its moves, the best first."""
    value = None if table is None else table.get(position)
    rated = rate_each_move(game, table, position)
    moves = []
    for each in rated:
        child = None if table is None else table.get(each.child)
        moves.append(
            {
                "move": game.format_move(position, each.move),
                "autoguiMove": game.format_move(position, each.move),
                **_facts(game, each.child, child),
                "moveValue": _word(each.value),
            }
        )
    if game.is_puzzle and not (value is not None and value.outcome_only):
        _rate_puzzle(value, moves)
        moves.sort(key=lambda move: (_BEST_FIRST.index(move["moveValue"]), move["deltaRemoteness"]))
    else:
        _rate(moves, [each.value for each in rated])
    return _facts(game, position, value) | {"moves": moves}


def _facts(game: Game, position: int, value: Value | None) -> JSON:
    unsolvable = value is not None and (value.remoteness is None or (game.is_puzzle and value.outcome is Outcome.LOSS))
    facts: JSON = {
        "position": game.decode(position),
        "autoguiPosition": _autogui(game, position),
        "positionValue": _word(value),
        "remoteness": ENDLESS if value is None or unsolvable else value.remoteness,
    }
    scored = value is not None and game.has_score and not value.outcome_only
    return facts | {"winby": value.score} if value is not None and scored else facts


def _rate(moves: list[JSON], values: list[Value | None]) -> None:
    """How much longer a win or a tie takes, or how much sooner a loss comes, than by the best move of as much worth."""
    worth = [(move["moveValue"], value and value.score) for move, value in zip(moves, values, strict=True)]
    for move, mine in zip(moves, worth, strict=True):
        plies = [other["remoteness"] for other, its in zip(moves, worth, strict=True) if its == mine]
        best = max(plies) if move["moveValue"] == "lose" else min(plies)
        move["deltaRemoteness"] = abs(move["remoteness"] - best)


def _rate_puzzle(value: Value | None, moves: list[JSON]) -> None:
    """In a puzzle a move is good if it brings the end nearer, and bad if it takes it away."""
    for move in moves:
        known = value is not None and value.remoteness is not None and move["remoteness"] != ENDLESS
        nearer = (value.remoteness or 0) - move["remoteness"] if known and value is not None else 0
        move["deltaRemoteness"] = nearer
        if move["positionValue"] != "unsolved":
            move["moveValue"] = "lose" if not known or nearer < 0 else "win" if nearer > 0 else "tie"


def _word(value: Value | None) -> str:
    if value is None:
        return "unsolved"
    if value.outcome is Outcome.DRAW:
        return "draw" if value.remoteness is None else "tie"
    return "win" if value.outcome is Outcome.WIN else "lose"


def _autogui(game: Game, position: int) -> str:
    """The client reads from the first character whose turn it is."""
    return f"{(game.mover(position) or 0) + 1}_{game.decode(position)}"


def _variants(request: Request) -> dict[str, ServedGame]:
    library: Library = request.app.state.library
    name = request.path_params["game"]
    found = {_variant_id(each.game): each for each in [*library.games.values()] if each.game.name == name}
    if not found:
        raise Refusal(404, f"there is no game called {name[:60]!r}")
    return found


def _variant(request: Request) -> tuple[ServedGame, str]:
    variants, name = _variants(request), request.path_params["variant"]
    spelled = {unquote(each): each for each in variants}  # a client may put an id into a path as it is
    name = spelled.get(name, name)
    if name not in variants:
        raise Refusal(
            404, f"{request.path_params['game']} has no variant {name[:60]!r}; there are {', '.join(variants)}"
        )
    return variants[name], name


def _variant_id(game: Game) -> str:
    return game.identity.removeprefix(game.name).removeprefix("-") or REGULAR


def _title(name: str) -> str:
    return name if name != REGULAR else "Regular"


ROUTES = [
    Route(PREFIX + "/", games),
    Route(PREFIX + "/{game}/", game),
    Route(PREFIX + "/{game}/{variant}/", variant),
    Route(PREFIX + "/{game}/{variant}/positions/", position),
    Route(PREFIX + "/{game}/{variant}/instructions/", instructions),
]
