"""A game's rules as plain Python functions, which `Game` collects from a plugin and a Python kernel calls.

The functions are called without checks, and their exceptions propagate. This module imports no compiled code, so that a
game can be loaded without the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class PositionBatch:
    """Several positions with their statuses and children, as arrays of integers of any width."""

    positions: Integers
    """Canonical positions, in any order."""
    statuses: Integers
    """The `Status` of each position."""
    children: Integers
    """The canonical children of the first position, then those of the second, and so on; none for a finished game."""
    ends: Integers
    """For each position, the index in `children` after its last child."""
    movers: Integers | None = None
    """The player to move in each position, if the game has the hook `mover`."""
    scores: Integers | None = None
    """The score of each position, 0 for an ongoing game, if the game has the hook `score`."""


@dataclass(frozen=True, slots=True)
class PythonRules:
    """The rules of one game, for an inner loop. If one of them raises, `Game.hook_error` explains the error."""

    start: Callable[[], int]
    valid: Callable[[int], bool]
    moves: Callable[[int], Sequence[int]]
    apply: Callable[[int, int], int]
    canonicalize: Callable[[int], int]
    status: Callable[[int], int]
    follow: Callable[[int, Sequence[int]], tuple[list[int], list[int]]]
    """`apply` for several moves of a position: the positions after them, and the canonical forms of these."""
    undo: Callable[[int, int], int] | None = None
    tier: Callable[[int], int] | None = None
    parents: Callable[[int], Sequence[int]] | None = None
    mover: Callable[[int], int] | None = None
    score: Callable[[int], int] | None = None
    walk: Callable[[], Iterable[PositionBatch]] | None = None
    players: int = 2
    turns_alternate: bool = False
    """Whether every move passes the turn, although there may be a `mover`."""
    image: Callable[[int], int] | None = None
    """The representative of all images of a position in a declared index; replaces `canonicalize` for children."""
