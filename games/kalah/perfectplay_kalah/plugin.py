"""Kalah as a perfectplay plugin: rules from the C kernel, which tells the encoding; texts and board from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from perfectplay import About, Board, Cell, Click, Option, Piece, hookimpl
from perfectplay_kalah._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

PLAYERS = ("South", "North")
MOST_BITS = 63
_TEXT = re.compile(r"([\d,]+)/([\d,]+)/(\d+)-(\d+):([SN])", re.IGNORECASE)

_RULES = """
{pits} a side, {seeds} in each at the start. Take all seeds out of one of your pits and sow them one by one
counter-clockwise, into your own store too, but not into your opponent's.

If the last seed falls into your store, you move again. If it falls into an empty pit of yours, {capture}.

{end} The player with more seeds in their store wins, by the difference.
"""


class Seeds(NamedTuple):
    """A position read: pits in the order of sowing, South's first; the stores of South and North; who is to move."""

    pits: list[int]
    stores: list[int]
    mover: int


class Kalah:
    """The game with one number of pits and seeds."""

    def __init__(self, pits: int, seeds: int, *, empty_capture: bool, either_row: bool) -> None:
        self.pits, self.seeds, self.empty_capture, self.either_row = pits, seeds, empty_capture, either_row
        self.total = 2 * pits * seeds
        self.turn_bit = self.total + 2 * pits + 1
        if self.turn_bit >= MOST_BITS:
            raise ValueError(
                f"{pits} pits with {seeds} seeds are too many: 2 × pits × (seeds + 1) + 2 must be at most {MOST_BITS}"
            )
        letters = "abcdefghijklmno"[:pits]
        self.names = letters + letters.upper()
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
        what = "that seed and all opposite go into your store"
        capture = (
            f"{what}, even if there are none opposite" if self.empty_capture else f"and there are some opposite, {what}"
        )
        pits = "One pit" if self.pits == 1 else f"{self.pits} pits"
        seeds = "one seed" if self.seeds == 1 else f"{self.seeds} seeds"
        end = (
            "The game is over as soon as either row is empty; what lies in the other is its player's."
            if self.either_row
            else "A player who has nothing to sow when it is his turn leaves the rest to the other."
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
        return f"{_listed(north)}/{_listed(south)}/{stores[0]}-{stores[1]}:{PLAYERS[mover][0]}"

    @hookimpl
    def encode(self, text: str) -> int:
        """The position of `3,3,3/3,3,3/0-0:S`; ValueError says what is wrong."""
        match = _TEXT.fullmatch("".join(text.split()))
        if match is None:
            raise ValueError(f"write North's pits, South's, the two stores and who is to move: {self._example()}")
        rows = [[int(count or 0) for count in row.split(",")] for row in match.group(1, 2)]
        if any(len(row) != self.pits for row in rows):
            raise ValueError(f"each player has {self.pits} pits: {self._example()}")
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
        """The pit `a`, of the mover's whether small or capital; ValueError says why it is none, or not legal here."""
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
        """North's pits above, from right to left, South's below; each store at its player's right hand."""
        pits, stores, mover = self.read(position)
        last = 2 * self.pits
        cells = [
            Cell(name, 1, pit + 1, _seeds(0, count)) if pit < self.pits else Cell(name, 0, last - pit, _seeds(1, count))
            for pit, (name, count) in enumerate(zip(self.names, pits, strict=True))
        ]
        cells.append(Cell("south", 0.5, self.pits + 1, _seeds(0, stores[0]), height=2))
        cells.append(Cell("north", 0.5, 0, _seeds(1, stores[1]), height=2))
        return Board(
            rows=2,
            columns=self.pits + 2,
            cells=tuple(cells),
            to_move=mover,
            players=PLAYERS,
            clicks=tuple(Click(move, self.names[move]) for move in self._kernel.moves(position)),
            row_labels=("", ""),
            column_labels=("", *self.names[: self.pits], ""),
        )


def _listed(counts: list[int]) -> str:
    return ",".join(map(str, counts))


def _seeds(owner: int, count: int) -> tuple[Piece, ...]:
    return (Piece(owner, str(count), size=0.8, shape="text"),) if count else ()


@hookimpl
def options() -> list[Option]:
    return [
        Option("pits", 3, "pits of each player", minimum=1, maximum=15),
        Option("seeds", 3, "seeds in each pit at the start", minimum=1, maximum=29),
        Option("empty-capture", False, "a last seed in an empty pit is captured even if there are none opposite"),
        Option("either-row", False, "the game ends when either row is empty, not only that of the player to move"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Kalah(
        options["pits"], options["seeds"], empty_capture=options["empty-capture"], either_row=options["either-row"]
    )
