"""OpenSpiel states by number.

perfectplay's positions are integers; OpenSpiel's states are objects that only playing makes. A state's number is a hash
of its text, and how it stands:

     63 62                          3 2           0
    [ 0 ][     hash of the text     ] [ standing ]     whose turn it is, or how the game ended for the first player

So it is the same in every process, says nothing about how play came there, and tells by itself what is asked most.

To go from a number back to a state, the book keeps one way to it: the state before, and which of its actions. A number
it has not met, as when a table is opened in another process, is looked for by playing through the game, breadth first:
the ways stay short, and no limit on the length of a game is met that a shorter way would not meet. Each state is
expanded once, many at a time: what follows it is kept, and the state itself only until then.

Two states of one number are taken for the same. A second hash notices two texts that share a number. Whether states
that look the same also go on in the same way, which they do not if a game keeps something to itself, is tried on a
sample of those that are reached in several ways.
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
"""States kept until they are expanded, or one in `KEPT` of all if that is more; others are played again."""

KEPT = 8

BATCH = 256
"""States expanded together."""

TOLD = 4096
"""States that `walk` tells of at a time."""

COMPARED = 256
"""So many second ways to a state are tried at first, and then one in `SAMPLE`."""

SAMPLE = 256

MAX_SCORE = (1 << 15) - 1
MAX_DEPTH = 32
"""Where ways to a state differ in length, none gets so long: rules that end a game without progress take more moves."""

# How a state stands. Bit 0 is the mover; a finished game is the first player's turn, as somebody's it must be.
FIRST_MOVES, SECOND_MOVES, LOST, DRAWN, WON = 0, 1, 2, 4, 6
STANDING = 7

_NOT_EXPANDED = -(1 << 31)
_HASH = (1 << 63) - 1 & ~STANDING

Positions = npt.NDArray[np.uint64]


class Expanded(NamedTuple):
    """Some states and what follows them."""

    numbers: Positions
    children: Positions
    """The numbers of those that follow, one state's after the other's."""
    ends: npt.NDArray[np.int64]
    """Where each one's end."""
    returns: npt.NDArray[np.int32]
    """What a finished game gives its first player; 0 while it goes on."""


