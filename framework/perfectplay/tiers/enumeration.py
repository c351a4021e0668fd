"""Finds every position of a game that has no index of its own: breadth first from the start, tier by tier.

Tier numbers never fall along a move, so a tier is complete once all lower ones are; a kernel whose tiers go to and fro
says so in `tier_children`, and tiers that reach each other are enumerated together. What arrives for a tier is kept as
sorted runs without duplicates (sorted_runs.py), in files where memory does not suffice.

Work goes in rounds. In a round, all threads expand portions of what is new and sort what they find; then, range of keys
by range of keys, that is joined, and what is known is taken out of it. A tier's turn begins with what was found for it
since the last round; so small tiers, of which there may be thousands, cost little more than their positions. Sets do
not depend on who did what when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.table.records import KeyRecord, checksum
from perfectplay.table.store import Array, Store
from perfectplay.threads import Workers
from perfectplay.tiers.external_set import Runs, Spill
from perfectplay.tiers.order import components
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import Positions, children_of_many, difference, sort_distinct, tiers_of_many, union

CHUNK = 1 << 16
"""Positions expanded at a time."""

SLOW_CHUNK = 1 << 11
"""The same for a game in Python, so that a request to stop is heard within a second."""

ROOM = 1 << 20
"""Children that a thread has room for at a time; less under a small budget."""

ROUND_BYTES = range(64 << 20, 256 << 20)
"""A round ends when the children found take a sixteenth of what is known, but not less nor more than this."""

KEPT_BYTES = 16 << 20
"""When the turn of a tier is over, a round with less than this goes on."""

MAX_LEVELS = 1 << 14
"""Moves from the start beyond which nothing new may come; a table stores no remoteness above this either."""

Found = list[tuple[int, Positions]]
"""Children of a portion: tiers, and the sorted positions of each."""

Expand = Callable[[Iterable[Positions], int], Iterator[tuple[Positions, Found]]]
"""expand(parts, size): cuts about `size` positions into portions; each of these, in order, with its children."""


def enumerate_positions(
    kernel: Kernel,
    store: Store,
    *,
    game: str,
    threads: int | None,
    budget: int | None,
    directory: Path | None,
    found: Callable[[int, int], None],
    check: Callable[[], None],
    expand: Expand | None = None,
) -> None:
    """Write the sorted keys of every tier to `store`. `found(tier, positions)` is told of the progress.

    Tiers that the store has are not enumerated again; of them, only those that lead to a missing tier are looked at.
    `expand` finds the children, where threads of this process are not to. Beyond `budget` bytes, files in `directory`
    are used; without a directory, that is the end.
    """
    with Workers(threads if kernel.parallel else 1) as workers:
        Enumeration(kernel, store, game, Spill(budget, directory), workers, found, check, expand).run()


class Enumeration:
    """One run: the tiers that are written, and what has arrived for those that are not."""

    def __init__(
        self,
        kernel: Kernel,
        store: Store,
        game: str,
        spill: Spill,
        workers: Workers,
        found: Callable[[int, int], None],
        check: Callable[[], None],
        expand: Expand | None = None,
    ) -> None:
        self.kernel, self.store, self.game, self.spill, self.workers = kernel, store, game, spill, workers
        self.found, self.check = found, check
        self.expand = expand or self._expand_here
        self.written = store.key_records()
        self.groups = TierGroups(kernel)
        self.known: dict[int, Runs] = {}
        self.frontiers: dict[int, Runs] = {}
        self.incoming: dict[int, Runs] = {}
        self.gathered: dict[int, list[Positions]] = {}  # in this round, to be joined with what arrived before
        self.gathered_bytes = 0
        self.room, self.chunk = ROOM, CHUNK if kernel.cheap else SLOW_CHUNK
        if spill.budget is not None:
            self.room = min(ROOM, spill.budget // (64 * workers.count))
            self.chunk = min(self.chunk, max(1, self.room // 8))
        self.total = 0

    @property
    def round_bytes(self) -> int:
        """How much a round may gather: little beside what is known, but enough to pay for going through that."""
        size = min(max(self.spill.held // 16, ROUND_BYTES.start), ROUND_BYTES.stop)
        return size if self.spill.budget is None else min(size, self.spill.budget // 4)

    def run(self) -> None:
        start = self.kernel.canonicalize(self.kernel.start())
        self._arrive(self.kernel.tier(start), [np.array([start], dtype=np.uint64)])
        self._resume()
        while tiers := self.incoming.keys() | self.gathered.keys():
            self._enumerate(self.groups.of(min(tiers, key=self.groups.turn)))

    def unfinished(self) -> dict[int, Positions]:
        """What has been found of the tiers that are not written, if `check` ended the run."""
        found: dict[int, list[Positions]] = {tier: [*sets] for tier, sets in self.gathered.items()}
        for kept in (self.known, self.frontiers, self.incoming):
            for tier, runs in kept.items():
                found.setdefault(tier, []).extend(runs.runs)
        return {tier: union(sets) for tier, sets in found.items() if tier not in self.written}

    def _resume(self) -> None:
        """Let arrive again what the tiers of an earlier run lead to and that run did not write."""
        for tier, record in sorted(self.written.items()):
            if not set(record.children) <= set(self.written):
                blocks = (np.frombuffer(block, np.uint64) for block in self.store.key_blocks(record))
                self._expand(tier, blocks, record.size)
            else:
                self.total += record.size

    def _enumerate(self, group: tuple[int, ...]) -> None:
        """All positions of tiers that play goes to and fro between, from those that arrived from earlier tiers."""
        tiers = [tier for tier in group if tier not in self.written]
        self.known = {tier: Runs(self.spill) for tier in tiers}
        children: dict[int, set[int]] = {tier: set() for tier in tiers}
        levels = 0
        self._join(tiers)
        while frontiers := {tier: self.incoming.pop(tier) for tier in tiers if tier in self.incoming}:
            if levels == MAX_LEVELS:
                raise _endless(self.game, int(next(next(iter(frontiers.values())).portions())[0]))
            levels += 1
            self.frontiers = frontiers
            for tier, frontier in frontiers.items():
                children[tier] |= self._expand(tier, frontier.portions(), frontier.most)
            self._join(tiers)
            self.frontiers = {}
            for tier, frontier in frontiers.items():
                self.known[tier].take(frontier)
                self.spill.forget(frontier)
        for tier, known in self.known.items():
            if known:
                self._write(tier, known, children[tier])
            self.spill.forget(known)
        self.known = {}
        if self.gathered_bytes > KEPT_BYTES:
            self._join(list(self.gathered))

    # ---- one round after the other ----

    def _expand(self, tier: int, parts: Iterable[Positions], size: int) -> set[int]:
        """Gather the children of a tier's positions; the tiers they are in."""
        children: set[int] = set()
        for portion, found in self.expand(parts, size):
            self.check()
            for child_tier, positions in found:
                if not self.groups.may_lead(tier, child_tier):
                    raise _wrong_tier(self.game, self.kernel, self.groups, portion, tier, child_tier)
                children.add(child_tier)
                if child_tier not in self.written:
                    self.gathered.setdefault(child_tier, []).append(positions)
                    self.gathered_bytes += positions.nbytes
            self.total += len(portion)
            self.found(tier, self.total)
            if self.gathered_bytes > self.round_bytes:
                self._join(list(self.gathered))
        return children

    def _expand_here(self, parts: Iterable[Positions], size: int) -> Iterator[tuple[Positions, Found]]:
        portions = (part[at : at + self.chunk] for part in parts for at in range(0, len(part), self.chunk))
        return self.workers.map(lambda portion: children_by_tier(self.kernel, portion, room=self.room), portions)

    def _join(self, tiers: Iterable[int]) -> None:
        """Let arrive what was gathered for these tiers, but for what is known."""
        for tier in tiers:
            if not (sets := self.gathered.pop(tier, [])):
                continue
            self.gathered_bytes -= sum(each.nbytes for each in sets)
            runs = [*self.incoming[tier].runs_in_memory] if tier in self.incoming else []
            for known in (self.known, self.frontiers):
                runs += known[tier].runs if tier in known else []
            self._arrive(tier, self.workers.by_ranges(_fresh, sets, runs))
        if self.spill.is_overfull:
            raise _no_room(self.game, self.total)

    def _arrive(self, tier: int, parts: list[Positions]) -> None:
        if tier in self.written or not any(map(len, parts)):
            return
        if tier not in self.incoming:
            self.incoming[tier] = Runs(self.spill)
        self.incoming[tier].add(parts)

    # ---- a finished tier ----

    def _write(self, tier: int, keys: Runs, children: set[int]) -> None:
        checksums: list[int] = []
        size = 0

        def blocks() -> Iterator[Array]:
            nonlocal size
            for block in rebatched(keys.taken(), BLOCK_SLOTS):
                self.check()
                checksums.append(checksum(block))
                size += len(block)
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


