"""A kernel made from a game's Python rules: translated to C, compiled, loaded, and compared with the Python hooks.

`solving_kernel` is the only place that decides between a game's C kernel, compiled rules and Python callbacks. The
rules are compiled if a compiler is at hand and they are in the subset that can be translated. A table is the same
either way.

Compiled rules check what Python checks: indices, divisions, overflow. The first check that fails is recorded in the
shared object, and the functions return harmless values from then on. `CompiledKernel.callback_errors`, which wraps
every call of the engine, stops the engine, calls the Python hook with the same position and raises its error.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from cffi import FFI
from perfectplay_native._engine import ffi as engine_ffi

from perfectplay.compile.cache import cached_object
from perfectplay.compile.comparison import RulesDiffer, compare_sample
from perfectplay.compile.compiler import NotCompiled, find_compiler
from perfectplay.compile.translation import HOOKS, Translation, Untranslatable, translate
from perfectplay.errors import PerfectPlayError
from perfectplay.game.engine import find_fault, game_kernel
from perfectplay.game.game import Game
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import MAX_PYTHON_TIERS

SWITCH = "PERFECTPLAY_COMPILE"
"""An environment variable. With the value 0, rules are not compiled."""

WRITING = 2
"""The value of `pp_compiled_fault.set` while a thread writes the rest of it."""

POLL_SECONDS = 0.02
"""How often a running engine is checked for a fault."""


# ---- which rules ----


def solving_kernel(game: Game) -> Kernel:
    """Return the kernel for a solve: the game's C kernel, its compiled rules, or callbacks to its Python functions.

    Raises PerfectPlayError if the compiled rules differ from the Python hooks.
    """
    compiled = find_compiled(game)
    return game_kernel(game, compiled if isinstance(compiled, CompiledKernel) else None)


def describe_rules(game: Game) -> str:
    """Return which rules `solving_kernel` uses: "C kernel", "Python, compiled" or "Python"."""
    return f"{game.kind}, compiled" if isinstance(find_compiled(game), CompiledKernel) else game.kind


def find_obstacle(game: Game) -> str | None:
    """Return why a game is solved with interpreted rules. None if it is not, or if the user has chosen so."""
    compiled = find_compiled(game)
    return str(compiled) if isinstance(compiled, NotCompiled) else None


def may_compile(game: Game) -> bool:
    """Return whether the rules are compiled if that is possible: they are in Python, and it is not switched off."""
    return game.kernel is None and game.compile_rules and os.environ.get(SWITCH) != "0"


def expect_obstacle(game: Game) -> str | None:
    """Return why rules in Python would not be compiled. Translates them, but calls neither a hook nor the compiler."""
    try:
        translate_rules(game)
        find_compiler()
    except NotCompiled as error:
        return str(error)
    return None


_compiled: weakref.WeakKeyDictionary[Game, CompiledKernel | NotCompiled] = weakref.WeakKeyDictionary()
_compiling = threading.Lock()


def find_compiled(game: Game) -> CompiledKernel | NotCompiled | None:
    """Return the compiled rules of a game, or why there are none; None if they should not be compiled.

    The first call for a game compiles its rules and compares them with the Python hooks.
    """
    if not may_compile(game):
        return None
    with _compiling:
        if game not in _compiled:
            try:
                _compiled[game] = _compile_and_compare(game)
            except NotCompiled as error:
                _compiled[game] = error
        return _compiled[game]


def _compile_and_compare(game: Game) -> CompiledKernel:
    kernel = compile_rules(game)
    compare_sample(game, kernel)
    return kernel


def compile_rules(game: Game, translation: Translation | None = None) -> CompiledKernel:
    """Translate, compile and load the rules of a game. Raises NotCompiled."""
    translation, compiler = translation or translate_rules(game), find_compiler()
    try:
        path = cached_object(translation.source, compiler)
    except OSError as error:
        raise NotCompiled(str(error)) from error
    try:
        return CompiledKernel(game, _load(path))
    except (OSError, KeyError) as error:  # KeyError: it has other symbols
        path.unlink(missing_ok=True)  # the next attempt compiles again
        raise NotCompiled(f"{compiler.command[0]} wrote a file that cannot be loaded") from error


def translate_rules(game: Game) -> Translation:
    """Translate the rules of a game. Raises NotCompiled, also for a mistake in the translator itself."""
    try:
        return translate(game)
    except Untranslatable as error:
        raise NotCompiled(str(error)) from error
    except Exception as error:
        raise NotCompiled(f"internal error of the translator: {type(error).__name__}: {error}") from error


# ---- the kernel ----


class CompiledKernel(Kernel):
    """A kernel of translated rules. Faults are raised as the error of the Python hook."""

    __slots__ = ("_game", "_library")

    def __init__(self, game: Game, library: _Library) -> None:
        self._game = weakref.ref(game)  # the kernel is cached for as long as the game lives
        self._library = library
        super().__init__(
            engine_ffi,
            engine_ffi.cast("pp_kernel *", library.kernel),
            rules_version=game.rules_version,
            players=game.rules.players,
            tier_count=MAX_PYTHON_TIERS if game.has_tier else 1,
        )

    def callback_errors(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        return _EngineCall(self._library, self._explain, stop)

    def call(self, function: str, *arguments: Any) -> Any:
        with self.callback_errors():
            return super().call(function, *arguments)

    def _explain(self, fault: Fault) -> PerfectPlayError:
        """Return the error of the Python hook in the position of a fault."""
        game, hook = self._game(), HOOKS[fault.hook]
        assert game is not None
        return find_fault(game, hook, fault.position) or RulesDiffer(
            f"{game.name}: the compiled rules disagree with the Python rules: compiled hook '{hook}' fails in position "
            f"{fault.position}, but the Python hook does not; add --no-compile"
        )


# ---- the shared object ----


@dataclass(frozen=True, slots=True)
class Fault:
    """A check that failed in compiled rules."""

    hook: int
    """Its index in `HOOKS`."""
    position: int


class _Library:
    """A loaded shared object. Its one fault is global, so calls of several threads share it.

    A fault may come from any of the calls that are running, and each of them may have computed with harmless values. So
    all of them raise its error, and it is cleared when the last of them has ended.
    """

    def __init__(self, path: Path) -> None:
        self._library = _ffi().dlopen(str(path))
        self.kernel = int(_ffi().cast("uintptr_t", self._library.pp_compiled_kernel))
        self._fault = _ffi().addressof(self._library, "pp_compiled_fault")
        self._lock = threading.Lock()
        self._running = 0
        self._error: PerfectPlayError | None = None

    @property
    def has_fault(self) -> bool:
        return bool(self._fault.set)

    def begin_call(self) -> None:
        with self._lock:
            self._running += 1

    def end_call(self, explain: Callable[[Fault], PerfectPlayError]) -> PerfectPlayError | None:
        """Return the error of a fault that occurred during the call, if any."""
        with self._lock:
            self._running -= 1
            if not self._fault.set:
                return None
            while self._fault.set == WRITING:
                time.sleep(0)
            if self._error is None:
                self._error = explain(Fault(int(self._fault.hook), int(self._fault.position)))
            error = self._error
            if self._running == 0:
                self._error, self._fault.set = None, 0
            return error


class _EngineCall:
    """A context manager around one call into C, which raises the error of a fault at the end."""

    __slots__ = ("_explain", "_library", "_stop")

    def __init__(
        self, library: _Library, explain: Callable[[Fault], PerfectPlayError], stop: Callable[[], None] | None
    ) -> None:
        self._library, self._explain, self._stop = library, explain, stop

    def __enter__(self) -> None:
        self._library.begin_call()
        if self._stop is not None:
            _monitor.watch(self._library, self._stop)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stop is not None:
            _monitor.forget(self._library, self._stop)
        fault = self._library.end_call(self._explain)
        if fault is not None:
            raise fault


@lru_cache(maxsize=1)
def _ffi() -> FFI:
    ffi = FFI()
    ffi.cdef("""
        extern const char pp_compiled_kernel[];
        extern struct { uint32_t set; uint32_t hook; uint64_t position; uint64_t argument; } pp_compiled_fault;
    """)
    return ffi


@cache
def _load(path: Path) -> _Library:
    """Load a shared object. The same path always gives the same object, because dlopen does not load a file twice."""
    return _Library(path)


class _Monitor:
    """A thread that stops engines when their rules have a fault. It sleeps while no engine runs."""

    def __init__(self) -> None:
        self._watched: list[tuple[_Library, Callable[[], None]]] = []
        self._busy = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, library: _Library, stop: Callable[[], None]) -> None:
        """Call `stop` soon after a fault, until `forget`."""
        self._watched.append((library, stop))
        if self._thread is None or not self._thread.is_alive():  # the first time, or in a forked process
            self._thread = threading.Thread(target=self._run, name="faults", daemon=True)
            self._thread.start()
        self._busy.set()

    def forget(self, library: _Library, stop: Callable[[], None]) -> None:
        self._watched.remove((library, stop))

    def _run(self) -> None:
        while True:
            self._busy.wait()
            self._busy.clear()
            while watched := list(self._watched):
                for library, stop in watched:
                    if library.has_fault:
                        stop()
                threading.Event().wait(POLL_SECONDS)


_monitor = _Monitor()
