"""A game's rules as bare Python functions: what `Game` gathers from a plugin, and what a Python kernel calls.

No checks, and exceptions as they come. It imports no compiled code: a game can be loaded without the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game, for an inner loop. Use `Game.hook_error` to say what happened when one of them raises."""

    start: Callable[[], int]
    valid: Callable[[int], bool]
    moves: Callable[[int], Sequence[int]]
    apply: Callable[[int, int], int]
    canonicalize: Callable[[int], int]
    status: Callable[[int], int]
    format_move: Callable[[int, int], str]
    undo: Callable[[int, int], int] | None = None
    tier: Callable[[int], int] | None = None
    parents: Callable[[int], Sequence[int]] | None = None
    mover: Callable[[int], int] | None = None
    score: Callable[[int], int] | None = None
    players: int = 2
