"""The ways in: a game is loaded and checked in a process of its own, which may crash, hang or eat memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.game import Game
from perfectplay.game.loading import build_game, load_game, make_game
from perfectplay.game.options import Option, OptionValue
from perfectplay.game.plugins import Plugin, load_plugin
from perfectplay.testing.sandbox import Ended, Send, Watch, in_own_process
from perfectplay.testing.subject import GameUnderTest
from perfectplay.testing.trial import HOOKS, PROMISES, PURE, Answers, Result, ask_afresh, try_laws

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
            if game.is_loadable:
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


# The next command is another process: does the game say the same there, and beside other variants of it?
#
# Python gives the texts in a set another order in every process. A game whose cells are numbered in such an order keeps
# all laws in each of them, and its table is wrong in the next. A variant whose options are in globals is another game as
# soon as a second one is loaded.

_PROGRAM = "from perfectplay.testing.checks import answer; answer()"


def ask_elsewhere(game: Game, answers: Answers) -> str | None:
    """What is wrong if a game, found by its name in a process of another hash seed, does not give these answers."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((sys.path, game.command_word, game.options, answers)),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=False,
    )
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return f"asked afresh, as the next command does, the game fails: {reason[0]}"
    return done.stdout.decode() or None


def answer() -> None:
    """In the other process: read the question, and write what is wrong."""
    path, word, options, answers = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    with redirect_stdout(sys.stderr):  # what hooks print
        plugin = load_plugin(word)
        game = build_game(plugin, options)
        breach = ask_afresh(GameUnderTest(game), answers) or _beside_variants(plugin, game, answers)
    sys.stdout.buffer.write((breach or "").encode())


def _beside_variants(plugin: Plugin, game: Game, answers: Answers) -> str | None:
    for option in game.declared_options:
        given = game.options[option.name]
        for value in _near(option, given):
            with suppress(PerfectPlayError):  # out of range, or options that do not go together
                build_game(plugin, game.options | {option.name: value})
        if ask_afresh(GameUnderTest(game), answers):
            return (
                f"once a variant with another {option.name} than {given} is loaded too, the game answers as that one: "
                f"keep what the options say in the object that 'configure' returns, not in globals"
            )
    return None


def _near(option: Option, given: OptionValue) -> Sequence[OptionValue]:
    """Values of an option besides the given one."""
    if isinstance(given, bool):
        return [not given]
    if isinstance(given, int):
        return [given - 1, given + 1]
    return [choice for choice in (*option.choices, option.default) if choice != given]
