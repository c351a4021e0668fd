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
from perfectplay.threads import check_stop
from perfectplay.values import Status
from perfectplay_native.errors import (
    AsymmetryError,
    EngineError,
    EngineOutOfMemory,
    EngineStopped,
    MissingChildError,
    RulesError,
)
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import MAX_PYTHON_MOVES
from perfectplay_native.memo import BatchError
from perfectplay_native.python_kernel import PythonKernel

REPORT_SECONDS = 0.2
"""How often `run_in_background` reports progress."""

_RULES = ("status", "moves", "apply", "canonicalize", "mover", "score")


def game_kernel(game: Game, compiled: Kernel | None = None) -> Kernel:
    """Return the game's C kernel, or its `compiled` rules if given, or a kernel that calls its Python functions."""
    if game.kernel is not None:
        return game.kernel
    if compiled is not None:
        return compiled if game.index is None else game.index_layout.add_to(compiled)
    kernel = PythonKernel(game.rules, rules_version=game.rules_version, explain=partial(explain_fault, game))
    return kernel if game.index is None else kernel.with_index(game.index_layout)


# ---- failures ----


def explain_fault(game: Game, question: str, position: int, error: BaseException) -> PerfectPlayError:
    """Return the error to raise when a call of the engine (see `Explain`) on `position` has raised `error`."""
    if isinstance(error, BatchError):
        return PluginError(f"{game.name}: hook 'walk' returned a wrong result: {error}; {game.advice}")
    if question == "walk":
        return game.hook_error("walk", None, error)
    if (fault := find_fault(game, question, position)) is not None:
        return fault
    # The repetition succeeded, so the hook is not a pure function. The traceback shows which one it was.
    codes = {getattr(getattr(game.rules, name), "__code__", None): name for name in _RULES}
    names = [codes[frame.f_code] for frame, _ in walk_tb(error.__traceback__) if frame.f_code in codes]
    fallback = {"children": "moves", "all": "status"}.get(question, question)
    return game.hook_error(names[0] if names else fallback, position, error)


def find_fault(game: Game, question: str, position: int) -> PerfectPlayError | None:
    """Repeat a call of the engine with all checks. Returns the error of the first step that fails, None if all work."""
    try:
        _repeat(game, question, position)
    except PluginError as fault:
        return PluginError(f"{fault}; {game.advice}")
    except PerfectPlayError as fault:  # raised by the plugin itself
        return fault
    return None


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
        _check_shortcuts(game, position, ongoing=status == Status.ONGOING)
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


def _check_shortcuts(game: Game, position: int, *, ongoing: bool) -> None:
    """Call the hooks that not every engine call uses. They come last, so that a fault of the rules has priority."""
    game.tier(position)
    if ongoing and game.has_undo:
        game.undo_moves(position)
    if ongoing and game.has_parents:
        game.parents(position)


def _check_count(game: Game, hook: str, position: int, count: int) -> None:
    if count > MAX_PYTHON_MOVES:
        limit = f"the limit is {MAX_PYTHON_MOVES:,}"
        raise PluginError(f"{game.name}: hook '{hook}' returned {count:,} results in position {position}; {limit}")


def describe_misfit(game: Game, position: int) -> str:
    """Describe a move from `position` to a position for which the declared index has no slot."""
    assert game.index is not None
    for move in game.moves(position):
        child = game.apply(position, move)
        if fault := game.index.fault(child, game.start()):
            return (
                f"hook 'index' does not fit the rules: move {game.format_move(position, move)} leads from position "
                f"{game.decode(position)} to {game.decode(child)}, where {fault}; correct 'index', or let 'valid' "
                f"reject the first position if it cannot occur"
            )
    return (
        f"hook 'index' does not fit the rules: a move leads from position {game.decode(position)} to a position with "
        f"an image that 'valid' rejects"
    )


def describe_asymmetry(game: Game, position: int, image: int) -> str:
    """Describe a symmetry of the declared index that the rules do not have."""
    difference = "which have different moves"
    if not game.valid(image):
        difference = f"but 'valid' rejects {image}"
    elif game.status(position) != game.status(image):
        difference = f"but 'status' returns {game.status(position).name} and {game.status(image).name}"
    name = game.decode(image) if game.valid(image) else str(image)
    return (
        f"a symmetry of 'index' maps position {game.decode(position)} to position {name}, {difference}; declare only "
        f"symmetries of the rules, and list the cells in the order that the group permutes"
    )


def translate_error(failure: BaseException, game: Game) -> BaseException:
    """Return an error of the engine as one of perfectplay; any other error unchanged."""
    if isinstance(failure, EngineStopped):
        return Interrupted("interrupted")
    if isinstance(failure, EngineOutOfMemory):
        return PerfectPlayError(f"not enough memory: {failure}; increase --memory or use --backend lmdb")
    if isinstance(failure, MissingChildError) and game.index is not None:
        return PluginError(f"{game.name}: {describe_misfit(game, failure.position)}; {game.advice}")
    if isinstance(failure, AsymmetryError):
        return PluginError(f"{game.name}: {describe_asymmetry(game, failure.position, failure.image)}; {game.advice}")
    if isinstance(failure, RulesError):
        # Rules in Python have better messages: the hook, and what it returned.
        if game.kernel is None and (fault := find_fault(game, "all", failure.position)) is not None:
            return fault
        error = PluginError(f"{game.name}: {failure}; {game.advice}")
        error.position = failure.position
        return error
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
    check_stop(stop)


def cpu_seconds() -> float:
    """Return the CPU time of this process so far, of all threads, user and system."""
    import resource  # not available on every system

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
