"""QFEN, the binary format and CBOR: round trips, every kind of bad input, and fuzzed bytes."""

from __future__ import annotations

import cbor2
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perfectplay_quantik import CANONICAL, State, StateError, arrays

from .positions import qfen, random_positions, states
from .reference import Position, payload

STATE = State.from_qfen(".A../..b./.c../...D")
METAS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.booleans(), max_size=3)


# ---- round trips ----


@given(states())
def test_qfen_reads_back(position: Position) -> None:
    state = State.from_qfen(qfen(position))
    assert state.to_qfen() == qfen(position)
    assert state.payload() == payload(position)


@given(states())
def test_the_binary_format_reads_back(position: Position) -> None:
    state = State.from_qfen(qfen(position))
    packed = state.pack()
    assert len(packed) == 18
    assert packed == b"\x01\x00" + payload(position)
    assert State.unpack(packed) == (state, 0)


@given(states(), st.booleans(), METAS)
def test_cbor_reads_back(position: Position, canon: bool, meta: dict[str, object]) -> None:
    state = State.from_qfen(qfen(position))
    document = state.to_cbor(canon, mc=state.piece_count, meta=meta)
    assert list(cbor2.loads(document)) == ["v", "canon", "bb", "mc", "meta"]
    restored = State.from_cbor(document)
    assert restored.payload() == (state.canonical_payload() if canon else state.payload())


def test_cbor_bytes_are_those_of_the_schema() -> None:
    document = State.start().to_cbor()
    assert document.hex() == "a3" + "6176" + "01" + "6563616e6f6e" + "f4" + "626262" + "50" + "00" * 16


# ---- arrays ----


def sample() -> tuple[list[State], arrays.Words]:
    singles = [State.from_qfen(qfen(position)) for position in random_positions(200, seed=4)]
    return singles, np.array([state.bb for state in singles], dtype=np.uint16)


def test_arrays_read_and_write_the_formats_of_single_states() -> None:
    singles, words = sample()
    packed = arrays.pack(words)
    assert packed.tobytes() == b"".join(state.pack() for state in singles)
    assert np.array_equal(arrays.unpack(packed)[0], words)
    texts = arrays.to_qfen(words)
    assert texts.tolist() == [state.to_qfen().encode() for state in singles]
    assert np.array_equal(arrays.from_qfen(texts), words)
    assert np.array_equal(arrays.from_qfen([state.to_qfen() for state in singles]), words)
    for canon in (False, True):
        documents = arrays.to_cbor(words, canon)
        assert documents.tobytes() == b"".join(state.to_cbor(canon) for state in singles)
    assert np.array_equal(arrays.from_cbor(arrays.to_cbor(words)), words)
    keys, flags = arrays.unpack(arrays.canonical_key(words))
    assert np.array_equal(keys, arrays.canonical_payload(words))
    assert set(flags.tolist()) == {CANONICAL}


def test_arrays_follow_the_rules_of_single_states() -> None:
    singles, words = sample()
    assert arrays.to_move(words).tolist() == [state.to_move for state in singles]
    assert arrays.finished(words).tolist() == [bool(state.finished_lines()) for state in singles]
    assert arrays.legal_cells(words).tolist() == [[state.legal_cells(shape) for shape in range(4)] for state in singles]


def test_errors_of_arrays_name_the_row() -> None:
    _, words = sample()
    words[17] = (1, 1, 0, 0, 0, 0, 0, 0)
    with pytest.raises(StateError, match=r"row 17: cell 0 .* holds two pieces, A and B"):
        arrays.check_states(words)
    with pytest.raises(StateError, match=r"row 17: cell 0"):
        arrays.pack(words)
    words[17] = (0, 0, 0, 0, 1, 0, 0, 0)
    with pytest.raises(StateError, match="row 17: impossible turn order"):
        arrays.check_states(words)
    packed = np.array([list(STATE.pack()), list(STATE.pack())], dtype=np.uint8)
    packed[1, 0] = 3
    with pytest.raises(StateError, match="row 1: byte 0: version 3"):
        arrays.unpack(packed)
    with pytest.raises(StateError, match="row 1: QFEN rank 3"):
        arrays.from_qfen([STATE.to_qfen(), ".A../..b./.c../..D"])
    with pytest.raises(StateError, match="row 1: CBOR"):
        arrays.from_cbor([STATE.to_cbor(), b"\xa3"])


