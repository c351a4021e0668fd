"""Entry points of the conformance kit: load a game and check its laws, in processes that may crash or hang."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.board_text import draw
from perfectplay.game.game import Game
from perfectplay.game.loading import build_game, load_game, make_game
from perfectplay.game.options import Option, OptionValue
from perfectplay.game.plugins import Plugin, load_plugin
from perfectplay.game.wording import counted
from perfectplay.testing.sandbox import CallLog, ChildDied, Send, run_in_subprocess
from perfectplay.testing.subject import GameUnderTest
from perfectplay.testing.trial import (
    HOOKS,
    PROMISES,
    PURE,
    CheckReport,
    CheckResult,
    Effort,
    Snapshots,
    Trial,
    check_laws,
    compare_in_new_process,
    find_change,
    select_snapshots,
)
from perfectplay.values import Status

Loaded = TypeVar("Loaded")

NAMING_PATIENCE = 5
"""Seconds that formatting one position may take."""

THREAD_PATIENCE = 1
"""Seconds in which a thread that importing a plugin starts must end."""

MAX_PLIES = 200
"""A longer game is cut off, to keep the text readable."""


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
    if breaches := run_checks(subject).breaches:
        lines = "\n".join(f"  {law}: {breach}" for law, breach in breaches.items())
        raise BrokenLaws(f"{subject.name} fails {len(breaches)} of the checks that solving relies on:\n{lines}")


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
    Raises PluginError, which names the game, if the subprocess crashes, hangs, starts a thread that keeps running, or
    uses too much memory.
    """
    if _debugging():
        return load()
    log = CallLog()

    def work(send: Send) -> None:
        log.attach()
        with suppress(PerfectPlayError):  # raised again below, with its cause
            load()
        send(_running_thread())

    try:
        # 0 is the import of the plugin, which may hang before any hook is called.
        for thread in run_in_subprocess(work, pending_call=lambda: log.pending_call() or 0):
            if thread is not None:
                raise PluginError(
                    f"{Path(name).stem}: loading the game starts a thread ({thread}) that keeps running, so no command "
                    f"would end; a game must not start threads"
                )
    except ChildDied as reason:
        message = log.describe(str(reason), name=lambda position: f"position {position}")
        raise PluginError(f"{Path(name).stem}: {message}") from reason
    return load()


