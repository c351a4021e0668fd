"""A perfect opponent in PettingZoo's turn-based environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from perfectplay.agents.player import TablePlayer


class PettingZooOpponent:
    """Moves for the agent to move: ``env.step(opponent(env))``.

    Two functions connect the environment and the game: `position` returns the position on the environment's board,
    `action` converts a move to an action (by default the same number).
    """

    def __init__(
        self,
        player: TablePlayer,
        position: Callable[[AECEnv[Any, Any, Any]], int],
        action: Callable[[int], int] = int,
    ) -> None:
        self._player, self._position, self._action = player, position, action

    def __call__(self, env: AECEnv[Any, Any, Any]) -> int | None:
        """Return the action of the agent to move; None, as PettingZoo expects, if the game is over."""
        _, _, terminated, truncated, _ = env.last(observe=False)
        return None if terminated or truncated else self._action(self._player(self._position(env)))
