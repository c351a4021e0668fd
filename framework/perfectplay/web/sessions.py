"""One browser's games: a history with undo and redo for each game, known by a random cookie.

Memory is bounded: so many sessions, the longest unused forgotten first; so long unused; so many moves a game.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from perfectplay.match import REPETITIONS

MAX_SESSIONS = 1000
MAX_IDLE_SECONDS = 24 * 3600.0
MAX_MOVES = 1000


@dataclass(frozen=True, slots=True)
class Played:
    """One move of a game."""

    move: int
    before: int
    after: int


@dataclass(slots=True)
class PlayedGame:
    """A game in progress: where it began, its moves, and those taken back."""

    start: int
    moves: list[Played] = field(default_factory=list)
    undone: list[Played] = field(default_factory=list)

    @property
    def position(self) -> int:
        return self.moves[-1].after if self.moves else self.start

    @property
    def repeated(self) -> bool:
        """Whether the position stands on the board for the third time, which is a draw."""
        here = self.position
        return sum(played.after == here for played in self.moves) + (self.start == here) >= REPETITIONS

    def play(self, move: int, after: int) -> None:
        if self.undone and self.undone[-1].move == move:
            self.undone.pop()  # the same move again: what comes after it is still to be redone
        else:
            self.undone.clear()
        self.moves.append(Played(move, self.position, after))

    def undo(self) -> bool:
        if self.moves:
            self.undone.append(self.moves.pop())
            return True
        return False

    def redo(self) -> bool:
        if self.undone:
            self.moves.append(self.undone.pop())
            return True
        return False


@dataclass(slots=True)
class _Session:
    used: float
    games: dict[str, PlayedGame] = field(default_factory=dict)


class Sessions:
    """All sessions, the longest unused first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, token: str | None) -> dict[str, PlayedGame] | None:
        """The games of a session by the game's identity; None where there is no such session (any more)."""
        self._forget_idle()
        session = self._sessions.get(token) if token else None
        if session is None or token is None:
            return None
        session.used = self._clock()
        self._sessions.move_to_end(token)
        return session.games

    def begin(self) -> tuple[str, dict[str, PlayedGame]]:
        """A new session: its token and its games, none so far."""
        self._forget_idle()
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.popitem(last=False)
        token = secrets.token_urlsafe(18)
        session = self._sessions[token] = _Session(self._clock())
        return token, session.games

    def _forget_idle(self) -> None:
        oldest_allowed = self._clock() - MAX_IDLE_SECONDS
        while self._sessions and next(iter(self._sessions.values())).used < oldest_allowed:
            self._sessions.popitem(last=False)
