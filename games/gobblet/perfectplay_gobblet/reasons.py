"""Why a move is not legal, in words: for the player who typed it and for the browser that shows it.

The kernel only says which moves there are. These functions judge any attempt; where they give no reason, the
move is legal, and a test holds them to the kernel on that.
"""

from __future__ import annotations

from perfectplay_gobblet.layout import (
    CELLS,
    PLAYERS,
    SIZE_NAMES,
    SIZES,
    STACKS,
    cell_name,
    cell_names,
    lines,
    piece_bits,
    reserve,
    side,
    stack,
)

BACK_TO_ITS_CELL = "a lifted piece may not go back to its own cell"


def game_over(position: int) -> str | None:
    """Say that and why the game has ended with a line; None while it goes on."""
    opponent = 1 - side(position)
    for line in lines(position, opponent):
        return f"the game is over: {PLAYERS[opponent]} has the line {cell_names(line)}"
    return None


def why_not_place(position: int, size: int, target: int) -> str | None:
    """Why the mover may not put a piece of this size from the reserve on `target`; None if he may."""
    mover = side(position)
    if over := game_over(position):
        return over
    if not reserve(position, mover, size):
        return f"{PLAYERS[mover]} has no {SIZE_NAMES[size]} piece left in reserve"
    return why_not_land(position, size, target)


def why_not_slide(position: int, source: int, target: int) -> str | None:
    """Why the mover may not take the visible piece at `source` to `target`; None if he may."""
    return game_over(position) or why_not_lift(position, source) or why_not_carry(position, source, target)


def why_not_carry(position: int, source: int, target: int) -> str | None:
    """Why the mover's own visible piece at `source` may not go to `target`, while the game goes on; None if it may."""
    mover, size = stack(position, source)[-1]
    if source == target:
        return BACK_TO_ITS_CELL
    if reason := why_not_land(position, size, target):
        return reason
    shown = lines_under(position, source)
    moved = position ^ piece_bits(mover, source, size) ^ piece_bits(mover, target, size)
    if not shown or not lines(moved, 1 - mover):  # landing only hides pieces
        return None
    opponent = PLAYERS[1 - mover]
    if len(shown) > 1:
        both = " and ".join(map(cell_names, shown))
        return f"lifting it shows {len(shown)} lines of {opponent}'s, {both}, and no landing breaks them all"
    return f"lifting it shows {opponent}'s line {cell_names(shown[0])}, and {cell_name(target)} is not on it"


def why_not_lift(position: int, source: int) -> str | None:
    """Why the mover may not take hold of the visible piece at `source`, wherever it would go."""
    mover, where = side(position), cell_name(source)
    pieces = stack(position, source)
    if not pieces:
        return f"there is not a piece at {where}"
    owner, size = pieces[-1]
    if owner == mover:
        return None
    if any(player == mover for player, _ in pieces):
        cover = f"{PLAYERS[owner]}'s {SIZE_NAMES[size]} piece"
        return f"{PLAYERS[mover]}'s piece at {where} is covered by {cover}"
    return f"the piece at {where} is {PLAYERS[owner]}'s, and {PLAYERS[mover]} is to move"


def lines_under(position: int, source: int) -> tuple[tuple[int, ...], ...]:
    """The opposing lines that show when the mover lifts his visible piece at `source`, while the game goes on."""
    *under, (mover, size) = stack(position, source)
    if not under or under[-1][0] == mover:  # then lifting shows nothing of the opponent's
        return ()
    return lines(position ^ piece_bits(mover, source, size), 1 - mover)


def lift_warning(position: int, source: int) -> str | None:
    """What the mover must know before taking hold of his piece at `source`: the opposing lines it hides."""
    if game_over(position) or why_not_lift(position, source):
        return None
    shown = lines_under(position, source)
    if not shown:
        return None
    opponent = PLAYERS[1 - side(position)]
    if len(shown) > 1:
        return f"Lifting it would reveal {len(shown)} lines of {opponent}'s: it cannot move"
    return f"Lifting it reveals {opponent}'s line {cell_names(shown[0])}: it must land on that line"


def why_not_land(position: int, size: int, target: int) -> str | None:
    """Why a piece of this size, wherever it comes from, does not fit on `target`; None if it does."""
    _, shift, reasons = _LANDINGS[size][target]
    return reasons[position >> shift & 63]


def why_not_land_on_each(position: int, size: int) -> dict[str, str]:
    """The same for every target where it does not, by the cell's name."""
    return {
        name: reason
        for name, shift, reasons in _LANDINGS[size]
        if (reason := reasons[position >> shift & 63]) is not None
    }


def _landing(size: int, target: int, pieces: tuple[tuple[int, int], ...]) -> str | None:
    if not pieces or pieces[-1][1] < size:
        return None
    return f"a {SIZE_NAMES[size]} piece does not cover the {SIZE_NAMES[pieces[-1][1]]} piece at {cell_name(target)}"


_LANDINGS = [
    [(cell_name(cell), 6 * cell, [_landing(size, cell, pieces) for pieces in STACKS]) for cell in CELLS]
    for size in SIZES
]
"""For every size and cell, the cell's name, where its bits are and, by these, why a piece of this size does not fit."""
