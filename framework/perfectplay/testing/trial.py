"""Checks the laws of a game in many positions: near the start, in the index, in random playouts, and in a sweep.

Positions near the start are checked breadth first, so a mistake there is found in its shortest form. Playouts reach
further. The sweep then checks the laws of the rules in every position of a small game, and in as many positions of a
larger one as the time allows. The time that is left in a small game goes to the other laws.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError
from perfectplay.game.engine import describe_asymmetry, describe_misfit
from perfectplay.game.game import Game
from perfectplay.game.hooks import brief
from perfectplay.testing.hints import find_hints
from perfectplay.testing.kernel_laws import KERNEL_LAWS, check_compiled, check_threads, slot_positions
from perfectplay.testing.laws import LAWS, Law, check_finite
from perfectplay.testing.sandbox import PATIENCE
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status
from perfectplay_native.errors import AsymmetryError, MissingChildError

NEAR_POSITIONS = 150
"""How many positions are checked breadth first from the start."""

SLOT_POSITIONS = 120
"""How many positions of an index are checked with every law."""

SWEEP_SECONDS = 5.0
"""CPU seconds for the sweep, unless the user asks for more."""

SWEEP_POSITIONS = 100_000
"""A game with at most this many positions is swept completely, if the time allows."""

COMPARED_POSITIONS = 120
"""How many of them are compared in new processes; up to half are finished games."""

REPEATED_CALLS = 8
"""How often `moves` is repeated after an error, to find out whether its result is random."""

PLAYOUT_SECONDS = 4.0
"""CPU seconds after which no further random game is checked."""

PLAYOUTS = 60
PLAYOUT_PLIES = 60

ONLY_ARGUMENTS = "a hook must depend only on its arguments"

ALL_LAWS = (*LAWS, *KERNEL_LAWS)
HOOKS, PURE, FINITE = "hooks", "pure", "finite"

PROMISES = {
    HOOKS: "no hook raises or returns a wrong result",
    **{law.name: law.promise for law in ALL_LAWS},
    PURE: "hooks depend only on their arguments",
    FINITE: "every game ends or repeats a position",
}
"""The promise of each law, in the order of the output."""

Snapshot = tuple[list[int], Status, list[int], int, int | None, int | None]
"""Moves, status, canonical children and tier of a position, its mover, and the score of a finished game."""
SNAPSHOT_FIELDS = ("moves", "status", "children", "tier", "mover", "score")
Snapshots = dict[int, Snapshot]


@dataclass(frozen=True, slots=True)
class Effort:
    """How thoroughly to check a game: CPU seconds for the sweep (infinite for all positions), and the random seed."""

    seconds: float = SWEEP_SECONDS
    seed: int = 1


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


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The results in the order of `law_names`, and in how many positions the laws were checked."""

    results: list[CheckResult]
    positions: int
    complete: bool
    """Whether these are all positions of the game."""

    @property
    def breaches(self) -> dict[str, str]:
        """The message of each broken law."""
        return {result.law: result.breach for result in self.results if result.breach}


def check_laws(
    subject: GameUnderTest, effort: Effort, report: Callable[[str, str], None] = lambda law, breach: None
) -> tuple[CheckReport, Snapshots]:
    """Check every law.

    `report` is called with each breach as soon as it is found.
    Returns the report and snapshots of positions without a breach.
    """
    trial = Trial(subject, report, seed=effort.seed)
    trial.check_metadata()
    trial.check_positions(_breadth_first(subject.game))
    trial.check_index()
    trial.check_playouts()
    hints = {} if trial.breaches else find_hints(subject, trial.positions)
    complete = not trial.breaches and trial.sweep(effort.seconds)
    trial.repeat_calls()
    trial.check_length()
    omitted = {law.name for law in ALL_LAWS if law not in trial.laws}
    results = [
        CheckResult(law, promise, trial.breaches.get(law), law not in omitted, hints.get(law))
        for law, promise in PROMISES.items()
    ]
    return CheckReport(results, trial.position_count, complete), trial.snapshots


