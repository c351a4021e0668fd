"""Proves the outcome of one position by search, and stores every outcome proven on the way in a proof file.

The search itself runs in C (docs/weak.md). Its outcomes are valid independently of the position that was searched, so
each game has one proof file, and every run starts with the outcomes of earlier runs. Several runs may
use the file at the same time: a run that writes its outcomes keeps those that others have written meanwhile.

A proof file is a GBL2 file of version 2 (gbl2.py). Its text names the game, the options and the version of the rules.
After the entries it has one bit per position, set if all children of that position are proven too.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perfectplay.compile.kernel import solving_kernel
from perfectplay.errors import Interrupted, PerfectPlayError, TableError, UsageError, reason
from perfectplay.files import atomic_write, lock_directory
from perfectplay.game.engine import cpu_seconds, run_in_background
from perfectplay.game.game import Game
from perfectplay.memory import peak_memory
from perfectplay.table.gbl2 import Entries, entries, read_gbl2, read_header, write_version_2
from perfectplay.table.locations import open_table, table_path
from perfectplay.table.table import Table
from perfectplay.threads import Progress
from perfectplay.values import Outcome
from perfectplay_native.errors import EngineOutOfMemory
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions
from perfectplay_native.search import Search, SearchCounts

CHECKPOINT_SECONDS = 60.0

_DRAW = 2
"""The search encodes a loss as 1, a draw as 2 and a win as 3, which is the outcome plus this number."""

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """How to search, and what to store."""

    directory: Path | None = None
    """The directory of the proof file and the table; by default the one that all tables share."""
    save: bool = True
    """Read and write the proof file."""
    checkpoint: float = CHECKPOINT_SECONDS
    """Seconds between two writes of the proof file."""
    prune: bool = True
    """Stop as soon as the position is proven; otherwise prove every position reachable from it."""
    use_table: bool = False
    """Look positions up in the game's table, complete or not, before searching them. The table is trusted."""
    null_window: bool = False
    """Prove separately for each player that it can avoid a loss, which is much faster if the position is a draw.

    The draws that such a search proves on the way are only bounds, so there is no proof file."""

    def __post_init__(self) -> None:
        if self.null_window and not self.prune:
            raise UsageError("a search with a null window proves one position only: leave out --no-prune")
        if self.checkpoint <= 0:
            raise UsageError(f"the seconds between checkpoints must be more than 0, not {self.checkpoint}")


@dataclass(frozen=True, slots=True)
class Proof:
    """A proven position, and the cost of the proof."""

    position: int
    outcome: Outcome
    """For the side to move."""
    counts: SearchCounts
    wins: int
    """Proven positions, from this run and earlier ones, that the side to move wins."""
    draws: int
    """With a null window these are bounds: one of the players can avoid a loss."""
    losses: int
    known_before: int
    """Proven positions that an earlier run contributed."""
    file: Path | None
    """The proof file, if there is one."""
    checkpoint_seconds: float
    """Duration of the last write of the file."""
    seconds: float
    cpu_seconds: float
    peak_rss: int


def proof_path(game: Game, directory: Path | None = None) -> Path:
    """Return the path of a game's proof file, beside its table. Each version of the rules has a separate file."""
    table = table_path(game, directory)
    return table.with_name(f"{table.name}.proven-rules{game.rules_version}.gbl2")


