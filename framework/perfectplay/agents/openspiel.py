"""A perfect player for OpenSpiel's own tools: a `Bot` over the table of one of its games."""

from __future__ import annotations

import pyspiel

from perfectplay.agents.player import TablePlayer
from perfectplay.errors import UsageError


class OpenSpielBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no types
    """Plays a game of OpenSpiel's from its table (`load_game("openspiel", game=…)`) as a TablePlayer does.

    It looks at nothing but the state it is asked about, so it may be restarted anywhere. UsageError for another game's.
    """

    def __init__(self, player: TablePlayer) -> None:
        super().__init__()
        if player.table.game.name != "openspiel":
            raise UsageError(f"the table is of {player.table.game.name}: a bot needs one of OpenSpiel's games")
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
        """Nothing is remembered."""

    def restart_at(self, state: pyspiel.State) -> None:
        """Nothing is remembered."""

    def inform_action(self, state: pyspiel.State, player_id: int, action: int) -> None:
        """Nothing is remembered."""
