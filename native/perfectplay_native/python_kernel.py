"""A kernel for games in plain Python: the engine calls back into the game's own functions.

Slower than C by orders of magnitude, but the same engine, the same tables and the same proofs. An exception in a
callback cannot cross the C code: it is kept in `error`, `on_error` is told so that it can stop the engine, and
whoever called the engine raises it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from perfectplay_native._engine import ffi, lib
from perfectplay_native.kernel import ABI, Kernel

MAX_MOVES = 4096
"""More moves than this in one position, and the game is refused."""

MAX_TIERS = 1 << 16


class Rules(Protocol):
    """What a Python game brings; `perfectplay.game.Game` has it all."""

    @property
    def rules_version(self) -> int: ...
    @property
    def has_tier(self) -> bool: ...
    @property
    def has_parents(self) -> bool: ...

    def valid(self, position: int) -> bool: ...
    def start(self) -> int: ...
    def moves(self, position: int) -> Sequence[int]: ...
    def apply(self, position: int, move: int) -> int: ...
    def undo(self, position: int, move: int) -> int: ...
    def canonicalize(self, position: int) -> int: ...
    def status(self, position: int) -> int: ...
    def tier(self, position: int) -> int: ...
    def parents(self, position: int) -> Sequence[int]: ...


class PythonKernel(Kernel):
    """A kernel over a game's Python functions."""

    __slots__ = ("_handle", "error", "on_error", "rules")

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.error: BaseException | None = None
        self.on_error: Callable[[], None] = lambda: None
        self._handle = ffi.new_handle(self)
        struct = ffi.new(
            "pp_kernel *",
            {
                "abi": ABI,
                "rules_version": rules.rules_version,
                "max_moves": MAX_MOVES,
                "max_parents": MAX_MOVES,
                "tier_count": MAX_TIERS if rules.has_tier else 1,
                "context": self._handle,
                "valid": lib.pp_python_valid,
                "start": lib.pp_python_start,
                "moves": lib.pp_python_moves,
                "apply": lib.pp_python_apply,
                "undo": lib.pp_python_undo,
                "canonicalize": lib.pp_python_canonicalize,
                "status": lib.pp_python_status,
                "tier": lib.pp_python_tier if rules.has_tier else ffi.NULL,
                "children": lib.pp_python_children,
                "parents": lib.pp_python_parents if rules.has_parents else ffi.NULL,
            },
        )
        super().__init__(ffi, struct)

    def raise_error(self) -> None:
        """Raise what a callback raised, if any did."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def distinct_children(self, position: int) -> list[int]:
        rules = self.rules
        return sorted({rules.canonicalize(rules.apply(position, move)) for move in rules.moves(position)})


def _kernel(pointer: Any) -> PythonKernel:
    kernel: PythonKernel = ffi.from_handle(pointer.context)
    return kernel


def _note_error(_kind: Any, error: BaseException, traceback: Any) -> None:
    """Find the kernel in the callback's frame, and keep the first error."""
    kernel = _kernel(traceback.tb_frame.f_locals["pointer"])
    if kernel.error is None:
        kernel.error = error
    kernel.on_error()


def _write(values: Sequence[int], out: Any, what: str, position: int) -> int:
    if len(values) > MAX_MOVES:
        raise ValueError(f"position {position} has {len(values)} {what}, more than the {MAX_MOVES} a game may have")
    out[0 : len(values)] = values
    return len(values)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_valid(pointer: Any, position: int) -> bool:
    return _kernel(pointer).rules.valid(position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_start(pointer: Any) -> int:
    return _kernel(pointer).rules.start()


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_moves(pointer: Any, position: int, out: Any) -> int:
    return _write(_kernel(pointer).rules.moves(position), out, "moves", position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_apply(pointer: Any, position: int, move: int) -> int:
    return _kernel(pointer).rules.apply(position, move)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_undo(pointer: Any, position: int, move: int) -> int:
    return _kernel(pointer).rules.undo(position, move)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_canonicalize(pointer: Any, position: int) -> int:
    return _kernel(pointer).rules.canonicalize(position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_status(pointer: Any, position: int) -> int:
    return _kernel(pointer).rules.status(position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_tier(pointer: Any, position: int) -> int:
    return _kernel(pointer).rules.tier(position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_children(pointer: Any, position: int, out: Any) -> int:
    return _write(_kernel(pointer).distinct_children(position), out, "children", position)


@ffi.def_extern(onerror=_note_error)  # type: ignore[untyped-decorator]
def pp_python_parents(pointer: Any, position: int, out: Any) -> int:
    return _write(sorted(set(_kernel(pointer).rules.parents(position))), out, "parents", position)
