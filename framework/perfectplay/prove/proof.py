"""Drives a weak solve: one position is proven, and what is proven on the way is kept in a file for the next time.

The search itself is the engine's, in C (docs/weak.md). Its outcomes hold for good, whatever was searched for, so there
is one GBL2 file for a game: every run begins with what earlier runs have proven.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perfectplay.errors import Interrupted, PerfectPlayError, TableError, UsageError, reason
from perfectplay.files import atomic_write
from perfectplay.game.engine import cpu_seconds, game_kernel, run_in_background
from perfectplay.game.game import Game
from perfectplay.memory import peak_memory
from perfectplay.progress import Progress
from perfectplay.table.gbl2 import Entries, entries, read_gbl2, read_header, write_version_2
from perfectplay.table.locations import open_table, table_path
from perfectplay.table.table import Table
from perfectplay.values import Outcome
from perfectplay_native.errors import EngineOutOfMemory
from perfectplay_native.positions import Positions
from perfectplay_native.search import Search, SearchCounts

CHECKPOINT_SECONDS = 60.0

_DRAWN = 2
"""The search writes 1 lost, 2 drawn, 3 won: an outcome and this."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A proven position, and what it took."""

    position: int
    outcome: Outcome
    """For the side to move."""
    counts: SearchCounts
    wins: int
    """Of the positions proven so far, those that the side to move wins."""
    draws: int
    losses: int
    known_before: int
    """How many of them an earlier run had proven."""
    file: Path | None
    """Where they are kept."""
    checkpoint_seconds: float
    """How long the last writing of the file took."""
    seconds: float
    cpu_seconds: float
    peak_rss: int


def proof_path(game: Game, directory: Path | None = None) -> Path:
    """Where proven outcomes of a game are kept, beside its table; other rules, another file."""
    table = table_path(game, directory)
    return table.with_name(f"{table.name}.proven-rules{game.rules_version}.gbl2")


