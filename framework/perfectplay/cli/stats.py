"""`solve stats GAME`: a table in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, directory_option, json_option, print_json, quiet_option, threads_option
from perfectplay.cli._progress import table_at_work
from perfectplay.errors import UsageError
from perfectplay.game import wording
from perfectplay.table.records import COUNTED, OUTCOME, json_counts

if TYPE_CHECKING:
    from perfectplay.analysis.statistics import Survey
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

TIERS_SHOWN = 24
"""More tiers than this are for --json."""


@click.command("stats", cls=GameCommand)
@click.option("--reachable", is_flag=True, help="Count only what play from the start can reach.")
@click.option(
    "--plot", "plot_file", type=click.Path(path_type=Path), metavar="FILE", help="Draw the histogram: .svg or .png."
)
@threads_option
@directory_option
@quiet_option
@json_option
def command(
    game: Game,
    reachable: bool,
    plot_file: Path | None,
    threads: int | None,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Show the table of GAME in numbers: positions by tier, outcome and remoteness, and the longest wins.

    Values are for the side to move. For an unfinished table, only what is solved so far is counted.
    """
    from perfectplay.analysis.statistics import survey
    from perfectplay.display.histogram import plot

    with table_at_work("stats", game, directory) as (table, progress, stop):
        if plot_file is not None and table.outcomes_only:
            raise UsageError(f"there is nothing to plot: {wording.outcomes_only(puzzle=game.is_puzzle)}")
        found = survey(table, reachable=reachable, threads=threads, progress=progress, stop=stop)
        status, values = _status(table, found), table.info.values
    if plot_file is not None:
        what = "reachable positions" if reachable else "positions"
        plot(found, plot_file, f"{game.identity}: {found.total.positions:,} {what}")
    if as_json:
        print_json(_json(game, found, status, values))
    else:
        click.echo("\n".join(_text(game, found, status, values)))


def _status(table: Table, found: Survey) -> str:
    if table.complete:
        return "complete"
    of = "" if found.tiers_known is None else f" of {found.tiers_known:,}"
    return f"{table.info.status}: {found.tiers_solved:,}{of} tiers solved"


def _text(game: Game, found: Survey, status: str, values: str) -> list[str]:
    total = found.total
    what = "positions that play can reach" if found.reachable else "positions"
    lines = [click.style(f"{game.identity}: {total.positions:,} {what}", bold=True), ""]
    facts = [("table", f"{status}, {wording.size(found.bytes)}")]
    width = len(f"{total.positions:,}")
    counts = json_counts(total, outcomes_only=values == OUTCOME)
    for kind in COUNTED:
        if count := counts.get(kind):
            name = wording.kind_name(kind, puzzle=game.is_puzzle, scored=game.has_score)
            facts.append((name, f"{count:>{width},}  {wording.share(count, total.positions)}"))
    if total.longest_win is not None:
        name = "hardest" if game.is_puzzle else "longest win"
        facts.append((name, wording.length(total.longest_win, puzzle=game.is_puzzle)))
        facts += [("", game.decode(position)) for position in found.longest_wins]
    if total.longest_loss is not None:
        below_zero = "longest below zero" if game.has_score else "longest dead end"
        name = below_zero if game.is_puzzle else "longest loss"
        facts.append((name, wording.length(total.longest_loss, puzzle=game.is_puzzle)))
    if found.branching is not None:
        each = found.branching
        facts.append(
            (
                "legal moves",
                f"{each.moves:.1f} on average, {each.distinct:.1f} up to symmetry, at most {each.most}",
            )
        )
        facts.append(("", f"(sample of {each.sample:,} unfinished positions)"))
    if values == OUTCOME:
        facts.append(("values", wording.outcomes_only(puzzle=game.is_puzzle)))
    name_width = max(14, *(len(name) for name, _ in facts))
    lines += [f"  {name:<{name_width}}  {text}" for name, text in facts]
    if total.positions and values != OUTCOME:
        from perfectplay.display.histogram import text_histogram

        unit = "Moves" if game.is_puzzle else "Plies"
        lines += ["", f"{unit} to the end (bars on a logarithmic scale)"]
        lines += text_histogram(found, puzzle=game.is_puzzle, scored=game.has_score)
    if len(found.tiers) > 1:
        lines += ["", "Tiers", *_tier_rows(game, found, values)]
    return lines


def _tier_rows(game: Game, found: Survey, values: str) -> list[str]:
    total = json_counts(found.total, outcomes_only=values == OUTCOME)
    shown = [kind for kind in COUNTED if total.get(kind)]
    names = [wording.kind_name(kind, puzzle=game.is_puzzle, scored=game.has_score) for kind in shown]
    rows = [["tier", "positions", *names]]
    largest = sorted(found.tiers, key=lambda tier: -found.tiers[tier].positions)[:TIERS_SHOWN]
    for tier in sorted(largest):
        counts = found.tiers[tier]
        rows.append([str(tier), f"{counts.positions:,}", *(f"{getattr(counts, kind):,}" for kind in shown)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    left_out = len(found.tiers) - len(largest)
    return [*lines, f"  … and {left_out:,} smaller ones, which --json lists"] if left_out else lines


def _json(game: Game, found: Survey, status: str, values: str) -> dict[str, Any]:
    outcomes_only = values == OUTCOME
    return {
        "game": game.name,
        "options": game.options,
        "status": status,
        "values": values,
        "reachable": found.reachable,
        **json_counts(found.total, outcomes_only=outcomes_only),
        "longest_win": found.total.longest_win,
        "longest_win_positions": [game.decode(position) for position in found.longest_wins],
        "longest_loss": found.total.longest_loss,
        "by_remoteness": [{"remoteness": plies, **counts} for plies, counts in found.by_remoteness.items()],
        "tiers_solved": found.tiers_solved,
        "tiers_known": found.tiers_known,
        "tiers": [
            {"tier": tier, **json_counts(counts, outcomes_only=outcomes_only)} for tier, counts in found.tiers.items()
        ],
        "legal_moves": None
        if found.branching is None
        else {
            "average": found.branching.moves,
            "average_up_to_symmetry": found.branching.distinct,
            "most": found.branching.most,
            "sample": found.branching.sample,
        },
        "bytes": found.bytes,
    }
