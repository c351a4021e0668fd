"""The solved game: the published result, verification, and why the portable key is not suitable for solving."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from perfectplay_quantik._kernel import lib

from perfectplay import Game, Outcome, Table, Value, load_game, open_table, solve_game, verify_table
from perfectplay_quantik import State
from perfectplay_quantik.notation import encode, position_of, state_of

NO_POSITION = 2**64 - 1
GOLDEN_HASHES = Path(__file__).parents[2] / "golden" / "hashes.json"
DOCS = Path(__file__).parents[3] / "docs" / "quantik.md"


@pytest.fixture(scope="module")
def game() -> Game:
    return load_game("quantik")


@pytest.fixture(scope="module")
def table(game: Game, quantik_tables: Path) -> Iterator[Table]:
    with open_table(game, quantik_tables / "quantik") as table:
        yield table


def test_the_second_player_wins_in_ten_plies(table: Table) -> None:
    assert table.probe(0) == Value(Outcome.LOSS, 10)


def test_every_one_of_the_64_first_moves_loses(game: Game, table: Table) -> None:
    first_moves = game.moves(0)
    assert len(first_moves) == 64
    assert {table.probe(game.apply(0, move)) for move in first_moves} == {Value(Outcome.WIN, 9)}


def test_each_number_of_pieces_has_the_published_number_of_positions(table: Table) -> None:
    counts = [sum(map(len, table.values(tier))) for tier in range(17)]
    assert counts == [
        *(1, 1, 7, 70, 905, 7_201, 59_184, 311_020, 1_265_540, 2_993_481, 5_185_958),
        *(5_000_142, 3_139_034, 850_704, 98_400, 3_082, 17),
    ]
    assert sum(counts) == 18_914_747


def test_verify_finds_no_bad_position(table: Table) -> None:
    report = verify_table(table)
    assert (report.checked, report.bad) == (18_914_747, 0)


def test_the_table_has_the_golden_hash(table: Table) -> None:
    """The hash must be the same on every machine, for any number of threads, and after every optimization."""
    assert table.info.hash == json.loads(GOLDEN_HASHES.read_text())["quantik"]


def test_lmdb_with_64_megabytes_gives_the_same_table(game: Game, table: Table, tmp_path: Path) -> None:
    bounded = solve_game(game, backend="lmdb", memory=64 << 20, directory=tmp_path)
    assert bounded.hash == table.info.hash


def swap_colours(position: int) -> int:
    """Return the position with the colours exchanged and the same colour to move, or NO_POSITION."""
    return int(lib.quantik_position(list(state_of(position).colours_swapped().bb)))


def test_the_portable_key_merges_positions_with_different_winners(table: Table) -> None:
    """At four pieces, 412 of the 905 positions have a twin with the same key and another winner."""
    merged = 0
    for position in map(int, table.positions(4, 0, 905)):
        twin = swap_colours(position)
        assert twin != NO_POSITION
        assert state_of(position).canonical_key() == state_of(twin).canonical_key()
        if table.probe(position).outcome != table.probe(twin).outcome:
            merged += 1
            assert table.slot(position) != table.slot(twin)
    assert merged == 412


def test_the_counterexample_in_the_docs_is_correct(table: Table) -> None:
    texts = ("Cd../dC../.b../...A", "cD../Dc../.B../...a")
    assert all(f"`{text}`" in DOCS.read_text(encoding="utf-8") for text in texts)
    win, loss = (State.from_qfen(text) for text in texts)
    assert win.canonical_key() == loss.canonical_key()
    assert table.probe(position_of(win)) == Value(Outcome.WIN, 1)
    assert table.probe(position_of(loss)) == Value(Outcome.LOSS, 4)


def test_probing_many_images_agrees_with_probing_their_canonical_form(table: Table) -> None:
    study = encode(".A../..b./.c../...D")
    turned = encode("...D/.b../C.a./....")
    codes = table.probe_many(np.array([study, turned], dtype=np.uint64))
    assert codes[0] == codes[1] == table.probe(study).code
