"""`solve stats GAME`: show counts of a table by tier, outcome and remoteness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, directory_option, json_option, print_json, quiet_option, threads_option
from perfectplay.cli._terminal import table_at_work
from perfectplay.errors import UsageError
from perfectplay.game import wording
from perfectplay.table.records import COUNTED, OUTCOME, json_counts

if TYPE_CHECKING:
    from perfectplay.analysis.statistics import Survey
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

SHOWN_TIERS = 24
"""Number of tiers in the table of tiers; --json lists all."""


@click.command("stats", cls=GameCommand)
@click.option("--reachable", is_flag=True, help="Count only positions that are reachable from the start.")
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
    """Show counts of the table of GAME by tier, outcome and remoteness, and the longest wins.

    Values are for the side to move. For an unfinished table, only the solved tiers are counted.
    """
    from perfectplay.analysis.statistics import plot, survey

    with table_at_work("stats", game, directory) as (table, progress, stop):
        if plot_file is not None and table.outcomes_only:
            raise UsageError(f"there is nothing to plot: {wording.outcomes_only(puzzle=game.is_puzzle)}")
        result = survey(table, reachable=reachable, threads=threads, progress=progress, stop=stop)
        status, values = _status(table, result), table.info.values
    if plot_file is not None:
        what = "reachable positions" if reachable else "positions"
        plot(result, plot_file, f"{game.identity}: {result.total.positions:,} {what}")
    if as_json:
        print_json(_json(game, result, status, values))
    else:
        click.echo("\n".join(_lines(game, result, status, values)))


def _status(table: Table, result: Survey) -> str:
    if table.complete:
        return "complete"
    total = "" if result.tiers_known is None else f" of {result.tiers_known:,}"
    return f"{table.info.status}: {result.tiers_solved:,}{total} tiers solved"


def _lines(game: Game, result: Survey, status: str, values: str) -> list[str]:
    total = result.total
    what = "reachable positions" if result.reachable else "positions"
    lines = [click.style(f"{game.identity}: {total.positions:,} {what}", bold=True), ""]
    facts = _facts(game, result, status, outcomes_only=values == OUTCOME)
    width = max(14, *(len(name) for name, _ in facts))
    lines += [f"  {name:<{width}}  {text}" for name, text in facts]
    if total.positions and values != OUTCOME:
        from perfectplay.analysis.statistics import text_histogram

        unit = "Moves" if game.is_puzzle else "Plies"
        lines += ["", f"{unit} to the end (bars on a logarithmic scale)"]
        lines += text_histogram(result, puzzle=game.is_puzzle, scored=game.has_score)
    if len(result.tiers) > 1:
        lines += ["", "Tiers", *_tier_rows(game, result, outcomes_only=values == OUTCOME)]
    return lines


def _facts(game: Game, result: Survey, status: str, *, outcomes_only: bool) -> list[tuple[str, str]]:
    """Return names and texts, for display in two columns."""
    total = result.total
    facts = [("table", f"{status}, {wording.size(result.bytes)}")]
    width = len(f"{total.positions:,}")
    counts = json_counts(total, outcomes_only=outcomes_only)
    for kind in COUNTED:
        if count := counts.get(kind):
            facts.append((_kind_name(game, kind), f"{count:>{width},}  {wording.share(count, total.positions)}"))
    if total.longest_win is not None:
        name = "hardest" if game.is_puzzle else "longest win"
        facts.append((name, wording.length(total.longest_win, puzzle=game.is_puzzle)))
        facts += [("", game.decode(position)) for position in result.longest_wins]
    if total.longest_loss is not None:
        puzzle_name = "longest below zero" if game.has_score else "longest dead end"
        name = puzzle_name if game.is_puzzle else "longest loss"
        facts.append((name, wording.length(total.longest_loss, puzzle=game.is_puzzle)))
    if (branching := result.branching) is not None:
        averages = f"{branching.moves:.1f} on average, {branching.distinct:.1f} up to symmetry"
        facts.append(("legal moves", f"{averages}, at most {branching.most}"))
        facts.append(("", f"(sample of {branching.sample:,} unfinished positions)"))
    if outcomes_only:
        facts.append(("values", wording.outcomes_only(puzzle=game.is_puzzle)))
    return facts


def _tier_rows(game: Game, result: Survey, *, outcomes_only: bool) -> list[str]:
    """Return the lines of a table with the counts of the largest tiers."""
    total = json_counts(result.total, outcomes_only=outcomes_only)
    kinds = [kind for kind in COUNTED if total.get(kind)]
    rows = [["tier", "positions", *(_kind_name(game, kind) for kind in kinds)]]
    largest = sorted(result.tiers, key=lambda tier: -result.tiers[tier].positions)[:SHOWN_TIERS]
    for tier in sorted(largest):
        counts = json_counts(result.tiers[tier], outcomes_only=outcomes_only)
        rows.append([str(tier), *(f"{counts[kind]:,}" for kind in ("positions", *kinds))])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    omitted = len(result.tiers) - len(largest)
    return [*lines, f"  … and {omitted:,} smaller tiers, which --json lists"] if omitted else lines


def _kind_name(game: Game, kind: str) -> str:
    return wording.kind_name(kind, puzzle=game.is_puzzle, scored=game.has_score)


def _json(game: Game, result: Survey, status: str, values: str) -> dict[str, Any]:
    outcomes_only = values == OUTCOME
    return {
        "game": game.name,
        "options": game.options,
        "status": status,
        "values": values,
        "reachable": result.reachable,
        **json_counts(result.total, outcomes_only=outcomes_only),
        "longest_win": result.total.longest_win,
        "longest_win_positions": [game.decode(position) for position in result.longest_wins],
        "longest_loss": result.total.longest_loss,
        "by_remoteness": [{"remoteness": plies, **counts} for plies, counts in result.by_remoteness.items()],
        "tiers_solved": result.tiers_solved,
        "tiers_known": result.tiers_known,
        "tiers": [
            {"tier": tier, **json_counts(counts, outcomes_only=outcomes_only)} for tier, counts in result.tiers.items()
        ],
        "legal_moves": None
        if result.branching is None
        else {
            "average": result.branching.moves,
            "average_up_to_symmetry": result.branching.distinct,
            "most": result.branching.most,
            "sample": result.branching.sample,
        },
        "bytes": result.bytes,
    }
