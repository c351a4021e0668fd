"""Checks the laws of a game in many positions: near the start, in the index, and in random playouts.

Positions near the start are checked breadth first, so a mistake there is found in its shortest form. Playouts reach
further, and hypothesis shortens one that breaks a law as far as it still does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from perfectplay.errors import PerfectPlayError, needs_extra
from perfectplay.game.game import Game
from perfectplay.game.hooks import brief
from perfectplay.testing.hints import find_hints
from perfectplay.testing.kernel_laws import KERNEL_LAWS, check_threads, slot_positions
from perfectplay.testing.laws import LAWS, Law, check_finite
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status

with needs_extra("check", "checking a game"):
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

NEAR_POSITIONS = 150
"""How many positions are checked breadth first from the start."""

SLOT_POSITIONS = 120
"""How many positions of an index are checked with every law."""

COMPARED_POSITIONS = 30
"""How many positions, nearest to the start, are compared in a new process."""

REPEATED_CALLS = 8
"""How often `moves` is repeated after an error, to find out whether its result is random."""

PLAYOUTS = 60
PLAYOUT_PLIES = 60

ALL_LAWS = (*LAWS, *KERNEL_LAWS)
HOOKS, PURE, FINITE = "hooks", "pure", "finite"

PROMISES = {
    HOOKS: "no hook raises or returns a wrong result",
    **{law.name: law.promise for law in ALL_LAWS},
    PURE: "hooks depend only on their arguments",
    FINITE: "every game ends or repeats a position",
}
"""The promise of each law, in the order of the output."""

Snapshot = tuple[list[int], Status, list[int]]
"""Moves, status and canonical children of a position."""
Snapshots = dict[int, Snapshot]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one law.

    `breach` is the message if the law is broken, and `hint` a remark on something legal but unusual. `applies` is False
    if the game lacks the hooks that the law is about.
    """

    law: str
    promise: str
    breach: str | None = None
    applies: bool = True
    hint: str | None = None


def check_laws(
    subject: GameUnderTest, report: Callable[[str, str], None] = lambda law, breach: None
) -> tuple[list[CheckResult], Snapshots]:
    """Check every law.

    `report` is called with each breach as soon as it is found.
    Returns one result per law, in the order of `PROMISES`, and the snapshots of all positions without a breach.
    """
    trial = Trial(subject, report)
    trial.check_metadata()
    trial.check_positions(_breadth_first(subject.game))
    trial.check_index()
    trial.check_playouts()
    trial.repeat_calls()
    hints = {} if trial.breaches else find_hints(subject, trial.positions)
    trial.check_length()
    omitted = {law.name for law in ALL_LAWS if law not in trial.laws}
    results = [
        CheckResult(law, promise, trial.breaches.get(law), law not in omitted, hints.get(law))
        for law, promise in PROMISES.items()
    ]
    return results, trial.snapshots


