"""Kalah with one number of pits and seeds: rules from the C kernel, with texts and the drawn board.

kernel.c describes the encoding of a position.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from perfectplay import About, Board, Cell, Click, Piece, hookimpl
from perfectplay.game.board import Spelling, grid_template
from perfectplay_kalah._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

PLAYERS = ("South", "North")
MAX_BITS = 63
_TEXT = re.compile(r"([\d,]+)/([\d,]+)/(\d+)-(\d+):([SN])", re.IGNORECASE)

_RULES = """
Kalah is a mancala game. Each player has {pits} with {seeds} each at the start. Take all seeds from one of your pits and
sow them one by one counter-clockwise, into your own store but not into your opponent's.

If the last seed falls into your store, you move again. If it falls into an empty pit of yours, {capture}.

{end} The player with more seeds in their store wins by the difference.
"""


class Seeds(NamedTuple):
    """The parts of a position: pits in the order of sowing, South's first; both stores; and the side to move."""

    pits: list[int]
    stores: list[int]
    mover: int


class Kalah:
    """The game with one number of pits and seeds."""

    def __init__(self, pits: int, seeds: int, *, empty_capture: bool, either_row: bool) -> None:
        self.pits, self.seeds, self.empty_capture, self.either_row = pits, seeds, empty_capture, either_row
        self.total = 2 * pits * seeds
        self.turn_bit = self.total + 2 * pits + 1
        if self.turn_bit >= MAX_BITS:
            raise ValueError(
                f"{pits} pits with {seeds} seeds are too many: 2 × pits × (seeds + 1) + 2 must be at most {MAX_BITS}"
            )
        letters = "abcdefghijklmno"[:pits]
        self.names = letters + letters.upper()
        rows = grid_template([[*reversed(letters.upper())], [*letters]], between_cells=",")
        self._spelling = Spelling(
            (Piece(None, "1", size=0.8, shape="seeds", name="seed"),),
            f"{rows}/{{south}}-{{north}}:{{}}",
            movers=("S", "N"),
            counts=(*self.names, "south", "north"),
        )
        variant = ffi.new(
            "kalah_variant *",
            {"pits": pits, "seeds": seeds, "empty_capture": empty_capture, "either_row": either_row},
        )
        tier_count = (self.total + 1) * (self.total * (pits - 1) + 1)
        self._kernel = Kernel(ffi, lib.kalah_kernel, context=variant, max_moves=pits, tier_count=tier_count)

    @hookimpl
    def kernel(self) -> Kernel:
        return self._kernel

    @hookimpl
    def about(self) -> About:
        move_seeds = "that seed and all seeds in the opposite pit go into your store"
        capture = (
            f"{move_seeds}, even if the opposite pit is empty"
            if self.empty_capture
            else f"and the opposite pit is not empty, {move_seeds}"
        )
        pits = "one pit" if self.pits == 1 else f"{self.pits} pits"
        seeds = "one seed" if self.seeds == 1 else f"{self.seeds} seeds"
        end = (
            "The game is over as soon as either row is empty. Players keep the seeds left in their rows."
            if self.either_row
            else "The game is over when a player has no seeds to sow on their turn. The opponent keeps the rest."
        )
        rules = _RULES.format(pits=pits, seeds=seeds, capture=capture, end=end)
        return About(f"Kalah({self.pits}, {self.seeds})", rules)

    @hookimpl
    def players(self) -> tuple[str, str]:
        return PLAYERS

    # ---- positions ----

    def read(self, position: int) -> Seeds:
        row = position & (1 << self.turn_bit) - 1
        places = f"{row:0{self.turn_bit}b}"[::-1].split("0")
        counts = [len(place) for place in places]
        return Seeds(counts[:-2], counts[-2:], position >> self.turn_bit)

    def write(self, seeds: Seeds) -> int:
        row = "0".join("1" * count for count in [*seeds.pits, *seeds.stores])
        return int(row[::-1], 2) | seeds.mover << self.turn_bit

    @hookimpl
    def decode(self, position: int) -> str:
        pits, stores, mover = self.read(position)
        north, south = pits[: self.pits - 1 : -1], pits[: self.pits]
        return f"{_join(north)}/{_join(south)}/{stores[0]}-{stores[1]}:{PLAYERS[mover][0]}"

    @hookimpl
    def encode(self, text: str) -> int:
        """Return the position of a text like `3,3,3/3,3,3/0-0:S`. Raise ValueError if it has a fault."""
        match = _TEXT.fullmatch("".join(text.split()))
        if match is None:
            raise ValueError(f"write North's pits, South's pits, both stores and who moves, like {self._example()}")
        rows = [[int(count or 0) for count in row.split(",")] for row in match.group(1, 2)]
        if any(len(row) != self.pits for row in rows):
            raise ValueError(f"each player has {self.pits} pits; write a position like {self._example()}")
        pits, stores = rows[1] + rows[0][::-1], [int(count) for count in match.group(3, 4)]
        if sum(pits) + sum(stores) != self.total:
            raise ValueError(f"there must be {self.total} seeds, not {sum(pits) + sum(stores)}")
        return self.write(Seeds(pits, stores, "SN".index(match.group(5).upper())))

    def _example(self) -> str:
        return self.decode(self._kernel.start())

    # ---- moves ----

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return self.names[move]

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        """Return the mover's pit with this letter, in either case. Raise ValueError with the reason if not legal."""
        mover = position >> self.turn_bit
        own = self.names[mover * self.pits : (mover + 1) * self.pits]
        name = text.strip().upper() if mover else text.strip().lower()
        if len(name) != 1 or name not in own:
            raise ValueError(f"{text!r} is not a move: write one of {PLAYERS[mover]}'s pits, {own[0]} to {own[-1]}")
        moves = self._kernel.moves(position)
        move = self.names.index(name)
        if move not in moves:
            raise ValueError(f"{name} is not legal: {'the pit is empty' if moves else 'the game is over'}")
        return move

    # ---- the board ----

    @hookimpl
    def board(self, position: int) -> Board:
        """Return the board: North's pits above, from right to left, South's below, stores to the players' right."""
        pits, stores, mover = self.read(position)
        last = 2 * self.pits
        cells = [
            _pit(name, 1, pit + 1, 0, count) if pit < self.pits else _pit(name, 0, last - pit, 1, count)
            for pit, (name, count) in enumerate(zip(self.names, pits, strict=True))
        ]
        cells.append(Cell("south", 0.5, self.pits + 1, _seeds(0, stores[0]), height=2, shape="round"))
        cells.append(Cell("north", 0.5, 0, _seeds(1, stores[1]), height=2, shape="round"))
        return Board(
            rows=2,
            columns=self.pits + 2,
            cells=tuple(cells),
            to_move=mover,
            players=PLAYERS,
            clicks=tuple(
                Click(move, self.names[move], path=self._path(move, pits[move]))
                for move in self._kernel.moves(position)
            ),
            spelling=self._spelling,
        )

    def _path(self, pit: int, count: int) -> tuple[str, ...]:
        """Return the pits and the store that get a seed each when a pit is sown."""
        mover = pit // self.pits
        ring = [*self.names[: self.pits], "south", *self.names[self.pits :], "north"]
        ring.remove(("north", "south")[mover])
        first = ring.index(self.names[pit])
        return tuple(ring[(first + step) % len(ring)] for step in range(1, count + 1))


def _join(counts: list[int]) -> str:
    return ",".join(map(str, counts))


def _pit(name: str, row: float, column: int, owner: int, count: int) -> Cell:
    return Cell(name, row, column, _seeds(owner, count), label=name, shape="round")


def _seeds(owner: int, count: int) -> tuple[Piece, ...]:
    return (Piece(owner, str(count), size=0.8, shape="seeds"),) if count else ()
