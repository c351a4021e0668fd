"""Mū tōrere, the Māori game on an eight-pointed star: a player who cannot move loses.

    0 1 2     the eight points (kewai) in a ring, and the centre (pūtahi), which is place 8
    7 8 3     four men each, on neighbouring points; the centre is empty
    6 5 4

A man moves to the one empty place: along the ring to the next point, from the centre to any point, or from a point to
the centre if an opposing man is next to it.
"""

from math import cos, pi, sin

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl
from perfectplay.authoring import Fields, dihedral

FIELDS = Fields(ring=(8, 3), centre=3, to_move=2)  # 0 empty, 1 the first player's man, 2 the second's
CENTRE = 8
LETTERS = ".XO"
smallest_image = dihedral(8).canonicalizer(bits=2)  # rotates and reflects the ring, and keeps the other fields
SWAPPED = (0, 2, 1)
STAR = [(2 - 2 * cos(pi * (point - 1) / 4), 2 + 2 * sin(pi * (point - 1) / 4)) for point in range(8)] + [(2.0, 2.0)]
"""Row and column of each place, with point 1 at the top."""


def unpack(position: int) -> tuple[list[int], int]:
    """Return the nine places and the number of the player to move, 1 or 2."""
    ring, centre, to_move = FIELDS.unpack(position)
    return [*ring, centre], to_move + 1


def pack(places: list[int], mover: int) -> int:
    return FIELDS.pack(ring=places[:CENTRE], centre=places[CENTRE], to_move=mover - 1)


@hookimpl
def start() -> int:
    return pack([1, 1, 1, 1, 2, 2, 2, 2, 0], 1)


@hookimpl
def valid(position: int) -> bool:
    return FIELDS.fits(position) and sorted(unpack(position)[0]) == [0, 1, 1, 1, 1, 2, 2, 2, 2]


@hookimpl
def moves(position: int) -> list[int]:
    places, mover = unpack(position)
    empty = places.index(0)
    opponent = 3 - mover
    if empty == CENTRE:
        neighbours = [(point, places[(point - 1) % 8], places[(point + 1) % 8]) for point in range(8)]
        men = [point for point, left, right in neighbours if opponent in (left, right)]
    else:
        men = [(empty - 1) % 8, (empty + 1) % 8, CENTRE]
    return [man | empty << 4 for man in men if places[man] == mover]  # source and target, because `undo` needs both


@hookimpl
def apply(position: int, move: int) -> int:
    places, mover = unpack(position)
    places[move & 15], places[move >> 4] = 0, mover
    return pack(places, 3 - mover)


@hookimpl
def undo(position: int, move: int) -> int:
    places, mover = unpack(position)
    places[move & 15], places[move >> 4] = 3 - mover, 0
    return pack(places, 3 - mover)


@hookimpl
def canonicalize(position: int) -> int:
    places, mover = unpack(position)
    if mover == 2:  # exchanging the colours is a symmetry if the turn is exchanged too
        position = pack([SWAPPED[man] for man in places], 1)
    return smallest_image(position)


@hookimpl
def status(position: int) -> Status:
    return Status.ONGOING if moves(position) else Status.LOST


@hookimpl
def encode(text: str) -> int:
    ring, _, rest = text.strip().partition("/")
    if len(ring) != 8 or len(rest) != 3 or rest[1] != " " or rest[2] not in "XO" or set(ring + rest[0]) - set(LETTERS):
        raise ValueError("write eight points, a slash, the centre, a space and the player to move, like XXXXOOOO/. X")
    return pack([LETTERS.index(man) for man in ring + rest[0]], LETTERS.index(rest[2]))


@hookimpl
def decode(position: int) -> str:
    places, mover = unpack(position)
    letters = "".join(LETTERS[man] for man in places)
    return f"{letters[:CENTRE]}/{letters[CENTRE]} {LETTERS[mover]}"


@hookimpl
def format_move(position: int, move: int) -> str:
    return f"{move & 15}-{move >> 4}"


@hookimpl
def board(position: int) -> Board:
    places, mover = unpack(position)
    men = [(), (Piece(0, "X"),), (Piece(1, "O"),)]
    cells = tuple(Cell(str(i), *STAR[i], men[man], label=str(i)) for i, man in enumerate(places))
    clicks = tuple(Click(move, str(move >> 4), str(move & 15)) for move in moves(position))
    edges = [(str(point), str((point + 1) % 8)) for point in range(8)] + [(str(point), "8") for point in range(8)]
    return Board(5, 5, cells, mover - 1, clicks=clicks, edges=tuple(edges))


@hookimpl
def parents(position: int) -> list[int]:
    places, mover = unpack(position)
    last_moves = [places.index(0) | man << 4 for man, owner in enumerate(places) if owner == 3 - mover]
    before = [(undo(position, move), move) for move in last_moves]
    return list({canonicalize(earlier) for earlier, move in before if move in moves(earlier)})
