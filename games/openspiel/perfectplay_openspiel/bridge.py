"""One of OpenSpiel's games as a game of perfectplay's.

A finished game is player 0's turn: so its value is what player 0 gets. A game that only a
limit on the number of moves ends, which no text shows, is solved as if there were none: endless play is a draw.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pyspiel

from perfectplay import About, PositionBatch, Status, hookimpl
from perfectplay_openspiel.states import DRAWN, FIRST_MOVES, LOST, SECOND_MOVES, STANDING, WON, StateBook

_STATUS = {
    FIRST_MOVES: Status.ONGOING,
    SECOND_MOVES: Status.ONGOING,
    LOST: Status.LOST,
    DRAWN: Status.DRAWN,
    WON: Status.WON,
}
_STATUSES = np.array([_STATUS.get(standing, 0) for standing in range(STANDING + 1)], dtype=np.uint8)


class OpenSpielGame:
    """A game with one or two players who see everything, without chance."""

    _scored = False

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._book = StateBook(game)
        self._asked: tuple[int, dict[int, int]] = (-1, {})  # the engine asks for moves, then for what each leads to

    # ---- the rules ----

    @hookimpl
    def start(self) -> int:
        return self._book.start

    @hookimpl
    def valid(self, position: int) -> bool:
        return position in self._book

    @hookimpl
    def moves(self, position: int) -> list[int]:
        return list(self._children(position))

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        asked, children = self._asked
        return children[move] if asked == position else self._children(position)[move]

    def _children(self, position: int) -> dict[int, int]:
        asked, children = self._asked
        if asked != position:
            children = self._book.children(position)
            self._asked = position, children
        return children

    @hookimpl
    def status(self, position: int) -> Status:
        return _STATUS[position & STANDING]

    @hookimpl
    def mover(self, position: int) -> int:
        return position & 1

    @hookimpl
    def walk(self) -> Iterator[PositionBatch]:
        for numbers, children, ends, returns in self._book.walk():
            scores = returns if self._scored else None
            yield PositionBatch(
                numbers, _STATUSES[numbers & STANDING], children, ends, movers=numbers & 1, scores=scores
            )

    @hookimpl
    def players(self) -> list[str]:
        return [f"Player {number}" for number in range(self._game.num_players())]

    @hookimpl
    def about(self) -> About:
        return About(
            f"{self._game.get_type().long_name} (OpenSpiel)",
            f"OpenSpiel's {self._game}, with its rules. Moves are what OpenSpiel calls actions, or their numbers.",
        )

    # ---- what people read and write ----

    @hookimpl
    def encode(self, text: str) -> int:
        words = text.split()
        if not text.strip() or all(word.isdecimal() for word in words):
            return self._play(words)
        found = self._book.find_text(text.strip().replace("\n", "/"))
        if len(found) == 1:
            return found[0]
        what = "several positions are" if found else "no position of the game is"
        raise ValueError(f"{what} shown so; a list of actions from the start will do too, such as '4 0 8'")

    def _play(self, words: list[str]) -> int:
        position = self._book.start
        for count, word in enumerate(words, 1):
            children = self._children(position)
            if int(word) not in children:
                raise ValueError(f"action {word}, number {count} of the list, is not legal there")
            position = children[int(word)]
        return position

    @hookimpl
    def decode(self, position: int) -> str:
        text = self._book.text(position)
        return text if self._book.find_text(text) == [position] else self._way(position)

    def _way(self, position: int) -> str:
        return " ".join(map(str, self._book.way(position)))

    @hookimpl
    def notations(self, position: int) -> dict[str, str]:
        return {"text": self.decode(position), "actions": self._way(position)}

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        state = self._book.state(position)
        text: str = state.action_to_string(state.current_player(), move)
        return text.strip()

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        legal = self.moves(position)
        for move in legal:
            if self.format_move(position, move) == text.strip():
                return move
        if text.strip().isdecimal() and int(text) in legal:
            return int(text)
        names = ", ".join(self.format_move(position, move) for move in legal[:10])
        raise ValueError(f"legal are {names}{', …' if len(legal) > 10 else ''}" if legal else "the game is over")


class ScoredOpenSpielGame(OpenSpielGame):
    """A game that is won by more or less."""

    _scored = True

    @hookimpl
    def score(self, position: int) -> int:
        gain = self._book.returns(position)
        if gain is None:
            raise ValueError("the game is not over")
        return gain


def open_game(name: str) -> OpenSpielGame:
    """The game of this name, with scores where it has returns other than 1, 0 and -1; ValueError if it does not fit."""
    if (short := name.partition("(")[0]) not in pyspiel.registered_names():
        raise ValueError(f"OpenSpiel has no game {short!r}")
    if re.search(r"(file|filename|root)\s*=", name):  # a name may come from a browser's address
        raise ValueError(f"{name} cannot be solved: it is read from a file")
    game = _load(name)
    if problem := _misfit(game):
        raise ValueError(f"{name} cannot be solved: {problem}")
    plain = {game.min_utility(), game.max_utility()} <= {-1.0, 0.0, 1.0}
    return OpenSpielGame(game) if plain else ScoredOpenSpielGame(game)


def _load(name: str) -> pyspiel.Game:
    safe = {kind.short_name for kind in pyspiel.registered_games() if kind.default_loadable}
    trouble = "" if name in safe else _trouble(name)
    if not trouble:
        try:
            return pyspiel.load_game(name)
        except pyspiel.SpielError as error:  # one in Python, which the trial knows nothing of
            trouble = str(error)
    raise ValueError(f"OpenSpiel cannot load {name!r}: {trouble}")


_TRIAL = """
import sys, pyspiel
name = sys.argv[1]
try:
    if name.partition("(")[0] in pyspiel.registered_names():  # one in Python is known where it was imported
        state = pyspiel.load_game(name).new_initial_state()
        state.legal_actions(), str(state)
except Exception as error:
    print(str(error).partition("\\n")[0] or type(error).__name__)
"""


@lru_cache(maxsize=256)
def _trouble(name: str) -> str:
    """Why a game does not begin; empty where it does.

    OpenSpiel crashes on some parameters that it does not check, and tells of others on stderr too: so a process of its
    own finds out.
    """
    done = subprocess.run([sys.executable, "-c", _TRIAL, name], capture_output=True, text=True, check=False)
    return "it crashes" if done.returncode < 0 else " ".join(done.stdout.split())


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
