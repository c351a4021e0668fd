"""Tables in other people's formats.

A format is a function `write(path, source)`, registered by a plugin through `register_exporters` under its name. It
writes the rows of `source` to `path`, part by part. The name is a temporary one: the host renames the file when the
function returns, so that a file under its final name is always whole.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.selection import ROW, Rows, Selection, count_selected, rebatched, select
from perfectplay.errors import Interrupted, PerfectPlayError, PluginError, UsageError, did_you_mean
from perfectplay.files import atomic_write
from perfectplay.game import plugins
from perfectplay.progress import Progress
from perfectplay.tiers.external_set import Run, merge_portions
from perfectplay.values import ENDLESS_CODE, UNKNOWN_REMOTENESS
from perfectplay_native.positions import Positions

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

_OUTCOME_OF_KIND = np.array([0, -1, 0, 1], dtype=np.int8)

Exporter = Callable[[Path, "Source"], None]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """A finished export."""

    path: Path
    positions: int
    bytes: int
    seconds: float


class Source:
    """What an exporter writes: the wanted rows of a table, in the table's order or by position."""

    def __init__(
        self,
        table: Table,
        wanted: Selection,
        directory: Path,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.table = table
        self.game = table.game
        self.wanted = wanted
        self.count = count_selected(table, wanted)
        """How many rows there are."""
        self._directory, self._progress, self._stop = directory, progress, stop

    def rows(self) -> Iterator[Rows]:
        """The rows in the order of the table."""
        return self._counted("writing", select(self.table, self.wanted))

    def ordered_rows(self) -> Iterator[Rows]:
        """The rows ascending by position. Many of them wait in files beside the export, 10 or 12 bytes each."""
        collected = self._counted("sorting", select(self.table, self.wanted))
        return self._counted("writing", ordered(collected, self._directory))

    def outcomes(self, rows: Rows) -> npt.NDArray[np.int8]:
        """Who wins: 1 the player who begins, -1 the other, 0 nobody."""
        return winners(self.game, rows["position"], rows["code"])

    def _counted(self, phase: str, parts: Iterator[Rows]) -> Iterator[Rows]:
        done, started = 0, None
        for part in parts:
            started = started or time.monotonic()  # sorting is done by when the first part of it comes
            if self._stop is not None and self._stop.is_set():
                raise Interrupted("interrupted")
            yield part
            done += len(part)
            if self._progress is not None:
                seconds = time.monotonic() - started
                self._progress(Progress(phase=phase, positions=done, total=self.count, seconds=seconds))


def mover_outcomes(codes: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """For the side to move: 1 win, 0 draw, -1 loss.

    >>> mover_outcomes(np.array([55, 0, 9, 6], dtype=np.uint16)).tolist()
    [1, 0, -1, 0]
    """
    return np.asarray(_OUTCOME_OF_KIND[codes & 3])


def mover_plies(codes: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, np.dtype[np.uint16]]:
    """Plies to the end; masked for an endless draw, and where only outcomes are known.

    >>> mover_plies(np.array([55, 0, 65535], dtype=np.uint16)).tolist()
    [13, None, None]
    """
    plies = np.asarray(codes >> 2 & 0x3FFF, dtype=np.uint16)
    return np.ma.array(plies, mask=(codes == ENDLESS_CODE) | (plies == UNKNOWN_REMOTENESS))


def mover_scores(codes: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """By how much the side to move wins, negative where it loses; of the codes of a game with scores.

    >>> from perfectplay import Outcome, Value
    >>> mover_scores(np.array([Value(Outcome.LOSS, 4, score=-10).code], dtype=np.uint32)).tolist()
    [-10]
    """
    return np.asarray(codes >> 16).astype(np.int16)


def winners(game: Game, positions: Positions, codes: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Who wins: 1 the player who begins, -1 the other, 0 nobody; PerfectPlayError where the game does not tell."""
    movers = game.movers(positions)
    if movers is None:
        raise PerfectPlayError(
            f"{game.name} does not tell whose turn it is in a position (it has neither the hook 'mover' nor 'board'), "
            "and this format says which player wins: use csv or parquet, which speak of the side to move"
        )
    return np.asarray((1 - 2 * movers) * mover_outcomes(codes), dtype=np.int8)


def check_exporter(name: str, exporter: object) -> None:
    """PluginError where what is registered cannot be called as `exporter(path, source)`."""
    try:
        inspect.signature(exporter).bind(Path(), None)  # type: ignore[arg-type]  # what is no function is refused here
    except (TypeError, ValueError):
        raise PluginError(f"exporter '{name}' is {exporter!r}: a function write(path, source) is needed") from None


def exporters() -> dict[str, Exporter]:
    """Every format that is installed, by name."""
    return plugins.call_host_plugins("register_exporters", check_exporter).entries


def export_table(
    table: Table,
    format: str,
    path: Path | str,
    wanted: Selection | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> ExportReport:
    """Write the positions of a finished table, or the `wanted` ones, to a file in one of the `exporters()` formats.

    The file appears under its name when it is whole. Raises UsageError for an unknown format or tier, TableError for
    an unfinished table, Interrupted when `stop` is set.
    """
    known, path = exporters(), Path(path)
    if format not in known:
        there_are = ", ".join(sorted(known))
        raise UsageError(f"unknown format '{format}'{did_you_mean(format, known)} (there are: {there_are})")
    table.require_complete()
    started = time.monotonic()
    source = Source(table, wanted or Selection(), path.absolute().parent, progress, stop)
    with atomic_write(path) as part:
        known[format](part, source)
    return ExportReport(path, source.count, path.stat().st_size, time.monotonic() - started)


# Rows in the order of their positions, however many: sorted runs in a file, merged as they are read.

RUN_ROWS = 1 << 22
"""Rows sorted in memory at a time: some 100 MB with what sorting needs."""

SMALLEST_READ = 1 << 12
"""Rows read from a run at a time, however many runs there are."""


class FileRun:
    """Rows in a file without a name, read slice by slice: a memory map would look like memory in use."""

    def __init__(self, rows: Rows, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (it lives as long as the run)
        self._type = rows.dtype
        self._file.write(np.ascontiguousarray(rows).view(np.uint8).data)  # `tofile` would not say what went wrong
        self._file.flush()

    def __getitem__(self, part: slice) -> Rows:
        size = self._type.itemsize
        data = os.pread(self._file.fileno(), size * (part.stop - part.start), size * part.start)
        return np.frombuffer(data, dtype=self._type)

    def __enter__(self) -> FileRun:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def ordered(parts: Iterable[Rows], directory: Path, run_rows: int = RUN_ROWS) -> Iterator[Rows]:
    """The rows of all parts, ascending by position; what does not fit one run waits in files in `directory`."""
    with ExitStack() as files:
        runs: list[Run] = []
        newest: Rows = np.empty(0, dtype=ROW)  # stays in memory: a small export needs no file
        for part in rebatched(parts, run_rows):
            if len(newest):
                runs.append(files.enter_context(FileRun(newest, directory)))
            newest = _sorted(part)
        runs.append(newest)
        for portion in merge_portions(runs, _positions, chunk=max(SMALLEST_READ, run_rows // len(runs))):
            yield _sorted(portion)


def _positions(rows: Rows) -> Positions:
    return rows["position"]


def _sorted(rows: Rows) -> Rows:
    # A portion is made of sorted pieces, which a stable sort recognises.
    return rows[np.argsort(rows["position"], kind="stable")]
