"""Tries the laws on a game: near the start one by one, further on in playouts that hypothesis draws and shrinks.

Positions near the start are tried breadth first, so what breaks there is found at its shortest. Playouts reach deep;
hypothesis shortens one that breaks a law as far as it still does.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from perfectplay.errors import PerfectPlayError
from perfectplay.extras import needs_extra
from perfectplay.game import Game, load_game, make_game
from perfectplay.hook_guard import brief
from perfectplay.testing.board_laws import BOARD_LAWS
from perfectplay.testing.endless import endless
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.hints import find_hints
from perfectplay.testing.index_laws import INDEX_LAWS, slot_positions
from perfectplay.testing.kernel_laws import KERNEL_LAWS
from perfectplay.testing.laws import LAWS, Law
from perfectplay.testing.turn_laws import TURN_LAWS

with needs_extra("check", "checking a game"):
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

NEAR_POSITIONS = 150
"""How many positions are tried one by one, breadth first from the start."""

SLOT_POSITIONS = 120
"""Of the positions that an index was seen to hold, how many are tried with every law."""

PLAYOUTS = 60
PLAYOUT_PLIES = 60

ALL_LAWS = (*LAWS, *TURN_LAWS, *BOARD_LAWS, *KERNEL_LAWS, *INDEX_LAWS)
HOOKS = ("hooks", "no hook raises, and each answers with what it promises")
PURE = ("pure", "the same question gets the same answer")
FINITE = ("finite", "play ends, or comes back to where it was")


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


class BrokenLaws(AssertionError, PerfectPlayError):
    """A game breaks some of the laws that solving relies on; the message has a line for each."""


def law_names() -> list[str]:
    """The names of all laws, in the order in which they are tried."""
    return [HOOKS[0], *(law.name for law in ALL_LAWS), PURE[0], FINITE[0]]


def check_game(game: Game | str | object, /, **options: Any) -> None:
    """Try every law on a game: a Game, the name of an installed one, or a plugin (module or object).

    Raises BrokenLaws that names each broken law, a position that shows it, and what to do; PluginError where the
    game cannot even be loaded.
    """
    subject = find_game(game, **options)
    broken = [result for result in run_checks(subject) if result.breach]
    if broken:
        lines = "\n".join(f"  {result.law}: {result.breach}" for result in broken)
        raise BrokenLaws(f"{subject.name} breaks {len(broken)} of the laws that solving relies on:\n{lines}")


def run_checks(game: Game) -> list[Result]:
    """Try every law on a game; one result each, in the order of `law_names`."""
    subject = GameUnderTest(game)
    trial = Trial(subject)
    trial.once()
    trial.near_the_start()
    trial.in_the_index()
    trial.in_playouts()
    trial.ask_again()
    breaches = trial.breaches
    hints = {} if breaches else find_hints(subject, trial.positions)
    results = [Result(*HOOKS, breaches.get(HOOKS[0]))]
    for law in ALL_LAWS:
        hint = hints.get(law.name)
        results.append(Result(law.name, law.promise, breaches.get(law.name), law in trial.laws, hint))
    return [*results, Result(*PURE, breaches.get(PURE[0])), Result(*FINITE, endless(subject))]


def find_game(game: Game | str | object, /, **options: Any) -> Game:
    """The Game itself, the installed one of this name, or the game of a plugin."""
    if isinstance(game, Game):
        return game
    return load_game(game, **options) if isinstance(game, str) else make_game(game, **options)


def _applies(law: Law, subject: GameUnderTest) -> bool:
    try:
        return law.applies(subject)
    except PerfectPlayError:
        return True  # trying it will say why


class Trial:
    """One game's laws, and which of them are broken so far."""

    def __init__(self, subject: GameUnderTest) -> None:
        self.subject = subject
        self.breaches: dict[str, str] = {}
        self.laws = [law for law in ALL_LAWS if _applies(law, subject)]
        self._known: dict[int, dict[str, str]] = {}
        self._answers: dict[int, tuple[object, ...]] = {}

    @property
    def positions(self) -> Collection[int]:
        """The positions that were tried."""
        return self._known.keys()

    def once(self) -> None:
        """Ask what does not depend on a position."""
        game = self.subject.game
        try:
            assert game.about.title
            assert game.players
        except PerfectPlayError as error:
            self.breaches[HOOKS[0]] = str(error)

    def near_the_start(self) -> None:
        self._note(_breadth_first(self.subject.game))

    def in_the_index(self) -> None:
        """Try positions of slots of every tier, where there is an index."""
        kernel = self.subject.game.kernel
        if kernel is None or not kernel.ranked:
            return
        positions = []
        try:
            for position, breach in slot_positions(self.subject):
                if breach is None:
                    positions.append(position)
                else:
                    self.breaches.setdefault("rank", breach)
        except (PerfectPlayError, ValueError) as error:
            self.breaches.setdefault(HOOKS[0], str(error))
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
        """Try positions, and keep the first breach of each law."""
        for position in positions:
            for name, breach in self._try(position).items():
                self.breaches.setdefault(name, breach)

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
                try:
                    breach = law.breach(self.subject, position)
                except PerfectPlayError as error:
                    found.setdefault(HOOKS[0], str(error))
                except ValueError as error:  # what a kernel wrote does not fit
                    found.setdefault(HOOKS[0], f"{self.subject.name(position)}: {error}")
                else:
                    if breach is not None:
                        found[law.name] = breach
                if "encoding" in found:
                    break  # nothing else makes sense there
            self._known[position] = found
            if not found:
                self._answers[position] = self._ask(position)
        return self._known[position]

    def ask_again(self) -> None:
        """Long after the first time, and in another order: a hook that remembers or guesses shows itself."""
        for position in reversed(self._answers):
            try:
                now = self._ask(position)
            except PerfectPlayError as error:
                self.breaches.setdefault(HOOKS[0], str(error))
                return
            for name, before, after in zip(("moves", "status", "children"), self._answers[position], now, strict=True):
                if before != after:
                    self.breaches[PURE[0]] = (
                        f"asked twice for the {name} of {self.subject.name(position)}, the game answered "
                        f"{brief(before)} and then {brief(after)}: a hook must depend on its arguments alone"
                    )
                    return

    def _ask(self, position: int) -> tuple[object, ...]:
        game = self.subject.game
        return (game.moves(position), game.status(position), sorted(self.subject.children(position)))


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
