"""A game of OpenSpiel as a game of perfectplay.

In a finished game player 0 is to move, so its value is player 0's return. A game that ends only by a limit on the
number of moves, which no text shows, is solved without the limit, and endless play is a draw.
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
from perfectplay_openspiel.states import DRAWN, FIRST_MOVES, LOST, RESULT, SECOND_MOVES, WON, StateBook

_STATUS = {
    FIRST_MOVES: Status.ONGOING,
    SECOND_MOVES: Status.ONGOING,
    LOST: Status.LOST,
    DRAWN: Status.DRAWN,
    WON: Status.WON,
}
_STATUSES = np.array([_STATUS.get(result, 0) for result in range(RESULT + 1)], dtype=np.uint8)


class OpenSpielGame:
    """A game for one or two players with perfect information and without chance."""

    _scored = False

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._book = StateBook(game)
        self._last: tuple[int, dict[int, int]] = (-1, {})  # the engine calls `moves`, then `apply` for each move

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
        last, children = self._last
        return children[move] if last == position else self._children(position)[move]

    def _children(self, position: int) -> dict[int, int]:
        last, children = self._last
        if last != position:
            children = self._book.children(position)
            self._last = position, children
        return children

    @hookimpl
    def status(self, position: int) -> Status:
        return _STATUS[position & RESULT]

    @hookimpl
    def mover(self, position: int) -> int:
        return position & 1

    @hookimpl
    def walk(self) -> Iterator[PositionBatch]:
        for numbers, children, ends, returns in self._book.walk():
            scores = returns if self._scored else None
            yield PositionBatch(numbers, _STATUSES[numbers & RESULT], children, ends, movers=numbers & 1, scores=scores)

    @hookimpl
    def players(self) -> list[str]:
        return [f"Player {number}" for number in range(self._game.num_players())]

    @hookimpl
    def about(self) -> About:
        return About(
            f"{self._game.get_type().long_name} (OpenSpiel)",
            f"OpenSpiel's {self._game} with its rules. Moves are the texts or numbers of OpenSpiel's actions.",
        )

    # ---- texts ----

    @hookimpl
    def encode(self, text: str) -> int:
        words = text.split()
        if not text.strip() or all(word.isdecimal() for word in words):
            return self._play(words)
        positions = self._book.find_text(text.strip().replace("\n", "/"))
        if len(positions) == 1:
            return positions[0]
        fault = "several positions have" if positions else "no position of the game has"
        raise ValueError(f"{fault} this text; write a list of actions from the start instead, such as '4 0 8'")

    def _play(self, words: list[str]) -> int:
        position = self._book.start
        for count, word in enumerate(words, 1):
            children = self._children(position)
            if int(word) not in children:
                raise ValueError(f"action {word}, number {count} of the list, is not legal")
            position = children[int(word)]
        return position

    @hookimpl
    def decode(self, position: int) -> str:
        text = self._book.text(position)
        return text if self._book.find_text(text) == [position] else self._actions(position)

    def _actions(self, position: int) -> str:
        return " ".join(map(str, self._book.path(position)))

    @hookimpl
    def notations(self, position: int) -> dict[str, str]:
        return {"text": self.decode(position), "actions": self._actions(position)}

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
        if not legal:
            raise ValueError("the game is over")
        names = ", ".join(self.format_move(position, move) for move in legal[:10])
        raise ValueError(f"the legal moves are {names}{', …' if len(legal) > 10 else ''}")


class ScoredOpenSpielGame(OpenSpielGame):
    """A game whose returns are scores."""

    _scored = True

    @hookimpl
    def score(self, position: int) -> int:
        gain = self._book.returns(position)
        if gain is None:
            raise ValueError("the game is not over")
        return gain


def open_game(name: str) -> OpenSpielGame:
    """Return the game of this name, with scores if its returns are not 1, 0 and -1. Raise ValueError if unsupported."""
    if (short := name.partition("(")[0]) not in pyspiel.registered_names():
        raise ValueError(f"OpenSpiel has no game {short!r}")
    if re.search(r"(file|filename|root)\s*=", name):  # the name may come from a URL
        raise ValueError(f"{name} cannot be solved: it is read from a file")
    game = _load(name)
    if reason := _unsupported_reason(game):
        raise ValueError(f"{name} cannot be solved: {reason}")
    plain = {game.min_utility(), game.max_utility()} <= {-1.0, 0.0, 1.0}
    return OpenSpielGame(game) if plain else ScoredOpenSpielGame(game)


def _load(name: str) -> pyspiel.Game:
    safe = {kind.short_name for kind in pyspiel.registered_games() if kind.default_loadable}
    fault = "" if name in safe else _loading_error(name)
    if not fault:
        try:
            return pyspiel.load_game(name)
        except pyspiel.SpielError as error:  # a game in Python, which the trial process does not have
            fault = str(error)
    raise ValueError(f"OpenSpiel cannot load {name!r}: {fault}")


_TRIAL = """
import sys, pyspiel
name = sys.argv[1]
try:
    if name.partition("(")[0] in pyspiel.registered_names():  # games in Python are registered when imported
        state = pyspiel.load_game(name).new_initial_state()
        state.legal_actions(), str(state)
except Exception as error:
    print(str(error).partition("\\n")[0] or type(error).__name__)
"""


@lru_cache(maxsize=256)
def _loading_error(name: str) -> str:
    """Return why a game cannot be started, or an empty string.

    OpenSpiel crashes on some unchecked parameters and reports others on stderr, so this runs in a separate process.
    """
    done = subprocess.run([sys.executable, "-c", _TRIAL, name], capture_output=True, text=True, check=False)
    return "it crashes" if done.returncode < 0 else " ".join(done.stdout.split())


def _unsupported_reason(game: pyspiel.Game) -> str | None:
    """Return why a game cannot be solved, or None if it can."""
    kind, types = game.get_type(), pyspiel.GameType
    if game.num_players() > 2:
        return f"it has {game.num_players()} players, but only games for one or two are supported"
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        return "its players move simultaneously"
    if kind.chance_mode != types.ChanceMode.DETERMINISTIC:
        return "it has chance events"
    if kind.information != types.Information.PERFECT_INFORMATION:
        return "it has imperfect information"
    if game.num_players() == 2 and kind.utility != types.Utility.ZERO_SUM:
        return "it is not a zero-sum game"
    return None
