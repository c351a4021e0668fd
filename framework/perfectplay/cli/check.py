"""`solve check GAME`: check a game's rules for mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, GameOption, json_option, print_json
from perfectplay.cli._terminal import hanging
from perfectplay.game.wording import counted

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.game.plugins import Plugin
    from perfectplay.testing import CheckResult


class CheckCommand(GameCommand):
    """Loads the game in a subprocess first, because it may crash or hang when it is imported or configured."""

    def load(self, name: str) -> Plugin:
        from perfectplay.testing.checks import load_in_subprocess

        return load_in_subprocess(name, lambda: super(CheckCommand, self).load(name))

    def build(self, plugin: Plugin, options: dict[str, Any]) -> Game:
        from perfectplay.testing.checks import load_in_subprocess

        return load_in_subprocess(plugin.name, lambda: super(CheckCommand, self).build(plugin, options))


@click.command("check", cls=CheckCommand)
@json_option
@click.pass_context
def command(ctx: click.Context, game: Game, as_json: bool) -> None:
    """Check the rules of GAME for mistakes, each law on many positions. Exit code 1 if a check fails."""
    from perfectplay.testing import run_checks

    _reject_option_clashes(ctx, game)
    with _temporary_hypothesis_directory():
        results = run_checks(game)
    if as_json:
        laws = [
            {"law": r.law, "promise": r.promise, "applies": r.applies, "breach": r.breach, "hint": r.hint}
            for r in results
        ]
        print_json({"game": game.name, "options": game.options, "laws": laws})
    else:
        _print_results(game, results)
    ctx.exit(1 if any(result.breach for result in results) else 0)


@contextmanager
def _temporary_hypothesis_directory() -> Iterator[None]:
    """Let hypothesis write its files to a temporary directory instead of the user's working directory."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with TemporaryDirectory() as home:
        set_hypothesis_home_dir(home)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def _reject_option_clashes(ctx: click.Context, game: Game) -> None:
    """Raise PluginError if the game has an option with the name of an option of any command."""
    from perfectplay.cli._app import root
    from perfectplay.commands import COMMANDS

    options = [GameOption(option) for option in game.declared_options]
    for name in (game.command_word, *COMMANDS):
        command = root.get_command(ctx, name)
        if isinstance(command, GameCommand):
            command.reject_option_clashes(click.Context(command, ctx.parent, name), game.name, options)


def _print_results(game: Game, results: Sequence[CheckResult]) -> None:
    width = max(len(result.law) for result in results)
    for result in results:
        mark = "✗" if result.breach else "?" if result.hint else "✓" if result.applies else "–"
        text = result.breach or result.hint or result.promise
        click.echo(hanging(f"{mark} {result.law:<{width}}  ", text.split()))
    failed = sum(1 for result in results if result.breach)
    applicable = sum(1 for result in results if result.applies)
    verdict = f"{counted(failed, 'check')} failed" if failed else f"all {applicable} applicable checks passed"
    click.echo(f"\n{game.identity}: {verdict}")
