"""`solve random GAME N`: show random positions of a table with their values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import (
    GameCommand,
    directory_option,
    json_option,
    note_outcomes_only,
    open_game_table,
    print_json,
)
from perfectplay.cli._terminal import coloured
from perfectplay.values import value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game


@click.command("random", cls=GameCommand)
@click.argument("count", metavar="N", type=click.IntRange(min=1, max=10_000_000))
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed; the same seed shows the same positions.")
@directory_option
@json_option
def command(game: Game, count: int, seed: int | None, directory: Path | None, as_json: bool) -> None:
    """Show N random positions of GAME with their values, different each time unless --seed is given."""
    from perfectplay.analysis.selection import random_positions

    with open_game_table(game, directory) as table:
        note_outcomes_only(game, table)
        sample = [(position, table.probe(position)) for position in map(int, random_positions(table, count, seed))]
    if as_json:
        print_json(
            [
                {"position": game.decode(position), **value_json(value, scored=game.has_score)}
                for position, value in sample
            ]
        )
        return
    width = max(len(str(value)) for _, value in sample)
    for position, value in sample:
        click.echo(coloured(f"{value!s:<{width}}", value.outcome) + f"  {game.decode(position)}")
