"""One of OpenSpiel's games as a game of perfectplay's."""

from __future__ import annotations

import pyspiel

from perfectplay import Status, hookimpl
from perfectplay_openspiel.states import StateBook, shown


class OpenSpielGame:
    """A game with one or two players who see everything, without chance."""

    def __init__(self, game: pyspiel.Game) -> None:
        self._book = StateBook(game)
        self._players = game.num_players()

    # ---- the rules ----

    @hookimpl
    def start(self) -> int:
        return self._book.start

    @hookimpl
    def valid(self, position: int) -> bool:
        return position in self._book

    @hookimpl
    def moves(self, position: int) -> list[int]:
        state = self._book.state(position)
        actions: list[int] = [] if state.is_terminal() else state.legal_actions()
        return actions

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        return self._book.child(position, move)

    @hookimpl
    def status(self, position: int) -> Status:
        state = self._book.state(position)
        if not state.is_terminal():
            return Status.ONGOING
        gain = state.returns()[0]  # a finished game is its first player's turn: somebody's it must be
        return Status.WON if gain > 0 else Status.LOST if gain < 0 else Status.DRAWN

    @hookimpl
    def mover(self, position: int) -> int:
        player: int = self._book.state(position).current_player()
        return max(0, player)  # OpenSpiel has negative numbers for the end

    @hookimpl
    def players(self) -> list[str]:
        return [f"Player {number}" for number in range(self._players)]

    # ---- what people read and write ----

    @hookimpl
    def encode(self, text: str) -> int:
        words = text.split()
        if not text.strip() or all(word.isdecimal() for word in words):
            return self._play(words)
        found = self._book.find_text(text.strip().replace("\\n", "/").replace("\n", "/"))
        if found is None:
            raise ValueError("no position of the game is shown so; a list of actions, such as '4 0 8', will do too")
        return found

    def _play(self, words: list[str]) -> int:
        position = self._book.start
        for count, word in enumerate(words, 1):
            if int(word) not in self.moves(position):
                raise ValueError(f"action {word}, number {count} of the list, is not legal there")
            position = self._book.child(position, int(word))
        return position

    @hookimpl
    def decode(self, position: int) -> str:
        return shown(self._book.state(position))

    @hookimpl
    def notations(self, position: int) -> dict[str, str]:
        return {"text": self.decode(position), "actions": " ".join(map(str, self._book.actions(position)))}

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        state = self._book.state(position)
        text: str = state.action_to_string(state.current_player(), move)
        return text


class ScoredOpenSpielGame(OpenSpielGame):
    """A game that is won by more or less."""

    @hookimpl
    def score(self, position: int) -> int:
        gain = self._book.state(position).returns()[0]
        if gain != int(gain):
            raise ValueError(f"a return of {gain}: perfectplay's scores are whole numbers")
        return int(gain)


def open_game(name: str) -> OpenSpielGame:
    """The game of this name, with scores where it has returns other than 1, 0 and -1; ValueError if it does not fit."""
    try:
        game = pyspiel.load_game(name)
    except pyspiel.SpielError as error:
        raise ValueError(f"OpenSpiel cannot load {name!r}: {error}") from None
    if problem := _misfit(game):
        raise ValueError(f"{name} cannot be solved: {problem}")
    plain = {game.min_utility(), game.max_utility()} <= {-1.0, 0.0, 1.0}
    return OpenSpielGame(game) if plain else ScoredOpenSpielGame(game)


def _misfit(game: pyspiel.Game) -> str | None:
    """Why a game is not of the kind that can be solved; None if it is."""
    kind, types = game.get_type(), pyspiel.GameType
    if game.num_players() > 2:
        return f"it has {game.num_players()} players, and one or two can be solved"
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        return "its players move at the same time"
    if kind.chance_mode != types.ChanceMode.DETERMINISTIC:
        return "chance has a part in it"
    if kind.information != types.Information.PERFECT_INFORMATION:
        return "its players do not see everything"
    if game.num_players() == 2 and kind.utility != types.Utility.ZERO_SUM:
        return "what one player wins, the other need not lose"
    return None
