"""One browser's games: a match of each game, known by a random cookie.

Memory is bounded: so many sessions, the longest unused forgotten first, and none unused for a day; so many games in
each. (matches.py bounds the moves of a game.)
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from perfectplay.game.match import Match

MAX_SESSIONS = 1000
MAX_GAMES = 50
"""A session's games: variants are without number."""
MAX_IDLE_SECONDS = 24 * 3600.0


@dataclass(slots=True)
class _Session:
    used: float
    games: dict[str, Match] = field(default_factory=dict)


class Sessions:
    """All sessions, the longest unused first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, token: str | None) -> dict[str, Match] | None:
        """The games of a session by the game's identity; None where there is no such session (any more)."""
        self._forget_idle()
        session = self._sessions.get(token) if token else None
        if session is None or token is None:
            return None
        session.used = self._clock()
        self._sessions.move_to_end(token)
        return session.games

    def begin(self) -> tuple[str, dict[str, Match]]:
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
