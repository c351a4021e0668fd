"""A C kernel, seen from Python: for tools, tests and everything that is not the hot path."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from perfectplay_native._engine import ffi as _engine_ffi
from perfectplay_native._engine import lib

ABI = int(lib.PP_ABI)
"""The version of perfectplay.h this engine was built with."""

NO_POSITION = int(lib.PP_NO_POSITION)
"""Stands for "no position", as no slot does for "no slot"; the largest position is one less."""

INDEX_BITS = int(lib.PP_INDEX_BITS)
MAX_EDGES = int(lib.PP_MAX_EDGES)


def slot_of(tier: int, index: int) -> int:
    return tier << INDEX_BITS | index


def tier_of_slot(slot: int) -> int:
    return slot >> INDEX_BITS


def index_of_slot(slot: int) -> int:
    return slot & (1 << INDEX_BITS) - 1


class Kernel:
    """A game's C rules, from the cffi module that holds them: ``Kernel(ffi, lib.my_kernel)``.

    Every method takes a position that `valid` accepts; it is the caller's part to ask first.
    """

    __slots__ = ("_keep", "c")

    parallel: ClassVar[bool] = True
    """Whether several threads may ask it at once."""
    cheap: ClassVar[bool] = True
    """Whether its rules answer so fast that asking them again costs less than storing what they said."""

    def __init__(self, ffi: Any, kernel: Any) -> None:
        pointer = kernel if ffi.typeof(kernel).kind == "pointer" else ffi.addressof(kernel)
        self._keep = (ffi, pointer)
        # The module has its own ffi; the engine's types are reached through the address.
        self.c = _engine_ffi.cast("const pp_kernel *", int(ffi.cast("uintptr_t", pointer)))
        if self.c.abi != ABI:
            raise ValueError(
                f"the kernel was built for ABI {self.c.abi}, this engine has ABI {ABI}: rebuild the plugin"
            )
        for name in ("max_moves", "max_parents"):
            if getattr(self.c, name) > MAX_EDGES:
                raise ValueError(
                    f"the kernel's {name} is {getattr(self.c, name)}, more than the {MAX_EDGES} there may be"
                )

    def asking(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Wraps every call that may ask the kernel.

        Where its functions are Python's, one that raises calls `stop`, and the error is raised when the call is over.
        """
        return _ASKING_C

    def _ask(self, function: str, *arguments: Any) -> Any:
        with self.asking():
            return getattr(self.c, function)(self.c, *arguments)

    @property
    def rules_version(self) -> int:
        return int(self.c.rules_version)

    @property
    def tier_count(self) -> int:
        return int(self.c.tier_count)

    @property
    def ranked(self) -> bool:
        """Whether the kernel has a perfect index of its own."""
        return bool(self.c.rank)

    @property
    def max_moves(self) -> int:
        return int(self.c.max_moves)

    def has(self, function: str) -> bool:
        """Whether the kernel gives an optional function."""
        return bool(getattr(self.c, function))

    @property
    def can_retract(self) -> bool:
        """Whether the kernel can name a position's parents."""
        return bool(self.c.retract or self.c.parents)

    def start(self) -> int:
        return int(self._ask("start"))

    def valid(self, position: int) -> bool:
        return 0 <= position < NO_POSITION and bool(self._ask("valid", position))

    def moves(self, position: int) -> list[int]:
        buffer = _engine_ffi.new("pp_move[]", max(1, self.c.max_moves))
        return list(buffer[0 : self._ask("moves", position, buffer)])

    def apply(self, position: int, move: int) -> int:
        return int(self._ask("apply", position, move))

    def undo(self, position: int, move: int) -> int:
        return int(self._ask("undo", position, move))

    def canonicalize(self, position: int) -> int:
        return int(self._ask("canonicalize", position))

    def status(self, position: int) -> int:
        return int(self._ask("status", position))

    def tier(self, position: int) -> int:
        return int(self._ask("tier", position)) if self.c.tier else 0

    def tier_children(self, tier: int) -> list[int] | None:
        """The tiers one move away; None where the kernel only promises that tier numbers never fall."""
        if not self.c.tier_children:
            return None
        buffer = _engine_ffi.new("uint32_t[]", self.tier_count)
        return list(buffer[0 : self._ask("tier_children", tier, buffer)])

    def tier_size(self, tier: int) -> int:
        """How many slots a tier of a ranked game has."""
        return int(self._ask("tier_size", tier))

    def unrank(self, tier: int, index: int) -> int | None:
        """A position of a slot of a ranked game; None where the slot holds none."""
        position = _engine_ffi.new("pp_position *")
        self._ask("unrank", slot_of(tier, index), 1, position)
        return None if position[0] == NO_POSITION else int(position[0])

    def parents(self, position: int) -> list[int]:
        """The distinct canonical parents; only where the kernel has `parents`."""
        buffer = _engine_ffi.new("pp_position[]", max(1, self.c.max_parents))
        return list(buffer[0 : self._ask("parents", position, buffer)])

    # ---- the rest only where the kernel `has` the function ----

    def children(self, position: int) -> list[int]:
        """The distinct canonical children."""
        buffer = _engine_ffi.new("pp_position[]", max(1, self.c.max_moves))
        return list(buffer[0 : self._ask("children", position, buffer)])

    def wins_now(self, position: int) -> bool:
        """True only if the mover can end the game with a win at once."""
        return bool(self._ask("wins_now", position))

    def rank(self, position: int) -> tuple[int, int]:
        """The (tier, index) of a position of a ranked game."""
        return _tier_and_index(self._ask("rank", position))

    def expand(self, position: int) -> list[tuple[int, int]]:
        """The slots of the children, as (tier, index)."""
        buffer = _engine_ffi.new("pp_slot[]", max(1, self.c.max_moves))
        return list(map(_tier_and_index, buffer[0 : self._ask("expand", position, buffer)]))

    def retract(self, position: int) -> list[tuple[int, int]]:
        """The slots of the parents that play can return to, as (tier, index)."""
        buffer = _engine_ffi.new("pp_slot[]", max(1, self.c.max_parents))
        return list(map(_tier_and_index, buffer[0 : self._ask("retract", position, buffer)]))


def _tier_and_index(slot: int) -> tuple[int, int]:
    return tier_of_slot(slot), index_of_slot(slot)


_ASKING_C = nullcontext()
