"""`solve GAME --method alphabeta`: prove one position, and say what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from perfectplay.cli._common import interrupted, print_json, stop_on_interrupt
from perfectplay.cli._progress import ProgressDisplay
from perfectplay.cli._text import coloured
from perfectplay.errors import Interrupted, UsageError
from perfectplay.game import wording
from perfectplay.game.wording import sides
from perfectplay.values import Outcome

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.prove.proof import Proof

METHOD = "alphabeta"

from_option = click.option(
    "--from", "root", metavar="POSITION", help="With --method alphabeta: the position to prove (default: the start)."
)
checkpoint_option = click.option(
    "--checkpoint",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="With --method alphabeta: how often to save what is proven (default: 60).",
)
prune_option = click.option(
    "--prune/--no-prune",
    default=True,
    help="With --method alphabeta: stop at the proof, or continue to every position that play can reach.",
)

table_option = click.option(
    "--use-table",
    is_flag=True,
    help="With --method alphabeta: do not search what the game's table knows, finished or not.",
)

_OWN_OPTIONS = {"root": "--from", "checkpoint": "--checkpoint", "prune": "--no-prune", "use_table": "--use-table"}
_OTHERS_OPTIONS = {"backend": "--backend", "memory": "--memory", "threads": "--threads", "values": "--values"}


def check_options(ctx: click.Context, method: str) -> None:
    """UsageError where an option was given that the method does not have."""
    foreign = _OTHERS_OPTIONS if method == METHOD else _OWN_OPTIONS
    for parameter, option in foreign.items():
        if ctx.get_parameter_source(parameter) not in (ParameterSource.DEFAULT, None):
            only = f"only works with --method {METHOD}" if method != METHOD else f"does not work with --method {METHOD}"
            raise UsageError(f"{option} {only}")


def prove(
    ctx: click.Context,
    game: Game,
    root: str | None,
    *,
    directory: Path | None,
    save: bool,
    checkpoint: float,
    prune: bool,
    use_table: bool,
    as_json: bool,
) -> None:
    """Prove the position and print what was found."""
    from perfectplay.prove.proof import proof_path, prove_position

    position = game.start() if root is None else game.encode(root)
    with stop_on_interrupt() as stop, ProgressDisplay(game.identity) as progress:
        try:
            proof = prove_position(
                game,
                position,
                directory=directory,
                save=save,
                checkpoint=checkpoint,
                prune=prune,
                use_table=use_table,
                progress=progress,
                stop=stop,
            )
        except Interrupted as error:
            raise interrupted(ctx, kept=save and proof_path(game, directory).exists()) from error
    summary = summarize(game, proof, prune=prune)
    if as_json:
        print_json(summary)
    else:
        click.echo(summary_text(summary))


def summarize(game: Game, proof: Proof, *, prune: bool) -> dict[str, Any]:
    """Everything the summary says, as data."""
    counts = proof.counts
    mover, opponent = sides(game, game.mover(proof.position))
    summary = {
        "game": game.name,
        "options": game.options,
        "position": game.decode(proof.position),
        "outcome": proof.outcome.name.lower(),
        "verdict": wording.proven(proof.outcome, mover, opponent),
        "proven": counts.unique,
        "wins": proof.wins,
        "losses": proof.losses,
        "draws": proof.draws,
        "known_before": proof.known_before,
        "evaluated": counts.evaluated,
        "hits": counts.hits,
        "below": counts.below,
        "cycles": counts.cycles,
        "confirmed_draws": counts.confirmed,
        "forgotten_draws": counts.forgotten,
        "max_depth": counts.max_depth,
        "seconds": proof.seconds,
        "cpu_seconds": proof.cpu_seconds,
        "checkpoint_seconds": proof.checkpoint_seconds,
        "table_memory": counts.memory,
        "peak_memory": proof.peak_rss,
        "file": None if proof.file is None else str(proof.file),
    }
    if prune:  # a full walk proves positions of either player, so "who" means nothing there
        summary["terminals"] = dict(zip((mover, opponent, "draw"), counts.terminals, strict=True))
    return summary


def summary_text(summary: dict[str, Any]) -> str:
    """The summary as people read it."""
    known = f", {summary['known_before']:,} of them before" if summary["known_before"] else ""
    rows = [("proven", f"{wording.counted(summary['proven'], 'position')}{known}")]
    rows += [(f"  {kind}", f"{summary[kind]:,}") for kind in ("wins", "losses", "draws") if summary[kind]]
    speed = wording.rate(summary["evaluated"], summary["seconds"])
    rows += [("evaluated", wording.counted(summary["evaluated"], "position")), ("table hits", f"{summary['hits']:,}")]
    if summary["below"]:
        rows.append(("known below", f"{summary['below']:,}, by the table of all positions"))
    if "terminals" in summary:
        by_winner = ", ".join(f"{who} {count:,}" for who, count in summary["terminals"].items())
        rows.append(("settled by rule", by_winner))
    rows += [
        ("repetitions", f"{summary['cycles']:,}"),
        (
            "draws by them",
            f"{summary['confirmed_draws']:,} confirmed, {summary['forgotten_draws']:,} forgotten",
        ),
        ("deepest path", wording.plies(summary["max_depth"])),
        ("time", f"{wording.seconds(summary['seconds'])} (CPU {wording.seconds(summary['cpu_seconds'])}), {speed}"),
        ("peak memory", f"{wording.size(summary['peak_memory'])}, search {wording.size(summary['table_memory'])}"),
        ("kept in", summary["file"] or "no file (--no-save)"),
    ]
    facts = "\n".join(f"  {name:<16}  {text}" for name, text in rows)
    return f"{coloured(summary['verdict'], Outcome[summary['outcome'].upper()], bold=True)}\n\n{facts}"
