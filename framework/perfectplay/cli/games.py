"""`solve games`: what is installed, and what is wrong with what is broken."""

from __future__ import annotations

import click

from perfectplay.cli.common import json_option, print_json
from perfectplay.options import spell


@click.command("games")
@json_option
def command(as_json: bool) -> None:
    """List the installed games: name, version, rules in C or Python, options, and whether they work."""
    from perfectplay.game import installed_games

    games = installed_games()
    if as_json:
        print_json(
            [
                {
                    "name": game.name,
                    "version": game.version,
                    "kind": game.kind or None,
                    "options": [
                        {"name": each.name, "default": each.default, "allowed": each.range, "help": each.help}
                        for each in game.options
                    ],
                    "broken": game.broken,
                }
                for game in games
            ]
        )
        return
    if not games:
        click.echo("No games are installed: a game is any package with an entry point in perfectplay.games.")
        return
    rows = [("GAME", "VERSION", "RULES", "OPTIONS")]
    for game in games:
        options = " ".join(f"--{each.name} {spell(each.default)}" for each in game.options)
        rows.append((game.name, game.version, "broken" if game.broken else game.kind, options))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    broken = [game for game in games if game.broken]
    if broken:
        click.echo()
    for game in broken:
        click.echo(f"{game.name} is broken: {game.broken}")
