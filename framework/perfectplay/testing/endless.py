"""Does play end, or come back to where it was? A position with a count of moves in it does neither.

Players who take any move soon end most games, and hide such a count. So here they avoid the end, and it is enough that
some move leads back to a position that was there before: a game that can repeat shows that within a few moves.
"""

from __future__ import annotations

import random
import time

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.values import Status

MOST_PLIES = 1 << 14
"""So many moves without an end or a repetition are too many for certain: a solve would give up there."""

ENOUGH_PLIES = 1 << 10
"""And so many if they took longer than `SECONDS`."""

SECONDS = 4.0
PLAYOUTS = 4


def endless(subject: GameUnderTest) -> str | None:
    """What is wrong, if play was found to go on for ever."""
    for seed in range(PLAYOUTS):
        try:
            found = _long_playout(subject.game, random.Random(seed))
        except PerfectPlayError:
            return None  # another law's business
        if found is not None:
            plies, position = found
            return (
                f"after {plies:,} moves play had neither ended nor come back to a position it had been in (it stood at "
                f"{subject.name(position)}): does something in a position only ever grow, like a count of moves? "
                f"Leave out whatever the rest of the game does not depend on"
            )
    return None


def _long_playout(game: Game, dice: random.Random) -> tuple[int, int] | None:
    """The length and the last position of a playout that was too long; None if it ended, or could repeat."""
    deadline = time.monotonic() + SECONDS
    position = game.start()
    seen = {game.canonicalize(position)}
    for plies in range(MOST_PLIES):
        if plies >= ENOUGH_PLIES and time.monotonic() > deadline:
            return plies, position
        children = [game.apply(position, move) for move in game.moves(position)]
        if any(game.canonicalize(child) in seen for child in children):
            return None
        going_on = [child for child in children if game.status(child) is Status.ONGOING]
        if not going_on:
            return None
        position = dice.choice(going_on)
        seen.add(game.canonicalize(position))
    return MOST_PLIES, position
