"""`solve line GAME [POSITION]`: show best play by both sides to the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.analysis.moves import Line, best_line
from perfectplay.cli._common import (
    GameCommand,
    directory_option,
    json_option,
    note_outcomes_only,
    open_game_table,
    print_json,
)
from perfectplay.cli._terminal import coloured, hanging, headline, painter
from perfectplay.game import wording
from perfectplay.game.board_text import draw
from perfectplay.game.match import Match
from perfectplay.game.wording import game_verdict, sides, worth
from perfectplay.values import Status, value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game

MAX_OUTCOME_PLIES = 100
"""Maximum length of a line from a table of outcomes, which might otherwise have thousands of plies."""


@click.command("line", cls=GameCommand)
@click.argument("position", required=False)
@directory_option
@json_option
def command(game: Game, position: str | None, directory: Path | None, as_json: bool) -> None:
    """Show best play by both sides from a POSITION of GAME (default: the start) to the end.

    The winner plays for the quickest win, the loser for the slowest loss. Equally good moves are listed beside each
    move, one of each group that is equivalent by symmetry. With a table of outcomes, each move only preserves the
    outcome, so the line may cycle.
    """
    number = game.start() if position is None else game.encode(position)
    with open_game_table(game, directory) as table:
        note_outcomes_only(game, table)
        line = best_line(game, table, number, limit=MAX_OUTCOME_PLIES if table.outcomes_only else None)
    value = line.steps[0].value if line.steps else line.end_value
    movers = Match(game, [step.move for step in line.steps], start=number, exploring=True).movers
    verdict = game_verdict(game, value, movers[0])
    if as_json:
        print_json(_json(game, number, line, verdict))
        return
    click.echo(headline(verdict, value) + "\n")
    moves = [[game.format_move(step.position, each.moves[0]) for each in step.best] for step in line.steps]
    width = max((len(first) for first, *_ in moves), default=0)
    names = [_name(game, mover, ply) for ply, mover in enumerate(movers)]
    name_width = max(map(len, names))
    paint = painter(game.board(line.end))
    for ply, (step, (first, *others)) in enumerate(zip(line.steps, moves, strict=True)):
        name = paint(names[ply], movers[ply]) + " " * (name_width - len(names[ply]))
        value_text = coloured(worth(game, step.value), step.value.outcome)
        also = [*(f"{move}," for move in others[:-1]), *others[-1:]]
        head = f"{ply + 1:>3}. {name}  {first:<{width}}  {value_text}" + ("  or " if also else "")
        click.echo(hanging(head, also))
    if line.steps:
        click.echo()
    if (board := game.board(line.end)) is not None:
        click.echo(draw(board, paint, over=game.status(line.end) is not Status.ONGOING) + "\n")
    click.echo(_ending(game, line, movers[-1]))


def _name(game: Game, mover: int | None, ply: int) -> str:
    """Return the player of a move, relative to the first move if the game does not define the player to move."""
    return sides(game, None)[ply % 2] if mover is None else sides(game, mover)[0]


def _ending(game: Game, line: Line, mover: int | None) -> str:
    if line.repeats is not None and line.end_value.outcome_only:
        return (
            f"Cycle: the position before move {line.repeats + 1} has occurred again, up to symmetry. Each move "
            f"preserves the outcome, but may not lead towards the end."
        )
    if line.repeats is None and line.end_value.outcome_only and game.status(line.end) is Status.ONGOING:
        return (
            f"Stopped after {len(line.steps)} moves. Each move preserves the outcome, but may not lead towards the end."
        )
    if line.repeats is not None:
        return f"Play repeats: the position before move {line.repeats + 1} has occurred again, up to symmetry."
    if mover is None and len(line.steps) % 2:
        opponent, own = sides(game, None)
        return wording.verdict(line.end_value, own, opponent)
    return game_verdict(game, line.end_value, mover)


def _json(game: Game, position: int, line: Line, verdict: str) -> dict[str, Any]:
    return {
        "game": game.name,
        "options": game.options,
        "position": game.decode(position),
        "verdict": verdict,
        "line": [
            {
                "position": game.decode(step.position),
                **value_json(step.value, scored=game.has_score),
                "move": game.format_move(step.position, step.move),
                "as_good": [game.format_move(step.position, each.moves[0]) for each in step.best[1:]],
            }
            for step in line.steps
        ],
        "end": game.decode(line.end),
        "repeats": line.repeats,
        "ended": game.status(line.end) is not Status.ONGOING,
    }
