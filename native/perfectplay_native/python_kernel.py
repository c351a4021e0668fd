"""A kernel for games in plain Python: the engine calls back into the game's own functions.

Slower than C by orders of magnitude, but the same engine, the same tables and the same proofs. The functions are
called bare, without the host's checks; only when one fails, or answers what cannot be, is the same question asked
again with every check on, to find the words for it (`explain`). An exception cannot cross the C code: it is kept in
`error`, `on_error` is told so that it can stop the engine, and whoever called the engine raises it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Protocol

from perfectplay_native._engine import ffi, lib
from perfectplay_native.kernel import ABI, Kernel

MAX_MOVES = 4096
"""More moves than this in one position, and the game is refused."""

MAX_TIERS = 1 << 16

NO_POSITION = 2**64 - 1


class Rules(Protocol):
    """A game's bare functions; `perfectplay.game.Rules` has them all."""

    @property
    def start(self) -> Callable[[], int]: ...
    @property
    def valid(self) -> Callable[[int], bool]: ...
    @property
    def moves(self) -> Callable[[int], Sequence[int]]: ...
    @property
    def apply(self) -> Callable[[int, int], int]: ...
    @property
    def undo(self) -> Callable[[int, int], int]: ...
    @property
    def canonicalize(self) -> Callable[[int], int]: ...
    @property
    def status(self) -> Callable[[int], int]: ...
    @property
    def tier(self) -> Callable[[int], int] | None: ...
    @property
    def parents(self) -> Callable[[int], Sequence[int]] | None: ...


Explain = Callable[[str, int, Exception], BaseException]
"""explain(question, position, error): the error to raise. A question is a hook's name, or `children`."""


class PythonKernel(Kernel):
    """A kernel over a game's Python functions."""

    __slots__ = ("_explain", "_handle", "error", "on_error", "rules")

    def __init__(
        self, rules: Rules, *, rules_version: int = 1, explain: Explain = lambda question, position, error: error
    ) -> None:
        self.rules = rules
        self.error: BaseException | None = None
        self.on_error: Callable[[], None] = lambda: None
        self._explain = explain
        self._handle = ffi.new_handle(self)
        struct = ffi.new(
            "pp_kernel *",
            {
                "abi": ABI,
                "rules_version": rules_version,
                "max_moves": MAX_MOVES,
                "max_parents": MAX_MOVES,
                "tier_count": MAX_TIERS if rules.tier else 1,
                "context": self._handle,
                "valid": lib.pp_python_valid,
                "start": lib.pp_python_start,
                "moves": lib.pp_python_moves,
                "apply": lib.pp_python_apply,
                "undo": lib.pp_python_undo,
                "canonicalize": lib.pp_python_canonicalize,
                "status": lib.pp_python_status,
                "tier": lib.pp_python_tier if rules.tier else ffi.NULL,
                "children": lib.pp_python_children,
                "parents": lib.pp_python_parents if rules.parents else ffi.NULL,
            },
        )
        super().__init__(ffi, struct)

    def raise_error(self) -> None:
        """Raise what a callback raised, if any did."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def keep_error(self, question: str, position: int, error: BaseException) -> None:
        """Keep the first error, in the host's words, and tell the engine's owner."""
        if self.error is None:
            self.error = self._explain(question, position, error) if isinstance(error, Exception) else error
        self.on_error()


def _kernel(pointer: Any) -> PythonKernel:
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    return kernel


def _note_error(_kind: Any, error: BaseException, traceback: Any) -> None:
    """Find in the callback's frame what was asked, and of which kernel."""
    frame = traceback.tb_frame
    question = frame.f_code.co_name.removeprefix("pp_python_")
    _kernel(frame.f_locals["pointer"]).keep_error(question, frame.f_locals.get("position", 0), error)


def _checked(answer: int, limit: int) -> int:
    """The answer; what is no int, or out of range, raises here, where `_note_error` finds the frame."""
    if not 0 <= index(answer) < limit:
        raise OverflowError("out of range")
    return answer


def _write(values: Sequence[int], out: Any) -> int:
    """Hand over a list; cffi itself refuses what is no int or out of range."""
    count = len(values)
    if count > MAX_MOVES:
        raise OverflowError("too many")
    out[0:count] = values
    return count


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_valid(pointer: Any, position: int) -> bool:
    return bool(_kernel(pointer).rules.valid(position))


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_start(pointer: Any) -> int:
    return _checked(_kernel(pointer).rules.start(), NO_POSITION)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_moves(pointer: Any, position: int, out: Any) -> int:
    return _write(_kernel(pointer).rules.moves(position), out)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_apply(pointer: Any, position: int, move: int) -> int:
    return _checked(_kernel(pointer).rules.apply(position, move), NO_POSITION)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_undo(pointer: Any, position: int, move: int) -> int:
    return _checked(_kernel(pointer).rules.undo(position, move), NO_POSITION)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_canonicalize(pointer: Any, position: int) -> int:
    return _checked(_kernel(pointer).rules.canonicalize(position), NO_POSITION)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_status(pointer: Any, position: int) -> int:
    return _checked(_kernel(pointer).rules.status(position), 4)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_tier(pointer: Any, position: int) -> int:
    tier = _kernel(pointer).rules.tier
    assert tier is not None
    return _checked(tier(position), MAX_TIERS)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_children(pointer: Any, position: int, out: Any) -> int:
    """The engine's one question per position, asked of ongoing positions only: so having none is a mistake."""
    rules = _kernel(pointer).rules
    apply, canonicalize = rules.apply, rules.canonicalize
    children = list({canonicalize(apply(position, move)) for move in rules.moves(position)})
    children.sort()
    if not children or children[-1] >= NO_POSITION:
        raise OverflowError("no children, or out of range")
    return _write(children, out)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_parents(pointer: Any, position: int, out: Any) -> int:
    parents = _kernel(pointer).rules.parents
    assert parents is not None
    return _write(sorted(set(parents(position))), out)
