"""`solve verify GAME`: prove a table, position by position, from the rules alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay import wording
from perfectplay.cli.common import (
    GameCommand,
    directory_option,
    json_option,
    print_json,
    quiet_option,
    threads_option,
)
from perfectplay.cli.progress import table_at_work

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.solving.verify import BadPosition


@click.command("verify", cls=GameCommand)
@threads_option
@directory_option
@quiet_option
@json_option
@click.pass_context
def command(ctx: click.Context, game: Game, threads: int | None, directory: Path | None, as_json: bool) -> None:
    """Prove the table of GAME: derive every stored value again from the rules alone. Exit code 1 if one is wrong."""
    from perfectplay.solving.verify import verify_table

    with table_at_work("verify", game, directory) as (table, progress, stop):
        report = verify_table(table, threads=threads, progress=progress, stop=stop)
    if as_json:
        print_json(
            {
                "game": game.name,
                "options": game.options,
                "checked": report.checked,
                "bad": report.bad,
                "examples": [
                    {"position": _name(game, bad), "stored": bad.stored, "expected": bad.expected}
                    for bad in report.examples
                ],
                "seconds": report.seconds,
                "cpu_seconds": report.cpu_seconds,
            }
        )
    else:
        checked = wording.counted(report.checked, "position")
        result = f"proven, all {checked} right" if report.bad == 0 else f"{report.bad:,} bad of {checked}"
        times = f"{wording.seconds(report.seconds)}, CPU {wording.seconds(report.cpu_seconds)}"
        click.echo(f"{game.identity}: {result} ({times})")
        for bad in report.examples:
            click.echo(f"  {_name(game, bad)}: stored {bad.stored}, right is {bad.expected}")
    ctx.exit(1 if report.bad else 0)


def _name(game: Game, bad: BadPosition) -> str:
    """The position in people's notation, or the slot where there should be none."""
    return f"tier {bad.tier}, index {bad.index}" if bad.position is None else game.decode(bad.position)
