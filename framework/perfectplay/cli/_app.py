"""The root of the command line: finds the command or the game, runs it, and reports errors in one line.

Games and commands are imported only when they are needed, so that `solve --help` is fast.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from perfectplay.errors import Interrupted, PerfectPlayError, UsageError, did_you_mean
from perfectplay.game import plugins
from perfectplay.game.plugins import COMMANDS


class Root(click.Group):
    """Every installed game is a command (`solve gobblet`), as are the built-in commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *_game_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = import_module(f"perfectplay.cli.{cmd_name}").command
            return command
        if cmd_name in _game_names() or plugins.is_file(cmd_name):
            from perfectplay.cli.solve import make_solve_command

            return make_solve_command(cmd_name)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name.startswith("-") or name in self.list_commands(ctx) or plugins.is_file(name):
            return super().resolve_command(ctx, args)
        if not did_you_mean(name, _game_names()) and (hint := did_you_mean(name, COMMANDS)):
            raise UsageError(f"unknown command '{name}'{hint}")
        raise plugins.unknown_game(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        origins = plugins.game_origins()
        games = [name for name in origins if name not in plugins.RESERVED_NAMES]
        with formatter.section("Games"):
            formatter.write_dl([(name, f"from {origins[name]}") for name in games] or [("(none)", "")])
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        example = next(iter(games), "GAME")
        with formatter.section("Examples"):
            formatter.write_dl(
                [
                    (f"solve {example}", "find out who wins, from every position"),
                    (f"solve show {example}", "show the start and the value of each move"),
                    (f"solve {example} --help", "show all options"),
                ]
            )

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run and exit. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 after Ctrl-C."""
        _replace_closed_streams()
        # NumPy's OpenBLAS, which we do not use, starts threads, and raises SIGINT if there is no memory for them.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # print a ? for characters that the terminal lacks
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
            if sys.stdout is None:
                raise PerfectPlayError("standard output is closed, so the result cannot be printed")
            sys.stdout.flush()
        except Exception as error:
            code = _report(error)
        sys.exit(code if isinstance(code, int) else 0)


def _replace_closed_streams() -> None:
    """Open /dev/null in place of closed standard streams. A table could get their number, and messages with it."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)  # messages are lost; a closed standard output is an error


def _game_names() -> list[str]:
    return [name for name in plugins.game_names() if name not in plugins.RESERVED_NAMES]


def _report(error: Exception) -> int:
    """Print an error in one line, and return the exit code."""
    if os.environ.get("PERFECTPLAY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        # The reader is gone (`solve games | head -1`). Python flushes again at exit, so give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    code, kind = 1, "error: "
    if isinstance(error, Interrupted):
        text, code, kind = str(error), error.exit_code, ""  # the user asked for it, so it is not an error
    elif isinstance(error, PerfectPlayError):
        text, code = str(error), error.exit_code
    elif isinstance(error, click.Abort):
        text, code, kind = "interrupted", Interrupted.exit_code, ""
    elif isinstance(error, click.ClickException):
        text, code = _format_usage_error(error), error.exit_code
    elif isinstance(error, ValueError) and "null byte" in str(error):
        text, code = "a path cannot contain a NUL character", UsageError.exit_code
    elif isinstance(error, RuntimeError) and "start new thread" in str(error):
        text = "cannot start a thread; raise the limit on memory (ulimit -v) or on processes (ulimit -u)"
    elif isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error):
        text = "too many open files; raise the limit (ulimit -n)"
    elif isinstance(error, ImportError) and "failed to map segment" in str(error):  # the C library's message
        text = "not enough memory to load a library; raise the limit (ulimit -v)"
    elif isinstance(error, MemoryError):
        text = "not enough memory" + (f": {error}" if str(error) else "")
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    else:
        kind = "internal error: "
        text = f"{type(error).__name__}: {error} (set PERFECTPLAY_DEBUG=1 for the traceback)"
    click.echo(kind + " ".join(text.split()), err=True)
    return code


def _format_usage_error(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx:
        return f"{text.rstrip('.')} (see `{error.ctx.command_path} --help`)"
    return text


@click.command(cls=Root, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="perfectplay", message="perfectplay %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Solve a board game completely: for every position, who wins and in how many moves.

    `solve GAME` solves a game and saves the table, which the commands below read.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the program `solve`."""
    root.main(prog_name="solve")
