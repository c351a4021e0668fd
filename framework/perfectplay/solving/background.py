"""Runs the engine in a thread of its own, so that its caller can tell of the progress and stop it at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable

from perfectplay.errors import Interrupted, PerfectPlayError, PluginError, TableError
from perfectplay.game import Game
from perfectplay_native.errors import EngineError, EngineOutOfMemory, EngineStopped, RulesError

REPORT_SECONDS = 0.2
"""How often `tell` is called."""


def run(
    work: Callable[[], None],
    *,
    game: Game,
    stop: threading.Event,
    cancel: Callable[[], None] = lambda: None,
    tell: Callable[[], None] = lambda: None,
) -> None:
    """Do `work`, calling `tell` meanwhile, and `cancel` once `stop` is set. What went wrong is raised here."""
    failure: list[BaseException] = []
    done = threading.Event()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # raised again below, in the caller's thread
            failure.append(error)
        done.set()

    thread = threading.Thread(target=guarded, name="engine", daemon=True)
    thread.start()
    try:
        while not done.wait(REPORT_SECONDS):
            if stop.is_set():
                cancel()
            tell()
    except BaseException:  # Ctrl-C in the caller's thread
        cancel()
        raise
    finally:
        thread.join()
    if failure:
        raise translate_error(failure[0], game) from None
    if stop.is_set():
        raise Interrupted("interrupted")


def translate_error(failure: BaseException, game: Game) -> BaseException:
    """The engine's failures as errors for people; any other as it is."""
    if isinstance(failure, EngineStopped):
        return Interrupted("interrupted")
    if isinstance(failure, EngineOutOfMemory):
        return PerfectPlayError(f"not enough memory: {failure}; give --memory more, or use --backend lmdb")
    if isinstance(failure, RulesError):
        return PluginError(f"{game.name}: {failure}; {game.advice}")
    return TableError(str(failure)) if isinstance(failure, EngineError) else failure


def cpu_seconds() -> float:
    """Processor time of this process so far, all threads, user and system."""
    import resource  # only where it is asked for: not every system has it

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
