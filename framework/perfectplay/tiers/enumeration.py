"""Enumerates the positions of a game without an index: breadth first from the start, tier by tier.

Every position of a tier passes through these sets:

    children found ──> gathered ──join──> incoming ──next level──> frontier ──expanded──> known ──> written to the store
                       (arrays of         (new positions           (being                 (the rest
                        this round)        of the tier)             expanded)              of the tier)

Tier numbers never decrease along a move, so a tier is complete once all lower tiers are. A kernel with `tier_children`
may have mutually reachable tiers; these are enumerated together. `incoming`, `frontier` and `known` are external sets
(external_set.py), which spill to files when memory runs short.

The work is done in rounds. In a round all threads expand portions of frontiers and sort the children. `_join` then
merges these children, one range of keys per thread, and removes positions that are in one of the other sets. A round
may continue over several tiers, so thousands of small tiers cost little more than their positions. The resulting sets
do not depend on the scheduling.

A large tier that does not seem to lead to itself skips `known`: its frontier is written to the store while it is
expanded, so that it need not be spilled. If a move stays in the tier after all, the tier is enumerated again, as after
an interruption.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.table.records import KeyRecord, checksum
from perfectplay.table.store import Array, Store
from perfectplay.threads import ThreadPool
from perfectplay.tiers.external_set import ExternalSet, SpillBudget
from perfectplay.tiers.order import components
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import Positions, children_of_many, difference, sort_distinct, tiers_of_many, union

CHUNK = 1 << 16
"""Positions expanded at a time."""

SLOW_CHUNK = 1 << 11
"""The same for a game in Python, so that a stop request takes effect within a second."""

ROOM = 1 << 20
"""Children for which a thread allocates memory at a time; less under a small budget."""

ROUND_BYTES = range(64 << 20, 256 << 20)
"""A round ends when its children take a sixteenth of the memory of all sets, within these bounds."""

SMALL_ROUND_BYTES = 16 << 20
"""A round with fewer bytes than this continues with the next tier."""

STREAMING_BYTES = 96 << 20
"""The smallest budget with which a tier is written while it is expanded; its queued blocks take 32 MiB."""

STREAMED_SHARE = 8
"""Such a tier takes more than one part in this many of the budget."""

SAMPLED_POSITIONS = 1 << 10
"""Positions of such a tier that are expanded first, to see whether their children stay in the tier."""

SPARE_SEGMENTS = 4
"""Free segments that remain after a block of keys is written to a table in memory. A merge needs two or three."""

MAX_LEVELS = 1 << 14
"""The largest number of levels of a tier; a table cannot store a larger remoteness either."""

TierPositions = list[tuple[int, Positions]]
"""Pairs of a tier and sorted positions of it."""

Expand = Callable[[Iterable[Positions], int], Iterator[tuple[Positions, TierPositions]]]
"""expand(parts, size): divide about `size` positions into portions and yield each, in order, with its children."""


def enumerate_positions(
    kernel: Kernel,
    store: Store,
    *,
    threads: int | None,
    budget: SpillBudget,
    report: Callable[[int, int], None],
    check: Callable[[], None],
    expand: Expand | None = None,
) -> None:
    """Write the sorted keys of every tier to `store`, except for tiers that it already has.

    `report(tier, positions)` is called with the progress and `check()` often, to raise an exception on a stop request.
    `expand` finds the children; by default, threads of this process do.
    """
    with ThreadPool(threads if kernel.parallel else 1) as pool:
        Enumeration(kernel, store, budget, pool, report, check, expand).run()
    budget.pool.shrink(0)  # before the engine needs the memory


class _StaysInTier(Exception):
    """A move stays in a tier that is written while it is expanded."""


class Enumeration:
    """The state of one enumeration."""

    def __init__(
        self,
        kernel: Kernel,
        store: Store,
        budget: SpillBudget,
        pool: ThreadPool,
        report: Callable[[int, int], None],
        check: Callable[[], None],
        expand: Expand | None = None,
    ) -> None:
        self.kernel, self.store, self.budget, self.pool = kernel, store, budget, pool
        self.report, self.check = report, check
        self.game = store.info.game
        self.expand = expand or self._expand_with_threads
        self.written = store.key_records()
        self.groups = TierGroups(kernel)
        self.known: dict[int, ExternalSet] = {}
        self.frontiers: dict[int, ExternalSet] = {}
        self.incoming: dict[int, ExternalSet] = {}
        self.gathered: dict[int, list[Positions]] = {}
        self.gathered_bytes = 0
        self.room, self.chunk = ROOM, CHUNK if kernel.cheap else SLOW_CHUNK
        if budget.limit is not None:
            self.room = min(ROOM, budget.limit // (64 * pool.count))
            self.chunk = min(self.chunk, max(1, self.room // 8))
        self.total = 0
        self.streams = True
        """Whether large tiers may be written while they are expanded; not after one has led to itself."""

    @property
    def round_bytes(self) -> int:
        """The size at which a round ends: small beside the sets, but large enough to pay for scanning them."""
        size = min(max(self.budget.memory_bytes // 16, ROUND_BYTES.start), ROUND_BYTES.stop)
        return size if self.budget.limit is None else min(size, self.budget.limit // 4)

    def run(self) -> None:
        self._resume()
        while tiers := self.incoming.keys() | self.gathered.keys():
            self._enumerate_group(self.groups.of(min(tiers, key=self.groups.turn)))

    def unfinished(self) -> dict[int, Positions]:
        """Return the positions found in tiers that are not written, after `check` or `report` ended the run."""
        positions: dict[int, list[Positions]] = {tier: [*arrays] for tier, arrays in self.gathered.items()}
        for sets in (self.known, self.frontiers, self.incoming):
            for tier, subset in sets.items():
                positions.setdefault(tier, []).extend(subset.arrays)
        return {tier: union(arrays) for tier, arrays in positions.items() if tier not in self.written}

    def _resume(self) -> None:
        """Add the start, and expand again the written tiers that lead to tiers which are not written."""
        self.total = 0
        start = self.kernel.canonicalize(self.kernel.start())
        self._add_incoming(self.kernel.tier(start), [np.array([start], dtype=np.uint64)])
        for tier, record in sorted(self.written.items()):
            if not set(record.children) <= set(self.written):
                blocks = (np.frombuffer(block, np.uint64) for block in self.store.key_blocks(record))
                self._expand_tier(tier, blocks, record.size)
            else:
                self.total += record.size

    def _enumerate_group(self, group: tuple[int, ...]) -> None:
        """Enumerate mutually reachable tiers, starting with the positions that arrived from earlier tiers."""
        tiers = [tier for tier in group if tier not in self.written]
        self._join(tiers)
        if len(tiers) == 1 and self._is_streamed(tiers[0]):
            self._stream_tier(tiers[0])
        else:
            self._enumerate_levels(tiers)
        if self.gathered_bytes > SMALL_ROUND_BYTES:
            self._join(list(self.gathered))

    def _enumerate_levels(self, tiers: list[int]) -> None:
        """Enumerate tiers by the number of moves within them, and write them."""
        self.known = {tier: ExternalSet(self.budget) for tier in tiers}
        children: dict[int, set[int]] = {tier: set() for tier in tiers}
        levels = 0
        while frontiers := {tier: self.incoming.pop(tier) for tier in tiers if tier in self.incoming}:
            if levels == MAX_LEVELS:
                raise _endless_error(self.game, int(next(next(iter(frontiers.values())).iter_sorted())[0]))
            levels += 1
            self.frontiers = frontiers
            for tier, frontier in frontiers.items():
                children[tier] |= self._expand_tier(tier, frontier.iter_sorted(), frontier.max_length)
            self._join(tiers)
            self.frontiers = {}
            for tier, frontier in frontiers.items():
                self.known[tier].merge(frontier)
                self.budget.discard(frontier)
        for tier, known in self.known.items():
            if known:
                self._write_tier(tier, iter_batches(known.drain_sorted(), BLOCK_SLOTS), children[tier])
            self.budget.discard(known)
        self.known = {}

    # ---- a tier written while it is expanded ----

    def _is_streamed(self, tier: int) -> bool:
        """Return whether the incoming positions of a tier take much memory and seem to be the whole tier."""
        limit, incoming = self.budget.limit or 0, self.incoming.get(tier)
        if not self.streams or incoming is None or limit < STREAMING_BYTES:
            return False
        if 8 * incoming.max_length < limit // STREAMED_SHARE:
            return False
        sample = incoming.sample(SAMPLED_POSITIONS)
        return all(child_tier != tier for child_tier, _ in children_by_tier(self.kernel, sample))

    def _stream_tier(self, tier: int) -> None:
        """Write a tier while it is expanded; if a move stays in it, expand the tiers before it again."""
        frontier, children = self.incoming.pop(tier), set[int]()
        expanding: deque[Array] = deque()

        def take() -> Iterator[Array]:
            for block in iter_batches(frontier.drain_sorted(), BLOCK_SLOTS):
                expanding.append(block)
                yield block

        def blocks() -> Iterator[Array]:
            for _ in self._expand_portions(tier, take(), frontier.max_length, children):
                if tier in children:
                    raise _StaysInTier
                while len(expanding) > 1:
                    yield expanding.popleft()
            yield from expanding

        try:
            self._write_tier(tier, blocks(), children)
        except _StaysInTier:
            self.streams = False
        self.budget.discard(frontier)
        if not self.streams:
            self._resume()

    # ---- one round ----

    def _expand_tier(self, tier: int, parts: Iterable[Positions], size: int) -> set[int]:
        """Gather the children of a tier's positions; return the tiers of the children."""
        children: set[int] = set()
        for _ in self._expand_portions(tier, parts, size, children):
            pass
        return children

    def _expand_portions(
        self, tier: int, parts: Iterable[Positions], size: int, child_tiers: set[int]
    ) -> Iterator[None]:
        """Gather the children of a tier's positions, add their tiers to `child_tiers`, and pause after each portion."""
        for portion, children in self.expand(parts, size):
            self.check()
            for child_tier, positions in children:
                if not self.groups.may_lead(tier, child_tier):
                    raise _wrong_tier_error(self, portion, tier, child_tier)
                child_tiers.add(child_tier)
                if child_tier not in self.written:
                    self.gathered.setdefault(child_tier, []).append(positions)
                    self.gathered_bytes += positions.nbytes
            self.total += len(portion)
            self.report(tier, self.total)
            if self.gathered_bytes > self.round_bytes:
                self._join(list(self.gathered))
            yield

    def _expand_with_threads(self, parts: Iterable[Positions], size: int) -> Iterator[tuple[Positions, TierPositions]]:
        portions = (part[at : at + self.chunk] for part in parts for at in range(0, len(part), self.chunk))
        return self.pool.map(lambda portion: children_by_tier(self.kernel, portion, room=self.room), portions)

    def _join(self, tiers: Iterable[int]) -> None:
        """Move the positions gathered for these tiers to `incoming`, except for those in one of the sets."""
        for tier in tiers:
            if not (arrays := self.gathered.pop(tier, [])):
                continue
            self.gathered_bytes -= sum(each.nbytes for each in arrays)
            others = self.incoming[tier].arrays_in_memory if tier in self.incoming else []
            for sets in (self.known, self.frontiers):
                others += sets[tier].arrays if tier in sets else []
            self._add_incoming(tier, self.pool.by_ranges(_new_positions, arrays, others))
        if self.budget.is_exceeded:
            raise _memory_error(self.game, self.total)

    def _add_incoming(self, tier: int, parts: list[Positions]) -> None:
        if tier in self.written or not any(map(len, parts)):
            return
        if tier not in self.incoming:
            self.incoming[tier] = ExternalSet(self.budget)
        self.incoming[tier].insert(parts)

    # ---- a finished tier ----

    def _write_tier(self, tier: int, batches: Iterable[Array], children: set[int]) -> None:
        checksums: list[int] = []
        size = 0

        def blocks() -> Iterator[Array]:
            nonlocal size
            for block in batches:
                self.check()
                checksums.append(checksum(block))
                size += len(block)
                if self.budget.directory is None:  # the table is in memory too, and grows as the set shrinks
                    self.budget.pool.shrink(SPARE_SEGMENTS)
                yield block

        def record() -> KeyRecord:
            self.written[tier] = KeyRecord(
                tier=tier,
                size=size,
                cyclic=tier in children,
                children=sorted(children - {tier}),
                checksums=checksums,
            )
            return self.written[tier]

        self.store.write_key_blocks(tier, blocks(), record)


