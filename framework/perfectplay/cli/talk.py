"""`solve talk GAME`: answer queries in JSON, one per line, for engines, agents and shell pipes."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import best_of, rate_each_move
from perfectplay.cli._common import GameCommand, directory_option, open_game_table, require_stdin
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.values import value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table


@click.command("talk", cls=GameCommand)
@directory_option
def command(game: Game, directory: Path | None) -> None:
    """Answer queries about positions of GAME, one per line, until the input ends.

    A query is a position in JSON: a text in any of the game's notations, a number, or an object {"position": …,
    "moves": true} to get the value of every move. Each query gets one line with a JSON object, in the same order. An
    invalid query gets {"error": …}.
    """
    require_stdin("`talk` reads queries from it")
    output = sys.stdout  # reserved for answers; the output of hooks goes to stderr
    with redirect_stdout(sys.stderr), open_game_table(game, directory) as table:
        for line in sys.stdin.buffer:
            if line.strip():
                output.write(json.dumps(answer(table, line)) + "\n")  # ASCII, so that any encoding works
                output.flush()  # the client may wait for the answer


def answer(table: Table, line: str | bytes) -> dict[str, Any]:
    """Answer one line."""
    try:
        position, with_moves = _parse_query(table.game, line)
        return _describe(table, position, with_moves)
    except PerfectPlayError as error:
        return {"error": str(error)}


def _parse_query(game: Game, line: str | bytes) -> tuple[int, bool]:
    """Return the position of a query, and whether it asks for the values of all moves."""
    try:
        query = json.loads(line)
    except (ValueError, RecursionError) as error:  # wrong syntax or bytes, a huge number, or too many brackets
        raise UsageError(f"the line is not valid JSON: {error}") from None
    position, with_moves = query, False
    if isinstance(query, dict):
        if unknown := query.keys() - {"position", "moves"}:
            raise UsageError(f"unknown key '{min(unknown)}'; a query has the keys 'position' and 'moves'")
        if "position" not in query:
            raise UsageError("the query has no 'position'")
        position, with_moves = query["position"], query.get("moves", False)
        if not isinstance(with_moves, bool):
            raise UsageError("'moves' must be true or false")
    if isinstance(position, str):
        return game.encode(position), with_moves
    if isinstance(position, int) and not isinstance(position, bool) and game.valid(position):
        return position, with_moves
    shown = json.dumps(position)
    raise UsageError(f"{shown if len(shown) <= 80 else shown[:80] + '…'} is not a position of {game.name}")


def _describe(table: Table, position: int, with_moves: bool) -> dict[str, Any]:
    game = table.game
    rated = rate_each_move(game, table, position)
    description: dict[str, Any] = {
        "position": game.decode(position),
        "id": position,
        "status": game.status(position).name.lower(),
        **value_json(table.get(position), scored=game.has_score),
        "best": [game.format_move(position, each.move) for each in best_of(rated)],
    }
    if with_moves:
        description["moves"] = [
            {
                "move": game.format_move(position, each.move),
                "id": each.child,
                **value_json(each.value, scored=game.has_score),
            }
            for each in rated
        ]
    return description
