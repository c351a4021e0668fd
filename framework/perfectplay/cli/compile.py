"""`solve compile GAME`: show how the rules of a game are translated to C, or why not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from perfectplay.cli._common import GameCommand, json_option, print_json
from perfectplay.game import wording

if TYPE_CHECKING:
    from perfectplay.compile.translation import HookText, Untranslatable
    from perfectplay.game.game import Game

SAMPLE = 2_000
REPEATS = 50
"""How often the compiled rules expand the sample, because once would be too short to measure."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """A compilation, and the speed of the rules on a sample, in positions expanded per CPU second."""

    compiler: str
    seconds: float
    """The time to translate and compile; less if the shared object was in the cache."""
    compared: int
    """The number of positions in which the compiled rules were compared with the hooks."""
    python: float
    compiled: float


@click.command("compile", cls=GameCommand)
@json_option
def command(game: Game, as_json: bool) -> None:
    """Show how the Python rules of GAME are translated to C: each hook with its C, or what prevents it, and the speed.

    Rules are translated automatically when a game is solved. See docs/compiled.md for the supported part of Python.
    """
    from perfectplay.compile.compiler import NotCompiled
    from perfectplay.compile.translation import explain
    from perfectplay.errors import UsageError

    if game.kernel is not None:
        raise UsageError(f"{game.name} has a C kernel, so there is nothing to compile")
    hooks = explain(game)
    try:
        measurements, obstacle = measure(game), None
    except NotCompiled as error:
        measurements, obstacle = None, str(error)
    if as_json:
        print_json(_as_json(game, hooks, measurements, obstacle))
    else:
        _print(game, hooks, measurements, obstacle)


def measure(game: Game) -> Measurements:
    """Compile the rules, compare them with the hooks, and measure both. Raises NotCompiled."""
    from perfectplay.cli.bench import expand_all, measure_rate, random_positions
    from perfectplay.compile.comparison import compare_sample
    from perfectplay.compile.compiler import find_compiler
    from perfectplay.compile.kernel import compile_rules
    from perfectplay.game.engine import game_kernel

    started = time.monotonic()
    kernel = compile_rules(game)
    seconds = time.monotonic() - started
    compared, python = compare_sample(game, kernel), game_kernel(game)
    sample = random_positions(kernel, SAMPLE)
    return Measurements(
        compiler=find_compiler().name,
        seconds=seconds,
        compared=compared,
        python=measure_rate(lambda: expand_all(python, sample)),
        compiled=measure_rate(lambda: sum(expand_all(kernel, sample) for _ in range(REPEATS))),
    )


def _as_json(
    game: Game, hooks: tuple[HookText | Untranslatable, ...], measurements: Measurements | None, obstacle: str | None
) -> dict[str, Any]:
    from perfectplay.compile.translation import Untranslatable

    rows = [
        {"hook": each.hook, "file": each.file, "line": each.line, "obstacle": str(each)}
        if isinstance(each, Untranslatable)
        else {"hook": each.name, "file": each.file, "line": each.line, "python": each.python, "c": each.c}
        for each in hooks
    ]
    numbers = measurements and {name: getattr(measurements, name) for name in measurements.__slots__}
    return {"game": game.name, "options": game.options, "obstacle": obstacle, "hooks": rows, "measurements": numbers}


def _print(
    game: Game, hooks: tuple[HookText | Untranslatable, ...], measurements: Measurements | None, obstacle: str | None
) -> None:
    from perfectplay.compile.translation import Untranslatable

    translated = [each for each in hooks if not isinstance(each, Untranslatable)]
    click.echo(click.style(f"{game.identity}: rules in Python{', compiled' if measurements else ''}", bold=True) + "\n")
    rows = [
        (each.hook, f"not translated: {each}")
        if isinstance(each, Untranslatable)
        else (each.name, f"translated from {each.file}:{each.line}")
        for each in hooks
    ]
    if measurements is None:
        rows.append(("not compiled", str(obstacle)))
    else:
        rows += [
            ("compiler", measurements.compiler),
            ("compiled in", wording.seconds(measurements.seconds)),
            ("compared", f"{wording.counted(measurements.compared, 'position')}, all results equal"),
            ("Python", f"{measurements.python:,.0f} positions/s"),
            ("compiled", f"{measurements.compiled:,.0f} positions/s, {_ratio(measurements)}"),
        ]
    click.echo("\n".join(f"  {name:<12}  {text}" for name, text in rows))
    for hook in translated:
        click.echo("\n" + click.style(f"{hook.name} ({hook.file}:{hook.line})", bold=True))
        for number, line in enumerate(hook.python.rstrip().splitlines(), hook.line):
            click.echo(f"{number:>5}  {line}")
        click.echo(click.style("\n".join(f"    |  {line}" for line in hook.c.rstrip().splitlines()), dim=True))


def _ratio(measurements: Measurements) -> str:
    return f"{measurements.compiled / measurements.python:,.0f} times as fast"
