"""Questions about many positions at once give the same answers as about one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perfectplay_gobblet import arrays
from perfectplay_gobblet.layout import side, stack
from perfectplay_gobblet.plugin import kernel
from perfectplay_native.positions import movers_of_many

from . import reference
from .positions import positions

KERNEL = kernel()
CODES = st.lists(positions().map(reference.encode), min_size=1, max_size=5)


def numbers(codes: list[int]) -> np.ndarray:
    return np.array(codes, dtype=np.uint64)


@given(CODES)
def test_movers_are_the_sides_to_move(codes):
    assert movers_of_many(KERNEL, numbers(codes)).tolist() == [side(code) for code in codes]


@given(CODES)
def test_twins_share_a_slot_and_have_colours_and_side_swapped(codes):
    twins = arrays.colours_swapped(numbers(codes)).tolist()
    for code, twin in zip(codes, twins, strict=True):
        assert KERNEL.valid(twin)
        assert KERNEL.c.rank(KERNEL.c, twin) == KERNEL.c.rank(KERNEL.c, code)
        assert side(twin) != side(code)
        for cell in range(9):
            assert stack(twin, cell) == tuple((1 - player, size) for player, size in stack(code, cell))
    assert arrays.colours_swapped(numbers(twins)).tolist() == codes
