"""Damaged, forged, foreign and missing tables: one clear error each, and never a wrong value."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tools.campaigns import ladder
from tools.campaigns.campaign import REPORTED, RIGHT, WRONG, in_child

from perfectplay import Outcome, Value, open_table, solve_game, verify_table
from perfectplay.errors import DamagedTable, Interrupted, TableError
from perfectplay.table.compact import FORM, FrameIndex
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader, read_snapshot
from perfectplay.table.locations import table_path
from perfectplay.table.records import META, Statistics, number_key, seal, unseal

from ..damage import edit, flip, forge_info, stop_after_tiers

SLOTS = ladder.RING * ladder.RUNGS


def forge(path: Path, key: bytes, **changes: object) -> None:
    """Change a record and give it a correct checksum."""

    def change(stored: bytes) -> bytes:
        return seal(key, json.dumps({**json.loads(unseal(key, memoryview(stored))), **changes}).encode())

    edit(path, key, change)


# ---- blocks and files ----


@pytest.mark.parametrize("kind", [b"t", b"k"])
def test_flipped_bit_in_any_block_is_detected(game, plain, codes, kind):
    for tier in range(ladder.RUNGS):
        key = number_key(kind, tier, 0)
        flip(plain, key, at=tier)
        with pytest.raises(TableError, match=rf"damaged: tier {tier}, block 0 has a wrong checksum"):
            codes(plain)
        with pytest.raises(TableError, match=rf"tier {tier}, block 0"), open_table(game, plain) as table:
            verify_table(table)
        flip(plain, key, at=tier)
    assert codes(plain)


@pytest.mark.parametrize("kind", [b"c", b"d"])
def test_flipped_bit_in_any_frame_is_detected(compacted, tmp_path, codes, kind):
    (tmp_path / DATA_FILE).write_bytes((compacted / DATA_FILE).read_bytes())
    for at in range(30):
        key = number_key(kind, at % ladder.RUNGS)
        flip(tmp_path, key, at)
        with pytest.raises(TableError, match=rf"damaged: tier {at % ladder.RUNGS}, frame 0 has a wrong checksum"):
            codes(tmp_path)
        flip(tmp_path, key, at)


def test_flipped_bit_behind_the_frames_is_detected_by_verify(game, compacted, tmp_path):
    """Only single probes use these counts, so `verify` must look at them as well."""
    (tmp_path / DATA_FILE).write_bytes((compacted / DATA_FILE).read_bytes())
    flip(tmp_path, number_key(b"c", 5), at=-1)
    with pytest.raises(TableError, match="behind the frames of tier 5"), open_table(game, tmp_path) as table:
        verify_table(table)


def test_flipped_bit_in_the_length_of_a_key_is_detected(game, plain):
    """Python does not convert a key of thousands of bytes to decimal digits."""
    file = plain / DATA_FILE
    data = file.read_bytes()
    reports = 0
    for key in (number_key(b"T", tier) for tier in range(ladder.RUNGS)):
        place = data.rindex(len(key).to_bytes(2, "little") + key)
        for bit in range(16):
            damaged = bytearray(data)
            damaged[place + bit // 8] ^= 1 << bit % 8
            file.write_bytes(damaged)
            try:
                open_table(game, plain).close()  # a page of an older transaction
            except DamagedTable:
                reports += 1
    assert reports >= 16


def test_exchanged_blocks_are_detected(plain, codes):
    entries = read_snapshot(plain / DATA_FILE).entries
    first, second = (number_key(b"t", tier, 0) for tier in (3, 4))
    values = bytes(entries[first]), bytes(entries[second])
    assert values[0] != values[1]
    edit(plain, first, lambda stored: values[1])
    edit(plain, second, lambda stored: values[0])
    with pytest.raises(DamagedTable, match="tier 3, block 0 has a wrong checksum"):
        codes(plain)


def test_missing_page_is_detected(path, solved, codes):
    """A file system that lost a write leaves a file of the right length with zeros in it."""
    file, size, expected = path / DATA_FILE, (path / DATA_FILE).stat().st_size, codes(solved)
    whole = file.read_bytes()
    for start in range(0, size, 4096):
        file.write_bytes(whole[:start] + bytes(min(4096, size - start)) + whole[start + 4096 :])
        assert in_child(lambda: RIGHT if codes(path) == expected else WRONG) in (RIGHT, REPORTED), start


def test_truncated_file_is_refused(game, plain):
    size = (plain / DATA_FILE).stat().st_size
    for left in (size // 2, 9000, 100, 0):
        os.truncate(plain / DATA_FILE, left)
        with pytest.raises(TableError, match=r"damaged|no table"):
            open_table(game, plain)


def test_other_file_is_refused(game, plain):
    (plain / DATA_FILE).write_bytes(b"not a table." * 1000)
    with pytest.raises(TableError, match="is not a table, or is damaged"):
        open_table(game, plain)


def test_empty_directory_is_refused_with_the_solve_command(game, tmp_path):
    with pytest.raises(TableError, match=r"no table of ladder .* run `solve ladder`"):
        open_table(game, tmp_path)


# ---- records ----


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (b"T", {"width": 0}),
        (b"T", {"width": 2}),
        (b"T", {"size": 10 * ladder.RING}),
        (b"T", {"size": 0, "checksums": [], "counts": {}}),
        (b"T", {"checksums": []}),
        (b"T", {"checksums": [1]}),
        (b"T", {"tier": 4}),
        (b"T", {"counts": {"0": ladder.RING}}),
        (b"T", {"counts": {"0": -1, "1": ladder.RING + 1}}),
        (b"T", {"width": "1"}),
        (b"K", {"size": 1}),
        (b"K", {"children": []}),
        (b"K", {"cyclic": False}),
        (b"K", {"checksums": ["x"]}),
    ],
)
def test_forged_record_is_refused_at_opening(game, path, kind, changes):
    forge(path, number_key(kind, 3), **changes)
    with pytest.raises(DamagedTable, match=r"the table .* is damaged: .*record"):
        open_table(game, path)


@pytest.mark.parametrize("kind", [b"T", b"K", b"C", b"D"])
def test_flipped_bit_in_record_is_detected_at_opening(game, path, codes, kind):
    if kind in (b"C", b"D") and not TableReader(path).info.compact:
        kind = b"T"
    for at in range(0, 120, 7):
        flip(path, number_key(kind, at % ladder.RUNGS), at)
        with pytest.raises(DamagedTable):
            open_table(game, path)
        flip(path, number_key(kind, at % ladder.RUNGS), at)
    assert codes(path)


@pytest.mark.parametrize("kind", [b"T", b"K"])
def test_flipped_bit_in_record_of_unfinished_table_is_detected(game, tmp_path, kind, monkeypatch):
    """An unfinished table has no hash, so the record's own checksum must detect it."""
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    path = table_path(game, tmp_path)
    tier = max(TableReader(path).tier_records())
    for at in range(0, 120, 7):
        flip(path, number_key(kind, tier), at)
        with pytest.raises(DamagedTable, match=f"the record of tier {tier} cannot be read"):
            open_table(game, path)
        flip(path, number_key(kind, tier), at)
    forge_info(path, status="complete", hash="0" * 16)
    with pytest.raises(DamagedTable, match="do not match its hash"):
        open_table(game, path)


