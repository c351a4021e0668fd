"""`solve GAME`: solve it, and say what was found."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import rate_moves
from perfectplay.cli import prove as weak
from perfectplay.cli._common import (
    GameCommand,
    audit_option,
    directory_option,
    interrupted,
    json_option,
    open_game_table,
    print_json,
    quiet_option,
    read_cluster,
    read_size,
    stop_on_interrupt,
    threads_option,
    worker_options,
)
from perfectplay.cli._progress import ProgressDisplay
from perfectplay.cli._text import coloured
from perfectplay.errors import Interrupted, TableError
from perfectplay.game import wording
from perfectplay.game.wording import game_verdict
from perfectplay.table.locations import require_same_values
from perfectplay.table.records import COUNTED, FULL, OUTCOME, VALUES, json_counts
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.solve.options import Cluster
    from perfectplay.solve.solve import Solution
    from perfectplay.table.records import KeyRecord, Statistics, TierRecord
    from perfectplay.table.table import Table

METHODS = ("retrograde", weak.METHOD)


def _complete_backend(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: the backends that are there."""
    from perfectplay.table.store import backends

    return [name for name in backends().entries if name.startswith(incomplete)]


def solve_command(name: str) -> click.Command:
    """The command that solves the game of this name."""
    return GameCommand(
        name,
        game_name=name,
        callback=_solve,
        params=list(_template.params),
        help=f"Solve {name}: for every position, who wins and in how many moves.",
    )


@click.command()
@threads_option
@click.option(
    "--backend",
    default="memory",
    metavar="NAME",
    shell_complete=_complete_backend,
    help="Where to solve: memory (the default, the fastest), lmdb (on disk, resumable), ray (on many machines), or one "
    "that a plugin brings.",
)
@click.option("--memory", callback=read_size, metavar="SIZE", help="How much memory to use, such as 256M or 2G.")
@worker_options
@audit_option
@directory_option
@click.option("--save/--no-save", default=True, help="Keep the table for `show`, `verify` and the others.")
@click.option("--force", is_flag=True, help="Solve again what is solved already.")
@click.option(
    "--values",
    type=click.Choice(VALUES),
    default=FULL,
    help="What to find and keep of each position: who wins and in how many moves (full, the default), or who wins "
    "alone, in two bits (outcome).",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=METHODS[0],
    help="Solve every position (retrograde, the default), or prove one (alphabeta).",
)
@weak.from_option
@weak.checkpoint_option
@weak.prune_option
@weak.table_option
@quiet_option
@json_option
def _template(**parameters: Any) -> None:
    """The options that solving any game has."""


@click.pass_context
def _solve(
    ctx: click.Context,
    game: Game,
    threads: int | None,
    backend: str,
    memory: int | None,
    workers: int | None,
    address: str | None,
    audit: float | None,
    directory: Path | None,
    save: bool,
    force: bool,
    values: str,
    method: str,
    root: str | None,
    checkpoint: float,
    prune: bool,
    use_table: bool,
    as_json: bool,
) -> None:
    weak.check_options(ctx, method)
    if method == weak.METHOD:
        weak.prove(
            ctx,
            game,
            root,
            directory=directory,
            save=save,
            checkpoint=checkpoint,
            prune=prune,
            use_table=use_table,
            as_json=as_json,
        )
        return
    from perfectplay.solve.options import choose_backend
    from perfectplay.table.lmdb_store import remove_table

    durable = choose_backend(backend).durable  # a wrong name is refused even where nothing is left to do
    if save and not force and (there := _finished_table(game, directory, memory)) is not None:
        with there:
            require_same_values(there.store, game, values)
            summary = summarize(game, there, None, saved_in=there.store.path)
    else:
        cluster = read_cluster(workers, address, audit)
        if force and durable and (path := _saved_in(game, directory)).exists():
            remove_table(path)  # a durable backend would find it finished
        solution = _solve_anew(
            ctx, game, backend, durable, memory, threads, cluster, directory, values, save=save, force=force
        )
        with solution.table as table:
            summary = summarize(game, table, solution, saved_in=_saved_in(game, directory) if save else None)
    if as_json:
        print_json(summary)
    else:
        click.echo(summary_text(game, summary, directory))


def _finished_table(game: Game, directory: Path | None, memory: int | None) -> Table | None:
    """The game's table if it is finished and sound; what else is there is for the solve to resume or to repair."""
    from perfectplay.plan.sizes import FIXED_MEMORY

    try:
        table = open_game_table(game, directory, memory=memory and max(1, memory - FIXED_MEMORY))
    except TableError:
        return None
    records: list[KeyRecord | TierRecord] = [*table.keys.values(), *table.records.values()]
    if table.complete and (table.info.compact or all(map(table.store.is_intact, records))):
        return table
    table.close()
    return None


