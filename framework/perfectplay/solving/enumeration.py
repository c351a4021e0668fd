"""Finds every position of a game that has no index of its own: breadth first from the start, tier by tier.

Tier numbers never fall along a move, so a tier is complete once all lower ones are. What arrives for a tier is kept
as sorted runs without duplicates. Runs live in memory while the budget lasts and in files beyond it; merging them
reads each once. No set of positions has to fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.solving.sorted_runs import Runs, Spill, distinct
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
    """Seal the sorted keys of every tier in `store`. `found(tier, positions)` is told of the progress.

    Beyond `budget` bytes, files in `directory` are used; without a directory, that is the end.
    """
    spill = Spill(budget, directory)
    start = kernel.canonicalize(kernel.start())
    incoming = {kernel.tier(start): Runs(spill)}
    incoming[kernel.tier(start)].add(np.array([start], dtype=np.uint64))
    total = 0
    while incoming:
        tier = min(incoming)
        known, children = Runs(spill), set()
        frontier = incoming.pop(tier).merged()
        levels = 0
        while len(frontier):
            if levels == MAX_LEVELS:
                raise _endless(game, int(frontier[0]))
            levels += 1
            known.add(frontier)
            inside = Runs(spill)
            for child_tier, positions in _children_by_tier(kernel, frontier, check):
                children.add(child_tier)
                if child_tier == tier:
                    inside.add(known.without_known(positions))
                elif child_tier > tier:
                    incoming.setdefault(child_tier, Runs(spill)).add(positions)
                else:
                    raise _tier_goes_back(game, kernel, frontier, tier, child_tier)
                if directory is None and budget is not None and spill.held > budget:
                    raise _no_room(game, total)
            total += len(frontier)
            found(tier, total)
            frontier = inside.merged()
        keys = known.merged()
        check()
        record = KeyRecord(
            tier=tier,
            size=len(keys),
            cyclic=tier in children,
            children=sorted(children - {tier}),
            checksums=[checksum(block) for block in blocks_of(keys)],
        )
        store.write_keys(record, keys)
        if store.copies:
            spill.give_back(keys)


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


def _tier_goes_back(game: str, kernel: Kernel, frontier: Positions, tier: int, child_tier: int) -> PluginError:
    """Name the position from which the tier falls."""
    for position in map(int, frontier):
        for move in kernel.moves(position):
            child = kernel.apply(position, move)
            if kernel.tier(kernel.canonicalize(child)) < tier:
                return PluginError(
                    f"{game}: tiers must never go back: move {move} leads from position {position} in tier {tier} "
                    f"to position {child} in tier {kernel.tier(kernel.canonicalize(child))}"
                )
    return PluginError(f"{game}: tiers must never go back: a move leads from tier {tier} to tier {child_tier}")


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