def _new_positions(arrays: list[Positions], known: list[Positions]) -> Positions:
    return difference(union(arrays), known)


def iter_batches(parts: Iterable[Positions], length: int) -> Iterator[Array]:
    """Regroup positions into new arrays of exactly `length`; the last may be shorter."""
    batch, filled = np.empty(length, np.uint64), 0
    for part in parts:
        place = 0
        while place < len(part):
            piece = part[place : place + length - filled]
            batch[filled : filled + len(piece)] = piece
            filled += len(piece)
            place += len(piece)
            if filled == length:
                yield batch
                batch, filled = np.empty(length, np.uint64), 0
    if filled:
        yield batch[:filled].copy()


def children_by_tier(kernel: Kernel, positions: Positions, *, room: int = ROOM) -> TierPositions:
    """Return the children of positions, sorted, by tier. Thread-safe.

    A child may occur several times if there are more than `room` children.
    """
    children_parts: list[TierPositions] = []
    place = 0
    while place < len(positions):
        part_room = min(room, (len(positions) - place) * kernel.max_moves)
        children, used = children_of_many(kernel, positions[place:], room=part_room)
        place += used
        children_parts.append(_split_by_tier(kernel, sort_distinct(children)))
    return list(chain.from_iterable(children_parts))


def _split_by_tier(kernel: Kernel, positions: Positions) -> TierPositions:
    tiers = tiers_of_many(kernel, positions)
    if not len(tiers):
        return []
    if (tiers == tiers[0]).all():
        return [(int(tiers[0]), positions.copy())]  # the given array may be much larger than its contents
    counts = np.bincount(tiers)
    order = np.argsort(tiers.astype(np.uint16) if len(counts) <= 1 << 16 else tiers, kind="stable")  # 16 bits: radix
    present = np.flatnonzero(counts)
    ends = np.cumsum(counts)[present].tolist()
    by_tier = positions[order]  # its parts are copied so that each can be freed separately
    return [
        (tier, by_tier[first:end].copy())
        for tier, first, end in zip(present.tolist(), [0, *ends[:-1]], ends, strict=True)
    ]


