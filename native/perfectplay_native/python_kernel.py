"""A kernel for games in plain Python: the engine calls back into the game's own functions.

Slower than C by orders of magnitude, but the same engine, the same tables and the same proofs. The functions are
called bare, without the host's checks; only when one fails, or answers what cannot be, is the same question asked
again with every check on, to find the words for it (`explain`). An exception cannot cross the C code: the callback
answers 0, and `Kernel.asking`, around every call of the engine, raises the error as soon as that call is over.

While a solve runs, what the game says is remembered (memo.c), and it is asked about many positions at a time: so that
each of its functions is called once a position, and without a call back from C for each.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from operator import index
from types import TracebackType
from typing import Any

from perfectplay_native._engine import ffi, lib
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import ABI, MAX_PYTHON_MOVES, MAX_PYTHON_TIERS, MAX_SCORE, NO_POSITION
from perfectplay_native.rules import Rules
from perfectplay_native.studied import checked_study

Explain = Callable[[str, int, BaseException], BaseException]
"""explain(question, position, error): the error to raise. A question is a hook's name, `children`, or `all` for all
that a solve asks about a position."""


class PythonKernel(Kernel):
    """A kernel over a game's Python functions."""

    __slots__ = ("_asking", "_handle", "_memo", "explain", "rules")

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
                "max_moves": MAX_PYTHON_MOVES,
                "max_parents": MAX_PYTHON_MOVES,
                "tier_count": MAX_PYTHON_TIERS if rules.tier else 1,
                "context": self._handle,
                **{name: getattr(lib, f"pp_python_{name}") for name in (*required, *optional)},
            },
        )
        made = lib.pp_memo_new(struct, lib.pp_python_study, lib.pp_python_tiers)
        if made == ffi.NULL:
            raise MemoryError
        self._memo = ffi.gc(made, lib.pp_memo_free)
        super().__init__(ffi, self._memo)

    def asking(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        return _Call(self, self._asking, stop)

    @contextmanager
    def remembering(self, limit: int) -> Iterator[None]:
        lib.pp_memo_open(self._memo, limit)
        try:
            yield
        finally:
            self.forget()

    def index(self, tiers: Iterable[tuple[int, Iterable[memoryview]]]) -> None:
        for tier, blocks in tiers:
            first = 0
            for block in blocks:
                keys = ffi.from_buffer("pp_position[]", block)
                if not lib.pp_memo_index(self._memo, tier, first, keys, len(keys)):
                    return
                first += len(keys)
        lib.pp_memo_use_index(self._memo)

    def forget(self) -> None:
        lib.pp_memo_close(self._memo)

    def hear_all(self) -> Iterator[int]:
        rules, heard = self.rules, 0
        if rules.walk is None:
            return
        movers, scores = rules.mover is not None and rules.players == 2, rules.score is not None
        try:
            for studied in rules.walk():
                said = checked_study(studied, movers=movers, scores=scores)
                _enter(self._memo, ffi.from_buffer("pp_position[]", said.positions), *said[1:])
                heard += len(said.positions)
                yield heard
        except (Exception, SystemExit) as error:
            raise self.explain("walk", 0, error) from error

    @property
    def remembered_bytes(self) -> int:
        return int(lib.pp_memo_bytes(self._memo))

    def ask(self, function: str, *arguments: Any) -> Any:
        with self.asking():
            return super().ask(function, *arguments)

    def apply(self, position: int, move: int) -> int:
        return int(self.ask("apply", position, move))

    def canonicalize(self, position: int) -> int:
        return int(self.ask("canonicalize", position))


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
            if not isinstance(error, KeyboardInterrupt):  # sys.exit in a hook is a mistake like others
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
    if count > MAX_PYTHON_MOVES:
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
    return _checked(rules.tier(position), MAX_PYTHON_TIERS)


@_answers("children")
def _children(rules: Rules, position: int, out: Any) -> int:
    """The engine's one question per position, asked of ongoing positions only: so having none is a mistake."""
    apply, canonicalize = rules.apply, rules.canonicalize
    children = list({canonicalize(apply(position, move)) for move in list(rules.moves(position))})
    children.sort()
    if not children or children[-1] >= NO_POSITION:
        raise OverflowError("no children, or out of range")
    return _write(children, out)


@_answers("parents")
def _parents(rules: Rules, position: int, out: Any) -> int:
    assert rules.parents is not None
    return _write(sorted(set(rules.parents(position))), out)


# ---- many positions at a time ----


def _study(pointer: Any, positions: Any, count: int) -> None:
    """Ask the game all about some positions, and let it be remembered."""
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    rules = kernel.rules
    status, moves, apply, canonicalize = rules.status, rules.moves, rules.apply, rules.canonicalize
    mover, score = rules.mover if rules.players == 2 else None, rules.score
    statuses: list[int] = []
    movers: list[int] = []
    scores: list[int] = []
    children: list[int] = []
    ends: list[int] = []
    position = 0
    try:
        for position in ffi.unpack(positions, count):
            stands = status(position)
            statuses.append(stands)
            if not stands:
                # Copied first: a game may hand out one list for all, which `apply` changes when it asks for moves.
                children += [canonicalize(apply(position, move)) for move in list(moves(position))]
                if not 0 < len(children) - (ends[-1] if ends else 0) <= MAX_PYTHON_MOVES:
                    raise OverflowError("no children, or too many")
            ends.append(len(children))
            if mover is not None:
                movers.append(mover(position))
            if score is not None:
                scores.append(score(position) if stands else 0)
    except BaseException as error:
        kernel._asking.call.fail("all", position, error)
        return
    # An answer that cannot be is not entered: asked one by one, the game hears which it is.
    with suppress(ArithmeticError, TypeError, ValueError, MemoryError):
        if NO_POSITION in children or -MAX_SCORE - 1 in scores:
            raise OverflowError("out of range")
        numbers = array("h", scores) if scores else None
        edges, after = array("Q", children), array("I", ends)
        _enter(pointer, positions, _bytes(statuses, 4), edges, after, _bytes(movers, 2) or None, numbers)


def _bytes(answers: list[int], limit: int) -> bytes:
    found = bytes(answers)
    if found and max(found) >= limit:
        raise OverflowError("out of range")
    return found


def _enter(
    kernel: Any, positions: Any, statuses: Any, children: Any, ends: Any, movers: Any | None, scores: Any | None
) -> None:
    edges = ffi.from_buffer("pp_position[]", children)
    studied = {
        "statuses": ffi.from_buffer("uint8_t[]", statuses),
        "movers": ffi.NULL if movers is None else ffi.from_buffer("uint8_t[]", movers),
        "scores": ffi.NULL if scores is None else ffi.from_buffer("int16_t[]", scores),
        "children": edges,
        "ends": ffi.from_buffer("uint32_t[]", ends),
    }
    lib.pp_memo_enter(kernel, positions, len(statuses), ffi.new("pp_studied *", studied))


def _tiers(pointer: Any, positions: Any, count: int, out: Any) -> int:
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    tier = kernel.rules.tier
    assert tier is not None
    tiers: list[int] = []
    position = 0
    try:
        for position in ffi.unpack(positions, count):
            tiers.append(_checked(tier(position), MAX_PYTHON_TIERS))
    except BaseException as error:
        kernel._asking.call.fail("tier", position, error)
        return 0
    out[0:count] = tiers
    return 1


ffi.def_extern(name="pp_python_study")(_study)
ffi.def_extern(name="pp_python_tiers")(_tiers)
