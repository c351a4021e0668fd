"""The ways in: a game is loaded and checked in a process of its own, which may crash, hang or eat memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game import Game
from perfectplay.loading import load_game, make_game
from perfectplay.testing.another_process import ask_elsewhere
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.own_process import Ended, Send, in_own_process
from perfectplay.testing.trial import HOOKS, PROMISES, PURE, Answers, Result, ask_afresh, try_laws
from perfectplay.testing.watch import Watch

NAMING_PATIENCE = 5
"""Seconds that writing down one position may take."""


class BrokenLaws(AssertionError, PerfectPlayError):
    """A game breaks some of the laws that solving relies on; the message has a line for each."""


def law_names() -> list[str]:
    """The names of all laws, in the order in which they are tried."""
    return list(PROMISES)


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


def find_game(game: Game | str | object, /, **options: Any) -> Game:
    """The Game itself, the installed one of this name, or the game of a plugin."""
    if isinstance(game, Game):
        return game
    if isinstance(game, str):
        return load_apart(game, lambda: load_game(game, **options))
    return load_apart("game", lambda: make_game(game, **options))


def load_apart(name: str, load: Callable[[], Game]) -> Game:
    """The game that `load` makes, which is tried in a process of its own first; PluginError where that ends in it."""
    if _debugging():
        return load()
    watch = Watch()

    def work(send: Send) -> None:
        watch.over_hooks()
        with suppress(PerfectPlayError):  # raised below, where its cause is kept
            load()

    try:
        for _ in in_own_process(work, waits_for=watch.waits_for):
            pass
    except Ended as ended:
        story = watch.story(str(ended), name=lambda position: f"position {position}")
        raise PluginError(f"{name}: {story}") from ended
    return load()


def run_checks(game: Game) -> list[Result]:
    """Try every law on a game; one result each, in the order of `law_names`.

    It is asked in a process of its own, so that a crash, a call that never returns, or one that takes all memory is a
    breach like others. With PERFECTPLAY_DEBUG in the environment it is asked here, where a debugger finds it.
    """
    if _debugging():
        return try_laws(GameUnderTest(game))[0]
    watch = Watch()
    subject = GameUnderTest(game, watch)
    breaches: dict[str, str] = {}
    try:
        results, answers = _try_apart(subject, watch, breaches)
        if not breaches:
            if game.found_by_name:
                breach = ask_elsewhere(game, answers)
            else:
                (breach,) = _apart(subject, watch, lambda send: send(ask_afresh(subject, answers)))
            results = [replace(each, breach=breach) if each.law == PURE else each for each in results]
    except Ended as ended:
        breaches.setdefault(HOOKS, watch.story(str(ended), name=partial(_name_apart, subject)))
        results = [_untold(law, promise, breaches.get(law)) for law, promise in PROMISES.items()]
    return results


def _try_apart(subject: GameUnderTest, watch: Watch, breaches: dict[str, str]) -> tuple[list[Result], Answers]:
    """Try every law; `breaches` has those that were found, even if the trial does not come to its end."""
    for sent in _apart(subject, watch, lambda send: send(try_laws(subject, lambda *found: send(found)))):
        match sent:
            case (str(law), str(breach)):
                breaches.setdefault(law, breach)
            case (list(results), dict(answers)):
                return results, answers
    raise AssertionError("a trial sends its results last")


def _apart(subject: GameUnderTest, watch: Watch, ask: Callable[[Send], None]) -> Iterator[Any]:
    """What `ask` sends from a process in which all questions to the game are watched."""

    def work(send: Send) -> None:
        watch.over_hooks()
        if subject.game.kernel is not None:
            watch.over(subject.game.kernel)
        ask(send)

    return in_own_process(work, waits_for=watch.waits_for)


def _debugging() -> bool:
    return bool(os.environ.get("PERFECTPLAY_DEBUG"))


def _untold(law: str, promise: str, breach: str | None) -> Result:
    """A law's result where the trial did not come to its end."""
    return Result(law, promise, breach, hint=None if breach else f"not tried to the end: see '{HOOKS}'")


def _name_apart(subject: GameUnderTest, position: int) -> str:
    """A position as messages name it; writing it down may crash as well."""
    try:
        (name,) = in_own_process(
            lambda send: send(subject.name(position)), waits_for=lambda: 0, patience=NAMING_PATIENCE
        )
    except Ended:
        return f"position {position}"
    return str(name)
