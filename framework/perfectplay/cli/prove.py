"""`solve prove GAME [POSITION]`: prove who wins one position by search, without solving the game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import (
    FiniteFloat,
    GameCommand,
    compile_option,
    directory_option,
    interrupted,
    json_option,
    note_rules,
    print_json,
    quiet_option,
    stop_on_interrupt,
)
from perfectplay.cli._terminal import ProgressDisplay, coloured
from perfectplay.errors import Interrupted
from perfectplay.game import wording
from perfectplay.game.wording import sides
from perfectplay.values import Outcome

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.prove import Proof


@click.command("prove", cls=GameCommand)
@click.argument("position", required=False)
@click.option(
    "--checkpoint",
    type=FiniteFloat(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="Time between two writes of the proof file (default: 60).",
)
@click.option(
    "--prune/--no-prune",
    default=True,
    help="Stop when the position is proven (the default), or continue and prove every reachable position.",
)
@click.option(
    "--table/--no-table",
    "use_table",
    default=False,
    help="Look positions up in the game's table, complete or not, before searching them (default: no).",
)
@click.option(
    "--null-window",
    is_flag=True,
    help="Prove separately for each player that it can avoid a loss: faster if it is a draw, without a proof file.",
)
@click.option("--save/--no-save", default=True, help="Read and write the proof file (the default), or ignore it.")
@directory_option
@compile_option
@quiet_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    game: Game,
    position: str | None,
    checkpoint: float,
    prune: bool,
    use_table: bool,
    null_window: bool,
    save: bool,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Prove who wins a POSITION of GAME (default: the start) by alpha-beta search, without solving the game.

    The search finds the outcome, not the number of moves. Every outcome proven on the way is stored in the game's proof
    file, and later runs start from it.
    """
    from perfectplay.prove import ProofOptions, proof_path, prove_position

    root = game.start() if position is None else game.encode(position)
    note_rules(game)
    options = ProofOptions(
        directory=directory,
        save=save and not null_window,
        checkpoint=checkpoint,
        prune=prune,
        use_table=use_table,
        null_window=null_window,
    )
    with stop_on_interrupt() as stop, ProgressDisplay(game.identity) as progress:
        try:
            proof = prove_position(game, root, options, progress=progress, stop=stop)
        except Interrupted as error:
            raise interrupted(ctx, kept=options.save and proof_path(game, directory).exists()) from error
    summary = summarize(game, proof, prune=prune)
    if as_json:
        print_json(summary)
    else:
        click.echo(format_summary(summary))


def summarize(game: Game, proof: Proof, *, prune: bool) -> dict[str, Any]:
    """Return the facts of a proof, as `--json` prints them."""
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
    if prune:  # with --no-prune positions of both players are searched, so the winners have no fixed names
        summary["terminals"] = dict(zip((mover, opponent, "draw"), counts.terminals, strict=True))
    return summary


def format_summary(summary: dict[str, Any]) -> str:
    """Format the facts of `summarize` for the terminal."""
    earlier = f", {summary['known_before']:,} of them by earlier runs" if summary["known_before"] else ""
    rows = [("proven", f"{wording.counted(summary['proven'], 'position')}{earlier}")]
    rows += [(f"  {kind}", f"{summary[kind]:,}") for kind in ("wins", "losses", "draws") if summary[kind]]
    rows += [
        ("evaluated", wording.counted(summary["evaluated"], "position")),
        ("transpositions", f"{summary['hits']:,}"),
    ]
    if summary["below"]:
        rows.append(("table hits", f"{summary['below']:,}, in the game's table"))
    if "terminals" in summary:
        by_winner = ", ".join(f"{who} {count:,}" for who, count in summary["terminals"].items())
        rows.append(("settled by rule", by_winner))
    speed = wording.rate(summary["evaluated"], summary["seconds"])
    rows += [
        ("repetitions", f"{summary['cycles']:,}"),
        ("repetition draws", f"{summary['confirmed_draws']:,} confirmed, {summary['forgotten_draws']:,} forgotten"),
        ("deepest path", wording.plies(summary["max_depth"])),
        ("time", f"{wording.seconds(summary['seconds'])} (CPU {wording.seconds(summary['cpu_seconds'])}), {speed}"),
        ("peak memory", f"{wording.size(summary['peak_memory'])}, search {wording.size(summary['table_memory'])}"),
        ("proof file", summary["file"] or "none"),
    ]
    facts = "\n".join(f"  {name:<16}  {text}" for name, text in rows)
    return f"{coloured(summary['verdict'], Outcome[summary['outcome'].upper()], bold=True)}\n\n{facts}"
