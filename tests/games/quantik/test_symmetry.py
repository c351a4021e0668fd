"""The symmetry group of the board, and the solver's canonical form compared with a loop over all 3072 images."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from perfectplay_quantik._kernel import ffi, lib

from perfectplay_native.kernel import Kernel

from . import reference
from .positions import positions, random_positions
from .reference import Position

KERNEL = Kernel(ffi, lib.quantik_kernel)
SYMMETRIES = [tuple(lib.quantik_symmetry(number, cell) for cell in range(16)) for number in range(128)]


def test_the_board_has_exactly_128_symmetries() -> None:
    assert len(set(SYMMETRIES)) == 128
    assert set(SYMMETRIES) == set(reference.BOARD_SYMMETRIES)
    assert SYMMETRIES[0] == tuple(range(16))


def test_no_other_permutation_of_the_cells_preserves_the_lines() -> None:
    """Counts all such permutations cell by cell, pruning those that break a line."""
    in_line = [[any({a, b} <= line for line in reference.LINES) for b in range(16)] for a in range(16)]

    def extend(images: list[int]) -> int:
        cell = len(images)
        if cell == 16:
            return all({images[c] for c in line} in reference.LINES for line in reference.LINES)
        return sum(
            extend([*images, image])
            for image in range(16)
            if image not in images and all(in_line[cell][c] == in_line[image][images[c]] for c in range(cell))
        )

    assert extend([]) == 128


def test_the_symmetries_are_closed_under_composition_and_inverse() -> None:
    group = set(SYMMETRIES)
    for one in SYMMETRIES:
        inverse = tuple(one.index(cell) for cell in range(16))
        assert inverse in group
        assert reference.compose(one, inverse) == SYMMETRIES[0]
        assert all(reference.compose(one, other) in group for other in SYMMETRIES)


def test_each_symmetry_maps_lines_to_lines() -> None:
    for symmetry in SYMMETRIES:
        assert all({symmetry[cell] for cell in line} in reference.LINES for line in reference.LINES)


def test_pairs_have_the_numbers_of_the_reference() -> None:
    numbers = reference.pair_numbers()
    assert sorted(numbers.values()) == list(range(2001))
    for (own, other), number in numbers.items():
        assert lib.quantik_pair(reference.mask(own), reference.mask(other)) == number
    assert lib.quantik_pair(0, 1) == 17  # the example in pairs.h


@pytest.mark.parametrize(("mover", "other"), [(7, 0), (0, 0x8421), (1, 1), (1, 2), (1, 1 << 12), (1, 1 << 5)])
def test_other_sets_have_no_pair_number(mover: int, other: int) -> None:
    assert lib.quantik_pair(mover, other) == 0xFFFF
    assert lib.quantik_pair(other, mover) == 0xFFFF


@pytest.mark.parametrize("position", random_positions(60, seed=1))
def test_canonical_form_is_the_greatest_of_all_3072_images(position: Position) -> None:
    assert KERNEL.canonicalize(reference.encode(position)) == reference.canonical_3072(position)


@given(positions())
@settings(max_examples=20)
def test_all_3072_images_have_one_canonical_form(position: Position) -> None:
    images = np.array(
        [
            reference.encode(reference.relabel(turned, names))
            for turned in {reference.apply_symmetry(position, symmetry) for symmetry in SYMMETRIES}
            for names in permutations(reference.SHAPES)
        ],
        dtype=np.uint64,
    )
    canonical = np.empty_like(images)
    lib.quantik_canonical_positions(
        ffi.from_buffer("uint64_t[]", images), ffi.from_buffer("uint64_t[]", canonical), len(images)
    )
    assert len(np.unique(canonical)) == 1
    assert canonical[0] in images


@given(positions())
def test_canonicalizing_twice_changes_nothing_and_keeps_the_tier(position: Position) -> None:
    number = reference.encode(position)
    canonical = KERNEL.canonicalize(number)
    assert KERNEL.valid(canonical)
    assert KERNEL.canonicalize(canonical) == canonical
    assert KERNEL.tier(canonical) == KERNEL.tier(number)
    assert KERNEL.status(canonical) == KERNEL.status(number)
    assert len(KERNEL.moves(canonical)) == len(KERNEL.moves(number))
