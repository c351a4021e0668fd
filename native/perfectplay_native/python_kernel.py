"""A kernel for games in plain Python: the engine calls back into the game's functions.

It is slower than C by orders of magnitude, but uses the same engine, tables and proofs. The game's functions are called
without the host's checks. If one of them raises or returns an impossible value, `explain` calls it again with all
checks on and returns the error to show. An exception cannot cross C code, so the callback returns 0, and
`Kernel.callback_errors`, which wraps every call of the engine, raises the error when that call returns.

During a solve the results are stored (src/memo.c), and one callback handles many positions. So each of
its functions is called once per position, and without a callback from C for each of these calls.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from operator import index
from types import TracebackType
from typing import Any

from perfectplay_native._engine import ffi, lib
from perfectplay_native.declared_index import Layout
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import ABI, MAX_PYTHON_MOVES, MAX_PYTHON_TIERS, MAX_SCORE, NO_POSITION
from perfectplay_native.memo import add_batch, check_batch
from perfectplay_native.python_rules import PythonRules

Explain = Callable[[str, int, BaseException], BaseException]
"""explain(function, position, error) returns the error to raise. The function is the name of a hook, `children`, or
`all` for every function that a solve calls for a position."""


class PythonKernel(Kernel):
    """A kernel over a game's Python functions."""

    __slots__ = ("_handle", "_local", "_memo", "explain", "rules")

    parallel = False  # because of the interpreter lock, more threads would only wait for each other
    cheap = False

    def __init__(
        self, rules: PythonRules, *, rules_version: int = 1, explain: Explain = lambda function, position, error: error
    ) -> None:
        self.rules = rules
        self.explain = explain
        self._local = threading.local()  # callbacks run in the thread that called the engine
        self._handle = ffi.new_handle(self)
        optional = [name for name in ("undo", "mover", "score", "tier", "parents") if getattr(rules, name) is not None]
        required = ("start", "moves", "apply", "status", "valid", "canonicalize", "children")
        struct = ffi.new(
            "pp_kernel *",
            {
                "abi": ABI,
                "rules_version": rules_version,
                "players": rules.players,
                "flags": lib.PP_TURNS_ALTERNATE if rules.turns_alternate else 0,
                "max_moves": MAX_PYTHON_MOVES,
                "max_parents": MAX_PYTHON_MOVES,
                "tier_count": MAX_PYTHON_TIERS if rules.tier else 1,
                "context": self._handle,
                **{name: getattr(lib, f"pp_python_{name}") for name in (*required, *optional)},
            },
        )
        memo = lib.pp_memo_new(struct, lib.pp_python_expand_many, lib.pp_python_tiers_of_many)
        if memo == ffi.NULL:
            raise MemoryError
        self._memo = ffi.gc(memo, lib.pp_memo_free)
        super().__init__(ffi, self._memo)

    def with_index(self, layout: Layout) -> PythonKernel:
        """Return a kernel with a declared index, which also replaces `canonicalize` in lists of children.

        Images share a slot, so the engine needs no canonical form from Python. The memo then stores one position per
        slot, the one that `unrank` returns.
        """
        kernel = PythonKernel(self.rules, rules_version=self.rules_version, explain=self.explain)
        indexed = layout.add_to(kernel)
        kernel.rules = replace(kernel.rules, image=partial(lib.pp_declared_canonical, indexed.c))
        return indexed

    def callback_errors(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        return _EngineCall(self, self._local, stop)

    @contextmanager
    def memo(self, limit: int) -> Iterator[None]:
        lib.pp_memo_start(self._memo, limit)
        try:
            yield
        finally:
            self.clear_memo()

    def index_memo(self, tiers: Iterable[tuple[int, Iterable[memoryview]]]) -> None:
        for tier, blocks in tiers:
            first = 0
            for block in blocks:
                keys = ffi.from_buffer("pp_position[]", block)
                if not lib.pp_memo_index(self._memo, tier, first, keys, len(keys)):
                    return
                first += len(keys)
        lib.pp_memo_use_index(self._memo)

    def clear_memo(self) -> None:
        lib.pp_memo_clear(self._memo)

    def prefill_memo(self) -> Iterator[int]:
        rules, count = self.rules, 0
        if rules.walk is None:
            return
        movers, scores = rules.mover is not None and rules.players == 2, rules.score is not None
        try:
            for unchecked in rules.walk():
                batch = check_batch(unchecked, movers=movers, scores=scores)
                add_batch(self._memo, ffi.from_buffer("pp_position[]", batch.positions), *batch[1:])
                count += len(batch.positions)
                yield count
        except (Exception, SystemExit) as error:
            raise self.explain("walk", 0, error) from error

    @property
    def memo_bytes(self) -> int:
        return int(lib.pp_memo_bytes(self._memo))

    def call(self, function: str, *arguments: Any) -> Any:
        with self.callback_errors():
            return super().call(function, *arguments)

    def apply(self, position: int, move: int) -> int:
        return int(self.call("apply", position, move))

    def canonicalize(self, position: int) -> int:
        return int(self.call("canonicalize", position))


class _EngineCall:
    """One call of the engine: stores the first error of the game's functions, and raises it when the call returns."""

    __slots__ = ("_error", "_kernel", "_local", "_outer", "_stop")

    def __init__(self, kernel: PythonKernel, local: threading.local, stop: Callable[[], None] | None) -> None:
        self._kernel, self._local, self._stop = kernel, local, stop
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        self._outer = getattr(self._local, "call", None)
        self._local.call = self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._local.call = self._outer
        if self._error is not None:
            raise self._error

    def fail(self, function: str, position: int, error: BaseException) -> None:
        if self._error is None:
            self._error = error
            if not isinstance(error, KeyboardInterrupt):  # sys.exit in a hook is an error like any other
                self._error = self._kernel.explain(function, position, error)
        if self._stop is not None:
            self._stop()


# ---- callbacks for one position ----


def _callback(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorate a function of rules and position as the engine's callback for the kernel function `name`."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        def callback(pointer: Any, position: int = 0, *rest: Any) -> int:
            kernel: PythonKernel = ffi.from_handle(pointer.context)
            try:
                return function(kernel.rules, position, *rest)
            except BaseException as error:
                kernel._local.call.fail(name, position, error)
                return 0

        ffi.def_extern(name=f"pp_python_{name}")(callback)
        return function

    return decorate


def _check_range(value: int, limit: int) -> int:
    """Return the value. Raises an error unless it is an int from 0 up to, but not including, the limit."""
    if not 0 <= index(value) < limit:
        raise OverflowError("out of range")
    return value


def _write(values: Sequence[int], out: Any) -> int:
    """Copy a list into an output buffer. cffi rejects values of the wrong type or out of range."""
    count = len(values)
    if count > MAX_PYTHON_MOVES:
        raise OverflowError("too many")
    out[0:count] = values
    return count


@_callback("valid")
def _valid(rules: PythonRules, position: int) -> int:
    return bool(rules.valid(position))


@_callback("start")
def _start(rules: PythonRules, position: int) -> int:
    return _check_range(rules.start(), NO_POSITION)


@_callback("moves")
def _moves(rules: PythonRules, position: int, out: Any) -> int:
    return _write(rules.moves(position), out)


@_callback("apply")
def _apply(rules: PythonRules, position: int, move: int) -> int:
    return _check_range(rules.apply(position, move), NO_POSITION)


@_callback("undo")
def _undo(rules: PythonRules, position: int, move: int) -> int:
    assert rules.undo is not None
    return _check_range(rules.undo(position, move), NO_POSITION)


@_callback("canonicalize")
def _canonicalize(rules: PythonRules, position: int) -> int:
    return _check_range(rules.canonicalize(position), NO_POSITION)


@_callback("status")
def _status(rules: PythonRules, position: int) -> int:
    return _check_range(rules.status(position), 4)


@_callback("mover")
def _mover(rules: PythonRules, position: int) -> int:
    assert rules.mover is not None
    return _check_range(rules.mover(position), 2)


@_callback("score")
def _score(rules: PythonRules, position: int) -> int:
    assert rules.score is not None
    score = rules.score(position)
    if abs(index(score)) > MAX_SCORE:
        raise OverflowError("out of range")
    return score


@_callback("tier")
def _tier(rules: PythonRules, position: int) -> int:
    assert rules.tier is not None
    return _check_range(rules.tier(position), MAX_PYTHON_TIERS)


@_callback("children")
def _children(rules: PythonRules, position: int, out: Any) -> int:
    """List the canonical children. The engine calls it for ongoing positions only, so an empty list is an error."""
    apply, image = rules.apply, rules.image or rules.canonicalize
    children = list({image(apply(position, move)) for move in list(rules.moves(position))})
    children.sort()
    if not children or children[-1] >= NO_POSITION:
        raise OverflowError("no children, or out of range")
    return _write(children, out)


@_callback("parents")
def _parents(rules: PythonRules, position: int, out: Any) -> int:
    assert rules.parents is not None
    return _write(sorted(set(rules.parents(position))), out)


# ---- callbacks for many positions ----


def _expand_many(pointer: Any, positions: Any, count: int) -> None:
    """Add everything that a solve needs to know about some positions to the memo."""
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    rules = kernel.rules
    status, moves, apply, image = rules.status, rules.moves, rules.apply, rules.image or rules.canonicalize
    mover, score = rules.mover if rules.players == 2 else None, rules.score
    statuses: list[int] = []
    movers: list[int] = []
    scores: list[int] = []
    children: list[int] = []
    ends: list[int] = []
    position = 0
    try:
        for position in ffi.unpack(positions, count):
            result = status(position)
            statuses.append(result)
            if not result:
                # Copied first: a game may return the same list every time, and change it when `apply` calls `moves`.
                children += [image(apply(position, move)) for move in list(moves(position))]
                if not 0 < len(children) - (ends[-1] if ends else 0) <= MAX_PYTHON_MOVES:
                    raise OverflowError("no children, or too many")
            ends.append(len(children))
            if mover is not None:
                movers.append(mover(position))
            if score is not None:
                scores.append(score(position) if result else 0)
    except BaseException as error:
        kernel._local.call.fail("all", position, error)
        return
    # A batch with an impossible value is not added. The single-position callbacks then report the wrong value.
    with suppress(ArithmeticError, TypeError, ValueError, MemoryError):
        if NO_POSITION in children or -MAX_SCORE - 1 in scores:
            raise OverflowError("out of range")
        score_column = array("h", scores) if scores else None
        mover_column = _to_bytes(movers, 2) or None
        child_column, end_column = array("Q", children), array("I", ends)
        add_batch(pointer, positions, _to_bytes(statuses, 4), child_column, end_column, mover_column, score_column)


def _to_bytes(values: list[int], limit: int) -> bytes:
    column = bytes(values)
    if column and max(column) >= limit:
        raise OverflowError("out of range")
    return column


def _tiers_of_many(pointer: Any, positions: Any, count: int, out: Any) -> int:
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    tier = kernel.rules.tier
    assert tier is not None
    tiers: list[int] = []
    position = 0
    try:
        for position in ffi.unpack(positions, count):
            tiers.append(_check_range(tier(position), MAX_PYTHON_TIERS))
    except BaseException as error:
        kernel._local.call.fail("tier", position, error)
        return 0
    out[0:count] = tiers
    return 1


ffi.def_extern(name="pp_python_expand_many")(_expand_many)
ffi.def_extern(name="pp_python_tiers_of_many")(_tiers_of_many)
