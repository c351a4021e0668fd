"""Connects a game to the engine: its kernel, the explanation of its failures, and a thread for long runs.

The engine calls the hooks of a game in Python without checks, for speed. When a call fails, `explain_fault` repeats it
step by step through `Game`, with all checks. The first step that fails raises an error that names the hook.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from traceback import walk_tb

from perfectplay.errors import Interrupted, PerfectPlayError, PluginError, TableError
from perfectplay.game.game import Game
from perfectplay.values import Status
from perfectplay_native.errors import EngineError, EngineOutOfMemory, EngineStopped, RulesError
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import MAX_PYTHON_MOVES
from perfectplay_native.memo import BatchError
from perfectplay_native.python_kernel import PythonKernel

REPORT_SECONDS = 0.2
"""How often `run_in_background` reports progress."""

_RULES = ("status", "moves", "apply", "canonicalize", "mover", "score")


def game_kernel(game: Game) -> Kernel:
    """Return the game's C kernel, or one that calls its Python functions."""
    if game.kernel is not None:
        return game.kernel
    return PythonKernel(game.rules, rules_version=game.rules_version, explain=partial(explain_fault, game))


# ---- failures ----


def explain_fault(game: Game, question: str, position: int, error: BaseException) -> PerfectPlayError:
    """Return the error to raise when a call of the engine (see `Explain`) on `position` has raised `error`."""
    if isinstance(error, BatchError):
        return PluginError(f"{game.name}: hook 'walk' returned a wrong result: {error}; {game.advice}")
    if question == "walk":
        return game.hook_error("walk", None, error)
    try:
        _repeat(game, question, position)
    except PluginError as fault:
        return PluginError(f"{fault}; {game.advice}")
    except PerfectPlayError as fault:  # raised by the plugin itself
        return fault
    # The repetition succeeded, so the hook is not a pure function. The traceback shows which one it was.
    codes = {getattr(getattr(game.rules, name), "__code__", None): name for name in _RULES}
    names = [codes[frame.f_code] for frame, _ in walk_tb(error.__traceback__) if frame.f_code in codes]
    fallback = {"children": "moves", "all": "status"}.get(question, question)
    return game.hook_error(names[0] if names else fallback, position, error)


def _repeat(game: Game, question: str, position: int) -> None:
    if question == "start":
        game.start()
        return
    if question != "valid" and not game.valid(position):
        raise PluginError(f"{game.name}: play leads to position {position}, which hook 'valid' rejects")
    if question == "all":
        status = game.status(position)
        if status == Status.ONGOING:
            _check_children(game, position)
        if game.has_mover:
            game.mover(position)
        if game.has_score and status != Status.ONGOING:
            game.score(position)
    elif question in ("children", "apply", "undo"):  # the move is not known, so all are checked
        _check_children(game, position)
    else:
        result = getattr(game, question)(position)
        if question in ("moves", "parents"):
            _check_count(game, question, position, len(result))


def _check_children(game: Game, position: int) -> None:
    moves = game.moves(position)
    _check_count(game, "moves", position, len(moves))
    if not moves:
        raise PluginError(
            f"{game.name}: hook 'status' returned ONGOING in position {position}, but hook 'moves' returned no move; "
            f"'status' must return LOST, DRAWN or WON for a player who cannot move"
        )
    for move in moves:
        child = game.apply(position, move)
        if not game.valid(child):
            raise PluginError(
                f"{game.name}: hook 'apply' returned {child} for move {move} in position {position}, "
                f"which hook 'valid' rejects"
            )
        game.canonicalize(child)
        if game.has_mover:
            game.mover(child)


def _check_count(game: Game, hook: str, position: int, count: int) -> None:
    if count > MAX_PYTHON_MOVES:
        limit = f"the limit is {MAX_PYTHON_MOVES:,}"
        raise PluginError(f"{game.name}: hook '{hook}' returned {count:,} results in position {position}; {limit}")


def translate_error(failure: BaseException, game: Game) -> BaseException:
    """Return an error of the engine as one of perfectplay; any other error unchanged."""
    if isinstance(failure, EngineStopped):
        return Interrupted("interrupted")
    if isinstance(failure, EngineOutOfMemory):
        return PerfectPlayError(f"not enough memory: {failure}; increase --memory or use --backend lmdb")
    if isinstance(failure, RulesError):
        return PluginError(f"{game.name}: {failure}; {game.advice}")
    return TableError(str(failure)) if isinstance(failure, EngineError) else failure


# ---- long runs ----


def run_in_background(
    work: Callable[[], None],
    *,
    game: Game,
    stop: threading.Event,
    cancel: Callable[[], None] = lambda: None,
    report: Callable[[], None] = lambda: None,
) -> None:
    """Run `work` in another thread until it ends, so that the caller can report progress and stop it.

    Calls `report` at regular intervals, and `cancel` once `stop` is set. Raises the error of `work`, or Interrupted.
    """
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:  # raised again below, in the caller's thread
            failure.append(error)
        done.set()

    thread = threading.Thread(target=run, name="engine", daemon=True)
    thread.start()
    try:
        while not done.wait(REPORT_SECONDS):
            if stop.is_set():
                cancel()
            report()
    except BaseException:  # Ctrl-C in the caller's thread
        cancel()
        raise
    finally:
        thread.join()
    if failure:
        raise translate_error(failure[0], game) from None
    if stop.is_set():
        raise Interrupted("interrupted")


def cpu_seconds() -> float:
    """Return the CPU time of this process so far, of all threads, user and system."""
    import resource  # not available on every system

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