@pytest.mark.parametrize(
    "bad", [np.zeros(8, np.uint16), np.zeros((2, 7), np.uint16), np.zeros((2, 8), np.int64), [[0] * 8]]
)
def test_arrays_of_another_shape_or_type_are_rejected(bad: object) -> None:
    with pytest.raises(ValueError, match=r"\(n, 8\) uint16"):
        arrays.canonical_payload(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\(n, 18\) uint8"):
        arrays.unpack(bad)  # type: ignore[arg-type]


# ---- bad input ----


def words(*bitboards: int) -> bytes:
    return b"".join(word.to_bytes(2, "little") for word in bitboards)


BAD_PAYLOADS = {
    r"cell 5 \(row 1, column 1\) holds two pieces, A and c": words(0x20, 0, 0, 0, 0, 0, 0x20, 0),
    "3 pieces B on cells 0, 1, 2": words(0, 7, 0, 0, 0x10, 0x20, 0, 0),
    "impossible turn order: colour 0 has 2 pieces, colour 1 has 0": words(1, 2, 0, 0, 0, 0, 0, 0),
    "impossible turn order: colour 0 has 0 pieces, colour 1 has 1": words(0, 0, 0, 0, 1, 0, 0, 0),
}


@pytest.mark.parametrize(("message", "data"), BAD_PAYLOADS.items())
def test_invalid_payloads_are_rejected(message: str, data: bytes) -> None:
    with pytest.raises(StateError, match=message):
        State.unpack(b"\x01\x00" + data)
    with pytest.raises(StateError, match=message):
        State.from_cbor(cbor2.dumps({"v": 1, "canon": False, "bb": data}))


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("17 bytes", STATE.pack()[:-1]),
        ("19 bytes", STATE.pack() + b"\0"),
        ("0 bytes", b""),
        ("byte 0: version 2", b"\x02" + STATE.pack()[1:]),
        ("byte 1: flags 0x01", b"\x01\x01" + STATE.payload()),
        ("byte 1: flags 0xfe", b"\x01\xfe" + STATE.payload()),
        ("marked canonical, but payload", b"\x01\x02" + STATE.payload()),
        ("impossible turn order", b"\x01\x02" + words(0, 0, 0, 0, 0, 0, 0, 3)),
    ],
)
def test_invalid_packed_bytes_are_rejected(message: str, data: bytes) -> None:
    with pytest.raises(StateError, match=message):
        State.unpack(data)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("has 1 ranks", ""),
        ("has 3 ranks", "..../..../...."),
        ("has 5 ranks", "..../..../..../..../...."),
        ("rank 2 is '.....', 5 characters", "..../..../...../...."),
        ("rank 0 is '...', 3 characters", ".../..../..../...."),
        ("rank 1, column 2: 'E'", "..../..E./..../...."),
        ("rank 3, column 0: ' '", "..../..../..../ ..."),
        ("3 pieces a on cells 1, 6, 11", "Aa../..a./B..a/...."),
        ("impossible turn order: colour 0 has 2 pieces, colour 1 has 0", "AB../..../..../...."),
        ("impossible turn order: colour 0 has 0 pieces, colour 1 has 1", "a.../..../..../...."),
    ],
)
def test_invalid_qfens_are_rejected(message: str, text: str) -> None:
    with pytest.raises(StateError, match=message):
        State.from_qfen(text)


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("empty", b""),
        ("byte 0: 0x01 does not begin a map", b"\x01"),
        ("byte 0: 0xbf does not begin a map", b"\xbf\xff"),
        ("premature end of stream", STATE.to_cbor()[:-1]),
        ("bytes after the end of the document", STATE.to_cbor() + b"\0"),
        ("bytes after the end of the document", STATE.to_cbor() + STATE.to_cbor()),
        ("unknown key 'x'", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload(), "x": 1})),
        ("the key 'bb' is missing", cbor2.dumps({"v": 1, "canon": False, "mc": 4})),
        ("the keys are in the order bb, canon, v;", cbor2.dumps({"bb": bytes(16), "canon": False, "v": 1})),
        ("key occurs twice", b"\xa4\x61v\x01" + STATE.to_cbor()[1:]),
        ("key v: version 2", cbor2.dumps({"v": 2, "canon": False, "bb": STATE.payload()})),
        ("key v: version True", cbor2.dumps({"v": True, "canon": False, "bb": STATE.payload()})),
        ("key v: version 1.0", cbor2.dumps({"v": 1.0, "canon": False, "bb": STATE.payload()})),
        ("key canon: 1 is neither", cbor2.dumps({"v": 1, "canon": 1, "bb": STATE.payload()})),
        ("key bb: 15 bytes", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload()[1:]})),
        ("key bb: 17 bytes", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload() + b"\0"})),
        ("key bb: a str", cbor2.dumps({"v": 1, "canon": False, "bb": "0" * 16})),
        ("key mc: -1", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload(), "mc": -1})),
        ("key mc: None", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload(), "mc": None})),
        ("move count 3, but 4 pieces", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload(), "mc": 3})),
        ("key meta: a list", cbor2.dumps({"v": 1, "canon": False, "bb": STATE.payload(), "meta": []})),
        ("marked canonical, but", cbor2.dumps({"v": 1, "canon": True, "bb": STATE.payload()})),
    ],
)
def test_invalid_documents_are_rejected(message: str, data: bytes) -> None:
    with pytest.raises(StateError, match=message):
        State.from_cbor(data)