def prove_position(
    game: Game,
    position: int | None = None,
    options: ProofOptions | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Proof:
    """Prove who wins a position (by default the start) by alpha-beta search.

    Proven outcomes are read from `proof_path`, and written there at every checkpoint, at the end, and when `stop` is
    set. The file stores which player wins, so a game that does not define which player is to move has no proof file.

    Returns the outcome together with counts and times.
    Raises UsageError if `position` is not a position of the game, Interrupted when `stop` is set, TableError if the
    file or the table cannot be read or written, PluginError if the game's rules fail.

    >>> from perfectplay import load_game
    >>> proof = prove_position(load_game("gobblet"), options=ProofOptions(save=False))
    >>> proof.outcome
    <Outcome.WIN: 1>
    """
    root = game.start() if position is None else position
    options = options or ProofOptions()
    if not game.valid(root):
        raise UsageError(f"{root} is not a position of {game.name}")
    has_turns = game.movers(np.array([root], dtype=np.uint64)) is not None
    saves = options.save and has_turns and not options.null_window
    file = _ProofFile(game, proof_path(game, options.directory)) if saves else None
    with ExitStack() as resources:
        table = None
        if options.use_table:
            path = table_path(game, options.directory)
            table = resources.enter_context(open_table(game, path, kernel=solving_kernel(game)))
        run = _Run(game, root, options, file, table)
        resources.callback(run.close)  # before the table is closed
        return run.prove(progress, stop or threading.Event())


class _Run:
    """One search, interrupted by checkpoints."""

    def __init__(
        self, game: Game, root: int, options: ProofOptions, file: _ProofFile | None, table: Table | None
    ) -> None:
        self.game, self.root, self.options, self.file = game, root, options, file
        self.table = table
        if table is not None:
            table.attach_all()
        self.searches = [self._new_search()]
        self.started, self.cpu_started = time.monotonic(), cpu_seconds()
        self.next_checkpoint = self.started + options.checkpoint
        self.saved = 0
        """Proven plus expanded positions at the last checkpoint."""

    @property
    def search(self) -> Search:
        """The current search: the last one."""
        return self.searches[-1]

    def _new_search(self) -> Search:
        search = Search(solving_kernel(self.game) if self.table is None else self.table.kernel)
        if self.table is not None:
            search.use_tablebase(self.table.engine)
        return search

    def close(self) -> None:
        for search in self.searches:
            search.close()

    def prove(self, progress: Callable[[Progress], None] | None, stop: threading.Event) -> Proof:
        """Search until everything is proven, or until `stop` is set."""
        known_before = self.file.load(self.search) if self.file else 0
        self.saved = known_before + self.search.counts.expanded
        if self.options.null_window:
            self._prove_bounds(progress, stop)
        while not self._search_until_checkpoint(progress, stop):
            self._save()
        self._save()
        outcomes = np.concatenate([search.entries()[1] for search in self.searches])
        _, losses, draws, wins = np.bincount(outcomes, minlength=4).tolist()
        return Proof(
            position=self.root,
            outcome=Outcome((self.search.outcome(self.root) or 0) - _DRAW),
            counts=reduce(SearchCounts.__add__, [search.counts for search in self.searches]),
            wins=wins,
            draws=draws,
            losses=losses,
            known_before=known_before,
            file=self.file.path if self.file else None,
            checkpoint_seconds=self.file.seconds if self.file else 0.0,
            seconds=time.monotonic() - self.started,
            cpu_seconds=cpu_seconds() - self.cpu_started,
            peak_rss=peak_memory(),
        )

    def _prove_bounds(self, progress: Callable[[Progress], None] | None, stop: threading.Event) -> None:
        """Prove whether the mover can avoid a loss; if so, prepare the search for whether the opponent can, too."""
        mover = self.game.movers(np.array([self.root], dtype=np.uint64))
        kernel = self.search.kernel
        if mover is None or kernel.players == 1 or not kernel.has("mover"):
            raise UsageError(f"{self.game.name} does not define who is to move: it has no search with a null window")
        self.search.set_holder(int(mover[0]))
        self._search_until_checkpoint(progress, stop)
        if self.search.outcome(self.root) == _DRAW:
            positions, outcomes = self.search.entries()
            self.searches.append(self._new_search())
            self.search.set_holder(1 - int(mover[0]))
            self.search.add_entries(positions[outcomes != _DRAW], outcomes[outcomes != _DRAW])

    def _search_until_checkpoint(self, progress: Callable[[Progress], None] | None, stop: threading.Event) -> bool:
        """Return True if everything is proven, False if a checkpoint is due."""

        def report() -> None:
            now, counts = time.monotonic(), self.search.counts
            if self.file and now >= self.next_checkpoint:
                self.search.stop()
            if progress is not None:
                seconds = now - self.started
                state = Progress(phase="proving", positions=counts.unique, tiers=1, level=counts.depth, seconds=seconds)
                progress(state)

        try:
            run_in_background(self._search, game=self.game, stop=stop, cancel=self.search.stop, report=report)
        except Interrupted:
            if stop.is_set():
                self._save()
                raise
            return False
        return True

    def _search(self) -> None:
        try:
            self.search.run(self.root)
            if not self.options.prune:
                self.search.prove_reachable()
        except EngineOutOfMemory as error:
            raise PerfectPlayError(f"not enough memory: {error}; the last checkpoint was saved") from None

    def _save(self) -> None:
        counts = self.search.counts
        if self.file and counts.unique + counts.expanded > self.saved:
            self.file.save(self.search)
            self.saved = counts.unique + counts.expanded
        self.next_checkpoint = time.monotonic() + self.options.checkpoint


class _ProofFile:
    """Converts between the file, which stores which player wins, and the search, which uses the side to move."""

    def __init__(self, game: Game, path: Path) -> None:
        self.game, self.path = game, path
        self.seconds = 0.0
        self._contents: tuple[int, int, int] | None = None
        """Identifies the contents of the file if the search has all of its outcomes."""

    def load(self, search: Search) -> int:
        """Give the file's outcomes, if it exists, to a search. Returns their number."""
        self._contents = _identify(self.path)
        if self._contents is None:
            return 0
        data = read_proof(self.path, self.game)
        positions = np.ascontiguousarray(data.entries["position"])
        outcomes = self._signs(search.kernel, positions) * data.entries["outcome"]
        search.add_entries(positions, (outcomes + _DRAW).astype(np.uint8), data.marks)
        return search.counts.unique

    def save(self, search: Search) -> None:
        """Write all outcomes of a search, together with those that other runs have written meanwhile."""
        started = time.monotonic()
        positions, outcomes, marks = search.marked_entries()
        winners = self._signs(search.kernel, positions) * (outcomes.astype(np.int8) - _DRAW)
        data = ProofData(entries(positions, winners), marks)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with lock_directory(self.path.parent):
                before = _identify(self.path)
                merging = before is not None and before != self._contents
                write_proof(self.path, self.game, data.merge(read_proof(self.path, self.game)) if merging else data)
                self._contents = None if merging else _identify(self.path)
        except OSError as error:
            raise TableError(f"cannot write {self.path}: {reason(error)}") from None
        self.seconds = time.monotonic() - started

    def _signs(self, kernel: Kernel, positions: Positions) -> npt.NDArray[np.int8]:
        """1 where the first player is to move, otherwise -1."""
        movers = self.game.movers(positions, kernel)
        assert movers is not None  # `prove_position` creates no file for such a game
        return np.asarray(1 - 2 * movers, dtype=np.int8)


@dataclass(frozen=True, slots=True)
class ProofData:
    """The contents of a proof file."""

    entries: Entries
    marks: Marks
    """True for positions whose children are all proven."""

    def merge(self, other: ProofData) -> ProofData:
        """Return the entries of both, in the order of positions."""
        both = np.concatenate([self.entries, other.entries])
        positions, first = np.unique(both["position"], return_index=True)
        marks = np.zeros(len(positions), dtype=bool)
        for part in (self, other):
            marks[np.searchsorted(positions, part.entries["position"][part.marks])] = True
        return ProofData(both[first], marks)


def _identify(path: Path) -> tuple[int, int, int] | None:
    """Return numbers that change whenever the file is replaced; None if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def write_proof(path: Path, game: Game, data: ProofData) -> None:
    """Write a proof file atomically."""
    with atomic_write(path) as part, part.open("wb") as file:
        write_version_2(file, _description(game), data.entries, np.packbits(data.marks).tobytes())


def read_proof(path: Path, game: Game) -> ProofData:
    """Read a proof file.

    Raises TableError if the file is damaged, or belongs to another game, other options or another version of the rules.
    """
    try:
        header = read_header(path)
        if header.about != _description(game):
            found = header.about.decode(errors="replace") if header.about else "a file without the name of a game"
            raise TableError(f"{path} is not the proof file of {_description(game).decode()}: it is {found}")
        if header.more != -(-header.count // 8):
            raise PerfectPlayError(f"{path} is damaged: the number of marks differs from the number of outcomes")
        parts = list(read_gbl2(path))  # verifies the checksum before anything is used
        with path.open("rb") as file:
            file.seek(-header.more, 2)
            bits = np.frombuffer(file.read(), dtype=np.uint8)
    except OSError as error:
        raise TableError(f"cannot read {path}: {reason(error)}") from None
    except TableError:
        raise
    except PerfectPlayError as error:
        raise TableError(f"{error}; delete the file, or use --no-save") from None
    all_entries = np.concatenate(parts) if parts else np.empty(0, dtype="<u8, i1")
    return ProofData(all_entries, np.unpackbits(bits, count=header.count).astype(bool))


def _description(game: Game) -> bytes:
    description = {"game": game.name, "options": game.options, "rules_version": game.rules_version}
    return json.dumps(description, sort_keys=True).encode()
