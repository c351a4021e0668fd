"""A kernel for games in plain Python: the engine calls back into the game's own functions.

Slower than C by orders of magnitude, but the same engine, the same tables and the same proofs. The functions are
called bare, without the host's checks; only when one fails, or answers what cannot be, is the same question asked
again with every check on, to find the words for it (`explain`). An exception cannot cross the C code: the callback
answers 0, and `Kernel.asking`, around every call of the engine, raises the error as soon as that call is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from operator import index
from types import TracebackType
from typing import Any

from perfectplay_native._engine import ffi, lib
from perfectplay_native.kernel import ABI, NO_POSITION, Kernel
from perfectplay_native.rules import Rules

MAX_MOVES = 4096
"""More moves than this in one position, and the game is refused."""

MAX_TIERS = 1 << 16
MAX_SCORE = int(lib.PP_MAX_SCORE)

Explain = Callable[[str, int, Exception], BaseException]
"""explain(question, position, error): the error to raise. A question is a hook's name, or `children`."""


class PythonKernel(Kernel):
    """A kernel over a game's Python functions."""

    __slots__ = ("_asking", "_handle", "explain", "rules")

    parallel = False  # the interpreter lock: more threads would only wait for each other
    cheap = False

    def __init__(
        self, rules: Rules, *, rules_version: int = 1, explain: Explain = lambda question, position, error: error
    ) -> None:
        self.rules = rules
        self.explain = explain
        self._asking = threading.local()  # callbacks come in the thread that called the engine
        self._handle = ffi.new_handle(self)
        optional = [name for name in ("undo", "mover", "score", "tier", "parents") if getattr(rules, name) is not None]
        required = ("start", "moves", "apply", "status", "valid", "canonicalize", "children")
        struct = ffi.new(
            "pp_kernel *",
            {
                "abi": ABI,
                "rules_version": rules_version,
                "players": rules.players,
                "max_moves": MAX_MOVES,
                "max_parents": MAX_MOVES,
                "tier_count": MAX_TIERS if rules.tier else 1,
                "context": self._handle,
                **{name: getattr(lib, f"pp_python_{name}") for name in (*required, *optional)},
            },
        )
        super().__init__(ffi, struct)

    def asking(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        return _Call(self, self._asking, stop)


class _Call:
    """One call of the engine: keeps the first error of the game's functions, and raises it when the call is over."""

    __slots__ = ("_asking", "_error", "_kernel", "_outer", "_stop")

    def __init__(self, kernel: PythonKernel, asking: threading.local, stop: Callable[[], None] | None) -> None:
        self._kernel, self._asking, self._stop = kernel, asking, stop
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        self._outer = getattr(self._asking, "call", None)
        self._asking.call = self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._asking.call = self._outer
        if self._error is not None:
            raise self._error

    def fail(self, question: str, position: int, error: BaseException) -> None:
        if self._error is None:
            self._error = error
            if isinstance(error, Exception):
                self._error = self._kernel.explain(question, position, error)
        if self._stop is not None:
            self._stop()


# ---- callbacks ----


def _answers(question: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Make a function of rules and position the engine's callback for `question`."""

    def decorate(answer: Callable[..., int]) -> Callable[..., int]:
        def callback(pointer: Any, position: int = 0, *rest: Any) -> int:
            kernel: PythonKernel = ffi.from_handle(pointer.context)
            try:
                return answer(kernel.rules, position, *rest)
            except BaseException as error:
                kernel._asking.call.fail(question, position, error)
                return 0

        ffi.def_extern(name=f"pp_python_{question}")(callback)
        return answer

    return decorate


def _checked(answer: int, limit: int) -> int:
    """The answer, which must be an int from 0 up to the limit."""
    if not 0 <= index(answer) < limit:
        raise OverflowError("out of range")
    return answer


def _write(values: Sequence[int], out: Any) -> int:
    """Hand over a list; cffi itself refuses what is not an int or out of range."""
    count = len(values)
    if count > MAX_MOVES:
        raise OverflowError("too many")
    out[0:count] = values
    return count


@_answers("valid")
def _valid(rules: Rules, position: int) -> int:
    return bool(rules.valid(position))


@_answers("start")
def _start(rules: Rules, position: int) -> int:
    return _checked(rules.start(), NO_POSITION)


@_answers("moves")
def _moves(rules: Rules, position: int, out: Any) -> int:
    return _write(rules.moves(position), out)


@_answers("apply")
def _apply(rules: Rules, position: int, move: int) -> int:
    return _checked(rules.apply(position, move), NO_POSITION)


@_answers("undo")
def _undo(rules: Rules, position: int, move: int) -> int:
    assert rules.undo is not None
    return _checked(rules.undo(position, move), NO_POSITION)


@_answers("canonicalize")
def _canonicalize(rules: Rules, position: int) -> int:
    return _checked(rules.canonicalize(position), NO_POSITION)


@_answers("status")
def _status(rules: Rules, position: int) -> int:
    return _checked(rules.status(position), 4)


@_answers("mover")
def _mover(rules: Rules, position: int) -> int:
    assert rules.mover is not None
    return _checked(rules.mover(position), 2)


@_answers("score")
def _score(rules: Rules, position: int) -> int:
    assert rules.score is not None
    score = rules.score(position)
    if abs(index(score)) > MAX_SCORE:
        raise OverflowError("out of range")
    return score


@_answers("tier")
def _tier(rules: Rules, position: int) -> int:
    assert rules.tier is not None
    return _checked(rules.tier(position), MAX_TIERS)


@_answers("children")
def _children(rules: Rules, position: int, out: Any) -> int:
    """The engine's one question per position, asked of ongoing positions only: so having none is a mistake."""
    apply, canonicalize = rules.apply, rules.canonicalize
    children = list({canonicalize(apply(position, move)) for move in rules.moves(position)})
    children.sort()
    if not children or children[-1] >= NO_POSITION:
        raise OverflowError("no children, or out of range")
    return _write(children, out)


@_answers("parents")
def _parents(rules: Rules, position: int, out: Any) -> int:
    assert rules.parents is not None
    return _write(sorted(set(rules.parents(position))), out)
