"""Finds every position of a game that has no index of its own: breadth first from the start, tier by tier.

Tier numbers never fall along a move, so a tier is complete once all lower ones are; a kernel whose tiers go to and fro
says so in `tier_children`, and tiers that reach each other are enumerated together. What arrives for a tier is kept as
sorted runs without duplicates. Runs live in memory while the budget lasts and in files beyond it; merging them
reads each once. No set of positions has to fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.solving.sorted_runs import Runs, Spill, distinct
from perfectplay.solving.tier_order import components
from perfectplay.tables.records import KeyRecord, blocks_of, checksum
from perfectplay.tables.store import Store
from perfectplay_native.engine import Positions, children_of_many, tiers_of_many
from perfectplay_native.kernel import Kernel

CHUNK = 1 << 16
"""Positions expanded at a time."""

SLOW_CHUNK = 1 << 11
"""The same for a game in Python, so that a request to stop is heard within a second."""

MAX_LEVELS = 1 << 14
"""Moves from the start beyond which nothing new may come; a table stores no remoteness above this either."""


def enumerate_positions(
    kernel: Kernel,
    store: Store,
    *,
    game: str,
    budget: int | None,
    directory: Path | None,
    found: Callable[[int, int], None],
    check: Callable[[], None],
) -> None:
    """Write the sorted keys of every tier to `store`. `found(tier, positions)` is told of the progress.

    Tiers that the store has are not enumerated again; of them, only those that lead to a missing tier are looked at.
    Beyond `budget` bytes, files in `directory` are used; without a directory, that is the end.
    """
    _Enumeration(kernel, store, game, Spill(budget, directory), found, check).run()


class _Enumeration:
    """One run: the tiers that are written, and what has arrived for those that are not."""

    def __init__(
        self,
        kernel: Kernel,
        store: Store,
        game: str,
        spill: Spill,
        found: Callable[[int, int], None],
        check: Callable[[], None],
    ) -> None:
        self.kernel, self.store, self.game, self.spill = kernel, store, game, spill
        self.found, self.check = found, check
        self.written = {tier: record for tier, record in store.key_records().items() if store.is_intact(record)}
        self.groups = _Groups(kernel)
        self.incoming: dict[int, Runs] = {}
        self.total = 0

    def run(self) -> None:
        start = self.kernel.canonicalize(self.kernel.start())
        self._arrive(self.kernel.tier(start), np.array([start], dtype=np.uint64))
        self._resume()
        while self.incoming:
            self._enumerate(self.groups.of(min(self.incoming, key=self.groups.turn)))

    def _resume(self) -> None:
        """Let arrive again what the tiers of an earlier run lead to and that run did not write."""
        for tier, record in sorted(self.written.items()):
            self.total += record.size
            if set(record.children) <= set(self.written):
                continue
            for block in self.store.key_blocks(record):
                for child_tier, positions in self._children(tier, np.frombuffer(block, dtype=np.uint64)):
                    self._arrive(child_tier, positions)
            self.found(tier, self.total)

    def _enumerate(self, group: tuple[int, ...]) -> None:
        """All positions of tiers that play goes to and fro between, from those that arrived from earlier tiers."""
        tiers = [tier for tier in group if tier not in self.written]
        known = {tier: Runs(self.spill) for tier in tiers}
        children: dict[int, set[int]] = {tier: set() for tier in tiers}
        levels = 0
        while frontiers := {tier: self.incoming.pop(tier).merged() for tier in tiers if tier in self.incoming}:
            if levels == MAX_LEVELS:
                raise _endless(self.game, int(next(iter(frontiers.values()))[0]))
            levels += 1
            for tier, frontier in frontiers.items():
                known[tier].add(frontier)
            for tier, frontier in frontiers.items():
                self._expand(tier, frontier, known, children[tier])
        for tier in tiers:
            keys = known[tier].merged()
            if len(keys):
                self._write(tier, keys, children[tier])

    def _expand(self, tier: int, frontier: Positions, known: dict[int, Runs], children: set[int]) -> None:
        """Let the children of a frontier arrive, but for those that are known."""
        for child_tier, positions in self._children(tier, frontier):
            children.add(child_tier)
            fresh = known[child_tier].without_known(positions) if child_tier in known else positions
            if len(fresh):
                self._arrive(child_tier, fresh)
            if self.spill.is_overfull:
                raise _no_room(self.game, self.total)
        self.total += len(frontier)
        self.found(tier, self.total)

    def _children(self, tier: int, frontier: Positions) -> Iterator[tuple[int, Positions]]:
        for child_tier, positions in _children_by_tier(self.kernel, frontier, self.check):
            if not self.groups.may_lead(tier, child_tier):
                raise _wrong_tier(self.game, self.kernel, self.groups, frontier, tier, child_tier)
            yield child_tier, positions

    def _arrive(self, tier: int, positions: Positions) -> None:
        if tier not in self.written:
            self.incoming.setdefault(tier, Runs(self.spill)).add(positions)

    def _write(self, tier: int, keys: Positions, children: set[int]) -> None:
        self.check()
        record = KeyRecord(
            tier=tier,
            size=len(keys),
            cyclic=tier in children,
            children=sorted(children - {tier}),
            checksums=[checksum(block) for block in blocks_of(keys)],
        )
        self.store.write_keys(record, keys)
        self.written[tier] = record
        if self.store.copies:
            self.spill.give_back(keys)


def _children_by_tier(
    kernel: Kernel, frontier: Positions, check: Callable[[], None]
) -> Iterator[tuple[int, Positions]]:
    """The children of the frontier in portions: a tier, and sorted distinct positions of it."""
    place = 0
    chunk = CHUNK if kernel.cheap else SLOW_CHUNK
    while place < len(frontier):
        portion = frontier[place : place + chunk]
        children, used = children_of_many(kernel, portion, room=min(16 * CHUNK, len(portion) * kernel.max_moves))
        check()
        place += used
        children = distinct(children)
        tiers = tiers_of_many(kernel, children)
        check()
        if len(tiers) and (tiers == tiers[0]).all():
            yield int(tiers[0]), children
            continue
        for tier in np.unique(tiers):
            yield int(tier), children[tiers == tier]


class _Groups:
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
    game: str, kernel: Kernel, groups: _Groups, frontier: Positions, tier: int, child_tier: int
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
