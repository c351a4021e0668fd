"""Text forms of positions and moves.

A position is written like the SFEN of shogi programs, or as the decimal number of its bits:

    gle/1c1/1C1/ELG b -      rows from the top, where a digit is a number of empty cells and capitals are Forest's
                             pieces L G E C H; then the side to move, b for Forest (the first player) or w for Sky;
                             then the pieces in hand, such as G2Ce

A move is B3-B2, or B3xB2 for a capture; a + at the end marks the promotion of a chick. A drop is C*B2.
"""

from __future__ import annotations

import re

from perfectplay_dobutsu.rules import (
    CELLS,
    COLUMNS,
    FROM_HAND,
    IN_HAND,
    LETTERS,
    RANKED,
    Piece,
    board_of,
    cell_name,
    check,
    in_hand,
    pack,
    side,
    source_of,
    target_of,
    why_not,
)

_KINDS = {letter: kind for kind, letter in LETTERS.items()}
_SIDES = "bw"
_MAX_QUOTED = 60
"""Longer texts are truncated in messages."""


# ---- positions ----


def letter(player: int, kind: int) -> str:
    """Return the letter of a piece: a capital for Forest, a small letter for Sky."""
    return LETTERS[kind] if player == 0 else LETTERS[kind].lower()


def encode(text: str) -> int:
    """Return the position that `text` describes. Raise ValueError with the reason if there is none."""
    stripped = text.strip()
    position = int(stripped) if re.fullmatch(r"[0-9]{1,20}", stripped) else _read_sfen(stripped)
    check(position)
    return position


def decode(position: int) -> str:
    """Return the SFEN of a position."""
    board = board_of(position)
    cells = ["1" if cell not in board else letter(*board[cell]) for cell in CELLS]
    rows = ["".join(cells[first : first + COLUMNS]) for first in range(0, len(CELLS), COLUMNS)]
    shortened = "/".join(row.replace("111", "3").replace("11", "2") for row in rows)
    hands = [
        (str(count) if count > 1 else "") + letter(player, kind)
        for player in (0, 1)
        for kind in IN_HAND
        if (count := in_hand(position, player, kind))
    ]
    return f"{shortened} {_SIDES[side(position)]} {''.join(hands) or '-'}"


def notations(position: int) -> dict[str, str]:
    """Return both notations of a position by name."""
    return {"sfen": decode(position), "decimal": str(position)}


def _read_sfen(text: str) -> int:
    parts = text.split()
    if len(parts) != 3 or "/" not in text:
        raise ValueError("write board, side to move and hands, such as gle/1c1/1C1/ELG b -, or a number")
    rows, mover, hands = parts
    if mover not in _SIDES:
        raise ValueError(f"the side to move is {_quote(mover)}; write b for Forest or w for Sky")
    return pack(_read_rows(rows.split("/")), _read_hands(hands), _SIDES.index(mover))


def _read_rows(rows: list[str]) -> dict[int, Piece]:
    if len(rows) != len(CELLS) // COLUMNS:
        raise ValueError(f"a board has 4 rows separated by /, but this has {len(rows)}")
    board = {}
    for row, text in enumerate(rows):
        column = 0
        for symbol in text:
            if symbol in "123":
                column += int(symbol)
                continue
            board[COLUMNS * row + column] = _read_piece(symbol)
            column += 1
        if column != COLUMNS:
            raise ValueError(f"row {row + 1}, {_quote(text)}, has {column} cells instead of {COLUMNS}")
    return board


def _read_piece(symbol: str) -> Piece:
    if symbol.upper() not in _KINDS:
        raise ValueError(f"{_quote(symbol)} is not a piece; write one of L G E C H l g e c h")
    return Piece(int(symbol.islower()), _KINDS[symbol.upper()])


def _read_hands(text: str) -> dict[tuple[int, int], int]:
    hands: dict[tuple[int, int], int] = {}
    text = text.removeprefix("-")  # an editor writes it before the pieces
    if not text:
        return hands
    if not re.fullmatch(r"([12]?[GECgec])+", text):
        raise ValueError(f"{_quote(text)} is not a list of pieces in hand; write it like G2Ce, or - for none")
    for count, symbol in re.findall(r"([12]?)(\w)", text):
        key = tuple(_read_piece(symbol))
        if key in hands:
            raise ValueError(f"{_quote(text)} names {symbol} twice; write 2{symbol} for two in hand")
        hands[key[0], key[1]] = int(count or 1)
    return hands


def _quote(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…")


# ---- moves ----

_CELL = r"([A-C][1-4])"
_STEP = re.compile(rf"{_CELL}[-x]?{_CELL}\+?", re.IGNORECASE)
_DROP = re.compile(rf"([GEC])\*{_CELL}", re.IGNORECASE)
_CELL_OF_NAME = {cell_name(cell): cell for cell in CELLS}


def format_move(position: int, move: int) -> str:
    """Return B3-B2, B3xB2 or B2-B1+ for a step and C*B2 for a drop."""
    source, target = source_of(move), cell_name(target_of(move))
    if source >= FROM_HAND:
        return f"{LETTERS[source - FROM_HAND + 1]}*{target}"
    captured, promotes = move >> 8 & 7, move >> 11
    return f"{cell_name(source)}{'x' if captured else '-'}{target}{'+' if promotes else ''}"


def parse_move(position: int, text: str) -> int:
    """Return the legal move of a text like B3-B2, b3b2 or C*B2. Raise ValueError with the reason if there is none."""
    stripped = text.strip()
    match = _DROP.fullmatch(stripped) or _STEP.fullmatch(stripped)
    if not match:
        raise ValueError("write B3-B2 to step or C*B2 to drop")
    origin, target = match[1].upper(), _CELL_OF_NAME[match[2].upper()]
    source = FROM_HAND + _KINDS[origin] - 1 if origin in _KINDS else _CELL_OF_NAME[origin]
    legal = {(source_of(move), target_of(move)): move for move in RANKED.moves(position)}
    if (source, target) not in legal:
        raise ValueError(why_not(position, source, target))
    return legal[source, target]
