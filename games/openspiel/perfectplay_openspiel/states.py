"""OpenSpiel states by number.

perfectplay's positions are integers, but OpenSpiel's states are objects that can only be reached by play. The number of
a state is a hash of its text and its result:

     63 62                          3 2         0
    [ 0 ][     hash of the text     ] [ result ]     the side to move, or the result for the first player

So the number is the same in every process, does not depend on the path, and contains what is needed most often.

To get from a number back to a state, the book keeps one path to it: the parent and the action. A number that it has not
met, for example after opening a table in another process, is searched by playing through the game breadth first. That
keeps paths short, so that they do not hit a limit on the length of a game that a shorter path would avoid. Each state
is expanded once, in batches. The book keeps the children, and the state itself only until it is expanded.

Two states with the same number are treated as equal. A second hash detects two texts with the same number. States that
look the same can continue differently if a game has hidden state, so a sample of the states that are reached by several
paths is compared.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyspiel
from xxhash import xxh3_128_digest

from perfectplay import UsageError
from perfectplay_native.positions import NO_NUMBER, Numbering, Numbers

MAX_STATES = 1 << 15
"""States kept until they are expanded, or one in `READY_SHARE` of all states if that is more. Others are replayed."""

READY_SHARE = 8

BATCH = 256
"""States expanded at a time."""

WALK_BATCH = 4096
"""States that `walk` yields at a time."""

COMPARED_FIRST = 256
"""Number of repeated arrivals at a state that are all compared; after them, one in `SAMPLE` is."""

SAMPLE = 256

MAX_SCORE = (1 << 15) - 1
MAX_DEPTH = 32
"""Paths of different lengths to a state stay below this depth. Limits on the length of a game allow more moves."""

# The result of a state. Bit 0 is the mover; in a finished game it is the first player by convention.
FIRST_MOVES, SECOND_MOVES, LOST, DRAWN, WON = 0, 1, 2, 4, 6
RESULT = 7

_NOT_EXPANDED = -(1 << 31)
_HASH = (1 << 63) - 1 & ~RESULT

Positions = npt.NDArray[np.uint64]


class Expansion(NamedTuple):
    """States with their children."""

    numbers: Positions
    children: Positions
    """The numbers of the children, state after state."""
    ends: npt.NDArray[np.int64]
    """The end of each state's children."""
    returns: npt.NDArray[np.int32]
    """The first player's return in a finished game, else 0."""