class Trial:
    """The laws that apply to one game, and the first breach of each."""

    def __init__(self, subject: GameUnderTest, report: Callable[[str, str], None]) -> None:
        self.subject = subject
        self.breaches: dict[str, str] = {}
        self.snapshots: Snapshots = {}
        """The hooks' results in positions without a breach."""
        self._report = report
        self._checked: dict[int, dict[str, str]] = {}
        """The breaches in each checked position. Hypothesis repeats playouts, so they are cached."""
        subject.log_check(HOOKS)
        self.laws = [law for law in ALL_LAWS if _applies(law, subject)]

    @property
    def positions(self) -> Collection[int]:
        """The positions that were checked."""
        return self._checked.keys()

    def _record(self, law: str, breach: str | None) -> None:
        if breach is not None and law not in self.breaches:
            self.breaches[law] = breach
            self._report(law, breach)

    def check_metadata(self) -> None:
        """Call the hooks that do not depend on a position."""
        self.subject.log_check(HOOKS)
        try:
            assert self.subject.game.about.title
            assert self.subject.game.players
        except PerfectPlayError as error:
            self._record(HOOKS, str(error))

    def check_index(self) -> None:
        """Check positions from all tiers of a kernel's index."""
        kernel = self.subject.game.kernel
        if kernel is None or not kernel.ranked:
            return
        self.subject.log_check("rank")
        positions = []
        try:
            for position, breach in slot_positions(self.subject):
                self._record("rank", breach)
                if breach is None:
                    positions.append(position)
        except (PerfectPlayError, ValueError) as error:
            self._record(HOOKS, str(error))
        self.check_positions(random.Random(1).sample(positions, min(len(positions), SLOT_POSITIONS)))

    def check_playouts(self) -> None:
        """Search for a playout that breaks another law, until there is none. Hypothesis shortens each of them."""
        playouts = st.tuples(st.integers(0, PLAYOUT_PLIES), st.integers(0, 2**16))  # shrinks the number of plies first
        options = settings(max_examples=PLAYOUTS, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        while True:
            try:
                shortest = find(playouts, self._breaks_another_law, settings=options, random=random.Random(1))
            except NoSuchExample:
                return
            self.check_positions(self.subject.playout(*shortest))

    def _breaks_another_law(self, playout: tuple[int, int]) -> bool:
        positions = self.subject.playout(*playout)
        return any(self._check(position).keys() - self.breaches.keys() for position in positions)

    def check_positions(self, positions: Iterable[int]) -> None:
        for position in positions:
            for law, breach in self._check(position).items():
                self._record(law, breach)

    def _check(self, position: int) -> dict[str, str]:
        """Return the breaches in a position by law."""
        if position in self._checked:
            return self._checked[position]
        breaches: dict[str, str] = {}
        self._checked[position] = breaches
        for law in self.laws:
            self.subject.log_check(law.name, position)
            try:
                breach = law.check(self.subject, position)
            except PerfectPlayError as error:
                breaches.setdefault(*self._attribute(error, position))
            except ValueError as error:  # a kernel wrote an invalid value
                breaches.setdefault(HOOKS, f"{self.subject.name(position)}: {error}")
            else:
                if breach is not None:
                    breaches[law.name] = breach
            if "encoding" in breaches:
                break  # the other laws make no sense there
        if not breaches:
            try:
                self.snapshots[position] = _snapshot(self.subject, position)
            except PerfectPlayError as error:
                breaches.setdefault(*self._attribute(error, position))
        return breaches

    def _attribute(self, error: PerfectPlayError, position: int) -> tuple[str, str]:
        """Return the law that an error breaks, and the message. Random results may cause errors anywhere."""
        moves = self.subject.game.moves
        try:
            first, *others = (moves(position) for _ in range(REPEATED_CALLS))
        except PerfectPlayError:
            return HOOKS, str(error)
        different = next((other for other in others if other != first), None)
        if different is None:
            return HOOKS, str(error)
        return PURE, _change(f"moves in {self.subject.name(position)}", first, different)

    def repeat_calls(self) -> None:
        """Repeat the calls long after the first, in another order, and from threads, to find hooks that keep state."""
        self._record(PURE, _find_change(self.subject, next(iter(self._checked)), self.snapshots))
        if not self.breaches:
            self.subject.log_check(PURE)
            self._record(PURE, check_threads(self.subject, self.snapshots))

    def check_length(self) -> None:
        self.subject.log_check(FINITE)
        self._record(FINITE, check_finite(self.subject))


def _applies(law: Law, subject: GameUnderTest) -> bool:
    try:
        return law.applies(subject)
    except PerfectPlayError:
        return True  # the check will report the reason


def compare_in_new_process(subject: GameUnderTest, snapshots: Snapshots) -> str | None:
    """Compare a game that was just loaded with snapshots from another process, in another order.

    Returns a message if they differ, for example because positions are numbered in the order in which they occur: those
    numbers are meaningless to the next command.
    """
    nearest = dict(islice(snapshots.items(), COMPARED_POSITIONS))
    change = _find_change(subject, next(iter(snapshots)), nearest)
    return change and (
        f"in a new process, {change}; positions must not be numbered in the order in which they occur, in the order of "
        f"a set of strings, or by hash(), which differ between processes"
    )


def _find_change(subject: GameUnderTest, start: int, snapshots: Snapshots) -> str | None:
    """Return a message if the start or the results in some position have changed. The last position is first."""
    subject.log_check(PURE)
    if (now := subject.game.start()) != start:
        return _change("start", start, now)
    for position, snapshot in reversed(snapshots.items()):
        subject.log_check(PURE, position)
        try:
            results = _snapshot(subject, position)
        except PerfectPlayError as error:
            return f"a hook that worked before fails ({error})"
        for name, before, after in zip(("moves", "status", "children"), snapshot, results, strict=True):
            if before != after:
                return _change(f"{name} in {subject.name(position)}", before, after)
    return None


def _snapshot(subject: GameUnderTest, position: int) -> Snapshot:
    game = subject.game
    return game.moves(position), game.status(position), sorted(subject.children(position))


def _change(what: str, before: object, after: object) -> str:
    return (
        f"the result for {what} changed from {brief(before)} to {brief(after)} between two calls; a hook must depend "
        f"only on its arguments"
    )


def _breadth_first(game: Game) -> Iterator[int]:
    """Yield the positions nearest to the start, until a hook fails."""
    queue = [game.start()]
    queued = set(queue)
    for position in queue:
        yield position
        try:
            for move in game.moves(position):
                child = game.apply(position, move)
                if child not in queued and len(queue) < NEAR_POSITIONS:
                    queued.add(child)
                    queue.append(child)
        except PerfectPlayError:
            continue