class Trial:
    """The laws that apply to one game, and the first breach of each."""

    def __init__(self, subject: GameUnderTest, report: Callable[[str, str], None], *, seed: int = 1) -> None:
        self.subject = subject
        self.dice = random.Random(seed)
        self.breaches: dict[str, str] = {}
        self.snapshots: Snapshots = {}
        """The hooks' results in positions without a breach."""
        self._report = report
        self._checked: dict[int, dict[str, str]] = {}
        """The breaches in each checked position."""
        self._swept: list[int] = []
        """Further positions that the sweep examined. Random games may list a position twice."""
        subject.log_check(HOOKS)
        self.laws = [law for law in ALL_LAWS if _applies(law, subject)]

    @property
    def position_count(self) -> int:
        return len(self._checked) + len(self._swept)

    @property
    def positions(self) -> Collection[int]:
        """The positions that were checked."""
        return self._checked.keys()

    def _record(self, law: str, breach: str | None) -> None:
        if breach is not None and law not in self.breaches:
            self.breaches[law] = breach
            self._report(law, breach)

    def _record_all(self, breaches: dict[str, str]) -> None:
        for law, breach in breaches.items():
            self._record(law, breach)

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
        if self.subject.ranked_kernel is None:
            return
        self.subject.log_check("rank")
        positions = []
        try:
            for position, breach in slot_positions(self.subject):
                self._record("rank", breach)
                if breach is None:
                    positions.append(position)
        except MissingChildError as error:  # when the tiers of a declared index are determined
            self._record("index", describe_misfit(self.subject.game, error.position))
        except AsymmetryError as error:
            self._record("index", describe_asymmetry(self.subject.game, error.position, error.image))
        except (PerfectPlayError, ValueError) as error:
            self._record(HOOKS, str(error))
        self.check_positions(self.dice.sample(positions, min(len(positions), SLOT_POSITIONS)))

    def check_playouts(self) -> None:
        """Check random games. Of all positions that break a law, the one after the fewest moves is reported."""
        first: dict[str, tuple[int, str]] = {}
        deadline = time.process_time() + PLAYOUT_SECONDS
        for _ in range(PLAYOUTS):
            if time.process_time() > deadline:
                break
            for plies, position in enumerate(self.subject.playout(PLAYOUT_PLIES, self.dice.randrange(2**16))):
                for law, breach in self._check(position).items():
                    first[law] = min(first.get(law, (plies, breach)), (plies, breach))
        for law, (_, breach) in first.items():
            self._record(law, breach)

    def sweep(self, seconds: float) -> bool:
        """Examine as many positions as `seconds` of CPU time allow, until one breaks a law.

        Returns whether these were all positions of the game. The other laws are then checked there, in random order.
        """
        begin = time.process_time()
        self.subject.log_check("sweep")
        if not self._sweep(self._all_positions(), begin + seconds / 2):
            self._sweep(self._random_positions(), begin + seconds)
            return False
        self.dice.shuffle(self._swept)
        for position in self._swept:
            if self.breaches or time.process_time() > begin + seconds:
                break
            self._record_all(self._find_breaches(position))
        return not self.breaches

    def _sweep(self, positions: Iterable[int], deadline: float) -> bool:
        """Examine positions until the CPU time reaches `deadline`. Returns whether all were examined and are right."""
        limit = SWEEP_POSITIONS if deadline < inf else inf
        for count, position in enumerate(positions):
            if self.breaches or count > limit or time.process_time() > deadline:
                return False
            if position in self._checked:
                continue
            if self._looks_right(position):
                self._swept.append(position)
                continue
            self.check_positions([position])
            if not self.breaches and self._looks_right(position):
                where = self.subject.name(position)
                self._record(PURE, f"the results in {where} change between two calls; {ONLY_ARGUMENTS}")
        return not self.breaches

    def _looks_right(self, position: int) -> bool:
        subject = self.subject
        right = subject.call("", looks_right, subject.game, position)
        return bool(right) and (subject.compiled is None or check_compiled(subject, position) is None)

    def _all_positions(self) -> Iterator[int]:
        rules = self.subject.game.rules
        queue = [self.subject.game.start()]
        queued = set(queue)
        for position in queue:
            yield position
            with suppress(*PLUGIN_FAULTS):  # the caller reports them
                children = {rules.apply(position, move) for move in rules.moves(position)} - queued
                queued |= children
                queue += children

    def _random_positions(self) -> Iterator[int]:
        while True:
            yield from self.subject.playout(PLAYOUT_PLIES, self.dice.randrange(2**32))

    def check_positions(self, positions: Iterable[int]) -> None:
        for position in positions:
            self._record_all(self._check(position))

    def _check(self, position: int) -> dict[str, str]:
        """Return the breaches in a position by law. Without a breach, the results are kept as a snapshot."""
        if position in self._checked:
            return self._checked[position]
        breaches = self._checked[position] = self._find_breaches(position)
        if not breaches:
            try:
                self.snapshots[position] = _snapshot(self.subject, position)
            except PerfectPlayError as error:
                breaches.setdefault(*self._attribute(error, position))
        return breaches

    def _find_breaches(self, position: int) -> dict[str, str]:
        breaches: dict[str, str] = {}
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
        snapshots = dict(reversed(self.snapshots.items()))
        self._record(PURE, find_change(self.subject, next(iter(self._checked)), snapshots))
        if not self.breaches:
            self.subject.log_check(PURE)
            self._record(PURE, check_threads(self.subject, self.snapshots))

    def check_length(self) -> None:
        self.subject.log_check(FINITE)
        self._record(FINITE, check_finite(self.subject))


def looks_right(game: Game, position: int) -> bool:
    """Return whether the laws about rules seem to hold in a position. If not, the laws themselves give the reason.

    It is much faster than the laws, because it calls the unchecked hooks.
    """
    rules = game.rules
    try:
        status, moves, image = rules.status(position), list(rules.moves(position)), rules.canonicalize(position)
        children = [rules.apply(position, move) for move in moves]
        if not rules.valid(position) or (status == Status.ONGOING) != bool(moves) or len(set(moves)) < len(moves):
            return False
        if rules.tier is not None and game.kernel is None:  # the tiers of a kernel may have any order
            lowest = rules.tier(position)
            if any(rules.tier(child) < lowest for child in children):
                return False
        if rules.score is not None and not moves:
            score = rules.score(position)
            if (score > 0) - (score < 0) != (status == Status.WON) - (status == Status.LOST):
                return False
        canonical = set(map(rules.canonicalize, children))
        return _image_matches(game, position, image, canonical) and _kernel_matches(game, position, moves, children)
    except (*PLUGIN_FAULTS, PerfectPlayError):
        return False


