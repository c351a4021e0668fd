"""The sliding puzzle: tiles slide into the gap until all are in order.

A position lists the tiles row by row, with 0 for the gap. The 8-puzzle has nine places.
"""

from collections.abc import Mapping
from typing import Any

from perfectplay import About, Board, Cell, Click, Option, Piece, Status, hookimpl
from perfectplay.authoring import Grid


class SlidingPuzzle:
    def __init__(self, rows: int, columns: int) -> None:
        self.grid = Grid(rows, columns, values=rows * columns)
        self.solved = [*range(1, self.grid.size), 0]

    @hookimpl
    def players(self) -> list[str]:
        return ["Solver"]  # one name: a puzzle

    @hookimpl
    def start(self) -> int:
        """Return the tiles in reverse order, with the last two swapped if that is needed for a solution."""
        tiles = self.solved[::-1]
        if not self.can_be_solved(tiles):
            tiles[-1], tiles[-2] = tiles[-2], tiles[-1]
        return self.grid.pack(tiles)

    def can_be_solved(self, tiles: list[int]) -> bool:
        """Return whether the parity allows a solution.

        Sliding along a row keeps the order of the tiles. Sliding between rows moves a tile past `columns - 1` others.
        """
        numbers = [tile for tile in tiles if tile]
        swaps = sum(1 for i, tile in enumerate(numbers) for later in numbers[i + 1 :] if later < tile)
        rows_to_go = self.grid.rows - 1 - tiles.index(0) // self.grid.columns
        return (swaps + rows_to_go * (self.grid.columns - 1)) % 2 == 0

    @hookimpl
    def valid(self, position: int) -> bool:
        tiles = self.grid.unpack(position)
        return self.grid.pack(tiles) == position and sorted(tiles) == list(range(self.grid.size))

    @hookimpl
    def moves(self, position: int) -> list[int]:
        tiles = self.grid.unpack(position)
        if tiles == self.solved:
            return []
        row, column = divmod(tiles.index(0), self.grid.columns)
        neighbours = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        inside = [(r, c) for r, c in neighbours if 0 <= r < self.grid.rows and 0 <= c < self.grid.columns]
        return [tiles[r * self.grid.columns + c] for r, c in inside]  # a move is the tile that slides

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        tiles = self.grid.unpack(position)
        gap, tile = tiles.index(0), tiles.index(move)
        tiles[gap], tiles[tile] = move, 0
        return self.grid.pack(tiles)

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.WON if self.grid.unpack(position) == self.solved else Status.ONGOING

    @hookimpl
    def encode(self, text: str) -> int:
        return self.grid.read(text, self.letters)

    @hookimpl
    def decode(self, position: int) -> str:
        return self.grid.write(position, self.letters)

    @property
    def letters(self) -> str:
        return ".12345678"[: self.grid.size]

    @hookimpl
    def board(self, position: int) -> Board:
        tiles = self.grid.unpack(position)
        cells = tuple(
            Cell(name, *divmod(i, self.grid.columns), (Piece(None, str(tile), shape="square"),) if tile else ())
            for i, (name, tile) in enumerate(zip(self.grid.names, tiles, strict=True))
        )
        clicks = tuple(Click(move, target=self.grid.names[tiles.index(move)]) for move in self.moves(position))
        return Board(self.grid.rows, self.grid.columns, cells, to_move=0, clicks=clicks)

    @hookimpl
    def about(self) -> About:
        return About("Sliding puzzle", "Slide tiles into the gap until they are in order, with the gap last.")


@hookimpl
def options() -> list[Option]:
    return [
        Option("rows", 2, "rows of tiles", minimum=2, maximum=3),
        Option("columns", 3, "columns of tiles", minimum=2, maximum=3),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> SlidingPuzzle:
    return SlidingPuzzle(options["rows"], options["columns"])