class StateBook:
    """Every state met so far, by number. Threads may share one.

    Inside, a state is its place in the order in which they were met.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._pays_as_it_goes = game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS
        self._deep = min(game.max_game_length(), MAX_DEPTH)
        self._lock = threading.RLock()
        self._begin()
        self.start = self._places.position(0)

    def _begin(self) -> None:
        """Know nothing but the start."""
        self._ready: dict[int, pyspiel.State] = {}  # by place: met, and not expanded
        self._shown: tuple[int, pyspiel.State] | None = None  # the last that was played again
        self._arrivals = 0
        self._explored = 0  # all states below are expanded
        self._graded = True  # so far, all ways to a state have been of one length
        self._deepest = 0
        # One entry a state.
        self._places = Numbering()
        self._checks = array("I")
        self._depth = array("I")
        self._before = array("I")
        self._action = array("H" if self._game.num_distinct_actions() <= 1 << 16 else "I")  # that leads here from there
        self._first = array("i")  # where its actions begin; of a finished game, what its first player gets
        self._degree = array("H")
        # One entry an action of an expanded state.
        self._actions = array(self._action.typecode)
        self._children = array("I")
        self._enter([self._game.new_initial_state()], np.zeros(1, dtype=np.uint32), array(self._action.typecode, [0]))

    def __contains__(self, number: int) -> bool:
        """Whether play can lead to this number."""
        with self._lock:
            return self._place(number) is not None

    def __len__(self) -> int:
        """How many states were met so far."""
        return len(self._places)

    def returns(self, number: int) -> int | None:
        """What a finished game gives its first player; None while it goes on."""
        if is_open(number):
            return None
        with self._lock:
            return self._first[self._find(number)]

    def children(self, number: int) -> dict[int, int]:
        """The number of the state that each legal action leads to; none at the end."""
        if not is_open(number):
            return {}
        with self._lock:
            place = self._find(number)
            if self._first[place] == _NOT_EXPANDED:
                self._expand([place])
            return dict(zip(self._actions_of(place), map(self._places.position, self._children_of(place)), strict=True))

    def walk(self) -> Iterator[Expanded]:
        """Play through the whole game from the start, some states at a time. What is said last of a state is right.

        The newest come first, so that few states wait at a time. Ways may then be longer than need be: if one could
        be so long that a limit on the length of a game cuts it off, it begins anew with the oldest first.
        """
        expand = self._expand_newest
        with self._lock:
            self._begin()
        places = [0]
        while places:
            places = []
            with self._lock:
                while len(places) < TOLD and (expanded := expand()):
                    places += expanded
                    if expand == self._expand_newest and not self._graded and self._deepest >= self._deep:
                        self._begin()
                        places, expand = [], self._expand_oldest
                told = self._expanded(np.array(places, dtype=np.int64))
            yield told
        for begin in range(0, len(self), TOLD):
            with self._lock:
                some = np.arange(begin, min(len(self), begin + TOLD))
                told = self._expanded(some[~is_open(self._places.positions(some))])
            yield told

    def _expanded(self, places: npt.NDArray[np.int64]) -> Expanded:
        numbers = self._places.positions(places)
        degrees, first = _view(self._degree)[places], _view(self._first)[places]
        ends = np.cumsum(degrees, dtype=np.int64)
        edges = np.repeat(first - (ends - degrees), degrees) + np.arange(int(degrees.sum()))
        returns = np.where(is_open(numbers), 0, first)
        return Expanded(numbers, self._places.positions(_view(self._children)[edges]), ends, returns)

    def state(self, number: int) -> pyspiel.State:
        """A state of this number, not to be changed; UsageError where play never leads to one."""
        with self._lock:
            return self._state(self._find(number)).clone()

    def way(self, number: int) -> list[int]:
        """The actions of one way from the start."""
        with self._lock:
            return self._way(self._find(number))

    def text(self, number: int) -> str:
        """A state as OpenSpiel shows it, on one line."""
        with self._lock:
            (text,) = self._texts([self._state(self._find(number))])
            return text

    def find_text(self, text: str) -> list[int]:
        """The numbers of the states that are shown so: more than one if the text does not say whose turn it is."""
        shown = int(_hashes([text])[0][0])
        wanted = [shown | standing for standing in (FIRST_MOVES, SECOND_MOVES, LOST, DRAWN, WON)]
        with self._lock:
            while all(self._places.find(number) is None for number in wanted) and self._expand_oldest():
                pass
            return [number for number in wanted if self._places.find(number) is not None]

    # ---- by place, under the lock ----

    def _place(self, number: int) -> int | None:
        while (place := self._places.find(number)) is None and self._expand_oldest():
            pass
        return place

    def _find(self, number: int) -> int:
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
        if self._shown is None or self._shown[0] != place:
            self._shown = place, self._played(place)
        return self._shown[1]

    def _played(self, place: int) -> pyspiel.State:
        state = self._game.new_initial_state()
        for action in self._way(place):
            state.apply_action(action)
        return state

    def _way(self, place: int) -> list[int]:
        found = []
        while place:
            found.append(self._action[place])
            place = self._before[place]
        return found[::-1]

    def _expand_newest(self) -> list[int]:
        """Expand the states met last; none when all are expanded."""
        places = list(islice(reversed(self._ready), BATCH))
        if not places:  # what there was no room for
            return self._expand_oldest()
        self._expand(places)
        return places

    def _expand_oldest(self) -> list[int]:
        """Expand the states that have waited longest; none when all are expanded."""
        waiting: list[int] = []
        while not waiting and self._explored < len(self):
            begin, end = self._explored, min(len(self), self._explored + BATCH)
            waiting = (np.flatnonzero(_view(self._first)[begin:end] == _NOT_EXPANDED) + begin).tolist()
            if waiting:
                self._expand(waiting)
            self._explored = end
        return waiting

    def _expand(self, places: list[int]) -> None:
        """Enter what follows some states."""
        actions: list[int] = []
        children: list[pyspiel.State] = []
        degrees: list[int] = []
        for place in places:
            state = self._ready.pop(place, None) or self._played(place)
            legal = state.legal_actions()
            if not legal:
                (text,) = self._texts([state])
                raise self._refusal(f"{text!r} goes on without a legal action")
            actions += legal
            degrees.append(len(legal))
            last = legal.pop()
            children += map(state.child, legal)
            state.apply_action(last)  # it is of no further use: no copy is needed
            children.append(state)
        taken = array(self._action.typecode, actions)
        parents, counts = np.array(places, dtype=np.uint32), np.array(degrees)
        arrived = self._enter(children, np.repeat(parents, counts), taken)
        first = len(self._actions) + np.cumsum(counts) - counts
        self._actions += taken
        self._children.frombytes(arrived.tobytes())
        _view(self._degree)[parents] = counts
        _view(self._first)[parents] = first

    def _enter(self, states: list[pyspiel.State], before: Numbers, taken: array[int]) -> Numbers:
        """The places of states, each of which an action leads to from a state before; new ones are entered."""
        shown, checks = _hashes(self._texts(states))
        players = _view(array("b", [state.current_player() for state in states]))
        over = np.flatnonzero(players < 0)
        standings = players.astype(np.uint64)
        standings[over], gains = self._ends(states, shown, over)
        met = len(self)
        places, fresh = self._places.add(shown | standings)
        depths = _view(self._depth)[before] + np.uint32(1) if met else before
        self._checks.frombytes(checks[fresh].tobytes())
        self._depth.frombytes(depths[fresh].tobytes())
        self._before.frombytes(before[fresh].tobytes())
        self._action.frombytes(_view(taken)[fresh].tobytes())
        self._degree.frombytes(bytes(self._degree.itemsize * len(fresh)))
        first = np.full(len(states), _NOT_EXPANDED, dtype=np.int32)
        first[over] = gains
        self._first.frombytes(first[fresh].tobytes())
        self._graded = self._graded and bool((_view(self._depth)[places] == depths).all())
        self._deepest = max(self._deepest, int(depths.max()))
        self._keep(states, met + np.flatnonzero(players[fresh] >= 0), fresh[players[fresh] >= 0])
        again = np.ones(len(places), dtype=bool)
        again[fresh] = False
        self._look_again(states, places, checks, np.flatnonzero(again))
        return places

    def _keep(self, states: list[pyspiel.State], places: npt.NDArray[np.intp], arrivals: Numbers) -> None:
        """Have states ready for when they are expanded, as far as there is room."""
        room = max(0, max(MAX_STATES, len(self) // KEPT) - len(self._ready))
        self._ready.update(zip(places[:room].tolist(), map(states.__getitem__, arrivals[:room].tolist()), strict=True))

    def _ends(
        self, states: list[pyspiel.State], shown: Positions, over: npt.NDArray[np.intp]
    ) -> tuple[Positions, npt.NDArray[np.int32]]:
        """How finished games stand, and what they give the first player; of one that is known, the former is enough."""
        standings, gains = np.zeros(len(over), dtype=np.uint64), np.zeros(len(over), dtype=np.int32)
        for standing in (LOST, DRAWN, WON):
            standings[self._places.find_many(shown[over] | np.uint64(standing)) != NO_NUMBER] = standing
        new = np.flatnonzero(standings == 0)
        gains[new] = [self._gain(states[end]) for end in over[new].tolist()]
        standings[new] = DRAWN + 2 * np.sign(gains[new])
        return standings, gains

    def _gain(self, state: pyspiel.State) -> int:
        """What a finished game gives its first player."""
        gain = state.returns()[0]
        if gain != int(gain) or abs(gain) > MAX_SCORE:
            raise self._refusal(
                f"it can end with a return of {gain:g}, and scores are whole numbers up to {MAX_SCORE:,}"
            )
        return int(gain)

    def _look_again(
        self, states: list[pyspiel.State], places: Numbers, checks: Numbers, arrivals: npt.NDArray[np.intp]
    ) -> None:
        """Refuse a game where an arrival at a known state is not at the same state, as far as that is tried."""
        differs = _view(self._checks)[places] != checks
        if differs.any():
            number = self._places.position(int(places[differs.argmax()]))
            raise self._refusal(f"two of its states share the number {number}")
        counts = np.arange(self._arrivals, self._arrivals + len(arrivals))
        self._arrivals += len(arrivals)
        for arrival in arrivals[(counts < COMPARED) | (counts % SAMPLE == 0)].tolist():
            self._compare(states[arrival], int(places[arrival]))

    def _compare(self, state: pyspiel.State, place: int) -> None:
        """Refuse a game in which states that look the same go on, or end, differently."""
        if not is_open(self._places.position(place)):
            same = self._gain(state) == self._first[place]
        else:
            twin, actions = self._state(place), state.legal_actions()
            same = actions == twin.legal_actions() and self._looks(state, actions) == self._looks(twin, actions)
        if not same:
            (text,) = self._texts([state])
            raise self._refusal(f"what follows {text!r} depends on how it was reached, which OpenSpiel does not show")

    def _looks(self, state: pyspiel.State, actions: list[int]) -> list[tuple[int, str]]:
        children = [state.child(action) for action in actions]
        return [(child.current_player(), text) for child, text in zip(children, self._texts(children), strict=True)]

    def _texts(self, states: list[pyspiel.State]) -> list[str]:
        texts = [state.to_string().strip().replace("\n", "/") for state in states]
        if self._pays_as_it_goes:
            return [f"{text} returns {state.returns()}" for text, state in zip(texts, states, strict=True)]
        return texts

    def _refusal(self, reason: str) -> UsageError:
        return UsageError(f"openspiel: {self._game} cannot be solved: {reason}")


def is_open(number: Any) -> Any:
    """Whether the game of this number goes on; of many at once, too."""
    return number & STANDING < LOST


def _view(column: array[int]) -> npt.NDArray[Any]:
    """An array to calculate with; while it is there, the column cannot grow."""
    return np.frombuffer(column, dtype=f"{'i' if column.typecode.islower() else 'u'}{column.itemsize}")


def _hashes(texts: list[str]) -> tuple[Positions, Numbers]:
    """Each text's part of a number, and a second hash of the same."""
    digests = b"".join([xxh3_128_digest(text.encode()) for text in texts])
    halves = np.frombuffer(digests, dtype=">u8").reshape(-1, 2)
    return halves[:, 1] & np.uint64(_HASH), (halves[:, 0] >> np.uint64(32)).astype(np.uint32)
