"""The law of a perfect index, tried on slots of every tier: the first, the last and some between them.

The engine solves every slot, also those that play never comes to. So the positions found here are tried with all other
laws, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay_native.kernel import NO_POSITION

SLOTS = 400
"""How many slots are tried, over all tiers; at least three of each."""

TIERS = 100
RUN = 8
"""Slots are unranked several at a time, as the engine does."""


def slot_positions(subject: GameUnderTest) -> Iterator[tuple[int, str | None]]:
    """Positions of slots all over the index, each with what is wrong about it."""
    kernel = subject.game.kernel
    assert kernel is not None
    dice = random.Random(1)
    count = kernel.tier_count
    tiers = sorted({0, count - 1, *dice.sample(range(count), min(count, TIERS))})
    for tier in tiers:
        size = kernel.tier_size(tier)
        firsts = {0, max(0, size - RUN)} | {dice.randrange(size) for _ in range(SLOTS // RUN // len(tiers)) if size}
        for first in sorted(firsts):
            yield from _run(subject, tier, first, min(RUN, size - first))


def _run(subject: GameUnderTest, tier: int, first: int, count: int) -> Iterator[tuple[int, str | None]]:
    if count <= 0:
        return
    for index, position in enumerate(subject.guarded.unrank(tier, first, count), first):
        slot = f"slot {index} of tier {tier}"
        if position is None:
            yield 0, f"'unrank' writes nothing for {slot}: write PP_NO_POSITION where a slot holds no position"
        elif position != NO_POSITION:
            yield position, _wrong_position(subject, position, tier, index, slot)


def _wrong_position(subject: GameUnderTest, position: int, tier: int, index: int, slot: str) -> str | None:
    kernel = subject.game.kernel
    assert kernel is not None
    if not subject.game.valid(position):
        return (
            f"'unrank' of {slot} gives {position}, which 'valid' refuses: write PP_NO_POSITION where a slot holds no "
            f"position, and let tier_size({tier}) be no larger than it must"
        )
    back = kernel.rank(position)
    if back != (tier, index):
        return f"'unrank' of {slot} gives {subject.name(position)}, but its 'rank' is slot {back[1]} of tier {back[0]}"
    return None
