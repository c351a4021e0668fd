"""Shows the progress of long work: a live display on a terminal, otherwise a plain line every few seconds.

Everything is written to stderr, so that results can be piped.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import is_quiet, open_game_table, stop_on_interrupt
from perfectplay.cli._text import terminal_width
from perfectplay.game import wording
from perfectplay.memory import resident_memory

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table
    from perfectplay.threads import Progress

PLAIN_INTERVAL = 5.0
"""Seconds between two plain lines."""
MIN_BAR_COLUMNS = 36
"""Columns of a live display without its title: the bar, the share and the time, which are never truncated."""


@contextmanager
def table_at_work(
    verb: str, game: Game, directory: Path | None
) -> Iterator[tuple[Table, ProgressDisplay, threading.Event]]:
    """Open a table for long work. Provides the table, the progress display and the event that Ctrl-C sets."""
    with (
        open_game_table(game, directory) as table,
        stop_on_interrupt() as stop,
        ProgressDisplay(f"{verb} {game.identity}") as progress,
    ):
        yield table, progress, stop


class ProgressDisplay:
    """A context manager that is also the progress callback: `with ProgressDisplay(title) as p: work(progress=p)`."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._live: LiveDisplay | None = None
        self._last_line = 0.0

    def __enter__(self) -> ProgressDisplay:
        if sys.stderr.isatty() and not is_quiet():
            self._live = LiveDisplay()
        self._last_line = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, now: Progress) -> None:
        """Show a snapshot of the work. May be called at any rate."""
        title = f"{self._title}: {now.phase}"
        if self._live is not None:
            self._live.show(self._title, now)
        elif not is_quiet() and time.monotonic() - self._last_line >= PLAIN_INTERVAL:
            self._last_line = time.monotonic()
            room = terminal_width() - len(title) - 2
            click.echo(f"{title}: {fitting(facts(now), room)}", err=True)

    def warn(self, text: str) -> None:
        """Print a warning on a separate line."""
        if is_quiet():
            return
        line = f"warning: {text}"
        if self._live is not None:
            self._live.write(line)
        else:
            click.echo(line, err=True)


class LiveDisplay:
    """Two lines that are redrawn: a bar, and the facts below it. They disappear when the work is done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        title = TextColumn("{task.description}", markup=False)
        bar = BarColumn(bar_width=None)  # fills the rest of the line
        self._bar = Bar(SpinnerColumn(), title, bar, TaskProgressColumn(), TimeElapsedColumn(), expand=True)
        self._task = self._bar.add_task("", total=None)
        self._console = Console(stderr=True)
        self._live = Live(self._bar, console=self._console, transient=True)
        self._live.start()

    def show(self, title: str, now: Progress) -> None:
        from rich.console import Group
        from rich.text import Text

        room = self._console.width - MIN_BAR_COLUMNS - len(now.phase)
        name = title if len(title) <= room else f"{title[: max(0, room - 1)]}…"
        self._bar.update(self._task, description=f"{name}: {now.phase}", completed=now.positions, total=now.total)
        line = "  " + fitting(facts(now), self._console.width - 2)
        self._live.update(Group(self._bar, Text(line, style="dim", no_wrap=True, overflow="ellipsis")))

    def write(self, line: str) -> None:
        """Print a permanent line above the display."""
        self._console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        self._live.stop()


def facts(now: Progress) -> list[str]:
    """Describe the state of the work in a few short texts, the most important first."""
    if now.total:
        texts = [f"{wording.share(now.positions, now.total)} of {now.total:,} {now.unit}"]
    else:
        texts = [f"{now.positions:,} {now.unit}"]
    done_now = now.positions - now.done_before
    if now.total and done_now > 0 and now.positions < now.total:
        left = now.seconds * (now.total - now.positions) / done_now
        texts.append(f"{wording.seconds(left)} left")
    if now.seconds > 0 and done_now > 0:
        texts.append(wording.rate(done_now, now.seconds))
    if now.tiers > 1:
        texts.append(f"tier {now.tiers_done} of {now.tiers}")
    if now.level:
        texts.append(f"depth {now.level}")
    if memory := resident_memory():
        texts.append(wording.size(memory))
    return texts


def fitting(texts: list[str], width: int) -> str:
    """Join as many of the texts as fit on a line of this width, and always the first.

    >>> fitting(["20.0 % of 10 slots", "8.0 s left", "depth 4"], 32)
    '20.0 % of 10 slots, 8.0 s left'
    """
    line, *more = texts
    for text in more:
        if len(line) + 2 + len(text) > width:
            break
        line += f", {text}"
    return line