def prove_position(
    game: Game,
    position: int | None = None,
    *,
    directory: Path | None = None,
    save: bool = True,
    checkpoint: float = CHECKPOINT_SECONDS,
    prune: bool = True,
    use_table: bool = False,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Proof:
    """Find out who wins a position (the start, if none is given), and prove it, by alpha-beta search.

    Outcomes that earlier runs have proven are read from `proof_path`, new ones written there every `checkpoint` seconds
    and at the end, also when `stop` is set; without `save` the file is neither read nor written. A game that does
    not tell whose turn it is has no file: it says which player wins. Without `prune` every position that play can
    reach is proven too. With `use_table` what the game's table knows, finished or not, is not searched; it is trusted
    (`solve verify` proves one that is finished).

    Raises UsageError for what is not a position of the game, Interrupted when `stop` is set, PerfectPlayError when the
    file cannot be read or written, PluginError when the game's rules fail.

    >>> from perfectplay import load_game
    >>> proof = prove_position(load_game("gobblet"), save=False)
    >>> proof.outcome
    <Outcome.WIN: 1>
    """
    root = game.start() if position is None else position
    if not game.valid(root):
        raise UsageError(f"{root} is not a position of {game.name}")
    if checkpoint <= 0:
        raise UsageError("checkpoints must be more than 0 seconds apart")
    file = _OutcomeFile(game, proof_path(game, directory)) if save and _tells_turns(game, root) else None
    with ExitStack() as opened:
        table = opened.enter_context(open_table(game, table_path(game, directory))) if use_table else None
        work = _Work(game, root, file, checkpoint, prune, progress, stop or threading.Event(), table)
        opened.callback(work.search.close)  # before the table
        return work.run()


def _tells_turns(game: Game, position: int) -> bool:
    return game.movers(np.array([position], dtype=np.uint64)) is not None


class _OutcomeFile:
    """The GBL2 file, which says which player wins; the search speaks of the side to move."""

    def __init__(self, game: Game, path: Path) -> None:
        self.game, self.path = game, path
        self.seconds = 0.0

    def read_into(self, search: Search) -> int:
        """Let a search know what is in the file, if there is one; how many outcomes that is."""
        if not self.path.exists():
            return 0
        proven = read_proof(self.path, self.game)
        positions = np.ascontiguousarray(proven.entries["position"])
        outcomes = self._signs(positions) * proven.entries["outcome"]
        search.add_entries(positions, (outcomes + _DRAWN).astype(np.uint8), proven.marks)
        return search.counts.unique

    def write(self, search: Search) -> None:
        started = time.monotonic()
        positions, outcomes, marks = search.marked_entries()
        winners = self._signs(positions) * (outcomes.astype(np.int8) - _DRAWN)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TableError(f"cannot write {self.path}: {reason(error)}") from None
        write_proof(self.path, self.game, Proven(entries(positions, winners), marks))
        self.seconds = time.monotonic() - started

    def _signs(self, positions: Positions) -> npt.NDArray[np.int8]:
        """1 where the player who begins is to move, else -1."""
        movers = self.game.movers(positions)
        assert movers is not None  # `_tells_turns`
        return np.asarray(1 - 2 * movers, dtype=np.int8)


class _Work:
    """One run: the state that its steps share."""

    def __init__(
        self,
        game: Game,
        root: int,
        file: _OutcomeFile | None,
        checkpoint: float,
        prune: bool,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event,
        table: Table | None,
    ) -> None:
        self.game, self.root, self.file, self.checkpoint, self.prune = game, root, file, checkpoint, prune
        self.progress, self.stop = progress, stop
        if table is not None:
            table.attach_all()
        self.search = Search(game_kernel(game) if table is None else table.kernel)
        if table is not None:
            self.search.use_tablebase(table.engine)
        self.started, self.cpu_started = time.monotonic(), cpu_seconds()
        self.due = self.started + checkpoint
        self.saved = 0

    def run(self) -> Proof:
        known_before = self.file.read_into(self.search) if self.file else 0
        self.saved = known_before + self.search.counts.expanded
        while not self._search_on():
            self._save()
        self._save()
        _, outcomes = self.search.entries()
        found = np.bincount(outcomes, minlength=4).tolist()
        return Proof(
            position=self.root,
            outcome=Outcome((self.search.outcome(self.root) or 0) - _DRAWN),
            counts=self.search.counts,
            wins=found[3],
            draws=found[2],
            losses=found[1],
            known_before=known_before,
            file=self.file.path if self.file else None,
            checkpoint_seconds=self.file.seconds if self.file else 0.0,
            seconds=time.monotonic() - self.started,
            cpu_seconds=cpu_seconds() - self.cpu_started,
            peak_rss=peak_memory(),
        )

    def _search_on(self) -> bool:
        """Search until all is proven, True, or the next checkpoint is due, False."""
        try:
            run_in_background(self._search, game=self.game, stop=self.stop, cancel=self.search.stop, tell=self._tell)
        except Interrupted:
            if self.stop.is_set():
                self._save()
                raise
            return False
        return True

    def _search(self) -> None:
        try:
            self.search.run(self.root)
            if not self.prune:
                self.search.prove_reachable()
        except EngineOutOfMemory as error:
            raise PerfectPlayError(f"not enough memory: {error}; the last checkpoint is kept") from None

    def _tell(self) -> None:
        now, counts = time.monotonic(), self.search.counts
        if self.file and now >= self.due:
            self.search.stop()
        if self.progress is not None:
            self.progress(
                Progress(
                    phase="proving", positions=counts.unique, tiers=1, level=counts.depth, seconds=now - self.started
                )
            )

    def _save(self) -> None:
        counts = self.search.counts
        if self.file and counts.unique + counts.expanded > self.saved:
            self.file.write(self.search)
            self.saved = counts.unique + counts.expanded
        self.due = time.monotonic() + self.checkpoint


# The file of a weak solve: outcomes proven so far, for one game, one variant and one version of its rules.
#
# It is a GBL2 file of version 2 (gbl2.py). Its text names the game, and its bytes after the entries mark the positions
# whose children are all proven too, one bit each. The checksum is of all of it.

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof file holds."""

    entries: Entries
    marks: Marks


def write_proof(path: Path, game: Game, proven: Proven) -> None:
    """Write a proof file atomically."""
    with atomic_write(path) as part, part.open("wb") as file:
        write_version_2(file, _about(game), proven.entries, np.packbits(proven.marks).tobytes())


def read_proof(path: Path, game: Game) -> Proven:
    """What a proof file holds; TableError where it is another game's, of other rules or options, or damaged."""
    try:
        header = read_header(path)
        if header.about != _about(game):
            raise TableError(f"{path} is not a proof file of {_spoken(_about(game))}, but {_spoken(header.about)}")
        if header.more != -(-header.count // 8):
            raise PerfectPlayError(f"{path} is damaged: it does not have as many marks as outcomes")
        parts = list(read_gbl2(path))  # checks the checksum at its end: nothing is used before
        with path.open("rb") as file:
            file.seek(-header.more, 2)
            bits = np.frombuffer(file.read(), dtype=np.uint8)
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror}") from None
    except TableError:
        raise
    except PerfectPlayError as error:
        raise TableError(f"{error}; delete it, or use --no-save") from None
    entries = np.concatenate(parts) if parts else np.empty(0, dtype="<u8, i1")
    return Proven(entries, np.unpackbits(bits, count=header.count).astype(bool))


def _about(game: Game) -> bytes:
    about = {"game": game.name, "options": game.options, "rules_version": game.rules_version}
    return json.dumps(about, sort_keys=True).encode()


def _spoken(about: bytes) -> str:
    return about.decode(errors="replace") if about else "of a game that it does not name"