def test_swapped_or_deleted_record_is_detected(game, plain):
    records = {}
    edit(plain, number_key(b"T", 2), lambda stored: records.setdefault(2, stored))
    edit(plain, number_key(b"T", 5), lambda stored: records[2])
    with pytest.raises(DamagedTable, match="the record of tier 5 cannot be read"):
        open_table(game, plain)
    edit(plain, number_key(b"T", 5), lambda stored: None)
    with pytest.raises(DamagedTable, match="do not match its hash"):
        open_table(game, plain)


# ---- metadata ----


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xff", b'{"format": 2}', b"null"])
def test_unreadable_metadata_is_damage(game, plain, text):
    for stored in (seal(META, text), text):
        edit(plain, META, lambda _, stored=stored: stored)
        with pytest.raises(DamagedTable, match="its metadata cannot be read"):
            open_table(game, plain)


@pytest.mark.parametrize(
    "changes",
    [
        {"game": None},
        {"options": [1]},
        {"rules_version": "1"},
        {"host_version": None},
        {"indexing": "x"},
        {"status": "x"},
        {"values": "x"},
        {"values": []},
        {"hash": 1},
        {"storage": None},
        {"format": "2"},
    ],
)
def test_metadata_of_wrong_types_is_refused(game, path, changes):
    forge(path, META, **changes)
    with pytest.raises(TableError, match=r"is damaged: its metadata cannot be read|has table format 2"):
        open_table(game, path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "chess"}, "holds a table of chess, not of ladder"),
        ({"rules_version": 7}, "version 7 of the rules"),
        ({"options": {"width": 5}}, "other options"),
        ({"format": 99}, "table format 99.*--force"),
    ],
)
def test_table_of_another_game_or_format_is_refused(game, plain, changes, message):
    forge_info(plain, **changes)
    with pytest.raises(TableError, match=message):
        open_table(game, plain)
    for backend in ("memory", "lmdb"):
        with pytest.raises(TableError, match=message):
            solve_game(game, backend=backend, directory=plain.parent)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": FORM + 1}, f"compact form {FORM + 1}"),
        ({"form": None}, "compact form None"),
    ],
)
def test_another_compact_form_is_refused(game, compacted, tmp_path, changes, message):
    (tmp_path / DATA_FILE).write_bytes((compacted / DATA_FILE).read_bytes())
    forge_info(tmp_path, storage={**TableReader(compacted).info.storage, **changes})
    with pytest.raises(TableError, match=message):
        open_table(game, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda numbers: numbers[:2], "too short"),
        (lambda numbers: [3, *numbers[1:]], "size"),
        (lambda numbers: [0, 0, *numbers[2:]], "size"),
        (lambda numbers: [1 << 21, *numbers[1:]], "size"),
        (lambda numbers: [*numbers[:3], 1 << 40, *numbers[4:]], "ends"),
        (lambda numbers: numbers[:-1], "reshape"),
    ],
)
def test_impossible_index_of_frames_is_refused(compacted, change, message):
    """A record with a correct checksum that perfectplay did not write must not lead to reads out of bounds."""
    reader = TableReader(compacted)
    key, record = number_key(b"C", 3), reader.tier_records()[3]
    data, size = unseal(key, reader.source.entries[key]), len(reader.source.entries[number_key(b"c", 3)])
    assert FrameIndex.read(data, record, size).to_bytes() == data
    forged = np.array(change(np.frombuffer(data, "<u8").tolist()), dtype="<u8").tobytes()
    with pytest.raises(ValueError, match=message):
        FrameIndex.read(forged, record, size)


