"""`solve compare GAME FORMAT FILE`: compare a file of outcomes with the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import GameCommand, directory_option, json_option, print_json, quiet_option
from perfectplay.cli._terminal import table_at_work
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.analysis.formats import Comparison
    from perfectplay.game.game import Game

_WINNERS = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}


@click.command("compare", cls=GameCommand)
@click.argument("format", type=click.Choice(["gbl2"]), metavar="FORMAT")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@directory_option
@quiet_option
@json_option
@click.pass_context
def command(ctx: click.Context, game: Game, format: str, file: Path, directory: Path | None, as_json: bool) -> None:
    """Compare a FILE of outcomes with the table of GAME. The only FORMAT is gbl2.

    The file's length, order and checksum are checked too. Exit code 1 if any entry differs.
    """
    from perfectplay.analysis.formats import compare_gbl2

    with table_at_work("compare", game, directory) as (table, progress, stop):
        comparison = compare_gbl2(table, file, progress=progress, stop=stop)
    if as_json:
        print_json(
            {
                "game": game.name,
                "options": game.options,
                "file": str(file),
                "entries": comparison.entries,
                "agree": comparison.agree,
                "differ": comparison.differ,
                "not_canonical": comparison.not_canonical,
                "unknown": comparison.unknown,
                "differences": [
                    {"position": game.decode(each.position), "file": each.file, "table": each.table}
                    for each in comparison.differences
                ],
                "unknown_examples": comparison.unknown_examples,
                "seconds": comparison.seconds,
            }
        )
    else:
        click.echo(_format(game, file, comparison))
    ctx.exit(0 if comparison.same else 1)


def _format(game: Game, file: Path, comparison: Comparison) -> str:
    time = wording.seconds(comparison.seconds)
    lines = [
        f"{file}: checksum and order are correct; {comparison.agree:,} of {comparison.entries:,} entries agree ({time})"
    ]
    if comparison.not_canonical:
        lines.append(f"  {wording.counted(comparison.not_canonical, 'position')} not in canonical form")
    if comparison.unknown:
        examples = ", ".join(map(str, comparison.unknown_examples))
        lines.append(
            f"  {wording.counted(comparison.unknown, 'number')} that are not positions of {game.name}: {examples}"
        )
    if comparison.differ:
        lines.append(f"  {comparison.differ:,} differ:")
    for each in comparison.differences:
        lines.append(f"  {game.decode(each.position)}: file {_WINNERS[each.file]}, table {_WINNERS[each.table]}")
    return "\n".join(lines)
