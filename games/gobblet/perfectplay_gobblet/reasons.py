"""Why a move is not legal, in words: for the player who typed it and for the browser that shows it.

The kernel only says which moves there are. These functions judge any attempt; where they give no reason, the
move is legal, and a test holds them to the kernel on that.
"""

from __future__ import annotations

from perfectplay_gobblet.layout import (
    PLAYERS,
    SIZE_NAMES,
    cell_name,
    cell_names,
    lines,
    piece_bits,
    reserve,
    side,
    stack,
    top,
)


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
    return _why_not_land(position, size, target)


def why_not_slide(position: int, source: int, target: int) -> str | None:
    """Why the mover may not take the visible piece at `source` to `target`; None if he may."""
    if reason := game_over(position) or why_not_lift(position, source):
        return reason
    pieces = stack(position, source)
    mover, size = pieces[-1]
    if source == target:
        return "a lifted piece may not go back to its own cell"
    if reason := _why_not_land(position, size, target):
        return reason
    lifted = position ^ piece_bits(mover, source, size)
    shown = lines(lifted, 1 - mover)
    if not shown or not lines(lifted ^ piece_bits(mover, target, size), 1 - mover):  # landing only hides pieces
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


def lift_warning(position: int, source: int) -> str | None:
    """What the mover must know before taking hold of his piece at `source`: the opposing lines it hides."""
    if game_over(position) or why_not_lift(position, source):
        return None
    mover, size = stack(position, source)[-1]
    shown = lines(position ^ piece_bits(mover, source, size), 1 - mover)
    if not shown:
        return None
    opponent = PLAYERS[1 - mover]
    if len(shown) > 1:
        return f"Lifting it would reveal {len(shown)} lines of {opponent}'s: it cannot move"
    return f"Lifting it reveals {opponent}'s line {cell_names(shown[0])}: it must land on that line"


def _why_not_land(position: int, size: int, target: int) -> str | None:
    covered = top(position, target)
    if covered is None or covered[1] < size:
        return None
    obstacle = f"the {SIZE_NAMES[covered[1]]} piece at {cell_name(target)}"
    return f"a {SIZE_NAMES[size]} piece does not cover {obstacle}"
