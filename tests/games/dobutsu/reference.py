"""The rules of Dōbutsu shōgi in plain Python, written for clarity.

The C kernels and the plugin are tested against this file, so it shares no code with them and takes no shortcuts. A
board is a dict from (row, column) to a piece, and captures are found by trying every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Coordinates = tuple[int, int]
CELLS: list[Coordinates] = [(row, column) for row in range(4) for column in range(3)]

FORWARD, BACK, LEFT, RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
FORWARD_LEFT, FORWARD_RIGHT, BACK_LEFT, BACK_RIGHT = (-1, -1), (-1, 1), (1, -1), (1, 1)
STEPS = {
    "lion": [FORWARD, BACK, LEFT, RIGHT, FORWARD_LEFT, FORWARD_RIGHT, BACK_LEFT, BACK_RIGHT],
    "giraffe": [FORWARD, BACK, LEFT, RIGHT],
    "elephant": [FORWARD_LEFT, FORWARD_RIGHT, BACK_LEFT, BACK_RIGHT],
    "chick": [FORWARD],
    "hen": [FORWARD, BACK, LEFT, RIGHT, FORWARD_LEFT, FORWARD_RIGHT],
}
"""For player 0, who plays from row 3 to row 0."""

DROPPED = ["giraffe", "elephant", "chick"]
CODES = {"giraffe": 1, "elephant": 2, "chick": 3, "lion": 4, "hen": 7}
FAR_ROW = (0, 3)


class Piece(NamedTuple):
    player: int
    kind: str


class Move(NamedTuple):
    kind: str
    """The kind of the moving piece before the move."""
    source: Coordinates | None
    """None for a piece from the hand."""
    target: Coordinates


@dataclass(frozen=True)
class Position:
    board: dict[Coordinates, Piece]
    hands: tuple[dict[str, int], dict[str, int]]
    mover: int

    @property
    def opponent(self) -> int:
        return 1 - self.mover

    def lion(self, player: int) -> Coordinates | None:
        return next((cell for cell, piece in self.board.items() if piece == (player, "lion")), None)


def start() -> Position:
    board = {(0, 0): Piece(1, "giraffe"), (0, 1): Piece(1, "lion"), (0, 2): Piece(1, "elephant")}
    board |= {(1, 1): Piece(1, "chick"), (2, 1): Piece(0, "chick")}
    board |= {(3, 0): Piece(0, "elephant"), (3, 1): Piece(0, "lion"), (3, 2): Piece(0, "giraffe")}
    return Position(board, (dict.fromkeys(DROPPED, 0), dict.fromkeys(DROPPED, 0)), mover=0)


# ---- moves ----


def steps(position: Position) -> list[Move]:
    """Return every step of the mover's pieces onto a cell without a piece of the mover."""
    result = []
    for (row, column), (player, kind) in position.board.items():
        if player != position.mover:
            continue
        for down, right in STEPS[kind]:
            if player == 1:  # plays from the other end
                down, right = -down, -right
            target = (row + down, column + right)
            occupant = position.board.get(target)
            if target in CELLS and (occupant is None or occupant.player != player):
                result.append(Move(kind, (row, column), target))
    return result


def drops(position: Position) -> list[Move]:
    hand = position.hands[position.mover]
    empty = [cell for cell in CELLS if cell not in position.board]
    return [Move(kind, None, cell) for kind in DROPPED if hand[kind] for cell in empty]


def lion_captures(position: Position) -> list[Move]:
    return [move for move in steps(position) if move.target == position.lion(position.opponent)]


def is_over(position: Position) -> bool:
    """Return whether the mover's lion was captured, or the opponent's is safe on the far rank."""
    if position.lion(position.mover) is None:
        return True
    lion = position.lion(position.opponent)
    assert lion is not None
    return lion[0] == FAR_ROW[position.opponent] and not lion_captures(position)


def moves(position: Position) -> list[Move]:
    if is_over(position):
        return []
    return lion_captures(position) or steps(position) + drops(position)


def status(position: Position) -> str:
    return "ONGOING" if moves(position) else "LOST"


def apply(position: Position, move: Move) -> Position:
    board = dict(position.board)
    hands = (dict(position.hands[0]), dict(position.hands[1]))
    kind = move.kind
    if move.source is None:
        hands[position.mover][kind] -= 1
    else:
        del board[move.source]
        if kind == "chick" and move.target[0] == FAR_ROW[position.mover]:
            kind = "hen"
    captured = board.get(move.target)
    if captured and captured.kind != "lion":
        hands[position.mover]["chick" if captured.kind == "hen" else captured.kind] += 1
    board[move.target] = Piece(position.mover, kind)
    return Position(board, hands, position.opponent)


# ---- symmetry ----


def mirror(position: Position) -> Position:
    return Position(
        {(row, 2 - column): p for (row, column), p in position.board.items()}, position.hands, position.mover
    )


def turn(position: Position) -> Position:
    """Return the position with the players exchanged."""
    board = {(3 - row, 2 - column): Piece(1 - p.player, p.kind) for (row, column), p in position.board.items()}
    return Position(board, (position.hands[1], position.hands[0]), position.opponent)


# ---- the 64-bit encoding ----


def encode(position: Position) -> int:
    """Four planes of 12 bits (owner and three bits of the kind), two hands of three 2-bit counts, and the mover."""
    code = position.mover * 2**60
    for number, cell in enumerate(CELLS):
        if piece := position.board.get(cell):
            bits = f"{CODES[piece.kind]:03b}"
            planes = [piece.player, int(bits[2]), int(bits[1]), int(bits[0])]
            code += sum(bit * 2 ** (12 * plane + number) for plane, bit in enumerate(planes))
    for player, hand in enumerate(position.hands):
        code += sum(hand[kind] * 2 ** (48 + 6 * player + 2 * place) for place, kind in enumerate(DROPPED))
    return code


def decode(code: int) -> Position | None:
    """Return the position that `code` encodes, or None if it encodes none."""
    kinds = {number: kind for kind, number in CODES.items()}
    board = {}
    for number, cell in enumerate(CELLS):
        owner, *bits = (code // 2 ** (12 * plane + number) % 2 for plane in range(4))
        kind = bits[0] + 2 * bits[1] + 4 * bits[2]
        if kind in kinds:
            board[cell] = Piece(owner, kinds[kind])
        elif kind or owner:
            return None
    hands = tuple(
        {kind: code // 2 ** (48 + 6 * player + 2 * place) % 4 for place, kind in enumerate(DROPPED)}
        for player in (0, 1)
    )
    return Position(board, (hands[0], hands[1]), code // 2**60) if code < 2**61 else None


def is_valid(position: Position) -> bool:
    """Check for two of each kind and a lion each; the mover's may be captured, but is not on the far rank."""
    kinds = [piece.kind for piece in position.board.values()]
    for kind in DROPPED:
        total = kinds.count(kind) + position.hands[0][kind] + position.hands[1][kind]
        if total + (kinds.count("hen") if kind == "chick" else 0) != 2:
            return False
    lions = [sum(piece == (player, "lion") for piece in position.board.values()) for player in (0, 1)]
    if lions[position.mover] > 1 or lions[position.opponent] != 1:
        return False
    lion = position.lion(position.mover)
    return lion is None or lion[0] != FAR_ROW[position.mover]


# ---- counting ----


def perft(position: Position, plies: int) -> int:
    """Return the number of sequences of `plies` moves. A finished game has none."""
    if plies == 0:
        return 1
    return sum(perft(apply(position, move), plies - 1) for move in moves(position))
