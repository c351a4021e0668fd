"""`solve check GAME`: check a game's rules for mistakes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, GameOption, compile_option, json_option, print_json, print_obstacle
from perfectplay.cli._terminal import hanging
from perfectplay.game.wording import counted

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.game.plugins import Plugin
    from perfectplay.testing import CheckReport


class CheckCommand(GameCommand):
    """Loads the game in a subprocess first, because it may crash or hang when it is imported or configured."""

    def load(self, name: str) -> Plugin:
        from perfectplay.testing.checks import load_in_subprocess

        return load_in_subprocess(name, lambda: super(CheckCommand, self).load(name))

    def build(self, plugin: Plugin, options: dict[str, Any]) -> Game:
        from perfectplay.testing.checks import load_in_subprocess

        return load_in_subprocess(plugin.name, lambda: super(CheckCommand, self).build(plugin, options))


@click.command("check", cls=CheckCommand)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    metavar="N",
    help="CPU seconds for checking further positions (default: 5).",
)
@click.option("--all", "every", is_flag=True, help="Check every position, however long it takes.")
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Choose other random positions.")
@click.option("--show", is_flag=True, help="Play a random game and describe each position, instead of checking.")
@compile_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, game: Game, seconds: float | None, every: bool, seed: int, show: bool, as_json: bool
) -> None:
    """Check the rules of GAME for mistakes, each law on many positions. Exit code 1 if a check fails.

    A small game is checked in every position. No check can find out whether the rules are those you meant, so read a
    game with --show as well.
    """
    from perfectplay.compile.kernel import expect_obstacle, may_compile
    from perfectplay.testing import Effort, run_checks
    from perfectplay.testing.checks import narrate
    from perfectplay.testing.trial import SWEEP_SECONDS

    if every and seconds is not None:
        raise click.UsageError("--all has no time limit; use --all or --seconds")
    _reject_option_clashes(ctx, game)
    if show:
        for line in narrate(game, seed):
            click.echo(line)
        return
    report = run_checks(game, Effort(math.inf if every else SWEEP_SECONDS if seconds is None else seconds, seed))
    if as_json:
        laws = [
            {"law": r.law, "promise": r.promise, "applies": r.applies, "breach": r.breach, "hint": r.hint}
            for r in report.results
        ]
        positions = {"positions": report.positions, "complete": report.complete}
        print_json({"game": game.name, "options": game.options, **positions, "laws": laws})
    else:
        _print_report(game, report)
    if may_compile(game):
        print_obstacle(expect_obstacle(game))
    ctx.exit(1 if report.breaches else 0)


def _reject_option_clashes(ctx: click.Context, game: Game) -> None:
    """Raise PluginError if the game has an option with the name of an option of any command."""
    from perfectplay.cli._app import root
    from perfectplay.game.plugins import COMMANDS

    options = [GameOption(option) for option in game.declared_options]
    for name in (game.command_word, *COMMANDS):
        command = root.get_command(ctx, name)
        if isinstance(command, GameCommand):
            command.reject_option_clashes(click.Context(command, ctx.parent, name), game.name, options)


def _print_report(game: Game, report: CheckReport) -> None:
    width = max(len(result.law) for result in report.results)
    for result in report.results:
        mark = "✗" if result.breach else "?" if result.hint else "✓" if result.applies else "–"
        text = result.breach or result.hint or result.promise
        click.echo(hanging(f"{mark} {result.law:<{width}}  ", text.split()))
    applicable = sum(1 for result in report.results if result.applies)
    where = f"in {'all ' if report.complete else ''}{counted(report.positions, 'position')}"
    if report.breaches:
        verdict = f"{counted(len(report.breaches), 'check')} failed"
    else:
        more = "" if report.complete else "; --seconds or --all checks more"
        verdict = f"all {applicable} applicable checks passed {where}{more}"
    click.echo("\n" + hanging("", f"{game.identity}: {verdict}".split()))
