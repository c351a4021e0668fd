"""Quantik's hooks: notations, moves as text, the board and the benchmarks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perfectplay import load_game
from perfectplay_quantik import State, plugin
from perfectplay_quantik.bench import benchmarks

from .positions import positions, qfen
from .reference import Position

STUDY = ".A../..b./.c../...D"
KEY = "00000000000108000004200000000000"


@given(positions())
def test_every_notation_is_read_back(position: Position) -> None:
    number = plugin.encode(qfen(position))
    notations = plugin.notations(number)
    assert list(notations) == ["qfen", "key", "encoding"]
    assert plugin.encode(notations["qfen"]) == plugin.encode(notations["encoding"]) == number
    assert plugin.decode(number) == notations["qfen"] == qfen(position)
    # The key denotes all 384 images; it is read back as one of them.
    assert plugin.notations(plugin.encode(notations["key"]))["key"] == notations["key"]


def test_a_key_is_read_with_and_without_its_header() -> None:
    assert plugin.encode(KEY) == plugin.encode("0102" + KEY) == plugin.encode(f"  0102{KEY.upper()} ")
    assert State.from_qfen(plugin.decode(plugin.encode(KEY))).canonical_payload().hex() == KEY


def test_a_key_with_swapped_colours_is_read_as_a_reachable_position() -> None:
    assert plugin.decode(plugin.encode("00000000000000000000000000000010")).count("A") == 0
    assert plugin.decode(plugin.encode("00000000000000000000000000000010")) == "..../..../..../D..."


@given(positions())
def test_every_move_is_read_back(position: Position) -> None:
    number = plugin.encode(qfen(position))
    for move in plugin.kernel().moves(number):
        text = plugin.format_move(number, move)
        cell = move & 15
        assert plugin.parse_move(number, text) == move
        assert plugin.parse_move(number, f" {text[0].lower()} ( {cell // 4} , {cell % 4} )") == move


def test_a_move_is_written_as_shape_and_cell() -> None:
    assert plugin.format_move(0, 5) == "A@5"
    assert plugin.parse_move(0, "D(3,2)") == 3 << 4 | 14


@given(positions())
def test_the_board_has_clicks_for_legal_moves_and_reasons_against_others(position: Position) -> None:
    number = plugin.encode(qfen(position))
    board = plugin.board(number)
    assert sorted(click.move for click in board.clicks) == plugin.kernel().moves(number)
    trays = [tray.id for tray in board.trays if tray.piece.owner == board.to_move]
    clickable = {(click.source, click.target) for click in board.clicks}
    blocked = {(tray, cell) for tray, reasons in board.blocked.items() for cell in reasons}
    assert clickable | blocked == {(tray, cell.id) for tray in trays for cell in board.cells}
    assert not clickable & blocked


def test_the_board_shows_pieces_and_trays() -> None:
    board = plugin.board(plugin.encode(STUDY))
    assert (board.rows, board.columns, board.to_move) == (4, 4, 0)
    labels = {cell.id: cell.stack[0].label for cell in board.cells if cell.stack}
    assert labels == {"1": "A", "6": "b", "9": "c", "15": "D"}
    assert "".join(tray.id * tray.count for tray in board.trays) == "ABBCCDaabcdd"
    assert board.blocked["B"]["4"] == "cell 4 (row 1, column 0) is in line with b on cell 6"


@given(st.lists(positions(), max_size=5))
def test_movers_of_an_array_agree_with_the_board(several: list[Position]) -> None:
    numbers = [plugin.encode(qfen(position)) for position in several]
    movers = load_game("quantik").movers(np.array(numbers, dtype=np.uint64))
    assert movers is not None
    assert movers.tolist() == [plugin.board(number).to_move for number in numbers]


def test_every_benchmark_reports_a_rate_and_its_unit() -> None:
    results = list(benchmarks(seconds=0.01))
    assert [unit for _, _, unit in results] == ["states/s", "states/s", "positions/s", "children/s", "nodes/s"]
    assert len({name for name, _, _ in results}) == len(results)
    assert all(rate > 0 for _, rate, _ in results)