def _fresh(sets: list[Positions], known: list[Positions]) -> Positions:
    joined = union(sets)
    return difference(joined, known)


def rebatched(parts: Iterable[Positions], length: int) -> Iterator[Array]:
    """The same positions in arrays of this length, but for the last."""
    batch, filled = np.empty(length, np.uint64), 0
    for part in parts:
        place = 0
        while place < len(part):
            taken = part[place : place + length - filled]
            batch[filled : filled + len(taken)] = taken
            filled += len(taken)
            place += len(taken)
            if filled == length:
                yield batch
                batch, filled = np.empty(length, np.uint64), 0
    if filled:
        yield batch[:filled].copy()


def children_by_tier(kernel: Kernel, positions: Positions, *, room: int = ROOM) -> Found:
    """The children of positions by tier: sorted, each once as long as there is room for them. Any thread may ask."""
    found: Found = []
    place = 0
    while place < len(positions):
        most = min(room, (len(positions) - place) * kernel.max_moves)
        children, used = children_of_many(kernel, positions[place:], room=most)
        place += used
        found += _by_tier(kernel, sort_distinct(children))
    return found


def _by_tier(kernel: Kernel, positions: Positions) -> Found:
    tiers = tiers_of_many(kernel, positions)
    if not len(tiers):
        return []
    if (tiers == tiers[0]).all():
        return [(int(tiers[0]), positions.copy())]  # the array has room for many more
    counts = np.bincount(tiers)
    order = np.argsort(tiers.astype(np.uint16) if len(counts) <= 1 << 16 else tiers, kind="stable")  # 16 bits: radix
    present = np.flatnonzero(counts)
    ends = np.cumsum(counts)[present].tolist()
    by_tier = positions[order]  # copies of its parts: each is freed by itself
    return [
        (tier, by_tier[first:end].copy())
        for tier, first, end in zip(present.tolist(), [0, *ends[:-1]], ends, strict=True)
    ]


