"""`solve GAME`: solve a game and print a summary."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import rate_moves
from perfectplay.cli._common import (
    GameCommand,
    audit_option,
    compile_option,
    directory_option,
    interrupted,
    iso_date,
    json_option,
    note_rules,
    open_game_table,
    print_json,
    quiet_option,
    read_cluster,
    read_size,
    stop_on_interrupt,
    threads_option,
    worker_options,
)
from perfectplay.cli._terminal import ProgressDisplay, coloured
from perfectplay.errors import Interrupted, PluginError, TableError
from perfectplay.game import wording
from perfectplay.game.wording import game_verdict
from perfectplay.table.compact import CompactTable
from perfectplay.table.locations import modification_time, require_same_values
from perfectplay.table.records import COUNTED, FULL, OUTCOME, VALUES, json_counts
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.solve.options import SolveOptions
    from perfectplay.solve.solve import Solution
    from perfectplay.table.records import KeyRecord, Statistics, TierRecord
    from perfectplay.table.table import Table


def _complete_backend(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the backend names for shell completion."""
    from perfectplay.table.store import backends

    return [name for name in backends().entries if name.startswith(incomplete)]


def make_solve_command(name: str) -> click.Command:
    """Create the command that solves the game of this name."""

    @click.command(
        name,
        cls=GameCommand,
        game_name=name,
        help=f"Solve {name}: for every position, who wins and in how many moves.",
    )
    @threads_option
    @click.option(
        "--backend",
        default="memory",
        metavar="NAME",
        shell_complete=_complete_backend,
        help="Where to solve: memory (the default and fastest), lmdb (on disk, resumable), ray (on several machines), "
        "or the backend of a plugin.",
    )
    @click.option("--memory", callback=read_size, metavar="SIZE", help="How much memory to use, such as 256M or 2G.")
    @worker_options
    @audit_option
    @directory_option
    @click.option("--save/--no-save", default=True, help="Keep the table for `show`, `verify` and other commands.")
    @click.option("--force", is_flag=True, help="Solve again even if the game is solved already.")
    @click.option(
        "--values",
        type=click.Choice(VALUES),
        default=FULL,
        help="What to store for each position: who wins and in how many moves (full, the default), or only who wins, "
        "in two bits (outcome).",
    )
    @compile_option
    @quiet_option
    @json_option
    @click.pass_context
    def command(
        ctx: click.Context,
        /,
        game: Game,
        workers: int | None,
        address: str | None,
        audit: float | None,
        force: bool,
        as_json: bool,
        **keywords: Any,
    ) -> None:
        from perfectplay.solve.options import SolveOptions

        cluster = read_cluster(workers, address, audit)
        options = SolveOptions(**keywords, replace_other=force, cluster=cluster)
        summary = _find_summary(game, options) or _solve_and_summarize(ctx, game, options)
        if as_json:
            print_json(summary)
        else:
            click.echo(summary_text(game, summary, options.directory))

    return command


def _find_summary(game: Game, options: SolveOptions) -> dict[str, Any] | None:
    """Return the summary of the game's finished and intact table; None if the game is to be solved."""
    from perfectplay.plan.sizes import FIXED_MEMORY

    if not options.save or options.replace_other:
        return None
    try:
        memory = options.memory and max(1, options.memory - FIXED_MEMORY)
        table = open_game_table(game, options.directory, memory=memory)
    except TableError:
        return None  # the solve resumes or repairs it
    with table:
        records: list[KeyRecord | TierRecord] = [*table.keys.values(), *table.records.values()]
        is_intact = table.store.has_intact_frames if isinstance(table, CompactTable) else table.store.is_intact
        if not table.complete or not all(map(is_intact, records)):
            return None
        require_same_values(table.store, game, options.values)
        return summarize(game, table, None, saved_in=table.store.path)


def _solve_and_summarize(ctx: click.Context, game: Game, options: SolveOptions) -> dict[str, Any]:
    from perfectplay.solve.solve import solve_game
    from perfectplay.table.locations import table_path

    note_rules(game)
    with stop_on_interrupt() as stop, ProgressDisplay(game.identity) as progress:
        try:
            solution = solve_game(game, options, progress=progress, warn=progress.warn, stop=stop)
        except Interrupted as error:
            raise interrupted(ctx, kept=options.chosen_backend.durable) from error
        except PluginError as error:
            raise _explain(game, error) from error
    with solution.table as table:
        path = table_path(game, options.directory) if options.save else None
        return summarize(game, table, solution, saved_in=path)


def _explain(game: Game, error: PluginError) -> PluginError:
    """Return an error that names the hooks that contradict each other, if a check finds them."""
    if error.position is None:
        return error
    from perfectplay.testing.checks import explain_position

    reason = explain_position(game, error.position)
    return error if reason is None else PluginError(f"{game.name}: {reason}")


