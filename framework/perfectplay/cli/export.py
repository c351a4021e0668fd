"""`solve export GAME FORMAT FILE`: write a table, or a selection of its positions, in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import (
    FiniteFloat,
    GameCommand,
    directory_option,
    json_option,
    note_outcomes_only,
    print_json,
    quiet_option,
)
from perfectplay.cli._terminal import table_at_work
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.analysis.dataset import DatasetReport
    from perfectplay.game.game import Game


def _complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an installed format in the shell."""
    from perfectplay.analysis.export import exporters

    return [name for name in exporters() if name.startswith(incomplete)]


@click.command("export", cls=GameCommand)
@click.argument("format", shell_complete=_complete_format)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--outcome",
    type=click.Choice(["win", "draw", "loss"]),
    help="Only positions with this outcome for the side to move.",
)
@click.option(
    "--max-remoteness", type=click.IntRange(min=0), metavar="N", help="Only positions that end within N plies."
)
@click.option("--tier", "tiers", type=int, multiple=True, metavar="N", help="Only this tier; may be repeated.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the first N positions in the order of the table, or a sample of N with --features.",
)
@click.option(
    "--features",
    is_flag=True,
    help="Write a data set for machine learning: board planes, legal and best moves (parquet).",
)
@click.option(
    "--sample",
    type=click.Choice(["uniform", "remoteness"]),
    help="With --features and --limit: sample uniformly (the default), or evenly by remoteness.",
)
@click.option(
    "--test",
    "test_share",
    type=FiniteFloat(0, 1, max_open=True),
    metavar="SHARE",
    help="With --features: write this share of the positions to a separate file for testing.",
)
@click.option("--seed", type=int, metavar="N", help="Seed of the sample (default: 0).")
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
    features: bool,
    sample: str | None,
    test_share: float | None,
    seed: int | None,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Write the table of GAME to FILE. FORMAT is csv, gbl2, parquet, sqlite, or a plugin's format.

    FILE is written atomically: it appears, or replaces an existing file, only when it is complete. FILE may be - for
    standard output.
    """
    from perfectplay.analysis.dataset import Sampling, export_dataset
    from perfectplay.analysis.export import export_table
    from perfectplay.analysis.selection import Selection
    from perfectplay.compile.kernel import solving_kernel
    from perfectplay.errors import PerfectPlayError, UsageError
    from perfectplay.files import is_standard_output
    from perfectplay.values import Outcome

    selection = Selection(
        outcome=None if outcome is None else Outcome[outcome.upper()],
        max_remoteness=max_remoteness,
        tiers=frozenset(tiers) or None,
        limit=limit,
    )
    to_stdout = is_standard_output(file)
    if to_stdout and (as_json or features):
        raise UsageError(f"{'--json' if as_json else '--features'} needs the name of a file, not standard output")
    if to_stdout and sys.stdout is None:
        raise PerfectPlayError("standard output is closed, so the table cannot be written to it")
    if features:
        if format != "parquet":
            raise UsageError(f"--features needs the format parquet, not {format}")
        sampling = Sampling(limit, sample == "remoteness", test_share or 0.0, seed or 0)
        with table_at_work("export", game, directory, solving_kernel(game)) as (table, progress, stop):
            note_outcomes_only(game, table)
            dataset = export_dataset(table, file, selection, sampling, progress=progress, stop=stop)
        _print_dataset(dataset, as_json)
        return
    if sample or test_share is not None or seed is not None:
        raise UsageError("--sample, --test and --seed need --features")
    with table_at_work("export", game, directory, solving_kernel(game)) as (table, progress, stop):
        note_outcomes_only(game, table)
        report = export_table(table, format, file, selection, progress=progress, stop=stop)
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
    click.echo(f"{report.path}: {wording.counted(report.positions, 'position')}, {size} ({time})", err=to_stdout)


def _print_dataset(dataset: DatasetReport, as_json: bool) -> None:
    if as_json:
        files = [{"file": str(path), "positions": count} for path, count in dataset.files.items()]
        print_json({"files": files, "card": str(dataset.card)})
        return
    for path, count in dataset.files.items():
        click.echo(f"{path}: {wording.counted(count, 'position')}, {wording.size(path.stat().st_size)}")
    click.echo(f"{dataset.card}: dataset card")
