"""`solve rules GAME`: show the title, the players and the rules of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import GameCommand, json_option, print_json
from perfectplay.cli._terminal import terminal_width, wrapped
from perfectplay.game.options import spell

if TYPE_CHECKING:
    from perfectplay.game.game import Game

MAX_WIDTH = 80
"""Longer lines of prose are hard to read."""


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
    paragraphs = (about.rules.strip() or "The plugin does not describe the rules.").split("\n\n")
    width = min(MAX_WIDTH, terminal_width())
    click.echo("\n\n".join("\n".join(wrapped(each.split(), width)) for each in paragraphs))
    for option in game.declared_options:
        text = f"--{option.name}: {option.help} ({option.range}; default: {spell(option.default)})"
        click.echo("\n" + "\n".join(wrapped(text.split(), width)))
