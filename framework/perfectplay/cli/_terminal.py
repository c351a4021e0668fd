"""Terminal output: colours, wrapped lines, lists of rated moves, and the progress of long work.

Wins are green, losses red and draws yellow. `click.echo` removes colours for pipes and NO_COLOR. Progress goes to
stderr, so that results can be piped.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click

from perfectplay.cli._common import is_quiet, open_game_table, stop_on_interrupt
from perfectplay.game import wording
from perfectplay.game.board import Board, player_colours
from perfectplay.game.board_text import Paint
from perfectplay.game.wording import worth
from perfectplay.memory import resident_memory
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.analysis.moves import RatedMoves
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table
    from perfectplay.threads import Progress
    from perfectplay_native.kernel import Kernel

_COLOURS = {Outcome.WIN: "green", Outcome.DRAW: "yellow", Outcome.LOSS: "red"}
# Numbers in the palette of 256 colours that nearly every terminal has. Black and white are left out, because one of
# them is the background.
_PLAYERS = {
    "orange": 208,
    "blue": 33,
    "red": 160,
    "green": 34,
    "purple": 135,
    "teal": 37,
    "yellow": 178,
    "pink": 205,
    "brown": 137,
    "grey": 245,
}


# ---- colours ----


def coloured(text: str, outcome: Outcome | None, *, bold: bool = False) -> str:
    """Return the text in the colour of an outcome for the side to move; None gives plain text."""
    return click.style(text, fg=None if outcome is None else _COLOURS[outcome], bold=bold or None)


def headline(verdict: str, value: Value | None) -> str:
    """Return the verdict on a position in bold, in the colour of its value."""
    return coloured(verdict, None if value is None else value.outcome, bold=True)


def painter(board: Board | None) -> Paint:
    """Return a function that colours text for a player of this board; without a board or an owner it stays plain."""

    def paint(text: str, owner: int | None) -> str:
        if board is None or owner is None or not text.strip():
            return text
        colour = _PLAYERS.get(player_colours(board)[owner])
        return text if colour is None else click.style(text, fg=colour)

    return paint


# ---- lines that fit the terminal ----


def terminal_width() -> int:
    """Return the number of columns, 80 by default."""
    return shutil.get_terminal_size().columns


def wrapped(words: Iterable[str], width: int, *, gap: str = " ") -> list[str]:
    """Wrap words into lines of at most this width. A longer word gets a separate line.

    >>> wrapped(["a3", "b3,", "c3"], 6)
    ['a3 b3,', 'c3']
    """
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(gap) + len(word) <= width:
            lines[-1] += f"{gap}{word}"
        else:
            lines.append(word)
    return lines


def hanging(head: str, words: Iterable[str], *, width: int | None = None) -> str:
    """Wrap words beside a heading, which may be coloured, with all lines indented to the first word.

    >>> print(hanging("win in 5  ", ["a3", "b3,", "c3"], width=16))
    win in 5  a3 b3,
              c3
    """
    margin = len(click.unstyle(head))
    lines = wrapped(words, (width or terminal_width()) - margin)
    return (head + f"\n{'':{margin}}".join(lines)).rstrip()


# ---- rated moves ----


def rated_lines(game: Game, position: int, rated: Sequence[RatedMoves], *, width: int | None = None) -> list[str]:
    """Format each value with its moves, best first. Commas separate groups of moves that are equivalent by symmetry.

    `width` is by default that of the terminal.
    """
    margin = max((len(worth(game, each.value)) for each in rated), default=0) + 2
    lines = []
    for value, classes in groupby(rated, key=lambda each: each.value):
        names = [[game.format_move(position, move) for move in each.moves] for each in classes]
        head = coloured(f"{worth(game, value):<{margin}}", value.outcome)
        lines += hanging(head, _join_classes(names), width=width).splitlines()
    return lines


def _join_classes(classes: Sequence[Sequence[str]]) -> list[str]:
    """Return the moves in order, with a comma after each class but the last."""
    ends = [[*moves[:-1], f"{moves[-1]},"] for moves in classes[:-1]]
    return [word for moves in [*ends, classes[-1]] for word in moves]


# ---- progress: a live display on a terminal, otherwise a plain line every few seconds ----

PLAIN_INTERVAL = 5.0
"""Seconds between two plain lines."""
MIN_BAR_COLUMNS = 36
"""Columns of a live display without its title: the bar, the share and the time, which are never truncated."""


@contextmanager
def table_at_work(
    verb: str, game: Game, directory: Path | None, kernel: Kernel | None = None
) -> Iterator[tuple[Table, ProgressDisplay, threading.Event]]:
    """Open a table for long work. Provides the table, the progress display and the event that Ctrl-C sets."""
    with (
        open_game_table(game, directory, kernel=kernel) as table,
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
