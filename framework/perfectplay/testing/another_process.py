"""The next command is another process: does the game say the same there, and beside other variants of it?

Python gives the texts in a set another order in every process. A game whose cells are numbered in such an order keeps
all laws in each of them, and its table is wrong in the next. A variant whose options are in globals is another game as
soon as a second one is loaded.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game
from perfectplay.loading import build_game
from perfectplay.options import Option, OptionValue
from perfectplay.plugins import Plugin, load_plugin
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.trial import Answers, ask_afresh

_PROGRAM = "from perfectplay.testing.another_process import answer; answer()"


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
