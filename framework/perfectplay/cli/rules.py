"""`solve rules GAME`: what the game is called, who plays, and how."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from perfectplay.cli.common import GameCommand, json_option, print_json
from perfectplay.options import spell

if TYPE_CHECKING:
    from perfectplay.game import Game

WIDTH = 80


@click.command("rules", cls=GameCommand)
@json_option
def command(game: Game, as_json: bool) -> None:
    """Show the title, the players, the rules and the options of GAME."""
    about = game.about
    if as_json:
        print_json({"game": game.name, "title": about.title, "players": list(game.players), "rules": about.rules})
        return
    click.secho(about.title, bold=True)
    click.echo(f"{'A puzzle for one player' if game.is_puzzle else ' against '.join(game.players)}\n")
    paragraphs = about.rules.strip().split("\n\n") if about.rules.strip() else ["The plugin does not give the rules."]
    click.echo("\n\n".join(textwrap.fill(" ".join(each.split()), WIDTH) for each in paragraphs))
    for option in game.declared_options:
        click.echo(f"\n--{option.name}: {option.help} ({option.range}; default: {spell(option.default)})")