class StateBook:
    """All states met so far, by number. It is thread-safe.

    Internally a state is its place, which is its number in the order of discovery.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._has_rewards = game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS
        self._max_depth = min(game.max_game_length(), MAX_DEPTH)
        self._lock = threading.RLock()
        self._begin()
        self.start = self._places.position(0)

    def _begin(self) -> None:
        """Reset the book to the start."""
        self._ready: dict[int, pyspiel.State] = {}  # by place: met but not expanded
        self._replayed_state: tuple[int, pyspiel.State] | None = None  # the last one
        self._arrivals = 0
        self._explored = 0  # all earlier places are expanded
        self._uniform_depth = True  # all paths to a state so far have the same length
        self._deepest = 0
        # One entry per state.
        self._places = Numbering()
        self._checks = array("I")
        self._depth = array("I")
        self._parent = array("I")
        self._action = array("H" if self._game.num_distinct_actions() <= 1 << 16 else "I")  # from the parent
        self._first = array("i")  # the index of its first action, or the first player's return
        self._degree = array("H")
        # One entry per action of an expanded state.
        self._actions = array(self._action.typecode)
        self._children = array("I")
        self._enter([self._game.new_initial_state()], np.zeros(1, dtype=np.uint32), array(self._action.typecode, [0]))

    def __contains__(self, number: int) -> bool:
        """Return whether play can lead to this number."""
        with self._lock:
            return self._place(number) is not None

    def __len__(self) -> int:
        """Return the number of states met so far."""
        return len(self._places)

    def returns(self, number: int) -> int | None:
        """Return the first player's return in a finished game, else None."""
        if is_open(number):
            return None
        with self._lock:
            return self._first[self._require_place(number)]

    def children(self, number: int) -> dict[int, int]:
        """Return the child of each legal action, or an empty dict for a finished game."""
        if not is_open(number):
            return {}
        with self._lock:
            place = self._require_place(number)
            if self._first[place] == _NOT_EXPANDED:
                self._expand([place])
            return dict(zip(self._actions_of(place), map(self._places.position, self._children_of(place)), strict=True))

    def walk(self) -> Iterator[Expansion]:
        """Yield all states of the game in batches. If a state occurs more than once, the last occurrence is valid.

        The newest states are expanded first, so that few states wait at a time. That may give longer paths. If a path
        gets so long that a limit on the length of a game could cut it off, the walk restarts with the oldest first.
        """
        expand = self._expand_newest
        with self._lock:
            self._begin()
        places = [0]
        while places:
            places = []
            with self._lock:
                while len(places) < WALK_BATCH and (expanded := expand()):
                    places += expanded
                    if expand == self._expand_newest and not self._uniform_depth and self._deepest >= self._max_depth:
                        self._begin()
                        places, expand = [], self._expand_oldest
                batch = self._expansion(np.array(places, dtype=np.int64))
            yield batch
        for begin in range(0, len(self), WALK_BATCH):
            with self._lock:
                range_places = np.arange(begin, min(len(self), begin + WALK_BATCH))
                batch = self._expansion(range_places[~is_open(self._places.positions(range_places))])
            yield batch

    def _expansion(self, places: npt.NDArray[np.int64]) -> Expansion:
        numbers = self._places.positions(places)
        degrees, first = _view(self._degree)[places], _view(self._first)[places]
        ends = np.cumsum(degrees, dtype=np.int64)
        edges = np.repeat(first - (ends - degrees), degrees) + np.arange(int(degrees.sum()))
        returns = np.where(is_open(numbers), 0, first)
        return Expansion(numbers, self._places.positions(_view(self._children)[edges]), ends, returns)

    def state(self, number: int) -> pyspiel.State:
        """Return a state of this number. Raise UsageError if play cannot lead to one."""
        with self._lock:
            return self._state(self._require_place(number)).clone()

    def path(self, number: int) -> list[int]:
        """Return the actions of one path from the start."""
        with self._lock:
            return self._path(self._require_place(number))

    def text(self, number: int) -> str:
        """Return OpenSpiel's text of a state on one line."""
        with self._lock:
            (text,) = self._texts([self._state(self._require_place(number))])
            return text

    def find_text(self, text: str) -> list[int]:
        """Return the numbers of the states with this text, which are several if it does not show the side to move."""
        text_hash = int(_hashes([text])[0][0])
        numbers = [text_hash | result for result in (FIRST_MOVES, SECOND_MOVES, LOST, DRAWN, WON)]
        with self._lock:
            while all(self._places.find(number) is None for number in numbers) and self._expand_oldest():
                pass
            return [number for number in numbers if self._places.find(number) is not None]

    # ---- by place, with the lock held ----

    def _place(self, number: int) -> int | None:
        while (place := self._places.find(number)) is None and self._expand_oldest():
            pass
        return place

    def _require_place(self, number: int) -> int:
        place = self._place(number)
        if place is None:
            raise UsageError(f"no play from the start of {self._game} leads to {number}")
        return place

    def _actions_of(self, place: int) -> array[int]:
        return self._actions[self._first[place] : self._first[place] + self._degree[place]]

    def _children_of(self, place: int) -> array[int]:
        return self._children[self._first[place] : self._first[place] + self._degree[place]]

    def _state(self, place: int) -> pyspiel.State:
        waiting = self._ready.get(place)
        if waiting is not None:
            return waiting
        if self._replayed_state is None or self._replayed_state[0] != place:
            self._replayed_state = place, self._replay(place)
        return self._replayed_state[1]

    def _replay(self, place: int) -> pyspiel.State:
        state = self._game.new_initial_state()
        for action in self._path(place):
            state.apply_action(action)
        return state

    def _path(self, place: int) -> list[int]:
        actions = []
        while place:
            actions.append(self._action[place])
            place = self._parent[place]
        return actions[::-1]

    def _expand_newest(self) -> list[int]:
        """Expand the states met last. Return their places, or an empty list if all states are expanded."""
        places = list(islice(reversed(self._ready), BATCH))
        if not places:  # only states that were not kept are left
            return self._expand_oldest()
        self._expand(places)
        return places

    def _expand_oldest(self) -> list[int]:
        """Expand the states met first. Return their places, or an empty list if all states are expanded."""
        waiting: list[int] = []
        while not waiting and self._explored < len(self):
            begin, end = self._explored, min(len(self), self._explored + BATCH)
            waiting = (np.flatnonzero(_view(self._first)[begin:end] == _NOT_EXPANDED) + begin).tolist()
            if waiting:
                self._expand(waiting)
            self._explored = end
        return waiting

    def _expand(self, places: list[int]) -> None:
        """Enter the children of these states."""
        actions: list[int] = []
        children: list[pyspiel.State] = []
        degrees: list[int] = []
        for place in places:
            state = self._ready.pop(place, None) or self._replay(place)
            legal = state.legal_actions()
            if not legal:
                (text,) = self._texts([state])
                raise self._error(f"{text!r} is not finished but has no legal action")
            actions += legal
            degrees.append(len(legal))
            last = legal.pop()
            children += map(state.child, legal)
            state.apply_action(last)  # the state is not needed any more, so no copy is made
            children.append(state)
        action_column = array(self._action.typecode, actions)
        parents, counts = np.array(places, dtype=np.uint32), np.array(degrees)
        child_places = self._enter(children, np.repeat(parents, counts), action_column)
        first = len(self._actions) + np.cumsum(counts) - counts
        self._actions += action_column
        self._children.frombytes(child_places.tobytes())
        _view(self._degree)[parents] = counts
        _view(self._first)[parents] = first

    def _enter(self, states: list[pyspiel.State], parents: Numbers, actions: array[int]) -> Numbers:
        """Return the places of states, each reached from a parent by an action, and enter the new ones."""
        text_hashes, checks = _hashes(self._texts(states))
        players = _view(array("b", [state.current_player() for state in states]))
        over = np.flatnonzero(players < 0)
        results = players.astype(np.uint64)
        results[over], gains = self._ends(states, text_hashes, over)
        met = len(self)
        places, fresh = self._places.add(text_hashes | results)
        depths = _view(self._depth)[parents] + np.uint32(1) if met else parents
        self._checks.frombytes(checks[fresh].tobytes())
        self._depth.frombytes(depths[fresh].tobytes())
        self._parent.frombytes(parents[fresh].tobytes())
        self._action.frombytes(_view(actions)[fresh].tobytes())
        self._degree.frombytes(bytes(self._degree.itemsize * len(fresh)))
        first = np.full(len(states), _NOT_EXPANDED, dtype=np.int32)
        first[over] = gains
        self._first.frombytes(first[fresh].tobytes())
        self._uniform_depth = self._uniform_depth and bool((_view(self._depth)[places] == depths).all())
        self._deepest = max(self._deepest, int(depths.max()))
        self._keep(states, met + np.flatnonzero(players[fresh] >= 0), fresh[players[fresh] >= 0])
        repeated = np.ones(len(places), dtype=bool)
        repeated[fresh] = False
        self._check_repeats(states, places, checks, np.flatnonzero(repeated))
        return places

    def _keep(self, states: list[pyspiel.State], places: npt.NDArray[np.intp], arrivals: Numbers) -> None:
        """Keep states until they are expanded, as far as there is room."""
        room = max(0, max(MAX_STATES, len(self) // READY_SHARE) - len(self._ready))
        self._ready.update(zip(places[:room].tolist(), map(states.__getitem__, arrivals[:room].tolist()), strict=True))

    def _ends(
        self, states: list[pyspiel.State], text_hashes: Positions, over: npt.NDArray[np.intp]
    ) -> tuple[Positions, npt.NDArray[np.int32]]:
        """Return the results of finished games, and the first player's returns of those that are new."""
        results, gains = np.zeros(len(over), dtype=np.uint64), np.zeros(len(over), dtype=np.int32)
        for result in (LOST, DRAWN, WON):
            results[self._places.find_many(text_hashes[over] | np.uint64(result)) != NO_NUMBER] = result
        new = np.flatnonzero(results == 0)
        gains[new] = [self._gain(states[end]) for end in over[new].tolist()]
        results[new] = DRAWN + 2 * np.sign(gains[new])
        return results, gains

    def _gain(self, state: pyspiel.State) -> int:
        """Return the first player's return in a finished game."""
        gain = state.returns()[0]
        if gain != int(gain) or abs(gain) > MAX_SCORE:
            raise self._error(
                f"it can end with a return of {gain:g}, but scores must be whole numbers up to {MAX_SCORE:,}"
            )
        return int(gain)

    def _check_repeats(
        self, states: list[pyspiel.State], places: Numbers, checks: Numbers, arrivals: npt.NDArray[np.intp]
    ) -> None:
        """Raise UsageError if a repeated arrival is at a different state. Only a sample is compared completely."""
        differs = _view(self._checks)[places] != checks
        if differs.any():
            number = self._places.position(int(places[differs.argmax()]))
            raise self._error(f"two of its states share the number {number}")
        counts = np.arange(self._arrivals, self._arrivals + len(arrivals))
        self._arrivals += len(arrivals)
        for arrival in arrivals[(counts < COMPARED_FIRST) | (counts % SAMPLE == 0)].tolist():
            self._compare(states[arrival], int(places[arrival]))

    def _compare(self, state: pyspiel.State, place: int) -> None:
        """Raise UsageError if states that look the same continue or end differently."""
        if not is_open(self._places.position(place)):
            same = self._gain(state) == self._first[place]
        else:
            twin, actions = self._state(place), state.legal_actions()
            same = actions == twin.legal_actions()
            same = same and self._successors(state, actions) == self._successors(twin, actions)
        if not same:
            (text,) = self._texts([state])
            raise self._error(
                f"play after {text!r} depends on how it was reached, which OpenSpiel's text does not show"
            )

    def _successors(self, state: pyspiel.State, actions: list[int]) -> list[tuple[int, str]]:
        children = [state.child(action) for action in actions]
        return [(child.current_player(), text) for child, text in zip(children, self._texts(children), strict=True)]

    def _texts(self, states: list[pyspiel.State]) -> list[str]:
        texts = [state.to_string().strip().replace("\n", "/") for state in states]
        if self._has_rewards:
            return [f"{text} returns {state.returns()}" for text, state in zip(texts, states, strict=True)]
        return texts

    def _error(self, reason: str) -> UsageError:
        return UsageError(f"openspiel: {self._game} cannot be solved: {reason}")


def is_open(number: Any) -> Any:
    """Return whether the game of this number is unfinished. Accepts arrays."""
    return number & RESULT < LOST


def _view(column: array[int]) -> npt.NDArray[Any]:
    """Return a numpy view of a column, which cannot grow while the view exists."""
    return np.frombuffer(column, dtype=f"{'i' if column.typecode.islower() else 'u'}{column.itemsize}")


def _hashes(texts: list[str]) -> tuple[Positions, Numbers]:
    """Return each text's part of a number, and a second hash of the text."""
    digests = b"".join([xxh3_128_digest(text.encode()) for text in texts])
    halves = np.frombuffer(digests, dtype=">u8").reshape(-1, 2)
    return halves[:, 1] & np.uint64(_HASH), (halves[:, 0] >> np.uint64(32)).astype(np.uint32)