def summarize(game: Game, table: Table, solution: Solution | None, *, saved_in: Path | None) -> dict[str, Any]:
    """Return the summary as data, with one best first move per symmetry class.

    `solution` is None if the game was solved already.
    """
    start, statistics = game.start(), table.statistics
    value = table.probe(start)
    rated = rate_moves(game, table, start)
    best = [game.format_move(start, each.moves[0]) for each in rated if each.value == rated[0].value]
    longest = _longest_win(statistics)
    deepest = None if longest is None else table.find_value(longest)
    return {
        "game": game.name,
        "options": game.options,
        "outcome": value.outcome.name.lower(),
        "remoteness": value.remoteness,
        **({"score": value.score} if table.scored else {}),
        "values": table.info.values,
        "verdict": game_verdict(game, value, 0),
        "best_moves": best,
        **json_counts(statistics, outcomes_only=table.outcomes_only),
        "longest_win": statistics.longest_win,
        "longest_win_position": None if deepest is None else game.decode(deepest),
        "longest_loss": statistics.longest_loss,
        "already_solved": None if solution else _date(saved_in),
        "resumed": solution is not None and solution.resumed,
        "rules": solution and solution.rules,
        "seconds": solution and solution.seconds,
        "cpu_seconds": solution and solution.cpu_seconds,
        "peak_memory": solution and solution.peak.total,
        "peak_anonymous": solution and solution.peak.anonymous,
        "peak_mapped": solution and solution.peak.mapped,
        **_exchange(solution, statistics.positions),
        "index": game.index_kind,
        "hash": table.info.hash,
        "table": None if saved_in is None else str(saved_in),
    }


def _exchange(solution: Solution | None, positions: int) -> dict[str, Any]:
    """Return the amount of data that workers exchanged, if there were workers."""
    if solution is None or solution.exchanged is None:
        return {}
    return {
        "workers": solution.workers,
        "bytes_exchanged": solution.exchanged,
        "bytes_per_position": round(solution.exchanged / max(1, positions), 3),
    }


def _longest_win(statistics: Statistics) -> Value | None:
    """Return the win with the largest remoteness and, among several scores, the lowest score."""
    values = [Value.from_code(code) for code in statistics.by_code]
    if statistics.longest_win is None:
        return None
    wins = [value for value in values if value.outcome is Outcome.WIN and value.remoteness == statistics.longest_win]
    return min(wins, key=lambda value: value.score, default=None)


def summary_text(game: Game, summary: dict[str, Any], directory: Path | None) -> str:
    """Return the summary as text."""
    positions = summary["positions"]
    rows = [("best first moves", ", ".join(summary["best_moves"]) or "none"), ("positions", f"{positions:,}")]
    for key in COUNTED:
        if summary.get(key):
            count = f"{summary[key]:,}".rjust(len(f"{positions:,}"))
            name = wording.kind_name(key, puzzle=game.is_puzzle, scored=game.has_score)
            rows.append((f"  {name}", f"{count}  {wording.share(summary[key], positions)}"))
    if (longest := summary["longest_win"]) is not None:
        length = wording.length(longest, puzzle=game.is_puzzle)
        name = "hardest" if game.is_puzzle else "longest win"
        rows.append((name, f"{length}, from {summary['longest_win_position']}"))
    if summary["values"] == OUTCOME:
        rows.append(("values", wording.outcomes_only(puzzle=game.is_puzzle)))
    if game.kernel is None and summary["rules"] is not None:
        rows.append(("rules", summary["rules"]))
    if summary["already_solved"] is None:
        # The speed of a resumed solve is unknown because earlier runs did a part of it.
        speed = "" if summary["resumed"] else f", {wording.rate(positions, summary['seconds'])}"
        cpu = wording.seconds(summary["cpu_seconds"])
        rows.append(("time", f"{wording.seconds(summary['seconds'])} (CPU {cpu}){speed}"))
        rows.append(("peak memory", _peak(summary)))
    rows += [
        ("index", summary["index"] or "none: 8 bytes per position for its key, which a declared index would save"),
        ("hash", summary["hash"]),
        ("table", summary["table"] or "not saved"),
    ]
    facts = "\n".join(f"  {name:<16}  {text}" for name, text in rows)
    title = coloured(summary["verdict"], Outcome[summary["outcome"].upper()], bold=True)
    return f"{title}\n\n{facts}\n\n{_what_next(game, summary, directory)}"


def _peak(summary: dict[str, Any]) -> str:
    """Return anonymous memory and mapped files separately, because the system can reclaim the latter at any time."""
    if summary["peak_anonymous"] is None:
        return wording.size(summary["peak_memory"])
    mapped = wording.size(summary["peak_mapped"])
    return f"{wording.size(summary['peak_anonymous'])}, and {mapped} of mapped files"


def _what_next(game: Game, summary: dict[str, Any], directory: Path | None) -> str:
    if summary["table"] is None:
        return "Leave out --no-save to keep the table, and look at it with `solve show`."
    already = summary["already_solved"]
    again = f"Already solved (since {already.replace('T', ' ')[:16]}); --force solves it again.\n" if already else ""
    place = ["--dir", str(directory)] if directory else []
    show, verify = (game.command_line(*place, command=command) for command in ("show", "verify"))
    return f"{again}Try `{show}`, or prove it all with `{verify}`."


def _date(path: Path | None) -> str | None:
    """Return the time at which the table was written; the present time if it has just been removed."""
    if path is None:
        return None
    with suppress(OSError):
        return iso_date(modification_time(path))
    return iso_date(time.time())
