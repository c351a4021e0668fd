"""GBL2 files: exact bytes, order, checksum, and every kind of damage."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from perfectplay import PerfectPlayError
from perfectplay.files import atomic_write
from perfectplay.table.gbl2 import Header, entries, read_gbl2, read_header, write_gbl2

SOLUTIONS = st.dictionaries(st.integers(0, 2**64 - 2), st.sampled_from([-1, 0, 1]), max_size=60)


def read_all(path, chunk=4):
    return [entry for part in read_gbl2(path, chunk) for entry in part.tolist()]


@given(solutions=SOLUTIONS, size=st.integers(1, 20))
def test_entries_written_in_parts_are_read_back(tmp_path_factory, solutions, size):
    path = tmp_path_factory.mktemp("gbl2") / "file.gbl2"
    rows = sorted(solutions.items())
    parts = [rows[i : i + size] for i in range(0, len(rows), size)]
    header = write_gbl2(path, (entries(*zip(*part, strict=True)) for part in parts))
    assert header == read_header(path)
    assert header.count == len(rows)
    assert read_all(path) == rows


def test_the_bytes_follow_the_format(tmp_path):
    path = tmp_path / "file.gbl2"
    write_gbl2(path, [entries([1, 2**54], [1, -1])])
    data = struct.pack("<Qb", 1, 1) + struct.pack("<Qb", 2**54, -1)
    assert path.read_bytes() == struct.pack("<4sIQQQ", b"GBL2", 1, 2, xxhash.xxh64_intdigest(data, seed=0), 0) + data


def test_a_file_without_entries_has_only_a_header(tmp_path):
    path = tmp_path / "file.gbl2"
    assert write_gbl2(path, []) == Header(0, xxhash.xxh64_intdigest(b"", seed=0))
    assert len(path.read_bytes()) == 32
    assert read_all(path) == []


@pytest.mark.parametrize("parts", [[[5, 4]], [[5], [5]], [[5], [4]], [[1, 1]]])
def test_wrong_order_is_refused_and_leaves_no_file(tmp_path, parts):
    with pytest.raises(ValueError, match="sorted by position"):
        write_gbl2(tmp_path / "file.gbl2", [entries(part, np.zeros(len(part))) for part in parts])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"XBL2" + data[4:], "not a GBL2 file"),
        (lambda data: data[:10], "not a GBL2 file"),
        (lambda data: data[:4] + b"\x03" + data[5:], "version 3"),
        (lambda data: data[:4] + b"\x02" + data[5:], "checksum"),
        (lambda data: data[:40] + b"\x02" + data[41:], "position 1 has no outcome"),
        (lambda data: data[:-1], "need 59 bytes, but it has 58"),
        (lambda data: data + b"x", "need 59 bytes, but it has 60"),
        (lambda data: data[:-1] + b"\x00", "checksum"),
        (lambda data: data[:32] + data[41:50] + data[32:41] + data[50:], "position 1 is out of order"),
    ],
)
def test_damage_is_reported(tmp_path, damage, words):
    path = tmp_path / "file.gbl2"
    write_gbl2(path, [entries([1, 2, 3], [1, 0, -1])])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(PerfectPlayError, match=words):
        read_all(path)


def test_an_atomic_write_replaces_a_file_completely_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as part:
        part.write_text(f"half{1 / 0}")
    assert path.read_text() == "old"
    with atomic_write(path) as part:
        part.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
