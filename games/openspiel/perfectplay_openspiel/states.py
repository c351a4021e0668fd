"""OpenSpiel states by number.

perfectplay's positions are integers; OpenSpiel's states are objects that only playing makes. A state's number is a hash
of what OpenSpiel shows of it: its text, whose turn it is, the legal actions and, at the end, the returns. So a number
is the same in every process, and says nothing about the way play came there.

To go from a number back to a state, the book keeps for every number it has met one way to get there: the number before
and the action. A number it has never met, as when a table is opened in another process, is looked for by playing
through the whole game once, breadth first.

Two states of one number are taken for the same. A second hash notices when two different texts share a number. Whether
states that look the same also go on in the same way, which they do not if a game keeps something to itself, is tried
on a sample: the children of one in sixteen that arrive at a known number by another way.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from hashlib import blake2b

import pyspiel

MAX_STATES = 1 << 16
"""States kept ready; others are played again from the start when they are asked for."""

_SAMPLE = 16


class StateBook:
    """Every state met so far, by number. Threads may share one."""

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._lock = threading.RLock()
        self._ready: OrderedDict[int, pyspiel.State] = OrderedDict()
        self._ways: dict[int, tuple[int, int, int]] = {}  # number → check, number before, action
        self._by_text: dict[int, int] = {}
        self._unexplored: Iterator[bool] = self._explore()
        self.start = self._enter(game.new_initial_state(), None, 0)

    def __contains__(self, number: int) -> bool:
        """Whether play can lead to this number."""
        with self._lock:
            while number not in self._ways:
                if next(self._unexplored, True):
                    return number in self._ways
            return True

    def state(self, number: int) -> pyspiel.State:
        """A state of this number, not to be changed; ValueError where play never leads to one."""
        with self._lock:
            found = self._ready.get(number)
            if found is None:
                if number not in self:
                    raise ValueError("play from the start never leads there")
                found = self._game.new_initial_state()
                for action in self.actions(number):
                    found.apply_action(action)
                self._keep(number, found)
            else:
                self._ready.move_to_end(number)
            return found

    def child(self, number: int, action: int) -> int:
        """The number of the state that an action leads to."""
        state = self.state(number).child(action)
        with self._lock:
            return self._enter(state, number, action)

    def actions(self, number: int) -> list[int]:
        """The actions of one way from the start to a known number."""
        found: list[int] = []
        while number != self.start:
            _, number, action = self._ways[number]
            found.append(action)
        return found[::-1]

    def find_text(self, text: str) -> int | None:
        """The number of a state that is shown so, or None if play leads to none."""
        with self._lock:
            wanted = _digest(text)
            while wanted not in self._by_text:
                if next(self._unexplored, True):
                    return self._by_text.get(wanted)
            return self._by_text[wanted]

    def _enter(self, state: pyspiel.State, before: int | None, action: int) -> int:
        text = shown(state)
        legal = state.returns() if state.is_terminal() else state.legal_actions()
        digest = blake2b(f"{state.current_player()}\n{legal}\n{text}".encode(), digest_size=16).digest()
        number, check = int.from_bytes(digest[:8]) >> 1, int.from_bytes(digest[8:])
        known = self._ways.get(number)
        if known is None:
            self._ways[number] = (check, number if before is None else before, action)
            self._by_text.setdefault(_digest(text), number)
        elif known[0] != check:
            raise ValueError(f"two states share the number {number}: this game cannot be numbered in 64 bits")
        elif known[1:] != (before, action) and (number ^ (before or 0)) % _SAMPLE == 0:
            self._compare(number, state)
        self._keep(number, state)
        return number

    def _compare(self, number: int, state: pyspiel.State) -> None:
        """Refuse a game in which states that look the same go on differently."""
        if state.is_terminal():
            return
        twin = self.state(number)
        for action in state.legal_actions():
            if _look(state.child(action)) != _look(twin.child(action)):
                raise ValueError(
                    f"how {shown(state)!r} goes on depends on the way it was reached: what OpenSpiel shows of this game's "
                    "states is not all there is to them, so it cannot be solved"
                )

    def _keep(self, number: int, state: pyspiel.State) -> None:
        self._ready[number] = state
        self._ready.move_to_end(number)
        if len(self._ready) > MAX_STATES:
            self._ready.popitem(last=False)

    def _explore(self) -> Iterator[bool]:
        """Plays through the whole game, some states at a time; False while there is more."""
        waiting, seen = deque([self.start]), {self.start}
        while waiting:
            number = waiting.popleft()
            state = self.state(number)
            for action in () if state.is_terminal() else state.legal_actions():
                child = self.child(number, action)
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
            yield False


def shown(state: pyspiel.State) -> str:
    """A state as OpenSpiel shows it, on one line."""
    return "/".join(line.rstrip() for line in str(state).strip("\n").split("\n"))


def _look(state: pyspiel.State) -> object:
    over = state.is_terminal()
    return shown(state), state.current_player(), state.returns() if over else state.legal_actions()


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
