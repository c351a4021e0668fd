"""`solve talk GAME`: a line of JSON in, a line of JSON out. For engines, agents and shell pipes."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import rate_each_move
from perfectplay.cli._common import GameCommand, directory_option, open_game_table, require_stdin
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.values import value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table


@click.command("talk", cls=GameCommand)
@directory_option
def command(game: Game, directory: Path | None) -> None:
    """Answer questions about positions of GAME, one a line, until the input ends.

    A question is a position, as JSON: a text in any of the game's notations, a number, or an object
    {"position": …, "moves": true} to have every move with its value. The answer is an object on one line, in the order
    of the questions; a question that cannot be answered gets {"error": …}.
    """
    require_stdin("`talk` reads queries from it")
    answers = sys.stdout  # for answers alone: what hooks print goes to stderr
    with redirect_stdout(sys.stderr), open_game_table(game, directory) as table:
        for line in sys.stdin.buffer:
            if line.strip():
                answers.write(json.dumps(answer(table, line)) + "\n")  # ASCII, whatever the terminal's encoding
                answers.flush()  # whoever asks one by one waits for this


def answer(table: Table, line: str | bytes) -> dict[str, Any]:
    """The answer to one line."""
    try:
        position, with_moves = _read(table.game, line)
        return _about(table, position, with_moves)
    except PerfectPlayError as error:
        return {"error": str(error)}


def _read(game: Game, line: str | bytes) -> tuple[int, bool]:
    """The position a question is about, and whether all its moves are wanted."""
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:  # a wrong letter, a wrong byte, a number or brackets without end
        raise UsageError(f"not a line of JSON: {error}") from None
    given, with_moves = question, False
    if isinstance(question, dict):
        if unknown := question.keys() - {"position", "moves"}:
            raise UsageError(f"a question has 'position' and 'moves', not '{min(unknown)}'")
        if "position" not in question:
            raise UsageError("a question needs a 'position'")
        given, with_moves = question["position"], question.get("moves", False)
        if not isinstance(with_moves, bool):
            raise UsageError("'moves' is true or false")
    if isinstance(given, str):
        return game.encode(given), with_moves
    if isinstance(given, int) and not isinstance(given, bool) and game.valid(given):
        return given, with_moves
    shown = json.dumps(given)
    raise UsageError(f"{shown if len(shown) <= 80 else shown[:80] + '…'} is not a position of {game.name}")


def _about(table: Table, position: int, with_moves: bool) -> dict[str, Any]:
    game = table.game
    rated = rate_each_move(game, table, position)
    best = [each for each in rated if each.value is not None and each.value == rated[0].value]
    found: dict[str, Any] = {
        "position": game.decode(position),
        "id": position,
        "status": game.status(position).name.lower(),
        **value_json(table.get(position), scored=game.has_score),
        "best": [game.format_move(position, each.move) for each in best],
    }
    if with_moves:
        found["moves"] = [
            {
                "move": game.format_move(position, each.move),
                "id": each.child,
                **value_json(each.value, scored=game.has_score),
            }
            for each in rated
        ]
    return found
