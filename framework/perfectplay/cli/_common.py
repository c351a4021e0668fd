"""What the commands share: commands on a game with that game's own options, sizes, threads, JSON, Ctrl-C."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfectplay.errors import Interrupted, PerfectPlayError, PluginError
from perfectplay.game import plugins, wording
from perfectplay.game.options import Option, spell

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.game.plugins import Plugin
    from perfectplay.solve.options import Cluster
    from perfectplay.table.table import Table

_PLUGIN = "perfectplay.plugin"
_OPTIONS = "perfectplay.game_options"
_LINE = "perfectplay.line"
_STDOUT = "perfectplay.stdout"
_QUIET = "perfectplay.quiet"
_ANY_OPTION = {"ignore_unknown_options": True, "allow_interspersed_args": True}


class GameOption(click.Option):
    """An option of the game itself. Its value is checked by the game, in the game's words."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.destination = f"game_option_{option.name.replace('-', '_')}"
        switch = f"--{option.name}/--no-{option.name}" if option.is_flag else f"--{option.name}"
        words = f"{option.help} ({option.range}; default: {spell(option.default)})"
        metavar = None if option.is_flag else "WORD" if option.choices else "TEXT" if option.text else "N"
        super().__init__([switch, self.destination], default=None, metavar=metavar, help=words.strip())


class GameCommand(click.Command):
    """A command on one game. The game's own options are the command's too, and `game` is its first parameter.

    The game is given by `game_name`, or is an argument: the first, unless the command itself has it elsewhere.
    """

    def __init__(self, *args: Any, game_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.game_name = game_name
        if game_name is None and not any(param.name == "game" for param in self.params):
            self.params.insert(0, click.Argument(["game"], metavar="GAME", shell_complete=complete_game))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_LINE] = shlex.join([*ctx.command_path.split(), *args])
        # Which options there are depends on the game, so the game is found and loaded before the line is parsed.
        if name := self.game_name or self._find_game(ctx, args):
            with redirect_stdout(sys.stderr):  # what a plugin prints is no part of the answer
                plugin = ctx.meta[_PLUGIN] = plugins.load_plugin(name)
                ctx.meta[_OPTIONS] = [GameOption(option) for option in plugin.options]
            self.refuse_taken_options(ctx, plugin.name, ctx.meta[_OPTIONS])
        return super().parse_args(ctx, args)

    def _find_game(self, ctx: click.Context, args: list[str]) -> str | None:
        """The first word that names a game, and is not the value of one of the command's own options."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        reader = click.Command(
            self.name, params=[*options, click.Argument(["words"], nargs=-1)], context_settings=_ANY_OPTION
        )
        words = reader.make_context(ctx.info_name, list(args), parent=ctx.parent, resilient_parsing=True).params[
            "words"
        ]
        names = plugins.game_names()
        return next((word for word in words if word in names or plugins.is_file(word)), None)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, help_option = super().get_params(ctx)
        return [*own, *ctx.meta.get(_OPTIONS, []), help_option]

    def refuse_taken_options(self, ctx: click.Context, game: str, options: Sequence[GameOption]) -> None:
        """PluginError where the game has an option that this command has itself: one would hide the other."""
        taken = {word for param in super().get_params(ctx) for word in (*param.opts, *param.secondary_opts)}
        for each in options:
            for word in sorted(taken.intersection((*each.opts, *each.secondary_opts))):
                raise PluginError(
                    f"{game}: its option '{each.option.name}' is taken: `{ctx.command_path}` has a {word} of its own; "
                    f"call the option something else"
                )

    def invoke(self, ctx: click.Context) -> Any:
        plugin = ctx.meta.get(_PLUGIN) or plugins.load_plugin(ctx.params["game"])
        given = {each.option.name: ctx.params.pop(each.destination) for each in ctx.meta.get(_OPTIONS, [])}
        options = {name: value for name, value in given.items() if value is not None}
        with redirect_stdout(sys.stderr):
            ctx.params["game"] = self.build(plugin, options)
        return super().invoke(ctx)

    def build(self, plugin: Plugin, options: dict[str, Any]) -> Game:
        """The game, as these options make it."""
        from perfectplay.game.loading import build_game

        return build_game(plugin, options)


def command_line(ctx: click.Context) -> str:
    """The command as it was typed, to be run again."""
    return str(ctx.meta[_LINE])


def read_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The bytes that 256M, 1.5G or 2GiB stand for."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmgt]?)(?:i?b)?", value.strip().lower())
    size = int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " ")) if found else 0
    if size <= 0:
        raise click.BadParameter(f"{value!r} is not a size; write it as 256M or 2G", ctx, param)
    return size


threads_option = click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use (default: all cores)."
)
directory_option = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where tables are kept (default: your data directory).",
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


def _keep_stdout(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """With --json, standard output is for the JSON alone: what else is printed, by hooks say, goes to stderr."""
    if value and not ctx.resilient_parsing:
        ctx.meta[_STDOUT] = sys.stdout
        ctx.with_resource(redirect_stdout(sys.stderr))
    return value


json_option = click.option("--json", "as_json", is_flag=True, is_eager=True, callback=_keep_stdout, help="Print JSON.")


def is_quiet() -> bool:
    """Whether the command that runs was told to be quiet."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_QUIET))


def complete_game(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: the installed games."""
    return [name for name in plugins.game_names() if name.startswith(incomplete)]


def print_json(data: object) -> None:
    """Print the answer of a command with --json."""
    file = click.get_current_context().meta[_STDOUT]
    click.echo(json.dumps(data, indent=2, ensure_ascii=False), file=file)


def open_game_table(game: Game, directory: Path | None, *, memory: int | None = None) -> Table:
    """The finished table of a game, in `--dir` or where tables are kept; `memory` as `open_table` has it."""
    from perfectplay.table.locations import open_table, table_path

    return open_table(game, table_path(game, directory), memory=memory)


def say_what_is_unknown(game: Game, table: Table) -> None:
    """On standard error, where a table knows outcomes alone, what it cannot tell; one that knows all needs no word."""
    if table.outcomes_only:
        click.echo(click.style(wording.outcomes_only(puzzle=game.is_puzzle), dim=True), err=True)


def require_input() -> None:
    """PerfectPlayError where there is nothing to read from."""
    if sys.stdin is None:
        raise PerfectPlayError("standard input is closed: there is nobody to answer to")


def interrupted(ctx: click.Context, *, kept: bool) -> Interrupted:
    """What to say after Ctrl-C: whether anything was kept, and the command that resumes or starts again."""
    what = "stopped; resume with" if kept else "stopped, nothing kept; start again with"
    return Interrupted(f"{what}: {command_line(ctx)}")


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, so that work can stop in good order; the second one ends it at once."""
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


# The options of work on several machines: --workers, --address, --audit.


def _read_share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """The share that 1% or 0.01 stands for."""
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
    "--audit", callback=_read_share, metavar="SHARE", help="Derive this share of the blocks twice, such as 1%."
)


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --workers and --address, for `read_cluster` to make a cluster of."""
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
    """What the options say; None where none was given."""
    from perfectplay.solve.options import Cluster

    if workers is None and address is None and audit is None:
        return None
    return Cluster(workers=workers, address=address, audit=audit or 0.0)
