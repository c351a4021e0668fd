"""A perfect opponent in PettingZoo's turn-based environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from perfectplay.agents.player import TablePlayer


class PettingZooOpponent:
    """Moves for the agent whose turn it is: ``env.step(opponent(env))``.

    An environment does not know our positions, so two functions say how they go together: `position` what is on the
    board of an environment, `action` which of its actions a move is (by default the same number).
    """

    def __init__(
        self,
        player: TablePlayer,
        position: Callable[[AECEnv[Any, Any, Any]], int],
        action: Callable[[int], int] = int,
    ) -> None:
        self._player, self._position, self._action = player, position, action

    def __call__(self, env: AECEnv[Any, Any, Any]) -> int | None:
        """The action of the agent to move; None, as PettingZoo has it, when its game is over."""
        _, _, terminated, truncated, _ = env.last(observe=False)
        return None if terminated or truncated else self._action(self._player(self._position(env)))