class TierGroups:
    """Groups of mutually reachable tiers in the order of play. Without `tier_children`, each tier is a group."""

    def __init__(self, kernel: Kernel) -> None:
        self.children: dict[int, list[int]] | None = None
        if kernel.has("tier_children"):
            self.children = {tier: kernel.tier_children(tier) or [] for tier in range(kernel.tier_count)}
            groups = [component.tiers for component in reversed(components(self.children))]
            self._group = {tier: group for group in groups for tier in group}
            self._turn = {tier: turn for turn, group in enumerate(groups) for tier in group}

    def of(self, tier: int) -> tuple[int, ...]:
        """Return the group of a tier."""
        return (tier,) if self.children is None else self._group[tier]

    def turn(self, tier: int) -> int:
        """Return a number by which tiers are ordered."""
        return tier if self.children is None else self._turn[tier]

    def may_lead(self, tier: int, child_tier: int) -> bool:
        return child_tier >= tier if self.children is None else child_tier in self.children.get(tier, ())


def _wrong_tier_error(run: Enumeration, portion: Positions, tier: int, child_tier: int) -> PluginError:
    """Find and name a move from `tier` to `child_tier`, which is not allowed."""
    rule = (
        "tiers must never go back"
        if run.groups.children is None
        else f"tier_children of tier {tier} leaves out tier {child_tier}"
    )
    kernel = run.kernel
    for position in map(int, portion):
        for move in kernel.moves(position):
            child = kernel.apply(position, move)
            if kernel.tier(kernel.canonicalize(child)) == child_tier:
                return PluginError(
                    f"{run.game}: {rule}: move {move} leads from position {position} in tier {tier} to position "
                    f"{child} in tier {child_tier}"
                )
    return PluginError(f"{run.game}: {rule}: a move leads from tier {tier} to tier {child_tier}")


def _endless_error(game: str, position: int) -> PluginError:
    return PluginError(
        f"{game}: there are still new positions (such as {position}) after {MAX_LEVELS:,} moves, more than a table can "
        f"store; check whether part of a position grows forever, like a move counter, and leave it out if the rest of "
        f"the game does not depend on it"
    )


def _memory_error(game: str, positions: int) -> PerfectPlayError:
    return PerfectPlayError(
        f"{game}: memory is full after {positions:,} positions, and there are more; use --backend lmdb, which "
        f"continues on disk, or run `solve check {game}` if you expected fewer positions"
    )
