"""Kalah with one number of pits and seeds, in plain Python.

Places are numbered in the order of sowing, South's pits first and both stores last. For two pits per player:

            3  2
        5          4       0 and 1: South's pits, 4: South's store
            0  1           2 and 3: North's pits, 5: North's store

A position is a row of bits, and above it a bit that is 1 if North is to move. From the lowest bit, the row has a 1 for
each seed and a 0 between one place and the next. So every position fits 2 × pits × (seeds + 1) + 2 bits. With one seed
in each pit:

    turn   5   4   3   2   1   0     place
      0    · 0 · 0 1 0 1 0 1 0 1     the start
      0    · 0 1 0 1 0 1 0 · 0 1     South has sown pit 1, and moves again

A move is the number of the pit that is sown.
"""

from __future__ import annotations

import re

from perfectplay import About, Board, Cell, Click, Piece, Status, hookimpl
from perfectplay.game.board import Spelling, grid_template

PLAYERS = ("South", "North")
MAX_BITS = 63
_TEXT = re.compile(r"([\d,]+)/([\d,]+)/(\d+)-(\d+):([SN])", re.IGNORECASE)

_RULES = """
Kalah is a mancala game. Each player has {pits} with {seeds} each at the start. Take all seeds from one of your pits and
sow them one by one counter-clockwise, into your own store but not into your opponent's.

If the last seed falls into your store, you move again. If it falls into an empty pit of yours, {capture}.

{end} The player with more seeds in their store wins by the difference.
"""


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
        self.row = (1 << self.turn_bit) - 1
        south, north = self.own_pits = range(pits), range(pits, 2 * pits)
        self.stores = (2 * pits, 2 * pits + 1)
        # The places that a player sows, in order. The player's pits have the same index here as in all places.
        self.rings = ((*south, self.stores[0], *north), (*south, *north, self.stores[1]))
        letters = "abcdefghijklmno"[:pits]
        self.names: tuple[str, ...] = (*letters, *letters.upper(), "south", "north")
        rows = grid_template([[*reversed(letters.upper())], [*letters]], between_cells=",")
        self._spelling = Spelling(
            (Piece(None, "1", size=0.8, shape="seeds", name="seed"),),
            f"{rows}/{{south}}-{{north}}:{{}}",
            movers=("S", "N"),
            counts=self.names,
        )

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

    # ---- rules ----

    def unpack(self, position: int) -> list[int]:
        """Return the number of seeds in each place."""
        row = position & self.row
        counts = []
        for _ in range(2 * self.pits + 2):
            width = (row ^ row + 1).bit_length()  # the seeds of the lowest place, and the 0 above them
            counts.append(width - 1)
            row >>= width
        return counts

    def pack(self, counts: list[int], mover: int) -> int:
        row, end = self.row, -1
        for count in counts[:-1]:
            end += count + 1
            row ^= 1 << end  # the 0 above the seeds of this place
        return row | mover << self.turn_bit

    def has_seeds(self, counts: list[int], player: int) -> bool:
        return any(counts[pit] for pit in self.own_pits[player])

    def is_over(self, counts: list[int], mover: int) -> bool:
        if self.either_row and not self.has_seeds(counts, 1 - mover):
            return True
        return not self.has_seeds(counts, mover)

    @hookimpl
    def start(self) -> int:
        return self.pack([self.seeds] * 2 * self.pits + [0, 0], 0)

    @hookimpl
    def valid(self, position: int) -> bool:
        mover = position >> self.turn_bit
        if mover > 1 or position.bit_count() - mover != self.total:
            return False
        counts = self.unpack(position)
        return not self.is_over(counts, mover) or not any(counts[:-2])  # at the end, all seeds are in the stores

    @hookimpl
    def mover(self, position: int) -> int:
        return position >> self.turn_bit

    @hookimpl
    def moves(self, position: int) -> list[int]:
        counts = self.unpack(position)
        return [pit for pit in self.own_pits[self.mover(position)] if counts[pit]]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        counts, mover = self.unpack(position), self.mover(position)
        ring, store = self.rings[mover], self.stores[mover]
        hand, counts[move] = counts[move], 0
        place = move
        for step in range(1, hand + 1):
            place = ring[(move + step) % len(ring)]
            counts[place] += 1
        opposite = 2 * self.pits - 1 - place
        if place in self.own_pits[mover] and counts[place] == 1 and (counts[opposite] or self.empty_capture):
            counts[store] += 1 + counts[opposite]
            counts[place] = counts[opposite] = 0
        if place != store:
            mover = 1 - mover
        if self.is_over(counts, mover):  # the remaining seeds go into their owners' stores
            south = counts[self.stores[0]] + sum(counts[: self.pits])
            counts = [0] * (2 * self.pits) + [south, self.total - south]
        return self.pack(counts, mover)

    @hookimpl
    def score(self, position: int) -> int:
        south, north = self.unpack(position)[-2:]
        return north - south if self.mover(position) else south - north

    @hookimpl
    def status(self, position: int) -> Status:
        if not self.is_over(self.unpack(position), self.mover(position)):
            return Status.ONGOING
        score = self.score(position)
        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN

    @hookimpl
    def tier(self, position: int) -> int:
        """Return a number that grows with every move: the seeds in the stores, then how far the others have advanced.

        Seeds never leave a store, and a move that stores no seed leaves all seeds on their side.
        """
        pits = self.unpack(position)[:-2]
        stored = self.total - sum(pits)
        progress = sum(count * (pit % self.pits) for pit, count in enumerate(pits))
        return stored * (self.total * (self.pits - 1) + 1) + progress

    # ---- texts ----

    @hookimpl
    def decode(self, position: int) -> str:
        *pits, south_store, north_store = self.unpack(position)
        north, south = pits[: self.pits - 1 : -1], pits[: self.pits]
        return f"{_join(north)}/{_join(south)}/{south_store}-{north_store}:{PLAYERS[self.mover(position)][0]}"

    @hookimpl
    def encode(self, text: str) -> int:
        """Return the position of a text like `3,3,3/3,3,3/0-0:S`. Raise ValueError if it has a fault."""
        match = _TEXT.fullmatch("".join(text.split()))
        if match is None:
            raise ValueError(f"write North's pits, South's pits, both stores and who moves, like {self._example()}")
        rows = [[int(count or 0) for count in row.split(",")] for row in match.group(1, 2)]
        if any(len(row) != self.pits for row in rows):
            raise ValueError(f"each player has {self.pits} pits; write a position like {self._example()}")
        counts = [*rows[1], *reversed(rows[0]), *map(int, match.group(3, 4))]
        if sum(counts) != self.total:
            raise ValueError(f"there must be {self.total} seeds, not {sum(counts)}")
        return self.pack(counts, "SN".index(match.group(5).upper()))

    def _example(self) -> str:
        return self.decode(self.start())

    # ---- moves ----

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return self.names[move]

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        """Return the mover's pit with this letter, in either case. Raise ValueError with the reason if not legal."""
        mover = self.mover(position)
        own = [self.names[pit] for pit in self.own_pits[mover]]
        name = text.strip().upper() if mover else text.strip().lower()
        if len(name) != 1 or name not in own:
            raise ValueError(f"{text!r} is not a move: write one of {PLAYERS[mover]}'s pits, {own[0]} to {own[-1]}")
        moves = self.moves(position)
        move = self.names.index(name)
        if move not in moves:
            raise ValueError(f"{name} is not legal: {'the pit is empty' if moves else 'the game is over'}")
        return move

    # ---- the board ----

    @hookimpl
    def board(self, position: int) -> Board:
        """Return the board: North's pits above, from right to left, South's below, stores to the players' right."""
        *pits, south_store, north_store = self.unpack(position)
        last = 2 * self.pits
        cells = []
        for pit, count in enumerate(pits):
            row, column, owner = (1, pit + 1, 0) if pit < self.pits else (0, last - pit, 1)
            cells.append(_pit(self.names[pit], row, column, owner, count))
        cells.append(Cell("south", 0.5, self.pits + 1, _seeds(0, south_store), height=2, shape="round"))
        cells.append(Cell("north", 0.5, 0, _seeds(1, north_store), height=2, shape="round"))
        return Board(
            rows=2,
            columns=self.pits + 2,
            cells=tuple(cells),
            to_move=self.mover(position),
            players=PLAYERS,
            clicks=tuple(
                Click(move, self.names[move], path=self._path(move, pits[move])) for move in self.moves(position)
            ),
            spelling=self._spelling,
        )

    def _path(self, pit: int, count: int) -> tuple[str, ...]:
        """Return the pits and the store that get a seed each when a pit is sown."""
        ring = self.rings[pit // self.pits]
        return tuple(self.names[ring[(pit + step) % len(ring)]] for step in range(1, count + 1))


def _join(counts: list[int]) -> str:
    return ",".join(map(str, counts))


def _pit(name: str, row: float, column: int, owner: int, count: int) -> Cell:
    return Cell(name, row, column, _seeds(owner, count), label=name, shape="round")


def _seeds(owner: int, count: int) -> tuple[Piece, ...]:
    return (Piece(owner, str(count), size=0.8, shape="seeds"),) if count else ()
