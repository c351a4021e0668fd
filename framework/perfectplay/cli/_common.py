"""Shared parts of the commands: game commands with the game's own options, common options, JSON, Ctrl-C, clusters."""

from __future__ import annotations

import json
import math
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.errors import Interrupted, PerfectPlayError, PluginError
from perfectplay.game import plugins, wording
from perfectplay.game.options import Option, spell
from perfectplay.threads import MAX_THREADS

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.game.plugins import Plugin
    from perfectplay.solve.options import Cluster
    from perfectplay.table.table import Table
    from perfectplay_native.kernel import Kernel

# Keys of `click.Context.meta`.
_PLUGIN = "perfectplay.plugin"
_OPTIONS = "perfectplay.game_options"
_LINE = "perfectplay.line"
_STDOUT = "perfectplay.stdout"
_QUIET = "perfectplay.quiet"
_COMPILE = "perfectplay.compile"


# ---- commands on a game ----


class GameOption(click.Option):
    """An option that the game declares. Click passes its text on unchecked; `read_options` checks it."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.destination = f"game_option_{option.name.replace('-', '_')}"
        switch = f"--{option.name}/--no-{option.name}" if option.is_flag else f"--{option.name}"
        text = f"{option.help} ({option.range}; default: {spell(option.default)})"
        metavar = None if option.is_flag else "WORD" if option.choices else "TEXT" if option.text else "N"
        super().__init__([switch, self.destination], default=None, metavar=metavar, help=text.strip())


class GameCommand(click.Command):
    """A command on one game, which also has the game's own options. Its callback gets the game as `game`.

    The game is fixed by `game_name`, or given as the argument GAME, which is the first unless the command declares it.
    """

    def __init__(self, *args: Any, game_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.game_name = game_name
        if game_name is None and not any(param.name == "game" for param in self.params):
            self.params.insert(0, click.Argument(["game"], metavar="GAME", shell_complete=complete_game))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_LINE] = shlex.join([*ctx.command_path.split(), *args])
        # The options depend on the game, so the game is loaded before the line is parsed.
        if name := self.game_name or self._find_game(args):
            _report_crashes(name)
            with redirect_stdout(sys.stderr):  # standard output is for the command's output only
                plugin = ctx.meta[_PLUGIN] = self.load(name)
            ctx.meta[_OPTIONS] = [GameOption(option) for option in plugin.options]
            self.reject_option_clashes(ctx, plugin.name, ctx.meta[_OPTIONS])
        return super().parse_args(ctx, args)

    def _find_game(self, args: Sequence[str]) -> str | None:
        """Return the first word that names a game and is not the value of one of the command's own options."""
        options = [param for param in self.params if isinstance(param, click.Option) and not param.is_flag]
        expects_value = {switch for option in options for switch in option.opts}
        names = plugins.game_names()
        for previous, word in zip(["", *args], args, strict=False):
            is_game = word in names or (plugins.is_file(word) and not word.startswith("-"))
            if is_game and previous not in expects_value:
                return word
        return None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, help_option = super().get_params(ctx)
        return [*own, *ctx.meta.get(_OPTIONS, []), help_option]

    def reject_option_clashes(self, ctx: click.Context, game: str, options: Sequence[GameOption]) -> None:
        """Raise PluginError if the game has an option with the name of one of this command's own options."""
        own = {switch for param in super().get_params(ctx) for switch in (*param.opts, *param.secondary_opts)}
        for option in options:
            for switch in sorted(own.intersection((*option.opts, *option.secondary_opts))):
                raise PluginError(
                    f"{game}: rename the game's option '{option.option.name}', because `{ctx.command_path}` "
                    f"already has an option {switch}"
                )

    def invoke(self, ctx: click.Context) -> Any:
        plugin = ctx.meta.get(_PLUGIN) or self.load(ctx.params["game"])
        values = {each.option.name: ctx.params.pop(each.destination) for each in ctx.meta.get(_OPTIONS, [])}
        options = {name: value for name, value in values.items() if value is not None}
        with redirect_stdout(sys.stderr):
            game = ctx.params["game"] = self.build(plugin, options)
        _report_crashes(game.command_word, game.kernel)
        game.compile_rules = ctx.meta.get(_COMPILE, True)
        return super().invoke(ctx)

    def load(self, name: str) -> Plugin:
        """Import the plugin of a game, and call its hook `options`."""
        plugin = plugins.load_plugin(name)
        _ = plugin.options
        return plugin

    def build(self, plugin: Plugin, options: dict[str, Any]) -> Game:
        """Create the variant of the game that these options choose."""
        from perfectplay.game.loading import build_game

        return build_game(plugin, options)


def _report_crashes(game: str, kernel: Kernel | None = None) -> None:
    """From now on, name the game in one line if the process crashes. `solve check` has its own report."""
    from perfectplay_native.kernel import report_crashes

    report_crashes(game, kernel)


