"""`solve bench GAME`: measure the speed of a game on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import GameCommand, directory_option, is_quiet, json_option, print_json, quiet_option

if TYPE_CHECKING:
    from perfectplay.game.game import Game


@click.command("bench", cls=GameCommand)
@directory_option
@quiet_option
@json_option
def command(game: Game, directory: Path | None, as_json: bool) -> None:
    """Measure the speed of GAME, and of its table if it is solved, on one core."""
    from perfectplay.analysis.bench import run_benchmarks

    lines = []
    for line in run_benchmarks(game, directory, announce=_announce):
        lines.append({"what": line.what, "value": line.value, "unit": line.unit})
        if not as_json:
            value = f"{line.value:,.0f}" if line.value >= 100 else f"{line.value:.3f}"
            click.echo(f"{line.what:40} {value:>14} {line.unit}")
    if as_json:
        print_json({"game": game.name, "options": game.options, "measurements": lines})


def _announce(what: str) -> None:
    if not is_quiet():
        click.echo(click.style(f"measuring: {what} …", dim=True), err=True)
