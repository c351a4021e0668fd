"""What a board looks like: enough for a terminal and a browser to draw any game and to play it by clicking.

A board is a grid of cells, each with a stack of pieces, and trays of pieces not yet in play. A move is played by
clicking its target, after its source where it has one; sources and targets are the ids of cells and trays.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece. `owner` is 0 for the player who begins, 1 for the other, None for a piece of nobody's."""

    owner: int | None
    label: str
    """One to three characters for a terminal, and the accessible name in a browser."""
    size: float = 1.0
    """Relative to its cell, above 0 up to 1."""
    shape: str = "circle"
    """circle, square, triangle, diamond, cross, star or text; a browser draws `label` for any other."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One place on the board. `row` 0 is the top; `stack` runs from the bottom to the visible top."""

    id: str
    row: int
    column: int
    stack: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Tray:
    """Pieces of one kind in a player's reserve."""

    id: str
    piece: Piece
    count: int


@dataclass(frozen=True, slots=True)
class Click:
    """How a move is made by hand: `source` first (a cell or tray id, None where the target says it all)."""

    move: int
    target: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the labels on a board make a text that `encode` reads, so that an editor can write it.

    Row by row from the top, cell by cell, each stack from the bottom up; `ending` is for the two players to move.
    `pieces` are all there are, to choose from.
    """

    pieces: tuple[Piece, ...]
    empty: str = "."
    between_cells: str = ""
    between_rows: str = "/"
    ending: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Board:
    """A whole position, ready to draw."""

    rows: int
    columns: int
    cells: tuple[Cell, ...]
    to_move: int
    """0 if the player who begins is to move, else 1."""
    players: tuple[str, str] = ("First", "Second")
    trays: tuple[Tray, ...] = ()
    clicks: tuple[Click, ...] = ()
    """One for each legal move."""
    blocked: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why not: for a source id, the target ids it may not go to, each with the reason in a few words."""
    warnings: dict[str, str] = field(default_factory=dict)
    """What taking hold of a source would bring about, in a few words; only where a player should know."""
    spelling: Spelling | None = None
    """How an editor may write the position; None where only `encode` knows."""
