"""OpenSpiel states by number.

perfectplay's positions are integers; OpenSpiel's states are objects that only playing makes. A state's number is a hash
of its text and of whose turn it is, so it is the same in every process, and says nothing about how play came there.

To go from a number back to a state, the book keeps one way to it: the state before and the action. A number it has
not met, as when a table is opened in another process, is looked for by playing through the game, breadth first.
Each state is expanded once: what follows it is kept as numbers, and the state itself only for a while.

Two states of one number are taken for the same. A second hash notices two texts that share a number. Whether states
that look the same also go on in the same way, which they do not if a game keeps something to itself, is tried on a
sample of those that are reached in several ways.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict

import pyspiel
from xxhash import xxh3_128_intdigest

from perfectplay import UsageError

MAX_STATES = 1 << 12
"""States kept ready; others are played again from the start when they are asked for."""

COMPARED = 1000
"""So many second ways to a state are tried at first, and then one in `SAMPLE`."""

SAMPLE = 64

_NOT_EXPANDED = -1
_TERMINAL = int(pyspiel.PlayerId.TERMINAL)
_SEED = 16  # players at the end have negative numbers
_NUMBER = (1 << 63) - 1


class StateBook:
    """Every state met so far, by number. Threads may share one."""

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._pays_as_it_goes = game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS
        self._lock = threading.RLock()
        self._ready: OrderedDict[int, pyspiel.State] = OrderedDict()
        self._arrivals = 0
        self._explored = 0  # all states below are expanded
        self._returns: dict[int, float] = {}  # of finished games
        # One entry a state, in the order in which they were met.
        self._index: dict[int, int] = {}
        self._numbers = array("Q")
        self._checks = array("Q")
        self._players = array("b")
        self._before = array("q")
        self._action = array("q")
        self._edges = array("q")  # where its actions begin
        self._degree = array("i")
        # One entry an action of an expanded state.
        self._actions = array("q")
        self._children = array("q")
        self.start = self._numbers[self._enter(game.new_initial_state(), 0, 0)]

    def __contains__(self, number: int) -> bool:
        """Whether play can lead to this number."""
        if number in self._index:
            return True
        with self._lock:
            while number not in self._index:
                if not self._explore():
                    return False
            return True

    def __len__(self) -> int:
        """How many states were met so far."""
        return len(self._numbers)

    def player(self, number: int) -> int:
        """Whose turn it is; negative at the end."""
        index = self._index.get(number)  # the engine asks this more often than anything else
        return self._players[self._find(number) if index is None else index]

    def returns(self, number: int) -> float | None:
        """What a finished game gives its first player; None while it goes on."""
        return self._returns.get(self._find(number))

    def children(self, number: int) -> dict[int, int]:
        """The number of the state that each legal action leads to; none at the end."""
        index = self._find(number)
        if self._edges[index] == _NOT_EXPANDED:
            with self._lock:
                if self._edges[index] == _NOT_EXPANDED:
                    self._expand(index)
        first = self._edges[index]
        after = first + self._degree[index]
        numbers = map(self._numbers.__getitem__, self._children[first:after])
        return dict(zip(self._actions[first:after], numbers, strict=True))

    def state(self, number: int) -> pyspiel.State:
        """A state of this number, not to be changed; UsageError where play never leads to one."""
        with self._lock:
            return self._state(self._find(number))

    def way(self, number: int) -> list[int]:
        """The actions of one way from the start."""
        return self._way(self._find(number))

    def text(self, number: int) -> str:
        """A state as OpenSpiel shows it, on one line."""
        return self._text(self.state(number))

    def find_text(self, text: str) -> list[int]:
        """The numbers of the states that are shown so: more than one if the text does not say whose turn it is."""
        wanted = [_number(player, text)[0] for player in (*range(self._game.num_players()), _TERMINAL)]
        with self._lock:
            while not any(number in self._index for number in wanted) and self._explore():
                pass
            return [number for number in wanted if number in self._index]

    # ---- by index, under the lock ----

    def _find(self, number: int) -> int:
        index = self._index.get(number)
        if index is None:
            if number not in self:
                raise UsageError(f"no play from the start of {self._game} leads to {number}")
            index = self._index[number]
        return index

    def _state(self, index: int) -> pyspiel.State:
        found = self._ready.get(index)
        if found is None:
            found = self._game.new_initial_state()
            for action in self._way(index):
                found.apply_action(action)
            self._keep(index, found)
        return found

    def _way(self, index: int) -> list[int]:
        found = []
        while index:
            found.append(self._action[index])
            index = self._before[index]
        return found[::-1]

    def _explore(self) -> bool:
        """Expand the next state that is not; False when there is none."""
        while self._explored < len(self._numbers):
            index = self._explored
            self._explored += 1
            if self._edges[index] == _NOT_EXPANDED:
                self._expand(index)
                return True
        return False

    def _expand(self, index: int) -> None:
        state = self._state(index)
        actions = [] if index in self._returns else state.legal_actions()
        children = [self._enter(state.child(action), index, action) for action in actions]
        self._degree[index] = len(actions)
        first = len(self._actions)
        self._actions.extend(actions)
        self._children.extend(children)
        self._edges[index] = first

    def _enter(self, state: pyspiel.State, before: int, action: int) -> int:
        player = state.current_player()
        number, check = _number(player, self._text(state))
        index = self._index.get(number)
        if index is None:
            index = len(self._numbers)
            self._numbers.append(number)
            self._checks.append(check)
            self._players.append(player)
            self._before.append(before)
            self._action.append(action)
            self._edges.append(_NOT_EXPANDED)
            self._degree.append(0)
            if player == _TERMINAL:
                self._returns[index] = state.returns()[0]
            self._keep(index, state)
            self._index[number] = index  # last: other threads look here without the lock
        elif self._checks[index] != check:
            raise self._refusal(f"two of its states share the number {number}")
        else:
            self._arrivals += 1
            if self._arrivals <= COMPARED or self._arrivals % SAMPLE == 0:
                self._compare(state, index)
        return index

    def _compare(self, state: pyspiel.State, index: int) -> None:
        """Refuse a game in which states that look the same go on, or end, differently."""
        if index in self._returns:
            same = state.returns()[0] == self._returns[index]
        else:
            twin, actions = self._state(index), state.legal_actions()
            same = actions == twin.legal_actions() and all(
                self._look(state.child(action)) == self._look(twin.child(action)) for action in actions
            )
        if not same:
            raise self._refusal(
                f"what follows {self._text(state)!r} depends on how it was reached, which OpenSpiel does not show"
            )

    def _look(self, state: pyspiel.State) -> tuple[int, str]:
        return state.current_player(), self._text(state)

    def _text(self, state: pyspiel.State) -> str:
        text = str(state).strip().replace("\n", "/")
        return f"{text} returns {state.returns()}" if self._pays_as_it_goes else text

    def _refusal(self, reason: str) -> UsageError:
        return UsageError(f"openspiel: {self._game} cannot be solved: {reason}")

    def _keep(self, index: int, state: pyspiel.State) -> None:
        self._ready[index] = state
        if len(self._ready) > MAX_STATES:
            self._ready.popitem(last=False)


def _number(player: int, text: str) -> tuple[int, int]:
    """The number of a state, 63 bits, and a second hash of the same."""
    digest = xxh3_128_intdigest(text.encode(), player + _SEED)
    return digest & _NUMBER, digest >> 64
