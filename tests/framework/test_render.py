"""Boards as text."""

from __future__ import annotations

from perfectplay.game.board import Board, Cell, Piece, Tray
from perfectplay.game.board_text import draw


def test_a_grid_has_row_and_column_names(tic_tac_toe):
    assert draw(tic_tac_toe.board(tic_tac_toe.encode("X...O...."))) == "\n".join(
        [
            "    a   b   c",
            "  ┌───┬───┬───┐",
            "3 │ X │   │   │",
            "  ├───┼───┼───┤",
            "2 │   │ O │   │",
            "  ├───┼───┼───┤",
            "1 │   │   │   │",
            "  └───┴───┴───┘",
            "First to move",
        ]
    )


def test_covered_pieces_reserves_and_owners_are_shown():
    large, small = Piece(0, "L"), Piece(1, "S")
    board = Board(
        rows=1,
        columns=2,
        cells=(Cell("(0,0)", 0, 0, (small, large)), Cell("(0,1)", 0, 1)),
        to_move=1,
        players=("Orange", "Blue"),
        trays=(Tray("t0", Piece(0, "S"), 2), Tray("t1", Piece(1, "S"), 0)),
    )
    assert draw(board) == "\n".join(
        [
            "    0    1",
            "  ┌────┬────┐",
            "0 │ ●L │    │",
            "  │(○S)│    │",
            "  └────┴────┘",
            "Orange (●) has 2×●S in reserve",
            "Blue (○) has nothing in reserve",
            "Blue (○) to move",
        ]
    )


def test_a_board_with_holes_and_without_headings():
    board = Board(rows=2, columns=2, cells=(Cell("north", 0, 0), Cell("south", 1, 1)), to_move=0)
    assert draw(board).splitlines() == [
        " ┌───┬───┐",
        " │   │░░░│",
        " ├───┼───┤",
        " │░░░│   │",
        " └───┴───┘",
        "First to move",
    ]


def test_a_diagonal_does_not_interrupt_lines_at_its_ends():
    """Three men's morris has diagonals next to its sides."""
    corner = [Cell(name, row, column) for name, row, column in (("a2", 0, 0), ("b2", 0, 1), ("b1", 1, 1))]
    edges = (("a2", "b2"), ("b2", "b1"), ("a2", "b1"))
    lines = draw(Board(rows=2, columns=2, cells=tuple(corner), to_move=0, edges=edges)).splitlines()
    assert (lines[0].strip(), lines[4].strip()) == ("a2──────b2", "b1")
    assert all("╲" in line for line in lines[1:4])
