"""`solve line GAME [POSITION]`: best play by both sides, to the end."""

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
from perfectplay.cli._text import coloured, hanging, headline, painter
from perfectplay.display.boards import draw
from perfectplay.game import wording
from perfectplay.game.match import Match
from perfectplay.game.wording import game_verdict, sides, worth
from perfectplay.values import Status, value_json

if TYPE_CHECKING:
    from perfectplay.game.game import Game

LONGEST_UNGUIDED = 100
"""Plies after which a line by outcomes alone is cut short: it might wander for thousands."""


@click.command("line", cls=GameCommand)
@click.argument("position", required=False)
@directory_option
@json_option
def command(game: Game, position: str | None, directory: Path | None, as_json: bool) -> None:
    """Show best play by both sides from a POSITION of GAME (default: the start) to the end.

    The winner hurries, the loser resists. Other moves that are just as good stand beside each move, one of those
    that are the same up to symmetry. A table of outcomes knows no shortest way: its line keeps the outcome, and may go
    round in circles, which is then said.
    """
    number = game.start() if position is None else game.encode(position)
    with open_game_table(game, directory) as table:
        note_outcomes_only(game, table)
        line = best_line(game, table, number, limit=LONGEST_UNGUIDED if table.outcomes_only else None)
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
    """Who makes a move; where the game does not tell, as seen from the first position."""
    return sides(game, None)[ply % 2] if mover is None else sides(game, mover)[0]


def _ending(game: Game, line: Line, mover: int | None) -> str:
    if line.repeats is not None and line.end_value.outcome_only:
        return (
            f"Round in a circle: this is the position of move {line.repeats + 1} again, up to symmetry. Each move "
            f"keeps the outcome, and none need come nearer to an end."
        )
    if line.repeats is None and line.end_value.outcome_only and game.status(line.end) is Status.ONGOING:
        return f"Cut short after {len(line.steps)} moves: each keeps the outcome, and none need come nearer to an end."
    if line.repeats is not None:
        return f"And so on: this is the position of move {line.repeats + 1} again, up to symmetry."
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