def _solve_anew(
    ctx: click.Context,
    game: Game,
    backend: str,
    durable: bool,
    memory: int | None,
    threads: int | None,
    cluster: Cluster | None,
    directory: Path | None,
    values: str,
    *,
    save: bool,
    force: bool,
) -> Solution:
    from perfectplay.solve.solve import solve_game

    with stop_on_interrupt() as stop, ProgressDisplay(game.identity) as progress:
        try:
            return solve_game(
                game,
                backend=backend,
                directory=directory,
                save=save,
                replace_other=force,
                values=values,
                threads=threads,
                memory=memory,
                progress=progress,
                warn=progress.warn,
                stop=stop,
                cluster=cluster,
            )
        except Interrupted as error:
            raise interrupted(ctx, kept=durable) from error


def summarize(game: Game, table: Table, solution: Solution | None, *, saved_in: Path | None) -> dict[str, Any]:
    """Everything the summary says, as data. Of the best first moves, one of each symmetry class.

    Without a solution the table was there already.
    """
    start, found = game.start(), table.statistics
    value = table.probe(start)
    rated = rate_moves(game, table, start)
    best = [game.format_move(start, each.moves[0]) for each in rated if each.value == rated[0].value]
    longest = _longest_win(found)
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
        **json_counts(found, outcomes_only=table.outcomes_only),
        "longest_win": found.longest_win,
        "longest_win_position": None if deepest is None else game.decode(deepest),
        "longest_loss": found.longest_loss,
        "already_solved": None if solution else _date(saved_in),
        "resumed": solution is not None and solution.resumed,
        "seconds": solution and solution.seconds,
        "cpu_seconds": solution and solution.cpu_seconds,
        "peak_memory": solution and solution.peak.total,
        "peak_anonymous": solution and solution.peak.anonymous,
        "peak_mapped": solution and solution.peak.mapped,
        **_exchange(solution, found.positions),
        "hash": table.info.hash,
        "table": None if saved_in is None else str(saved_in),
    }


def _exchange(solution: Solution | None, positions: int) -> dict[str, Any]:
    """What workers sent each other and the driver, where there were workers."""
    if solution is None or solution.exchanged is None:
        return {}
    return {
        "workers": solution.workers,
        "bytes_exchanged": solution.exchanged,
        "bytes_per_position": round(solution.exchanged / max(1, positions), 3),
    }


def _longest_win(found: Statistics) -> Value | None:
    """A value of the most plies to a win; of several scores the lowest."""
    values = [Value.from_code(code) for code in found.by_code]
    if found.longest_win is None:
        return None
    wins = [value for value in values if value.outcome is Outcome.WIN and value.remoteness == found.longest_win]
    return min(wins, key=lambda value: value.score, default=None)


def summary_text(game: Game, summary: dict[str, Any], directory: Path | None) -> str:
    """The summary as people read it."""
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
    if summary["already_solved"] is None:
        # How quickly a resumed solve went, nobody knows: earlier runs had a part in it.
        speed = "" if summary["resumed"] else f", {wording.rate(positions, summary['seconds'])}"
        cpu = wording.seconds(summary["cpu_seconds"])
        rows.append(("time", f"{wording.seconds(summary['seconds'])} (CPU {cpu}){speed}"))
        rows.append(("peak memory", _peak(summary)))
    rows += [
        ("hash", summary["hash"]),
        ("table", summary["table"] or "not saved"),
    ]
    facts = "\n".join(f"  {name:<16}  {text}" for name, text in rows)
    title = coloured(summary["verdict"], Outcome[summary["outcome"].upper()], bold=True)
    return f"{title}\n\n{facts}\n\n{_what_next(game, summary, directory)}"


def _peak(summary: dict[str, Any]) -> str:
    """What was the process's own, and what was pages of files, which the system takes back when it needs them."""
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
    """When the table was written."""
    if path is None:
        return None
    newest = max((file.stat().st_mtime for file in path.iterdir() if file.is_file()), default=path.stat().st_mtime)
    return datetime.fromtimestamp(newest).astimezone().isoformat(timespec="seconds")


def _saved_in(game: Game, directory: Path | None) -> Path:
    from perfectplay.table.locations import table_path

    return table_path(game, directory)