def _image_matches(game: Game, position: int, image: int, children: set[int]) -> bool:
    rules = game.rules
    if image == position:
        return True
    images = {rules.canonicalize(rules.apply(image, move)) for move in rules.moves(image)}
    same_mover = rules.mover is None or rules.mover(image) == rules.mover(position)
    return (
        images == children
        and same_mover
        and rules.status(image) is rules.status(position)
        and rules.canonicalize(image) == image
    )


def _kernel_matches(game: Game, position: int, moves: list[int], children: list[int]) -> bool:
    kernel, rules = game.kernel, game.rules
    if kernel is None:
        return True
    return (
        kernel.status(position) == rules.status(position)
        and sorted(kernel.moves(position)) == sorted(moves)
        and [kernel.apply(position, move) for move in moves] == children
        and kernel.canonicalize(position) == rules.canonicalize(position)
        and (rules.mover is None or not kernel.has("mover") or kernel.mover(position) == rules.mover(position))
        and (rules.score is None or bool(moves) or kernel.score(position) == rules.score(position))
    )


def _applies(law: Law, subject: GameUnderTest) -> bool:
    try:
        return law.applies(subject)
    except PerfectPlayError:
        return True  # the check will report the reason


def compare_in_new_process(subject: GameUnderTest, snapshots: Snapshots) -> str | None:
    """Compare a game that was just loaded with snapshots from another process, each position in a separate fork.

    Returns a message if they differ, for example because positions are numbered in the order in which they occur: those
    numbers are meaningless to the next command. Nothing was called before in a fork, so a cache cannot hide a mistake.
    """
    first, *others = select_snapshots(snapshots).items()
    changed = next((item for item in others if _differs_in_fork(subject, *item)), first)
    change = find_change(subject, next(iter(snapshots)), dict([changed]))
    return change and (
        f"in a new process, {change}; positions must not be numbered in the order in which they occur, in the order of "
        f"a set of strings, or by hash(), and a cache must be keyed by everything that its result depends on"
    )


def _differs_in_fork(subject: GameUnderTest, position: int, snapshot: Snapshot) -> bool:
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    try:
        signal.alarm(PATIENCE)  # if it hangs, the parent calls the hook again, and reports it
        os._exit(find_change(subject, subject.game.start(), {position: snapshot}) is not None)
    finally:
        os._exit(1)


def select_snapshots(snapshots: Snapshots) -> Snapshots:
    """Return some snapshots in random order: near the start and at the end of the game.

    Options that are stored in globals may change only the end of a game.
    """
    dice = random.Random(1)
    ongoing = [position for position, snapshot in snapshots.items() if snapshot[1] is Status.ONGOING]
    finished = [position for position, snapshot in snapshots.items() if snapshot[1] is not Status.ONGOING]
    chosen = dice.sample(finished, min(len(finished), COMPARED_POSITIONS // 2))
    chosen += ongoing[: COMPARED_POSITIONS - len(chosen)]
    dice.shuffle(chosen)
    return {position: snapshots[position] for position in chosen}


def find_change(subject: GameUnderTest, start: int, snapshots: Snapshots) -> str | None:
    """Return a message if the start or the results in some position have changed."""
    subject.log_check(PURE)
    if (now := subject.game.start()) != start:
        return _change("start", start, now)
    for position, snapshot in snapshots.items():
        subject.log_check(PURE, position)
        try:
            results = _snapshot(subject, position)
        except PerfectPlayError as error:
            return f"a hook that worked before fails ({error})"
        for name, before, after in zip(SNAPSHOT_FIELDS, snapshot, results, strict=True):
            if before != after:
                return _change(f"{name} in {subject.name(position)}", before, after)
    return None


def _snapshot(subject: GameUnderTest, position: int) -> Snapshot:
    game, over = subject.game, subject.is_over(position)
    mover = game.mover(position) if game.has_mover else None
    score = game.score(position) if game.has_score and over else None
    children = sorted(subject.children(position))
    return game.moves(position), game.status(position), children, game.tier(position), mover, score


def _change(what: str, before: object, after: object) -> str:
    return f"the result for {what} changed from {brief(before)} to {brief(after)} between two calls; {ONLY_ARGUMENTS}"


def _breadth_first(game: Game) -> Iterator[int]:
    """Yield the positions nearest to the start, until a hook fails."""
    queue = [game.start()]
    queued = set(queue)
    for position in queue:
        yield position
        try:
            for _, child in game.follow(position):
                if child not in queued and len(queue) < NEAR_POSITIONS:
                    queued.add(child)
                    queue.append(child)
        except PerfectPlayError:
            continue
