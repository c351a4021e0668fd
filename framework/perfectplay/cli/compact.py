"""`solve compact GAME`: compress a finished table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import (
    GameCommand,
    directory_option,
    json_option,
    open_game_table,
    print_json,
    quiet_option,
    read_size,
    threads_option,
)
from perfectplay.cli._terminal import ProgressDisplay
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.game.game import Game


@click.command("compact", cls=GameCommand)
@directory_option
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write to this new directory instead of replacing the table."
)
@click.option("--memory", callback=read_size, metavar="SIZE", help="Memory to use, such as 256M or 2G.")
@threads_option
@quiet_option
@json_option
def command(
    game: Game, directory: Path | None, output: Path | None, memory: int | None, threads: int | None, as_json: bool
) -> None:
    """Compress the finished table of GAME. All values stay the same."""
    from perfectplay.table.compaction import compact_table
    from perfectplay.table.locations import open_table
    from perfectplay.threads import Progress

    started = time.monotonic()
    with open_game_table(game, directory) as table, ProgressDisplay(f"compact {game.identity}") as progress:
        records = table.records.values()
        slots, positions = sum(record.size for record in records), table.statistics.positions
        before = table.size_on_disk

        def report(done: int) -> None:
            seconds = time.monotonic() - started
            progress(Progress(phase="compressing", positions=done, total=slots, unit="slots", seconds=seconds))

        path = compact_table(table, output, threads=threads, memory=memory, progress=report)
    with open_table(game, path) as compacted:
        after = compacted.size_on_disk
    if as_json:
        print_json(
            {
                "game": game.name,
                "options": game.options,
                "positions": positions,
                "bytes_before": before,
                "bytes": after,
                "bytes_per_position": after / positions,
                "table": str(path),
            }
        )
        return
    click.echo(
        f"{game.identity}: compressed from {wording.size(before)} to {wording.size(after)} "
        f"({8 * after / positions:.2f} bits per position) in {path}"
    )
