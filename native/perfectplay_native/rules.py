"""A game's rules as bare Python functions: what `Game` gathers from a plugin, and what a Python kernel calls.

No checks, and exceptions as they come. It imports no compiled code: a game can be loaded without the engine.
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
class Studied:
    """What a game says of some positions; arrays of integers, of any width."""

    positions: Integers
    """Canonical ones, in any order."""
    statuses: Integers
    """Of each position its `Status`."""
    children: Integers
    """What the moves lead to, canonical: one position's after the other's, in any order, none for a finished game."""
    ends: Integers
    """Where the children of each position end."""
    movers: Integers | None = None
    """Who is to move in each, if the game has the hook `mover`."""
    scores: Integers | None = None
    """The score of each, 0 while the game goes on, if it has the hook `score`."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game, for an inner loop. Use `Game.hook_error` to say what happened when one of them raises."""

    start: Callable[[], int]
    valid: Callable[[int], bool]
    moves: Callable[[int], Sequence[int]]
    apply: Callable[[int, int], int]
    canonicalize: Callable[[int], int]
    status: Callable[[int], int]
    follow: Callable[[int, Sequence[int]], tuple[list[int], list[int]]]
    """Where moves of a position lead, and the canonical forms of that: `apply` and `canonicalize` for all of them."""
    undo: Callable[[int, int], int] | None = None
    tier: Callable[[int], int] | None = None
    parents: Callable[[int], Sequence[int]] | None = None
    mover: Callable[[int], int] | None = None
    score: Callable[[int], int] | None = None
    walk: Callable[[], Iterable[Studied]] | None = None
    players: int = 2
