"""`solve verify GAME`: prove every value of a table from the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import (
    GameCommand,
    compile_option,
    directory_option,
    json_option,
    note_rules,
    print_json,
    quiet_option,
    read_cluster,
    read_size,
    threads_option,
    worker_options,
)
from perfectplay.cli._terminal import table_at_work
from perfectplay.errors import UsageError
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.solve.verification import BadPosition


@click.command("verify", cls=GameCommand)
@threads_option
@worker_options
@click.option(
    "--memory",
    callback=read_size,
    metavar="SIZE",
    help="Memory to use, such as 256M or 2G. Only a table of outcomes needs much.",
)
@directory_option
@compile_option
@quiet_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    game: Game,
    threads: int | None,
    workers: int | None,
    address: str | None,
    memory: int | None,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Prove every value in the table of GAME from the rules alone. Exit code 1 if a value is wrong.

    With --workers or --address, the work is done by Ray workers on one or several machines.
    """
    cluster = read_cluster(workers, address)
    if cluster is not None and threads is not None:
        raise UsageError("--threads cannot be combined with --workers or --address, because each worker has one thread")
    if cluster is not None and memory is not None:
        raise UsageError("--memory cannot be combined with --workers or --address")
    note_rules(game)
    with table_at_work("verify", game, directory) as (table, progress, stop):
        if cluster is None:
            from perfectplay.solve.verification import verify_table

            report = verify_table(table, threads=threads, memory=memory, progress=progress, stop=stop)
        else:
            from perfectplay.cluster.verification import verify_with_workers

            report = verify_with_workers(table, cluster, progress=progress, stop=stop)
        outcomes_only = table.outcomes_only
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
                "rules": report.rules,
                "workers": report.workers,
            }
        )
    else:
        checked = wording.counted(report.checked, "position")
        result = f"{report.bad:,} of {checked} wrong" if report.bad else f"proven, all {checked} correct"
        result += ", outcomes only" if outcomes_only else ""
        times = f"{wording.seconds(report.seconds)}, CPU {wording.seconds(report.cpu_seconds)}"
        rules = f"rules: {report.rules}; " if game.kernel is None else ""
        click.echo(f"{game.identity}: {result} ({rules}{times})")
        for bad in report.examples:
            click.echo(f"  {_name(game, bad)}: stored {bad.stored}, should be {bad.expected}")
    ctx.exit(1 if report.bad else 0)


def _name(game: Game, bad: BadPosition) -> str:
    """Return the position in the game's notation, or the slot if it should contain no position."""
    return f"tier {bad.tier}, index {bad.index}" if bad.position is None else game.decode(bad.position)
