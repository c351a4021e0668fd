"""`solve GAME`: solve it, and say what was found."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay import plugins, wording
from perfectplay.cli import weak
from perfectplay.cli.common import (
    GameCommand,
    directory_option,
    interrupted,
    json_option,
    print_json,
    read_size,
    stop_on_interrupt,
    threads_option,
)
from perfectplay.cli.progress import ProgressDisplay
from perfectplay.errors import Interrupted
from perfectplay.options import as_words
from perfectplay.queries.moves import rate_moves
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.solving.strong import Solution

METHODS = ("retrograde", weak.METHOD)


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
@click.option("--backend", default="memory", metavar="NAME", help="Where to solve (default: memory, the fastest).")
@click.option("--memory", callback=read_size, metavar="SIZE", help="How much memory to use, such as 256M or 2G.")
@directory_option
@click.option("--save/--no-save", default=True, help="Keep the table for `show`, `verify` and the others.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=METHODS[0],
    help="Solve every position (retrograde, the default), or prove one (alphabeta).",
)
@weak.from_option
@weak.checkpoint_option
@weak.prune_option
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
    directory: Path | None,
    save: bool,
    method: str,
    root: str | None,
    checkpoint: float,
    prune: bool,
    as_json: bool,
) -> None:
    from perfectplay.solving.strong import solve_game

    weak.check_options(ctx, method)
    if method == weak.METHOD:
        weak.prove(ctx, game, root, directory=directory, save=save, checkpoint=checkpoint, prune=prune, as_json=as_json)
        return
    with stop_on_interrupt() as stop, ProgressDisplay(game.identity) as progress:
        try:
            solution = solve_game(
                game,
                backend=backend,
                directory=directory,
                save=save,
                threads=threads,
                memory=memory,
                progress=progress,
                stop=stop,
            )
        except Interrupted as error:
            raise interrupted(ctx, kept=plugins.host_registry().backends[backend].durable) from error
    with solution.table:
        summary = summarize(game, solution, saved_in=_saved_in(game, directory) if save else None)
    if as_json:
        print_json(summary)
    else:
        click.echo(summary_text(game, summary, directory))


def summarize(game: Game, solution: Solution, *, saved_in: Path | None) -> dict[str, Any]:
    """Everything the summary says, as data. Of the best first moves, one of each symmetry class."""
    start, found = game.start(), solution.stats
    value = solution.table.probe(start)
    rated = rate_moves(game, solution.table, start)
    best = [game.format_move(start, each.moves[0]) for each in rated if each.value == rated[0].value]
    longest = found.longest_win
    deepest = None if longest is None else solution.table.find_value(Value(Outcome.WIN, longest))
    return {
        "game": game.name,
        "options": game.options,
        "outcome": value.outcome.name.lower(),
        "remoteness": value.remoteness,
        "verdict": wording.verdict(value, *wording.player_names(game.board(start), start=True)),
        "best_moves": best,
        "positions": found.positions,
        "wins": found.wins,
        "losses": found.losses,
        "endless_draws": found.draws,
        "ties": found.ties,
        "longest_win": found.longest_win,
        "longest_win_position": None if deepest is None else game.decode(deepest),
        "longest_loss": found.longest_loss,
        "seconds": solution.seconds,
        "cpu_seconds": solution.cpu_seconds,
        "peak_memory": solution.peak_rss,
        "hash": solution.hash,
        "table": None if saved_in is None else str(saved_in),
    }


def summary_text(game: Game, summary: dict[str, Any], directory: Path | None) -> str:
    """The summary as people read it."""
    positions = summary["positions"]
    speed = wording.rate(positions, summary["seconds"])
    rows = [("best first moves", ", ".join(summary["best_moves"]) or "none"), ("positions", f"{positions:,}")]
    for key in ("wins", "losses", "endless_draws", "ties"):
        if summary[key]:
            count = f"{summary[key]:,}".rjust(len(f"{positions:,}"))
            rows.append((f"  {key.replace('_', ' ')}", f"{count}  {wording.share(summary[key], positions)}"))
    if summary["longest_win"] is not None:
        rows.append(
            (
                "longest win",
                f"{wording.plies(summary['longest_win'])}, from {summary['longest_win_position']}",
            )
        )
    rows += [
        (
            "time",
            f"{wording.seconds(summary['seconds'])} (CPU {wording.seconds(summary['cpu_seconds'])}), {speed}",
        ),
        ("peak memory", wording.size(summary["peak_memory"])),
        ("hash", summary["hash"]),
        ("table", summary["table"] or "not saved"),
    ]
    facts = "\n".join(f"  {name:<16}  {text}" for name, text in rows)
    return f"{click.style(summary['verdict'], bold=True)}\n\n{facts}\n\n{_what_next(game, summary, directory)}"


def _what_next(game: Game, summary: dict[str, Any], directory: Path | None) -> str:
    if summary["table"] is None:
        return "Leave out --no-save to keep the table, and look at it with `solve show`."
    rest = shlex.join([game.name, *as_words(game.options), *(["--dir", str(directory)] if directory else [])])
    return f"Try `solve show {rest}`, or prove it all with `solve verify {rest}`."


def _saved_in(game: Game, directory: Path | None) -> Path:
    from perfectplay.tables.locations import table_path

    return table_path(game, directory)