def test_misplaced_keys_are_detected_by_verify(game, solved):
    """A faulty enumerator would write such keys with correct checksums."""
    with open_table(game, solved) as table:
        source = table.store
        keys = source.key_blocks(source.key_records()[3])[0]
        swapped = bytearray(keys)
        swapped[8:16], swapped[16:24] = keys[16:24], keys[8:16]
        table.store = SimpleNamespace(
            key_blocks=lambda record: [memoryview(swapped)] if record.tier == 3 else source.key_blocks(record),
            value_blocks=source.value_blocks,
            info=source.info,
            close=source.close,
        )
        with pytest.raises(DamagedTable, match=r"position \d+ of tier 3 cannot be found"):
            verify_table(table)


# ---- intact tables ----


def test_plain_and_compact_tables_give_the_same_answers(game, solved, compacted, codes):
    assert codes(compacted) == codes(solved)
    for path in (solved, compacted):
        with open_table(game, path) as table, open_table(game, path) as other:
            single = [table.get(position) for position in range(SLOTS + 3)]
            assert table.probe_many(range(SLOTS + 3)).tolist() == [4 if v is None else v.code for v in single]
            assert verify_table(table).bad == 0
            assert other.statistics == table.statistics
            assert other.statistics is other.statistics, "it is counted once"


def test_statistics_count_draws_by_kind():
    unknown = Value(Outcome.DRAW, None, outcome_only=True).code
    full, outcomes = Statistics.of([{0: 3, 6: 5, 7: 1}, {0: 1, 4: 9}]), Statistics.of([{unknown: 4}])
    assert (full.positions, full.draws, full.endless_draws, full.ties) == (10, 9, 4, 5)
    assert (outcomes.draws, outcomes.endless_draws, outcomes.ties) == (4, 0, 0)


def test_threads_share_a_table(game, solved, codes):
    expected, wrong = codes(solved), []
    with open_table(game, solved) as table:

        def read(step: int) -> None:
            wrong.extend(p for p in (step * i % SLOTS for i in range(SLOTS)) if table.probe(p).code != expected[p])

        threads = [threading.Thread(target=read, args=(step,)) for step in (1, 7, 11, 13, 17, 19, 23, 29)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
