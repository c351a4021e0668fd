"""`solve plan GAME`: estimate the time, memory and disk space of a solve."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import (
    FiniteFloat,
    GameCommand,
    compile_option,
    directory_option,
    interrupted,
    is_quiet,
    json_option,
    note_rules,
    print_json,
    quiet_option,
    stop_on_interrupt,
    threads_option,
)
from perfectplay.errors import Interrupted
from perfectplay.game import wording
from perfectplay.table.records import FULL

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.plan.plan import Plan


@click.command("plan", cls=GameCommand)
@click.option(
    "--seconds",
    type=FiniteFloat(min=0.1),
    metavar="N",
    help="CPU time for counting and measuring; a longer time gives better estimates (default: 8).",
)
@threads_option
@directory_option
@compile_option
@quiet_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, game: Game, seconds: float | None, threads: int | None, directory: Path | None, as_json: bool
) -> None:
    """Estimate the positions, time, memory and disk space of solving GAME, and recommend a command for this machine."""
    from perfectplay.plan.plan import SECONDS, plan_solve
    from perfectplay.threads import check_stop

    note_rules(game)
    with stop_on_interrupt() as stop:
        if not is_quiet():
            click.echo(click.style("Counting and measuring …", dim=True), err=True)
        try:
            plan = plan_solve(
                game, directory=directory, threads=threads, seconds=seconds or SECONDS, check=partial(check_stop, stop)
            )
        except Interrupted as error:
            raise interrupted(ctx, kept=False) from error
    if as_json:
        print_json(_json(game, plan, directory))
    else:
        click.echo("\n".join(_text(game, plan, directory)))


def _json(game: Game, plan: Plan, directory: Path | None) -> dict[str, Any]:
    shape, outcomes = plan.shape, replace(plan.shape, outcomes=True)
    certain = plan.counted != "lower bound"
    return {
        "game": game.name,
        "options": game.options,
        "indexing": "enumerated" if shape.enumerated else "ranked",
        "index": game.index_kind,
        "slots": shape.slots,
        "positions": shape.positions,
        "counted": plan.counted,
        "cpu_seconds": plan.cpu_seconds if certain else None,
        "seconds": plan.seconds if certain else None,
        "memory": {
            "memory": shape.memory_backend,
            "lmdb": shape.lmdb_backend,
            "least": shape.least_memory,
            "available": plan.available.bytes,
        },
        "disk": {
            "table": shape.table_bytes,
            "scratch": shape.scratch_bytes,
            "free": plan.free_disk,
        },
        "outcome": {
            "memory": outcomes.memory_backend,
            "lmdb": outcomes.lmdb_backend,
            "table": outcomes.table_bytes,
        },
        "method": plan.method if certain else None,
        "values": plan.values if certain else None,
        "command": _command(game, plan, directory) if certain else None,
    }


def _text(game: Game, plan: Plan, directory: Path | None) -> list[str]:
    rows = _unknown_rows(plan) if plan.counted == "lower bound" else _estimate_rows(game, plan)
    lines = [click.style(f"Solving {game.identity}", bold=True), "", *(f"  {name:<9}  {text}" for name, text in rows)]
    if plan.counted == "lower bound":
        return [*lines, "", "The number of positions is unknown, so no method is recommended."]
    fits = _FITS[plan.method] if plan.values == FULL else _OUTCOMES_FIT[plan.method]
    return [*lines, "", f"{fits}: `{_command(game, plan, directory)}`."]


def _unknown_rows(plan: Plan) -> list[tuple[str, str]]:
    """Return the rows for a game of which only a lower bound is known."""
    shape, unknown = plan.shape, "unknown, probably far more"
    return [
        ("positions", f"{unknown} than {shape.positions:,}; try --seconds 60"),
        ("time", "unknown"),
        ("memory", f"{unknown} than {wording.size(shape.lmdb_backend)} with --backend lmdb"),
        ("", f"{wording.size(plan.available.bytes)} available ({plan.available.limit})"),
        ("disk", f"{unknown} than {wording.size(shape.table_bytes)}"),
        ("", f"{wording.size(plan.free_disk)} free"),
    ]


def _estimate_rows(game: Game, plan: Plan) -> list[tuple[str, str]]:
    shape, outcomes, size = plan.shape, replace(plan.shape, outcomes=True), wording.size
    cpu, elapsed = wording.seconds(plan.cpu_seconds), wording.seconds(plan.seconds)
    return [
        ("positions", _positions(plan)),
        ("time", f"about {cpu} of CPU time, {elapsed} on all cores"),
        ("memory", f"about {size(shape.memory_backend)} with --backend memory"),
        ("", f"about {size(shape.lmdb_backend)} with --backend lmdb, {size(shape.least_memory)} with --memory"),
        ("", f"{size(plan.available.bytes)} available ({plan.available.limit})"),
        ("index", game.index_kind or f"none: declaring one would save about {size(8 * shape.positions)} of keys"),
        ("disk", f"about {size(shape.table_bytes)}, and temporarily {size(shape.scratch_bytes)} with --memory"),
        ("", f"{size(plan.free_disk)} free"),
        (
            "outcomes",
            f"about {size(outcomes.memory_backend)} with --backend memory, {size(outcomes.lmdb_backend)} with "
            "--backend lmdb,",
        ),
        ("", f"{size(outcomes.table_bytes)} of disk, with --values outcome"),
    ]


_FITS = {
    "memory": "The solve fits in memory, which is fastest",
    "lmdb": "The solve fits on disk, but not in memory",
    "prove": "A table of all positions does not fit; to prove a single position, use",
}
_OUTCOMES_FIT = {
    "memory": "Full values do not fit, but outcomes fit in memory",
    "lmdb": "Full values do not fit, but outcomes fit on disk",
}


def _positions(plan: Plan) -> str:
    shape = plan.shape
    if plan.counted == "estimate":
        return f"about {round_estimate(shape.positions):,} (estimated)"
    if shape.positions == shape.slots:
        return f"{shape.positions:,}"
    return f"about {round_estimate(shape.positions):,}, in {shape.slots:,} slots"


def round_estimate(count: int) -> int:
    """Round an estimate to two digits.

    >>> round_estimate(16_776_019), round_estimate(7)
    (17000000, 7)
    """
    return round(count, 2 - len(str(count)))


def _command(game: Game, plan: Plan, directory: Path | None) -> str:
    """Return the recommended command."""
    options = ["--backend", "lmdb"] if plan.method == "lmdb" else []
    if plan.budget:
        options += ["--memory", f"{plan.budget >> 20}M"]
    if plan.values != FULL:
        options += ["--values", plan.values]
    if directory:
        options += ["--dir", str(directory)]
    return game.command_line(*options, command="prove" if plan.method == "prove" else None)
