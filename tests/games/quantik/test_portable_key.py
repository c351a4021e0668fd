"""The 384-image canonical key: golden keys, and the properties of a key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from perfectplay_quantik._kernel import lib

from perfectplay_quantik import CANONICAL, State, arrays

from . import reference
from .positions import positions, qfen, random_positions, states
from .reference import Position

GOLDEN = {
    "..../..../..../....": "00000000000000000000000000000000",
    "A.../..../..../....": "00000000000000000000000000000010",
    ".A../..../..../....": "00000000000000000000000000000001",
    "Ab../..../..../....": "00000000000000010000000000100000",
    ".A../..b./.c../...D": "00000000000108000004200000000000",
    "AbCd/..../..../....": "00000000000101000010100000000000",
}


@pytest.mark.parametrize(("text", "payload"), GOLDEN.items())
def test_golden_keys(text: str, payload: str) -> None:
    state = State.from_qfen(text)
    assert state.canonical_payload().hex() == payload
    assert state.canonical_key().hex() == "0102" + payload


@given(states())
@settings(max_examples=40)
def test_payload_is_the_smallest_of_all_384_images(position: Position) -> None:
    state = State.from_qfen(qfen(position))
    assert state.canonical_payload() == reference.canonical_payload(position)


@given(positions())
@settings(max_examples=20)
def test_all_384_images_have_one_key(position: Position) -> None:
    images = np.array(
        [np.frombuffer(reference.payload(image), dtype="<u2") for image in reference.images_384(position)],
        dtype=np.uint16,
    )
    assert len(np.unique(arrays.canonical_payload(images), axis=0)) == 1


@given(states())
def test_a_key_reads_back_as_a_state_with_the_same_key(position: Position) -> None:
    key = State.from_qfen(qfen(position)).canonical_key()
    state, flags = State.unpack(key)
    assert flags == CANONICAL
    assert state.canonical_key() == state.pack(CANONICAL) == key


def test_arrays_agree_with_single_states() -> None:
    singles = [State.from_qfen(qfen(position)) for position in random_positions(300, seed=2)]
    words = np.array([state.bb for state in singles], dtype=np.uint16)
    assert arrays.canonical_payload(words).astype("<u2").tobytes() == b"".join(
        state.canonical_payload() for state in singles
    )
    assert arrays.canonical_key(words).tobytes() == b"".join(state.canonical_key() for state in singles)


def test_perm16_permutes_the_cells_by_the_eight_turns() -> None:
    turns = [tuple(lib.quantik_perm16[turn][1 << cell].bit_length() - 1 for cell in range(16)) for turn in range(8)]
    assert sorted(turns) == reference.ROTATIONS_AND_REFLECTIONS
    for turn, permutation in enumerate(turns):
        for mask in range(0, 1 << 16, 37):
            image = sum(1 << permutation[cell] for cell in range(16) if mask >> cell & 1)
            assert lib.quantik_perm16[turn][mask] == image


def test_many_threads_may_canonicalize_at_once() -> None:
    words = np.array(
        [State.from_qfen(qfen(position)).bb for position in random_positions(300, seed=3)], dtype=np.uint16
    )
    expected = arrays.canonical_payload(words)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(arrays.canonical_payload, [words] * 16))
    assert all(np.array_equal(result, expected) for result in results)
