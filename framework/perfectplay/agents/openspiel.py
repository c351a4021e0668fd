"""A perfect player for OpenSpiel: a `Bot` that uses the table of one of its games."""

from __future__ import annotations

import pyspiel

from perfectplay.agents import TablePlayer
from perfectplay.errors import UsageError


class OpenSpielBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no types
    """Plays an OpenSpiel game like a TablePlayer, from its table (`load_game("openspiel", game=…)`).

    It keeps no state, so it can be restarted anywhere. Raises UsageError for a table or state of another game.
    """

    def __init__(self, player: TablePlayer) -> None:
        super().__init__()
        if player.table.game.name != "openspiel":
            raise UsageError(f"the table is of {player.table.game.name}; a bot needs the table of an OpenSpiel game")
        self._player = player
        self._game = pyspiel.load_game(player.table.game.options["game"])

    def _position(self, state: pyspiel.State) -> int:
        if str(state.get_game()) != str(self._game):
            raise UsageError(f"the table is of {self._game}, not of {state.get_game()}")
        return self._player.table.game.encode(" ".join(map(str, state.history())))

    def step(self, state: pyspiel.State) -> int:
        return self._player(self._position(state))

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        return list(self._player.probabilities(self._position(state)).items())

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        return self.get_policy(state), self.step(state)

    def restart(self) -> None:
        """Do nothing: the bot keeps no state."""

    def restart_at(self, state: pyspiel.State) -> None:
        """Do nothing: the bot keeps no state."""

    def inform_action(self, state: pyspiel.State, player_id: int, action: int) -> None:
        """Do nothing: the bot keeps no state."""