def test_states_are_not_written_in_a_form_that_could_not_be_read() -> None:
    with pytest.raises(StateError, match="flags 0x04"):
        STATE.pack(4)
    with pytest.raises(StateError, match="marked canonical"):
        STATE.pack(CANONICAL)
    with pytest.raises(StateError, match="move count 9"):
        STATE.to_cbor(mc=9)
    swapped, _ = State.unpack(State.from_qfen("A.../..../..../....").canonical_key())
    with pytest.raises(StateError, match="impossible turn order"):
        swapped.pack()
    with pytest.raises(StateError, match="impossible turn order"):
        swapped.to_cbor()
    assert State.unpack(swapped.pack(CANONICAL)) == (swapped, CANONICAL)
    assert swapped.colours_swapped().pack()


@pytest.mark.parametrize(
    ("message", "bb"),
    [
        ("a state has 8 bitboards, not 7", (0,) * 7),
        ("bitboard 0 .A. is 65536", (65536, 0, 0, 0, 0, 0, 0, 0)),
        ("bitboard 4 .a. is -1", (0, 0, 0, 0, -1, 0, 0, 0)),
        ("bitboard 7 .d. is '1'", (0, 0, 0, 0, 0, 0, 0, "1")),
    ],
)
def test_invalid_bitboards_are_rejected(message: str, bb: tuple[int, ...]) -> None:
    with pytest.raises(StateError, match=message):
        State(bb)


# ---- fuzzing ----


def is_state(bb: tuple[int, ...], either_colour: bool) -> bool:
    """An independent check of what a decoder may accept."""
    letters = [piece for piece, word in enumerate(bb) for cell in range(16) if word >> cell & 1]
    cells = [cell for word in bb for cell in range(16) if word >> cell & 1]
    ahead = sum(1 if piece < 4 else -1 for piece in letters)
    return (
        len(set(cells)) == len(cells)
        and all(letters.count(piece) <= 2 for piece in range(8))
        and (ahead in (0, 1) or (either_colour and ahead == -1))
    )


SPARSE_WORDS = st.builds(
    lambda bits: words(*(sum({1 << bit for bit in pair}) for pair in bits)),
    st.lists(st.lists(st.integers(0, 15), max_size=2), min_size=8, max_size=8),
)


PACKED = st.builds(lambda flags, payload: bytes((1, flags)) + payload, st.sampled_from([0, 2]), SPARSE_WORDS)


@given(st.binary(max_size=40) | PACKED)
@example(b"\x01\x00" + bytes(16))
def test_unpack_accepts_only_states(data: bytes) -> None:
    try:
        state, flags = State.unpack(data)
    except StateError:
        if len(data) == 18 and data[:2] == b"\x01\x00":
            assert not is_state(tuple(np.frombuffer(data[2:], dtype="<u2").tolist()), either_colour=False)
        return
    assert is_state(state.bb, either_colour=flags == CANONICAL)
    assert state.pack(flags) == data


@given(st.binary(max_size=80) | st.binary(max_size=60).map(lambda tail: STATE.to_cbor()[:15] + tail))
def test_from_cbor_accepts_only_states(data: bytes) -> None:
    try:
        state = State.from_cbor(data)
    except StateError:
        return
    assert is_state(state.bb, either_colour=True)


@given(st.integers(0, 200), st.integers(0, 255))
def test_a_document_with_a_changed_byte_is_rejected_or_still_a_state(place: int, value: int) -> None:
    document = bytearray(STATE.to_cbor(mc=4, meta={"tag": [1, "x", None]}))
    document[place % len(document)] = value
    try:
        state = State.from_cbor(bytes(document))
    except StateError:
        return
    assert is_state(state.bb, either_colour=False)


@given(st.one_of(st.text(max_size=25), st.text(alphabet=".ABCDabcd/", min_size=15, max_size=21)))
def test_from_qfen_accepts_only_states(text: str) -> None:
    try:
        state = State.from_qfen(text)
    except StateError:
        return
    assert is_state(state.bb, either_colour=False)
    assert state.to_qfen() == text


@given(st.binary(min_size=16, max_size=16))
def test_canonicalizing_any_16_bytes_is_safe(data: bytes) -> None:
    array = np.frombuffer(data, dtype="<u2").astype(np.uint16).reshape(1, 8)
    once = arrays.canonical_payload(array)
    assert np.array_equal(arrays.canonical_payload(once), once)