def complete_game(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an installed game in the shell."""
    return [name for name in plugins.game_names() if name.startswith(incomplete)]


def open_game_table(
    game: Game, directory: Path | None, *, memory: int | None = None, kernel: Kernel | None = None
) -> Table:
    """Open the table of a game in `--dir`, or in the default directory. `open_table` takes the other arguments."""
    from perfectplay.table.locations import open_table, table_path

    return open_table(game, table_path(game, directory), memory=memory, kernel=kernel)


def note_outcomes_only(game: Game, table: Table) -> None:
    """Print a note to standard error if the table stores outcomes only."""
    if table.outcomes_only:
        click.echo(click.style(wording.outcomes_only(puzzle=game.is_puzzle), dim=True), err=True)


# ---- common options ----


def read_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Convert 256M, 1.5G or 2GiB to bytes."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmgt]?)(?:i?b)?", value.strip().lower())
    size = float(match[1]) * 1024 ** " kmgt".index(match[2] or " ") if match else 0.0
    if not 1 <= size < 1 << 60:  # an exbibyte: the engine counts bytes in 64 bits
        raise click.BadParameter(f"{value!r} is not a size; write it as 256M or 2G", ctx, param)
    return int(size)


class FiniteFloat(click.FloatRange):
    """A number in a range, which excludes nan and inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


threads_option = click.option(
    "--threads", type=click.IntRange(1, MAX_THREADS), metavar="N", help="Threads to use (default: all cores)."
)
directory_option = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Directory of the tables (default: in your data directory).",
)
quiet_option = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda ctx, param, value: ctx.meta.__setitem__(_QUIET, value),
    help="Show no progress.",
)


compile_option = click.option(
    "--compile/--no-compile",
    expose_value=False,
    default=True,
    callback=lambda ctx, param, value: ctx.meta.__setitem__(_COMPILE, value),
    help="Translate rules in Python to C if possible (the default), or call them in Python.",
)


def note_rules(game: Game) -> None:
    """Compile the rules of a game in Python. If that is not possible, print the reason to standard error."""
    from perfectplay.compile.kernel import find_obstacle

    print_obstacle(find_obstacle(game))


def print_obstacle(obstacle: str | None) -> None:
    """Print why rules are not compiled to standard error, if they are not."""
    if obstacle is not None:
        click.echo(click.style(f"rules not compiled: {obstacle}", dim=True), err=True)


def is_quiet() -> bool:
    """Return whether the running command was given --quiet."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_QUIET))


def _reserve_stdout(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """With --json, reserve standard output for the JSON. Anything else, such as a hook's output, goes to stderr."""
    if value and not ctx.resilient_parsing:
        ctx.meta[_STDOUT] = sys.stdout
        ctx.with_resource(redirect_stdout(sys.stderr))
    return value


json_option = click.option(
    "--json", "as_json", is_flag=True, is_eager=True, callback=_reserve_stdout, help="Print JSON."
)


def print_json(data: object) -> None:
    """Print the output of a command with --json."""
    file = click.get_current_context().meta[_STDOUT]
    click.echo(json.dumps(data, indent=2, ensure_ascii=False), file=file)


def iso_date(seconds: float) -> str:
    """Return a time as JSON has it, in the local time zone."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


# ---- interactive input and interrupts ----


def require_stdin(purpose: str) -> None:
    """Raise PerfectPlayError, with this purpose in the message, if standard input is closed."""
    if sys.stdin is None:
        raise PerfectPlayError(f"standard input is closed; {purpose}")


def interrupted(ctx: click.Context, *, kept: bool) -> Interrupted:
    """Return the error for Ctrl-C, with the command that resumes (if results were kept) or starts again."""
    what = "stopped; resume with" if kept else "stopped, nothing saved; start again with"
    return Interrupted(f"{what}: {ctx.meta[_LINE]}")


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Provide an event that Ctrl-C or SIGTERM sets, so that work can stop cleanly. A second signal ends it at once."""
    stop = threading.Event()

    def on_interrupt(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, on_interrupt) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, previous, strict=True):
            signal.signal(number, handler)


# ---- clusters: --workers, --address, --audit ----


def _read_share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Convert 1% or 0.01 to a number from 0 to 1."""
    if value is None:
        return None
    try:
        share = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise click.BadParameter(f"{value!r} is not a share; write it as 1%", ctx, param)
    return share


audit_option = click.option(
    "--audit",
    callback=_read_share,
    metavar="SHARE",
    help="Have a second worker verify this share of the blocks, such as 1%.",
)


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --workers and --address to a command. `read_cluster` converts them to a cluster."""
    for option in (
        click.option(
            "--address", metavar="ADDRESS", help="Address of a running Ray cluster: auto, HOST:PORT or ray://HOST:PORT."
        ),
        click.option(
            "--workers", type=click.IntRange(min=1), metavar="N", help="Workers to use (default: one per core)."
        ),
    ):
        command = option(command)
    return command


def read_cluster(workers: int | None, address: str | None, audit: float | None = None) -> Cluster | None:
    """Return the cluster that the options describe, or None if none of them is given."""
    from perfectplay.solve.options import Cluster

    if workers is None and address is None and audit is None:
        return None
    return Cluster(workers=workers, address=address, audit=audit or 0.0)
