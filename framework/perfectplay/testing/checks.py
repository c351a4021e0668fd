"""Entry points of the conformance kit: load a game and check its laws, in processes that may crash or hang."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.game import Game
from perfectplay.game.loading import build_game, load_game, make_game
from perfectplay.game.options import Option, OptionValue
from perfectplay.game.plugins import Plugin, load_plugin
from perfectplay.testing.sandbox import CallLog, ChildDied, Send, run_in_subprocess
from perfectplay.testing.subject import GameUnderTest
from perfectplay.testing.trial import HOOKS, PROMISES, PURE, CheckResult, Snapshots, check_laws, compare_in_new_process

Loaded = TypeVar("Loaded")

NAMING_PATIENCE = 5
"""Seconds that formatting one position may take."""


class BrokenLaws(AssertionError, PerfectPlayError):
    """A game fails some checks. The message has a line for each."""


def law_names() -> list[str]:
    """Return the names of all laws, in the order of the results."""
    return list(PROMISES)


def check_game(game: Game | str | object, /, **options: Any) -> None:
    """Check a game: a Game, the name of an installed game, or a plugin (module or object).

    Raises BrokenLaws, which names each broken law, a position that shows it, and the remedy; PluginError if the game
    cannot be loaded.
    """
    subject = find_game(game, **options)
    broken = [result for result in run_checks(subject) if result.breach]
    if broken:
        lines = "\n".join(f"  {result.law}: {result.breach}" for result in broken)
        raise BrokenLaws(f"{subject.name} fails {len(broken)} of the checks that solving relies on:\n{lines}")


def find_game(game: Game | str | object, /, **options: Any) -> Game:
    """Return the Game itself, the installed game with this name, or the game of a plugin."""
    if isinstance(game, Game):
        return game
    if isinstance(game, str):
        return load_in_subprocess(game, lambda: load_game(game, **options))
    return load_in_subprocess("game", lambda: make_game(game, **options))


def load_in_subprocess(name: str, load: Callable[[], Loaded]) -> Loaded:
    """Call `load` in a subprocess first, and if that ends normally, in this process.

    Returns the result of `load`.
    Raises PluginError, which names the game, if the subprocess crashes, hangs or uses too much memory.
    """
    if _debugging():
        return load()
    log = CallLog()

    def work(send: Send) -> None:
        log.attach()
        with suppress(PerfectPlayError):  # raised again below, with its cause
            load()

    try:
        # 0 is the import of the plugin, which may hang before any hook is called.
        for _ in run_in_subprocess(work, pending_call=lambda: log.pending_call() or 0):
            pass
    except ChildDied as reason:
        message = log.describe(str(reason), name=lambda position: f"position {position}")
        raise PluginError(f"{Path(name).stem}: {message}") from reason
    return load()


def run_checks(game: Game) -> list[CheckResult]:
    """Check every law and return one result for each, in the order of `law_names`.

    The game runs in a subprocess. A crash, a call that does not return, or excessive memory use breaks the law `hooks`.
    With PERFECTPLAY_DEBUG in the environment the game runs in this process, where a debugger can stop it.
    """
    if _debugging():
        return check_laws(GameUnderTest(game))[0]
    log = CallLog()
    subject = GameUnderTest(game, log)
    breaches: dict[str, str] = {}
    try:
        results, snapshots = _check_in_subprocess(subject, log, breaches)
        if breaches:
            return results
        if game.is_loadable:
            breach = compare_in_new_interpreter(game, snapshots)
        else:
            (breach,) = _run_logged(subject, log, lambda send: send(compare_in_new_process(subject, snapshots)))
        return [replace(each, breach=breach) if each.law == PURE else each for each in results]
    except ChildDied as reason:
        breaches.setdefault(HOOKS, log.describe(str(reason), name=partial(_name_in_subprocess, subject)))
        return [_inconclusive(law, promise, breaches.get(law)) for law, promise in PROMISES.items()]


def _check_in_subprocess(
    subject: GameUnderTest, log: CallLog, breaches: dict[str, str]
) -> tuple[list[CheckResult], Snapshots]:
    """Check every law. Adds each breach to `breaches` when it is found, because the subprocess may die later."""
    for message in _run_logged(subject, log, lambda send: send(check_laws(subject, lambda *breach: send(breach)))):
        match message:
            case (str(law), str(breach)):
                breaches.setdefault(law, breach)
            case (list(results), dict(snapshots)):
                return results, snapshots
    raise AssertionError("the subprocess sends its results last")


def _run_logged(subject: GameUnderTest, log: CallLog, work: Callable[[Send], None]) -> Iterator[Any]:
    """Yield what `work` sends from a subprocess that logs all calls of the game."""

    def logged_work(send: Send) -> None:
        log.attach(subject.game.kernel)
        work(send)

    return run_in_subprocess(logged_work, pending_call=log.pending_call)


def _debugging() -> bool:
    return bool(os.environ.get("PERFECTPLAY_DEBUG"))


def _inconclusive(law: str, promise: str, breach: str | None) -> CheckResult:
    """Return a law's result after the subprocess died."""
    return CheckResult(law, promise, breach, hint=None if breach else f"not completed; see '{HOOKS}'")


def _name_in_subprocess(subject: GameUnderTest, position: int) -> str:
    """Return a position as messages show it. Formatting it may crash too."""
    try:
        (name,) = run_in_subprocess(
            lambda send: send(subject.name(position)), pending_call=lambda: 0, patience=NAMING_PATIENCE
        )
    except ChildDied:
        return f"position {position}"
    return str(name)


# ---- a new interpreter: the next command must see the same game, also after other variants were loaded ----
#
# Python orders a set of strings differently in every process. A game that numbers its cells in such an order passes all
# checks in one process, but its table is wrong in the next. A variant whose options are in globals becomes another game
# when a second variant is loaded.

_PROGRAM = "from perfectplay.testing.checks import main; main()"


def compare_in_new_interpreter(game: Game, snapshots: Snapshots) -> str | None:
    """Compare a game with the same game in an interpreter with another hash seed, where it is loaded by its name.

    Returns a message if they differ.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    process = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((sys.path, game.command_word, game.options, snapshots)),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=False,
    )
    if process.returncode:
        errors = process.stderr.decode(errors="replace").strip().splitlines()
        return f"in a new process, the game fails: {errors[-1] if errors else f'exit code {process.returncode}'}"
    return process.stdout.decode() or None


def main() -> None:
    """Read the game and the snapshots from standard input, compare them, and write the message."""
    path, word, options, snapshots = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    with redirect_stdout(sys.stderr):  # hooks may print
        plugin = load_plugin(word)
        game = build_game(plugin, options)
        breach = compare_in_new_process(GameUnderTest(game), snapshots) or _compare_variants(plugin, game, snapshots)
    sys.stdout.buffer.write((breach or "").encode())


def _compare_variants(plugin: Plugin, game: Game, snapshots: Snapshots) -> str | None:
    """Return a message if loading another variant changes the game."""
    for option in game.declared_options:
        value = game.options[option.name]
        for other in _other_values(option, value):
            with suppress(PerfectPlayError):  # out of range, or an invalid combination
                build_game(plugin, game.options | {option.name: other})
        if compare_in_new_process(GameUnderTest(game), snapshots):
            return (
                f"the game changes when a variant with another {option.name} than {value} is loaded; store the options "
                f"in the object that 'configure' returns, not in globals"
            )
    return None


def _other_values(option: Option, value: OptionValue) -> Sequence[OptionValue]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    return [choice for choice in (*option.choices, option.default) if choice != value]
