"""Tries the laws on a game: near the start one by one, further on in playouts that hypothesis draws and shrinks.

Positions near the start are tried breadth first, so what breaks there is found at its shortest. Playouts reach deep;
hypothesis shortens one that breaks a law as far as it still does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from perfectplay.errors import PerfectPlayError, needs_extra
from perfectplay.game.game import Game
from perfectplay.game.hooks import brief
from perfectplay.testing.hints import find_hints
from perfectplay.testing.kernel_laws import INDEX_LAWS, KERNEL_LAWS, contradiction, slot_positions
from perfectplay.testing.laws import BOARD_LAWS, LAWS, TURN_LAWS, WALK_LAWS, Law, endless
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status

with needs_extra("check", "checking a game"):
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

NEAR_POSITIONS = 150
"""How many positions are tried one by one, breadth first from the start."""

SLOT_POSITIONS = 120
"""Of the positions that an index was seen to hold, how many are tried with every law."""

ASKED_AFRESH = 30
"""Positions, nearest to the start, about which a game is asked once more in a process that has asked nothing yet."""

ASKED_AGAIN = 8
"""How often a game is asked for the same moves, once something is wrong, to see whether it is chance."""

PLAYOUTS = 60
PLAYOUT_PLIES = 60

ALL_LAWS = (*LAWS, *TURN_LAWS, *BOARD_LAWS, *WALK_LAWS, *KERNEL_LAWS, *INDEX_LAWS)
HOOKS, PURE, FINITE = "hooks", "pure", "finite"

PROMISES = {
    HOOKS: "no hook raises, and each answers with what it promises",
    **{law.name: law.promise for law in ALL_LAWS},
    PURE: "the same question gets the same answer",
    FINITE: "play ends, or comes back to where it was",
}
"""What each law says, in the order in which they are tried."""


Answer = tuple[list[int], Status, list[int]]
"""Moves, status and canonical children of a position."""
Answers = dict[int, Answer]


@dataclass(frozen=True, slots=True)
class Result:
    """How one law fared: `breach` says what is broken, `applies` is False where the game has nothing to check.

    A `hint` is about what is allowed, but odd.
    """

    law: str
    promise: str
    breach: str | None = None
    applies: bool = True
    hint: str | None = None


def try_laws(
    subject: GameUnderTest, found: Callable[[str, str], None] = lambda law, breach: None
) -> tuple[list[Result], Answers]:
    """Try every law: one result each, in the order of `PROMISES`, and what the game answered where all is well.

    `found` hears of a breach at once.
    """
    trial = Trial(subject, found)
    trial.once()
    trial.near_the_start()
    trial.in_the_index()
    trial.in_playouts()
    trial.ask_again()
    trial.ask_at_once()
    hints = {} if trial.breaches else find_hints(subject, trial.positions)
    trial.go_on_long()
    left_out = {law.name for law in ALL_LAWS if law not in trial.laws}
    results = [
        Result(law, promise, trial.breaches.get(law), law not in left_out, hints.get(law))
        for law, promise in PROMISES.items()
    ]
    return results, trial.answers


def _applies(law: Law, subject: GameUnderTest) -> bool:
    try:
        return law.applies(subject)
    except PerfectPlayError:
        return True  # trying it will say why


class Trial:
    """One game's laws, and which of them are broken so far."""

    def __init__(self, subject: GameUnderTest, found: Callable[[str, str], None]) -> None:
        self.subject = subject
        self.breaches: dict[str, str] = {}
        self._found = found
        subject.tries(HOOKS)
        self.laws = [law for law in ALL_LAWS if _applies(law, subject)]
        self._known: dict[int, dict[str, str]] = {}
        self.answers: Answers = {}
        """Of the positions in which no law is broken."""

    @property
    def positions(self) -> Collection[int]:
        """The positions that were tried."""
        return self._known.keys()

    def _breaks(self, law: str, breach: str) -> None:
        """Keep the first breach of each law."""
        if law not in self.breaches:
            self.breaches[law] = breach
            self._found(law, breach)

    def once(self) -> None:
        """Ask what does not depend on a position."""
        game = self.subject.game
        self.subject.tries(HOOKS)
        try:
            assert game.about.title
            assert game.players
        except PerfectPlayError as error:
            self._breaks(HOOKS, str(error))

    def near_the_start(self) -> None:
        self._note(_breadth_first(self.subject.game))

    def in_the_index(self) -> None:
        """Try positions of slots of every tier, where there is an index."""
        kernel = self.subject.game.kernel
        if kernel is None or not kernel.ranked:
            return
        self.subject.tries("rank")
        positions = []
        try:
            for position, breach in slot_positions(self.subject):
                if breach is None:
                    positions.append(position)
                else:
                    self._breaks("rank", breach)
        except (PerfectPlayError, ValueError) as error:
            self._breaks(HOOKS, str(error))
        self._note(random.Random(1).sample(positions, min(len(positions), SLOT_POSITIONS)))

    def in_playouts(self) -> None:
        """Look for one more broken law at a time, each with its own shortest playout."""
        playouts = st.tuples(st.integers(0, PLAYOUT_PLIES), st.integers(0, 2**16))  # fewest plies first when shrunk
        quietly = settings(max_examples=PLAYOUTS, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        while True:
            try:
                shortest = find(playouts, self._breaks_another, settings=quietly, random=random.Random(1))
            except NoSuchExample:
                return
            self._note(self._positions(shortest))

    def _note(self, positions: Iterable[int]) -> None:
        for position in positions:
            for name, breach in self._try(position).items():
                self._breaks(name, breach)

    def _breaks_another(self, playout: tuple[int, int]) -> bool:
        return any(self._try(position).keys() - self.breaches.keys() for position in self._positions(playout))

    def _positions(self, playout: tuple[int, int]) -> Iterator[int]:
        plies, seed = playout
        return _playout(self.subject.game, plies, random.Random(seed))

    def _try(self, position: int) -> dict[str, str]:
        """What is broken in a position, by law; asked once, as hypothesis comes by again and again."""
        if position not in self._known:
            found: dict[str, str] = {}
            for law in self.laws:
                self.subject.tries(law.name, position)
                try:
                    breach = law.breach(self.subject, position)
                except PerfectPlayError as error:
                    found.setdefault(*self._blame(position, error))
                except ValueError as error:  # what a kernel wrote does not fit
                    found.setdefault(HOOKS, f"{self.subject.name(position)}: {error}")
                else:
                    if breach is not None:
                        found[law.name] = breach
                if "encoding" in found:
                    break  # nothing else makes sense there
            self._known[position] = found
            if not found:
                try:
                    self.answers[position] = _ask(self.subject, position)
                except PerfectPlayError as error:
                    found.setdefault(*self._blame(position, error))
        return self._known[position]

    def _blame(self, position: int, error: PerfectPlayError) -> tuple[str, str]:
        """The law that an error breaks. A game that says now this, now that, raises errors all over the place."""
        try:
            said = [self.subject.game.moves(position) for _ in range(ASKED_AGAIN)]
        except PerfectPlayError:
            return HOOKS, str(error)
        other = next((moves for moves in said if moves != said[0]), None)
        if other is None:
            return HOOKS, str(error)
        return PURE, impure("moves", self.subject.name(position), said[0], other)

    def ask_again(self) -> None:
        """Long after the first time, and in another order: a hook that remembers or guesses shows itself."""
        if (breach := other_start(self.subject, next(iter(self._known)))) is not None:
            self._breaks(PURE, breach)
            return
        for position in reversed(self.answers):
            try:
                breach = other_answer(self.subject, position, self.answers[position])
            except PerfectPlayError as error:
                self._breaks(*self._blame(position, error))
                return
            if breach is not None:
                self._breaks(PURE, breach)
                return

    def ask_at_once(self) -> None:
        """From several threads, as a solve does; where something is broken anyway, one thread is enough."""
        self.subject.tries(PURE)
        breach = None if self.breaches else contradiction(self.subject, self.answers)
        if breach is not None:
            self._breaks(PURE, breach)

    def go_on_long(self) -> None:
        self.subject.tries(FINITE)
        breach = endless(self.subject)
        if breach is not None:
            self._breaks(FINITE, breach)


def ask_afresh(subject: GameUnderTest, answers: Answers) -> str | None:
    """What is wrong if a game that has not been asked anything yet gives other answers, asked in another order.

    So it is with positions that are numbered as they are met: their numbers mean nothing to the next command.
    """
    if (breach := other_start(subject, next(iter(answers)))) is not None:
        return f"asked afresh, as the next command does: {breach}"
    for position in reversed(list(answers)[:ASKED_AFRESH]):
        try:
            breach = other_answer(subject, position, answers[position])
        except PerfectPlayError as error:
            breach = f"{error}: what it said before, it can no longer say"
        if breach is not None:
            return (
                f"asked afresh, as the next command does: {breach}. Are positions numbered as they are met? Or in the "
                f"order of a set of texts, or by their hash(), which Python makes anew for each process?"
            )
    return None


def other_start(subject: GameUnderTest, first: int) -> str | None:
    """What is wrong if play does not begin where it began at first."""
    subject.tries(PURE)
    now = subject.game.start()
    return None if now == first else impure("start", subject.game.name, first, now)


def other_answer(subject: GameUnderTest, position: int, answer: Answer) -> str | None:
    """What is wrong if the game does not give this answer again."""
    subject.tries(PURE, position)
    for name, before, after in zip(("moves", "status", "children"), answer, _ask(subject, position), strict=True):
        if before != after:
            return impure(name, subject.name(position), before, after)
    return None


def _ask(subject: GameUnderTest, position: int) -> Answer:
    game = subject.game
    return game.moves(position), game.status(position), sorted(subject.children(position))


def impure(what: str, position: str, before: object, after: object) -> str:
    """What to say of a hook that answers differently when it is asked again."""
    return (
        f"asked twice for the {what} of {position}, the game answered {brief(before)} and then {brief(after)}: a hook "
        f"must depend on its arguments alone"
    )


def _breadth_first(game: Game) -> Iterator[int]:
    """The positions nearest to the start, images and all, as far as the hooks lead."""
    queue = [game.start()]
    known = set(queue)
    for position in queue:
        yield position
        try:
            for move in game.moves(position):
                child = game.apply(position, move)
                if child not in known and len(queue) < NEAR_POSITIONS:
                    known.add(child)
                    queue.append(child)
        except PerfectPlayError:
            continue


def _playout(game: Game, plies: int, dice: random.Random) -> Iterator[int]:
    """The positions of a game played at random; as far as the hooks lead."""
    position = game.start()
    yield position
    try:
        for _ in range(plies):
            legal = game.moves(position)
            if not legal:
                return
            position = game.apply(position, dice.choice(legal))
            yield position
    except PerfectPlayError:
        return
