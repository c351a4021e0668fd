"""Tries the laws on a game: near the start one by one, further on in playouts that hypothesis draws and shrinks.

Positions near the start are tried breadth first, so what breaks there is found at its shortest. Playouts reach deep;
hypothesis shortens one that breaks a law as far as it still does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game, load_game, make_game
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.kernel_laws import KERNEL_LAWS
from perfectplay.testing.laws import LAWS, Law

NEAR_POSITIONS = 150
"""How many positions are tried one by one, breadth first from the start."""

PLAYOUTS = 60
PLAYOUT_PLIES = 60

ENDLESS_PLIES = 1 << 14
"""A playout that neither ends nor comes back to a position for so long is taken for endless."""

ENDLESS_PLAYOUTS = 10

ALL_LAWS = (*LAWS, *KERNEL_LAWS)
HOOKS = ("hooks", "no hook raises, and each answers with what it promises")
FINITE = ("finite", "play ends, or comes back to where it was")


@dataclass(frozen=True, slots=True)
class Result:
    """How one law fared: `breach` says what is broken, `applies` is False where the game has nothing to check."""

    law: str
    promise: str
    breach: str | None = None
    applies: bool = True


class BrokenLaws(AssertionError, PerfectPlayError):
    """A game breaks some of the laws that solving relies on; the message has a line for each."""


def law_names() -> list[str]:
    """The names of all laws, in the order in which they are tried."""
    return [HOOKS[0], *(law.name for law in ALL_LAWS), FINITE[0]]


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
    trial = _Trial(subject)
    laws = {law.name for law in ALL_LAWS if _applies(law, subject)}
    trial.near_the_start()
    trial.in_playouts()
    results = [Result(*HOOKS, trial.breaches.get(HOOKS[0]))]
    results += [Result(law.name, law.promise, trial.breaches.get(law.name), law.name in laws) for law in ALL_LAWS]
    return [*results, Result(*FINITE, _endless(game))]


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


class _Trial:
    """One game's laws, and which of them are broken so far."""

    def __init__(self, subject: GameUnderTest) -> None:
        self.subject = subject
        self.breaches: dict[str, str] = {}
        self._known: dict[int, dict[str, str]] = {}
        self._laws = [law for law in ALL_LAWS if _applies(law, subject)]

    def near_the_start(self) -> None:
        for position in _breadth_first(self.subject.game):
            for name, breach in self._try(position).items():
                self.breaches.setdefault(name, breach)

    def in_playouts(self) -> None:
        """Look for one more broken law at a time, each with its own shortest playout."""
        playouts = st.tuples(st.integers(0, PLAYOUT_PLIES), st.integers(0, 2**16))  # fewest plies first when shrunk
        quietly = settings(max_examples=PLAYOUTS, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        while True:
            try:
                shortest = find(playouts, self._breaks_another, settings=quietly, random=random.Random(1))
            except NoSuchExample:
                return
            for position in self._positions(shortest):
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
            for law in self._laws:
                try:
                    breach = law.breach(self.subject, position)
                except PerfectPlayError as error:
                    found.setdefault(HOOKS[0], str(error))
                else:
                    if breach is not None:
                        found[law.name] = breach
                if "encoding" in found:
                    break  # nothing else makes sense there
            self._known[position] = found
        return self._known[position]


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


def _endless(game: Game) -> str | None:
    for seed in range(ENDLESS_PLAYOUTS):
        seen: set[int] = set()
        for position in _playout(game, ENDLESS_PLIES, random.Random(seed)):
            try:
                kind = game.canonicalize(position)
            except PerfectPlayError:
                break  # another law's business
            if kind in seen:
                break
            seen.add(kind)
            if len(seen) > ENDLESS_PLIES:
                return (
                    f"after {ENDLESS_PLIES:,} moves play had neither ended nor come back to a position it had been in "
                    f"(it stood at {position}): does something in a position only ever grow, like a count of moves? "
                    f"Leave out whatever the rest of the game does not depend on"
                )
    return None
