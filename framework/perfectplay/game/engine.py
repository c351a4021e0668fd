"""The kernel an engine asks: a game's own in C, or one that calls its Python functions.

The engine's calls of Python functions are unchecked, for speed. When one fails, the same question is asked here again,
step by step and with every check on: the first step that fails is the one to blame, and says so itself.
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
from perfectplay_native.limits import MAX_PYTHON_MOVES, MAX_PYTHON_TIERS
from perfectplay_native.memo import BatchError
from perfectplay_native.python_kernel import PythonKernel


def game_kernel(game: Game) -> Kernel:
    """The game's C kernel, or one that calls its Python functions."""
    if game.kernel is not None:
        return game.kernel
    return PythonKernel(game.rules, rules_version=game.rules_version, explain=partial(explain_fault, game))


def explain_fault(game: Game, question: str, position: int, error: BaseException) -> PerfectPlayError:
    """The error to raise for `question` (as `Explain` says) about `position`, which ended in `error`."""
    if question == "walk":  # of no one position: the words are in the error
        return _fault_of_walk(game, error)
    try:
        _ask_again(game, question, position)
    except PluginError as found:
        return PluginError(f"{found}; {game.advice}")
    except PerfectPlayError as found:  # the plugin's own words
        return found
    # Asked again, all is well: the hook is not a pure function.
    fallback = {"children": "moves", "all": "status"}.get(question, question)
    return game.hook_error(_raising_hook(game, error) or fallback, position, error)


def _fault_of_walk(game: Game, error: BaseException) -> PerfectPlayError:
    if isinstance(error, BatchError):
        return PluginError(f"{game.name}: hook 'walk' answered wrongly: {error}; {game.advice}")
    return game.hook_error("walk", None, error)


_STUDIED = ("status", "moves", "apply", "canonicalize", "mover", "score")


def _raising_hook(game: Game, error: BaseException) -> str | None:
    """The hook that was asked when an error was raised, however deep inside it."""
    asked = {getattr(getattr(game.rules, name), "__code__", None): name for name in _STUDIED}
    return next((asked[frame.f_code] for frame, _ in walk_tb(error.__traceback__) if frame.f_code in asked), None)


def _ask_again(game: Game, question: str, position: int) -> None:
    if question not in ("start", "valid") and not game.valid(position):
        raise PluginError(f"{game.name}: play leads to position {position}, which hook 'valid' refuses")
    if question == "all":
        _ask_all(game, position)
    elif question == "children":
        _ask_children(game, position)
    elif question == "tier":
        tier = game.tier(position)
        if tier >= MAX_PYTHON_TIERS:
            raise PluginError(
                f"{game.name}: hook 'tier' returned {tier} in position {position}: a Python game has tiers below "
                f"{MAX_PYTHON_TIERS:,}; number them more densely, if the game has an end at all"
            )
    elif question == "start":
        game.start()
    elif question in ("apply", "undo"):  # of which move is not known: try all
        _ask_children(game, position)
    else:
        answer = getattr(game, question)(position)
        if question in ("moves", "parents"):
            _refuse_too_many(game, question, position, len(answer))


def _ask_all(game: Game, position: int) -> None:
    status = game.status(position)
    if status == Status.ONGOING:
        _ask_children(game, position)
    if game.has_mover:
        game.mover(position)
    if game.has_score and status != Status.ONGOING:
        game.score(position)


def _ask_children(game: Game, position: int) -> None:
    moves = game.moves(position)
    _refuse_too_many(game, "moves", position, len(moves))
    if not moves:
        raise PluginError(
            f"{game.name}: hook 'status' says ONGOING in position {position}, but hook 'moves' has no move there: "
            f"let 'status' say what being stuck means, LOST, DRAWN or WON"
        )
    for move in moves:
        child = game.apply(position, move)
        if not game.valid(child):
            raise PluginError(
                f"{game.name}: hook 'apply' returned {child} for move {move} in position {position}: "
                f"hook 'valid' refuses that position"
            )
        game.canonicalize(child)
        if game.has_mover:
            game.mover(child)


def _refuse_too_many(game: Game, hook: str, position: int, count: int) -> None:
    if count > MAX_PYTHON_MOVES:
        raise PluginError(
            f"{game.name}: hook '{hook}' returned {count:,} answers in position {position}: "
            f"{MAX_PYTHON_MOVES:,} are the most"
        )


# Runs the engine in a thread of its own, so that its caller can tell of the progress and stop it at any moment.

REPORT_SECONDS = 0.2
"""How often `tell` is called."""


def run_in_background(
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
