"""`solve check GAME`: does a game keep the laws that solving relies on?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, GameOption, json_option, print_json
from perfectplay.cli._text import hanging

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.game.plugins import Plugin
    from perfectplay.testing import Result


class CheckCommand(GameCommand):
    """A game is first loaded in a process of its own: it may crash or hang as soon as it is asked anything."""

    def build(self, plugin: Plugin, options: dict[str, Any]) -> Game:
        from perfectplay.testing.checks import load_apart

        return load_apart(plugin.name, lambda: super(CheckCommand, self).build(plugin, options))


@click.command("check", cls=CheckCommand)
@json_option
@click.pass_context
def command(ctx: click.Context, game: Game, as_json: bool) -> None:
    """Check the rules of GAME for mistakes: try each law on many positions. Exit code 1 if one is broken."""
    from perfectplay.testing import run_checks

    _refuse_taken_options(ctx, game)
    with _hypothesis_elsewhere():
        results = run_checks(game)
    broken = any(result.breach for result in results)
    if as_json:
        laws = [
            {"law": r.law, "promise": r.promise, "applies": r.applies, "breach": r.breach, "hint": r.hint}
            for r in results
        ]
        print_json({"game": game.name, "options": game.options, "laws": laws})
    else:
        _print_results(game, results)
    ctx.exit(1 if broken else 0)


@contextmanager
def _hypothesis_elsewhere() -> Iterator[None]:
    """Let hypothesis keep what it keeps in a directory that goes away, and not in the user's."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with TemporaryDirectory() as home:
        set_hypothesis_home_dir(home)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def _refuse_taken_options(ctx: click.Context, game: Game) -> None:
    """PluginError where the game has an option that some command has itself, even if that is seldom used."""
    from perfectplay.cli._app import root
    from perfectplay.commands import COMMANDS

    options = [GameOption(option) for option in game.declared_options]
    for name in (game.command_word, *COMMANDS):
        command = root.get_command(ctx, name)
        if isinstance(command, GameCommand):
            command.refuse_taken_options(click.Context(command, ctx.parent, name), game.name, options)


def _print_results(game: Game, results: Sequence[Result]) -> None:
    width = max(len(result.law) for result in results)
    for result in results:
        mark = "✗" if result.breach else "?" if result.hint else "✓" if result.applies else "–"
        text = result.breach or result.hint or result.promise
        click.echo(hanging(f"{mark} {result.law:<{width}}  ", text.split()))
    broken = sum(1 for result in results if result.breach)
    kept = sum(1 for result in results if result.applies and not result.breach)
    verdict = f"{broken} broken" if broken else f"keeps all {kept} laws that apply to it"
    click.echo(f"\n{game.identity}: {verdict}")
