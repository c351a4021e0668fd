"""The helpers for authors: group axioms, fast canonicalizers, and round trips of texts and fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfectplay.authoring import Fields, Grid, Group, Symmetry, cyclic, dihedral, relabelings

SQUARE = Grid(3, 3, values=3)
WIDE = Grid(2, 4, values=3)
GROUPS = {
    "D4": (SQUARE.d4(), 8),
    "D4 on 2×2": (Grid(2, 2, values=2).d4(), 8),
    "D2": (WIDE.d2(), 4),
    "mirror": (WIDE.mirror(), 2),
    "cyclic": (cyclic(6), 6),
    "dihedral": (dihedral(6), 12),
    "relabelings": (relabelings(4, 4, among=(1, 2, 3)), 6),
    "D4 × colours": (SQUARE.d4() * relabelings(9, 3, among=(1, 2)), 16),
    "side by side": (cyclic(3).direct_product(dihedral(4)), 24),
}
FAST = {name: group.canonicalizer(bits=2) for name, (group, _) in GROUPS.items()}


@pytest.fixture(params=GROUPS, scope="module")
def group(request) -> Group:
    return GROUPS[request.param][0]


@pytest.mark.parametrize("name", GROUPS)
def test_groups_have_the_expected_size(name):
    assert len(GROUPS[name][0]) == GROUPS[name][1]


def test_a_group_is_closed_under_products_and_inverses(group):
    elements = set(group)
    assert {a * b for a in elements for b in elements} == elements
    assert {~a for a in elements} == elements
    assert all((~a * a).is_identity for a in elements)


def test_a_product_applies_one_symmetry_after_the_other(group):
    items = [place % 3 for place in range(group.places)]
    for a in group:
        for b in list(group)[:8]:
            assert (a * b)(items) == a(b(items))


@pytest.mark.parametrize("name", GROUPS)
@given(data=st.data())
def test_the_fast_canonicalizer_agrees_with_all_images(name, data):
    group = GROUPS[name][0]
    bits, values = 2, 3
    items = data.draw(st.lists(st.integers(0, values - 1), min_size=group.places, max_size=group.places))
    above = data.draw(st.integers(0, 7)) << bits * group.places

    def pack(numbers):
        return sum(number << bits * place for place, number in enumerate(numbers))

    assert FAST[name](pack(items) | above) == min(map(pack, group.images(items))) | above


@given(st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_canonical_is_constant_over_images(cells):
    group = SQUARE.d4()
    assert {group.canonical(image) for image in group.images(cells)} == {group.canonical(cells)}


def test_wrong_symmetries_are_rejected():
    with pytest.raises(ValueError, match="not a permutation"):
        Symmetry((0, 0, 1))
    with pytest.raises(ValueError, match="2 and 3 places"):
        Symmetry((0, 1)) * Symmetry((0, 1, 2))
    with pytest.raises(ValueError, match="has no quarter turns"):
        WIDE.d4()
    with pytest.raises(ValueError, match="at least one generator"):
        Group([])
    with pytest.raises(ValueError, match="more than 10,000"):
        relabelings(1, 9, among=range(9))


@given(st.lists(st.integers(0, 2), min_size=9, max_size=9), st.sampled_from([0, 1]))
def test_fields_round_trip(cells, to_move):
    fields = Fields(cells=(9, 3), to_move=2)
    position = fields.pack(cells=cells, to_move=to_move)
    assert fields.unpack(position) == (tuple(cells), to_move)
    assert fields.fits(position)
    assert position < 1 << fields.bits == 1 << 19


def test_fields_reject_wrong_values():
    fields = Fields(cells=(2, 3), to_move=2)
    for values, message in [
        ({"cells": [0, 3], "to_move": 0}, "'cells' contains numbers from 0 to 2, not 3"),
        ({"cells": [0], "to_move": 0}, "'cells' has 2 numbers, not 1"),
        ({"cells": [0, 0]}, "expected the fields cells, to_move, not cells"),
    ]:
        with pytest.raises(ValueError, match=message):
            fields.pack(**values)
    assert not fields.fits(3)
    assert not fields.fits(1 << 5)
    with pytest.raises(ValueError, match="need 66 bits"):
        Fields(cells=(33, 4))
    with pytest.raises(ValueError, match="at least one value"):
        Fields(nothing=0)


@given(st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_grids_round_trip_as_integers_and_as_texts(cells):
    position = WIDE.pack(cells)
    assert WIDE.unpack(position) == cells
    assert WIDE.read(WIDE.write(position, ".XO"), ".XO") == position


@pytest.mark.parametrize(
    ("text", "message"),
    [("X../...", "expected 3 rows of 3, such as .../.../..."), ("X../.?./...", r"'\?' in row 2 is not one of \. X O")],
)
def test_an_unreadable_text_names_the_wrong_place(text, message):
    with pytest.raises(ValueError, match=message):
        SQUARE.read(text, ".XO")


def test_grids_have_the_right_number_of_lines():
    assert len(SQUARE.lines(3)) == 8
    assert len(Grid(6, 7, values=2).lines(4)) == 69  # a well-known number of Connect Four
    with pytest.raises(ValueError, match="do not fit the 64 bits"):
        Grid(6, 7, values=3)
