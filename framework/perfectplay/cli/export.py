"""`solve export GAME FORMAT FILE`: a table, or the positions of it that are wanted, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay import plugins, wording
from perfectplay.cli.common import (
    GameCommand,
    directory_option,
    json_option,
    print_json,
    quiet_option,
)
from perfectplay.cli.progress import table_at_work

if TYPE_CHECKING:
    from perfectplay.game import Game


def _complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: the formats that are there."""
    return [name for name in plugins.host_registry().exporters if name.startswith(incomplete)]


@click.command("export", cls=GameCommand)
@click.argument("format", shell_complete=_complete_format)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--outcome", type=click.Choice(["win", "draw", "loss"]), help="Only positions of this outcome for the side to move."
)
@click.option(
    "--max-remoteness", type=click.IntRange(min=0), metavar="N", help="Only positions that end within N plies."
)
@click.option("--tier", "tiers", type=int, multiple=True, metavar="N", help="Only this tier; may be repeated.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N, in the order of the table.")
@directory_option
@quiet_option
@json_option
def command(
    game: Game,
    format: str,
    file: Path,
    outcome: str | None,
    max_remoteness: int | None,
    tiers: tuple[int, ...],
    limit: int | None,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Write the table of GAME to FILE in a FORMAT: csv, gbl2, parquet, sqlite, or one that a plugin brings.

    FILE is written atomically: it appears once it is complete, and then replaces an existing one.
    """
    from perfectplay.exports.export import export_table
    from perfectplay.queries.selection import Selection
    from perfectplay.values import Outcome

    wanted = Selection(
        outcome=None if outcome is None else Outcome[outcome.upper()],
        max_remoteness=max_remoteness,
        tiers=frozenset(tiers) or None,
        limit=limit,
    )
    with table_at_work("export", game, directory) as (table, progress, stop):
        report = export_table(table, format, file, wanted, progress=progress, stop=stop)
    if as_json:
        print_json(
            {
                "game": game.name,
                "options": game.options,
                "format": format,
                "file": str(report.path),
                "positions": report.positions,
                "bytes": report.bytes,
                "seconds": report.seconds,
            }
        )
        return
    size, time = wording.size(report.bytes), wording.seconds(report.seconds)
    click.echo(f"{report.path}: {wording.counted(report.positions, 'position')}, {size} ({time})")
