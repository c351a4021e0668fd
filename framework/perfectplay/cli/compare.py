"""`solve compare GAME FORMAT FILE`: is a file of outcomes, whoever made it, right by our table?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import GameCommand, directory_option, json_option, print_json, quiet_option
from perfectplay.cli._progress import table_at_work
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.analysis.comparison import Comparison
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
    """Compare a FILE of outcomes with the table of GAME. The only FORMAT so far is gbl2.

    The file's length, order and checksum are checked first. Exit code 1 if something differs.
    """
    from perfectplay.analysis.comparison import compare_gbl2

    with table_at_work("compare", game, directory) as (table, progress, stop):
        found = compare_gbl2(table, file, progress=progress, stop=stop)
    if as_json:
        print_json(
            {
                "game": game.name,
                "options": game.options,
                "file": str(file),
                "entries": found.entries,
                "agree": found.agree,
                "differ": found.differ,
                "not_canonical": found.not_canonical,
                "unknown": found.unknown,
                "differences": [
                    {"position": game.decode(each.position), "file": each.file, "table": each.table}
                    for each in found.differences
                ],
                "unknown_examples": found.unknown_examples,
                "seconds": found.seconds,
            }
        )
    else:
        click.echo(_text(game, file, found))
    ctx.exit(0 if found.same else 1)


def _text(game: Game, file: Path, found: Comparison) -> str:
    time = wording.seconds(found.seconds)
    lines = [f"{file}: checksum and order are right; {found.agree:,} of {found.entries:,} entries agree ({time})"]
    if found.not_canonical:
        lines.append(f"  {wording.counted(found.not_canonical, 'position')} not in canonical form")
    if found.unknown:
        examples = ", ".join(map(str, found.unknown_examples))
        lines.append(f"  {wording.counted(found.unknown, 'number')} that are not positions of {game.name}: {examples}")
    if found.differ:
        lines.append(f"  {found.differ:,} differ:")
    for each in found.differences:
        lines.append(f"  {game.decode(each.position)}: file {_WINNERS[each.file]}, table {_WINNERS[each.table]}")
    return "\n".join(lines)