def _running_thread() -> str | None:
    """Return the name of a thread that prevents this process from ending, or None."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(THREAD_PATIENCE)
            if thread.is_alive():
                return thread.name
    return None


def run_checks(game: Game, effort: Effort = Effort()) -> CheckReport:  # noqa: B008 (immutable)
    """Check every law. The report has one result for each, in the order of `law_names`.

    The game runs in a subprocess. A crash, a call that does not return, or excessive memory use breaks the law `hooks`.
    With PERFECTPLAY_DEBUG in the environment the game runs in this process, where a debugger can stop it.
    """
    if _debugging():
        return check_laws(GameUnderTest(game), effort)[0]
    log = CallLog()
    subject = GameUnderTest(game, log)
    breaches: dict[str, str] = {}
    try:
        report, snapshots = _check_in_subprocess(subject, effort, log, breaches)
        if breaches:
            return report
        if game.is_loadable:
            breach = compare_in_new_interpreter(game, snapshots)
        else:
            (breach,) = run_logged(subject, log, lambda send: send(compare_in_new_process(subject, snapshots)))
        results = [replace(each, breach=breach) if each.law == PURE else each for each in report.results]
        return replace(report, results=results)
    except ChildDied as reason:
        breaches.setdefault(HOOKS, log.describe(str(reason), name=partial(name_in_subprocess, subject)))
        results = [_inconclusive(law, promise, breaches.get(law)) for law, promise in PROMISES.items()]
        return CheckReport(results, positions=0, complete=False)


def explain_position(game: Game, position: int) -> str | None:
    """Return the first breach of a law in a position or after one of its moves; None if there is none."""
    trial = Trial(GameUnderTest(game), lambda law, breach: None)
    trial.check_positions([position])
    if not trial.breaches:
        trial.check_positions(child for _, child in game.follow(position))
    return next((f"{law}: {breach}" for law, breach in trial.breaches.items()), None)


def _check_in_subprocess(
    subject: GameUnderTest, effort: Effort, log: CallLog, breaches: dict[str, str]
) -> tuple[CheckReport, Snapshots]:
    """Check every law. Adds each breach to `breaches` when it is found, because the subprocess may die later."""

    def work(send: Send) -> None:
        send(check_laws(subject, effort, lambda *breach: send(breach)))

    for message in run_logged(subject, log, work):
        match message:
            case (str(law), str(breach)):
                breaches.setdefault(law, breach)
            case (CheckReport() as report, dict(snapshots)):
                return report, snapshots
    raise AssertionError("the subprocess sends its results last")


def run_logged(subject: GameUnderTest, log: CallLog, work: Callable[[Send], None]) -> Iterator[Any]:
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


def name_in_subprocess(subject: GameUnderTest, position: int) -> str:
    """Return a position as messages show it. Formatting it may crash too."""
    try:
        (name,) = run_in_subprocess(
            lambda send: send(subject.name(position)), pending_call=lambda: 0, patience=NAMING_PATIENCE
        )
    except ChildDied:
        return f"position {position}"
    return str(name)


# ---- `solve check --show`: a random game in words, so that authors can read what their rules mean ----
#
# No law can find out whether WON and LOST were meant for the other player, or whether `mover` names the wrong one. A
# reader sees it at once.


def narrate(game: Game, seed: int) -> Iterator[str]:
    """Yield the lines of `narrate_game` from a subprocess. Raises PluginError if the game crashes or hangs."""
    log = CallLog()
    subject = GameUnderTest(game, log)

    def work(send: Send) -> None:
        for line in narrate_game(game, seed):
            send(line)

    try:
        yield from run_logged(subject, log, work)
    except ChildDied as reason:
        name = partial(name_in_subprocess, subject)
        raise PluginError(f"{game.name}: {log.describe(str(reason), name=name)}") from reason


def narrate_game(game: Game, seed: int) -> Iterator[str]:
    """Yield the lines of a random game: each position, the player to move, the status and the move."""
    dice = random.Random(seed)
    position, player = game.start(), 0
    yield f"{game.identity}: a random game (--seed {seed})"
    for plies in range(MAX_PLIES):
        yield ""
        yield _position_text(game, position)
        status = game.status(position)
        moves = game.moves(position)
        yield _situation(game, position, player, len(moves))
        if status is not Status.ONGOING or not moves:
            return
        move = dice.choice(moves)
        yield f"{plies + 1}. {_name(game, player)} plays {game.format_move(position, move)}"
        child = game.apply(position, move)
        player = player if game.keeps_turn(position, child) else 1 - player
        position = child
    yield ""
    yield f"The game continues; only its first {MAX_PLIES} moves are shown."


def _position_text(game: Game, position: int) -> str:
    board = game.board(position)
    text = game.decode(position)
    if board is None:
        return text
    return draw(board, over=game.status(position) is not Status.ONGOING) + f"\n{text}"


def _situation(game: Game, position: int, player: int, moves: int) -> str:
    """Return a sentence such as "B to move, status WON, so B has won by 4"."""
    status = game.status(position)
    mover = "" if game.is_puzzle else f"{_name(game, player)} to move, "
    if status is Status.ONGOING:
        return f"{mover}status ONGOING, " + (counted(moves, "move") if moves else "but there is no move")
    score = game.score(position) if game.has_score else None
    return f"{mover}status {status.name}, so {_result(game, status, player, score)}"


def _result(game: Game, status: Status, player: int, score: int | None) -> str:
    margin = "" if not score else f" by {abs(score)}"
    if game.is_puzzle:
        result = {Status.WON: "the puzzle is solved", Status.LOST: "this is a dead end"}.get(status, "nothing is won")
        return result if score is None else f"{result}, with score {score}"
    if status is Status.DRAWN:
        return "the game is a draw"
    winner = player if status is Status.WON else 1 - player
    return f"{_name(game, winner)} has won{margin}"


def _name(game: Game, player: int) -> str:
    return game.players[player if player < len(game.players) else 0]


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
    with tempfile.NamedTemporaryFile() as answer:  # not standard output, to which the game may print
        process = subprocess.run(
            [sys.executable, "-c", _PROGRAM, answer.name],
            input=pickle.dumps((sys.path, game.command_word, game.options, snapshots)),
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=False,
        )
        message = Path(answer.name).read_text(encoding="utf-8")
    if process.returncode:
        errors = process.stderr.decode(errors="replace").strip().splitlines()
        return f"in a new process, the game fails: {errors[-1] if errors else f'exit code {process.returncode}'}"
    return message or None


def main() -> None:
    """Read the game and the snapshots from standard input, compare them, and write the message to the named file.

    The comparison runs in a subprocess, because the game may hang only in a new interpreter.
    """
    path, word, options, snapshots = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    try:
        plugin = load_in_subprocess(word, lambda: load_plugin(word))
        game = load_in_subprocess(word, lambda: build_game(plugin, options))
        log = CallLog()
        subject = GameUnderTest(game, log)

        def work(send: Send) -> None:
            send(compare_in_new_process(subject, snapshots) or _compare_variants(plugin, game, snapshots))

        (breach,) = run_logged(subject, log, work)
    except ChildDied as reason:
        breach = f"in a new process, {log.describe(str(reason), name=partial(name_in_subprocess, subject))}"
    Path(sys.argv[1]).write_text(breach or "", encoding="utf-8")


def _compare_variants(plugin: Plugin, game: Game, snapshots: Snapshots) -> str | None:
    """Return a message if loading another variant changes the game."""
    start, selected = next(iter(snapshots)), select_snapshots(snapshots)
    for option in game.declared_options:
        value = game.options[option.name]
        for other in _other_values(option, value):
            with suppress(PerfectPlayError):  # out of range, or an invalid combination
                build_game(plugin, game.options | {option.name: other})
        if find_change(GameUnderTest(game), start, selected):
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