class TierGroups:
    """Tiers that play goes to and fro between, in the order of play: as `tier_children` says, else each by itself."""

    def __init__(self, kernel: Kernel) -> None:
        self.children: dict[int, list[int]] | None = None
        if kernel.has("tier_children"):
            self.children = {tier: kernel.tier_children(tier) or [] for tier in range(kernel.tier_count)}
            groups = [component.tiers for component in reversed(components(self.children))]
            self._group = {tier: group for group in groups for tier in group}
            self._turn = {tier: turn for turn, group in enumerate(groups) for tier in group}

    def of(self, tier: int) -> tuple[int, ...]:
        return (tier,) if self.children is None else self._group[tier]

    def turn(self, tier: int) -> int:
        """When it is enumerated."""
        return tier if self.children is None else self._turn[tier]

    def may_lead(self, tier: int, child_tier: int) -> bool:
        return child_tier >= tier if self.children is None else child_tier in self.children.get(tier, ())


def _wrong_tier(
    game: str, kernel: Kernel, groups: TierGroups, frontier: Positions, tier: int, child_tier: int
) -> PluginError:
    """Name a move that leads where no move from this tier may."""
    rule = (
        "tiers must never go back"
        if groups.children is None
        else f"tier_children of tier {tier} leaves out tier {child_tier}"
    )
    for position in map(int, frontier):
        for move in kernel.moves(position):
            child = kernel.apply(position, move)
            if kernel.tier(kernel.canonicalize(child)) == child_tier:
                return PluginError(
                    f"{game}: {rule}: move {move} leads from position {position} in tier {tier} to position {child} in "
                    f"tier {child_tier}"
                )
    return PluginError(f"{game}: {rule}: a move leads from tier {tier} to tier {child_tier}")


def _endless(game: str, position: int) -> PluginError:
    return PluginError(
        f"{game}: {MAX_LEVELS:,} moves away there are still new positions (such as {position}), more than a table can "
        f"store: does something in a position only ever grow, like a count of moves? Leave out whatever the rest of "
        f"the game does not depend on"
    )


def _no_room(game: str, positions: int) -> PerfectPlayError:
    return PerfectPlayError(
        f"{game}: memory is full after {positions:,} positions, and there are more: if you expected fewer, "
        f"`solve check {game}` looks for an endless game; if not, use --backend lmdb, which continues on disk"
    )
