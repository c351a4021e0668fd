"""`solve show GAME [POSITION]`: show a position, who wins it, and the value of each move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import RatedMoves, rate_moves
from perfectplay.cli._common import (
    GameCommand,
    directory_option,
    json_option,
    note_outcomes_only,
    open_game_table,
    print_json,
)
from perfectplay.cli._terminal import headline, painter, rated_lines
from perfectplay.game.board_text import draw
from perfectplay.game.wording import game_verdict
from perfectplay.values import Status, value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.values import Value


@click.command("show", cls=GameCommand)
@click.argument("position", required=False)
@directory_option
@json_option
def command(game: Game, position: str | None, directory: Path | None, as_json: bool) -> None:
    """Show a POSITION of GAME, in any of its notations (default: the start).

    Every legal move is listed with its value for the player who makes it, best first. Moves that are equivalent by
    symmetry are grouped.
    """
    number = game.start() if position is None else game.encode(position)
    with open_game_table(game, directory) as table:
        # In a finished table a missing value is an error.
        value = table.probe(number) if table.complete else table.get(number)
        rated = rate_moves(game, table, number, known_only=not table.complete)
        no_value = f"No value yet: {table.unfinished()}"
        note_outcomes_only(game, table)
    board = game.board(number)
    verdict = no_value if value is None else game_verdict(game, value, game.mover(number))
    if as_json:
        print_json(_json(game, number, value, verdict, rated))
        return
    if board is not None:
        click.echo(draw(board, painter(board), over=game.status(number) is not Status.ONGOING) + "\n")
    notations = game.notations(number)
    width = max(map(len, notations), default=0)
    for name, text in notations.items():
        click.echo(f"{name:<{width}}  {text}")
    click.echo(f"\n{headline(verdict, value)}")
    if rated:
        click.echo()
    for line in rated_lines(game, number, rated):
        click.echo(line)


def _json(game: Game, position: int, value: Value | None, verdict: str, rated: list[RatedMoves]) -> dict[str, Any]:
    return {
        "game": game.name,
        "options": game.options,
        "position": game.decode(position),
        "notations": game.notations(position),
        "status": game.status(position).name.lower(),
        **value_json(value, scored=game.has_score),
        "verdict": verdict,
        "moves": [
            {
                "moves": [game.format_move(position, move) for move in each.moves],
                **value_json(each.value, scored=game.has_score),
            }
            for each in rated
        ],
    }
