"""A C kernel as a Python object, for tools, tests and everything outside the hot path."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple, Protocol

from perfectplay_native._engine import ffi as _engine_ffi
from perfectplay_native._engine import lib
from perfectplay_native.limits import ABI, INDEX_BITS, MAX_EDGES, MAX_TIER_SIZE, MAX_TIERS, NO_POSITION

KEEPS_TURN = int(lib.PP_KEEPS_TURN)

_SPARE = 64
"""Extra elements in result buffers, so that a kernel that writes slightly too much gets an error instead of a crash."""


def slot_of(tier: int, index: int) -> int:
    return tier << INDEX_BITS | index


def tier_of_slot(slot: int) -> int:
    return (slot & ~KEEPS_TURN) >> INDEX_BITS


def index_of_slot(slot: int) -> int:
    return slot & (1 << INDEX_BITS) - 1


class Edge(NamedTuple):
    """A move in a list of `expand` or `retract`: the slot of the other position as (tier, index), and the turn."""

    slot: tuple[int, int]
    keeps_turn: bool
    """Whether the same player is to move before and after."""

    @classmethod
    def of(cls, slot: int) -> Edge:
        return cls((tier_of_slot(slot), index_of_slot(slot)), bool(slot & KEEPS_TURN))


class Watcher(Protocol):
    """Called before and after every call of a kernel function through `Kernel`."""

    def before_call(self, function: str, arguments: tuple[Any, ...]) -> None: ...

    def after_call(self) -> None: ...


class _Buffers(threading.local):
    """Result buffers, one set per thread."""

    def __init__(self) -> None:
        self.pp_move = _engine_ffi.new("pp_move[]", MAX_EDGES + _SPARE)
        self.pp_position = _engine_ffi.new("pp_position[]", MAX_EDGES + _SPARE)
        self.images = _engine_ffi.new("pp_position[]", MAX_EDGES + _SPARE)


_buffers = _Buffers()
_crash_report: list[Any] = []
_NO_CONTEXT = nullcontext()


class Kernel:
    """A game's C rules, from the cffi module that contains them: ``Kernel(ffi, lib.my_kernel)``.

    A variant is the same kernel with other fields: ``Kernel(ffi, lib.my_kernel, context=size, tier_count=17)``. The
    kernel is then copied, and the copy keeps `context` alive, which may be any object of that `ffi`: a struct, a table,
    or the result of ``ffi.gc(lib.my_new(4, 5), lib.my_free)``.

    Every method expects a position that `valid` accepts; checking it is up to the caller. Raises ValueError if the
    kernel was built for another ABI or exceeds a limit.
    """

    __slots__ = ("_keep", "c", "layout", "watcher")

    parallel: ClassVar[bool] = True
    """Whether several threads may call it at the same time."""
    cheap: ClassVar[bool] = True
    """Whether calling the rules again costs less than storing their results."""

    def __init__(self, ffi: Any, kernel: Any, *, context: Any = None, **fields: int) -> None:
        pointer = kernel if ffi.typeof(kernel).kind == "pointer" else ffi.addressof(kernel)
        # The module has its own ffi; casting the address gives the engine's types.
        abi = _engine_ffi.cast("uint32_t *", int(ffi.cast("uintptr_t", pointer)))[0]
        if abi != ABI:
            raise ValueError(
                f"the kernel was built for kernel interface {abi}, but this perfectplay has {ABI}; rebuild the plugin"
            )
        if context is not None or fields:
            pointer = ffi.new("pp_kernel *", pointer[0])
            if context is not None:
                pointer.context = context
            for name, value in fields.items():
                setattr(pointer, name, value)
        self._keep = (ffi, pointer, context)
        self.c = _engine_ffi.cast("const pp_kernel *", int(ffi.cast("uintptr_t", pointer)))
        self.watcher: Watcher | None = None
        self.layout: Any = None
        """The layout of a declared index; None if the kernel has its own index or none."""
        self._check_limits()

    def wrap(self, pointer: Any, layout: Any) -> None:
        """Replace the C kernel by one that calls it and adds the index of a `Layout`."""
        self._keep = (self._keep, pointer, layout)
        self.c = _engine_ffi.cast("const pp_kernel *", pointer)
        self.layout = layout
        self._check_limits()

    def _check_limits(self) -> None:
        for name, least, most in (
            ("players", 0, 2),
            ("max_moves", 0, MAX_EDGES),
            ("max_parents", 0, MAX_EDGES),
            ("tier_count", 1, MAX_TIERS),
        ):
            value = int(getattr(self.c, name))
            if not least <= value <= most:
                raise ValueError(f"the kernel's {name} is {value:,}; it must be from {least} to {most:,}")
        index = [name for name in ("tier_size", "rank", "unrank") if self.has(name)]
        if len(index) not in (0, 3):
            raise ValueError(f"the kernel has only {' and '.join(index)}; it needs tier_size, rank and unrank together")
        for name in ("expand", "retract", "survey"):
            if self.has(name) and not self.ranked:
                raise ValueError(f"the kernel has {name} but no rank; slots require an index")
        if self.has("survey") and not self.has("expand"):
            raise ValueError("the kernel has survey but no expand, which `solve check` compares with it")
        largest = _engine_ffi.new("uint32_t *")
        if self.ranked and lib.pp_largest_tier(self.c, largest) > MAX_TIER_SIZE:
            size = self.tier_size(largest[0])
            raise ValueError(
                f"the kernel's tier_size of tier {largest[0]} is {size:,}; it must be below 2**{INDEX_BITS}"
            )

    def callback_errors(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Return a context manager for every call into C that may call the kernel.

        If a Python function of the kernel raises, `stop` is called, and the error is raised at the end of the block.
        """
        return _NO_CONTEXT

    def memo(self, limit: int) -> AbstractContextManager[None]:
        """Return a context manager for a solve, during which a Python kernel stores the results of its game.

        The memo takes at most `limit` bytes, and is used by one thread at a time.
        """
        return _NO_CONTEXT

    def prefill_memo(self) -> Iterable[int]:
        """Fill the memo from the hook `walk`, if the game has it. Yields the number of positions so far."""
        return ()

    def index_memo(self, tiers: Iterable[tuple[int, Iterable[memoryview]]]) -> None:
        """Store each position's index among the keys of its tier in the memo, so that solving needs no look-ups."""

    def clear_memo(self) -> None:
        """Free the memo, and add nothing more to it."""

    @property
    def memo_bytes(self) -> int:
        return 0

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the kernel. The caller checks the contents of output buffers."""
        if self.watcher is None:
            return getattr(self.c, function)(self.c, *arguments)
        self.watcher.before_call(function, arguments)
        result = getattr(self.c, function)(self.c, *arguments)
        self.watcher.after_call()
        return result

    @property
    def rules_version(self) -> int:
        return int(self.c.rules_version)

    @property
    def tier_count(self) -> int:
        return int(self.c.tier_count)

    @property
    def ranked(self) -> bool:
        """Whether the kernel has a perfect index."""
        return bool(self.c.rank)

    @property
    def players(self) -> int:
        """2, or 1 for a puzzle."""
        return int(self.c.players) or 2

    @property
    def turns_alternate(self) -> bool:
        """Whether a kernel with `mover` promises that every move passes the turn."""
        return bool(self.c.flags & lib.PP_TURNS_ALTERNATE)

    @property
    def scored(self) -> bool:
        """Whether finished games have a score."""
        return bool(self.c.score)

    @property
    def max_moves(self) -> int:
        return int(self.c.max_moves)

    def has(self, function: str) -> bool:
        """Whether the kernel implements an optional function."""
        return bool(getattr(self.c, function))

    @property
    def can_retract(self) -> bool:
        """Whether the kernel can list a position's parents."""
        return bool(self.c.retract or self.c.parents)

    def start(self) -> int:
        return int(self.call("start"))

    def valid(self, position: int) -> bool:
        return 0 <= position < NO_POSITION and (not self.c.valid or bool(self.call("valid", position)))

    def moves(self, position: int) -> list[int]:
        return self._list("moves", position, _buffers.pp_move, "max_moves")

    def _list(self, function: str, position: int, buffer: Any, limit_name: str) -> list[int]:
        count, limit = self.call(function, position, buffer), getattr(self.c, limit_name)
        if count > limit:
            raise ValueError(f"the kernel's {function} wrote {count:,}, more than its {limit_name}, {limit:,}")
        elements: list[int] = _engine_ffi.unpack(buffer, count)
        return elements

    def apply(self, position: int, move: int) -> int:
        return int(self.call("apply", position, move))

    def undo(self, position: int, move: int) -> int:
        """Return the position before `move`. Only for a kernel with `undo`."""
        return int(self.call("undo", position, move))

    def canonicalize(self, position: int) -> int:
        return int(self.call("canonicalize", position)) if self.c.canonicalize else position

    def follow(self, position: int, moves: Sequence[int]) -> tuple[list[int], list[int]]:
        """Apply several moves in one call. Returns the positions after them, and the canonical forms of these."""
        if self.watcher is not None:
            children = [self.apply(position, move) for move in moves]
            return children, [self.canonicalize(child) for child in children]
        count, buffer, children, images = len(moves), _buffers.pp_move, _buffers.pp_position, _buffers.images
        buffer[0:count] = moves
        lib.pp_follow(self.c, position, buffer, count, children, images)
        return _engine_ffi.unpack(children, count), _engine_ffi.unpack(images, count)

    def status(self, position: int) -> int:
        return int(self.call("status", position))

    def tier(self, position: int) -> int:
        return int(self.call("tier", position)) if self.c.tier else 0

    def tier_children(self, tier: int) -> list[int] | None:
        """Return the tiers one move away, or None if the kernel only promises that tier numbers never decrease."""
        if not self.c.tier_children:
            return None
        buffer = _engine_ffi.new("uint32_t[]", self.tier_count)
        return list(buffer[0 : self.call("tier_children", tier, buffer)])

    def tier_size(self, tier: int) -> int:
        """Return the number of slots in a tier of a ranked game."""
        return int(self.call("tier_size", tier))

    def unrank(self, tier: int, index: int) -> int | None:
        """Return a position of a slot of a ranked game, or None if the slot is empty.

        Raises ValueError if the tier does not have this slot.
        """
        if not (0 <= tier < self.tier_count and 0 <= index < self.c.tier_size(self.c, tier)):
            raise ValueError(f"there is no slot {index} in tier {tier}")
        positions = _buffers.pp_position
        positions[1] = NO_POSITION
        self.call("unrank", slot_of(tier, index), 1, positions)
        if positions[1] != NO_POSITION:
            raise ValueError("the kernel's unrank wrote more positions than requested")
        return None if positions[0] == NO_POSITION else int(positions[0])

    # ---- only for a kernel that `has` the function ----

    def mover(self, position: int) -> int:
        """Return the player to move: 0 for the first player, 1 for the second."""
        return int(self.call("mover", position))

    def score(self, position: int) -> int:
        """Return the margin by which the mover wins a finished position."""
        return int(self.call("score", position))

    def parents(self, position: int) -> list[int]:
        """Return the distinct canonical parents. Parents in tiers that play cannot return to may be missing."""
        return self._list("parents", position, _buffers.pp_position, "max_parents")

    def children(self, position: int) -> list[int]:
        """Return the distinct canonical children."""
        return self._list("children", position, _buffers.pp_position, "max_moves")

    def wins_now(self, position: int) -> bool:
        """Return True only if the mover can win with this move."""
        return bool(self.call("wins_now", position))

    def rank(self, position: int) -> tuple[int, int]:
        """Return the (tier, index) of a position of a ranked game."""
        slot = self.call("rank", position)
        return tier_of_slot(slot), index_of_slot(slot)

    def expand(self, position: int) -> list[Edge]:
        """Return the slots of the children, as the kernel writes them."""
        return list(map(Edge.of, self._list("expand", position, _buffers.pp_position, "max_moves")))

    def retract(self, position: int) -> list[Edge]:
        """Return the slots of the parents, as the kernel writes them."""
        return list(map(Edge.of, self._list("retract", position, _buffers.pp_position, "max_parents")))


def report_crashes(game: str, kernel: Kernel | None = None) -> None:
    """If this process crashes from now on, print a line that names the game and the kernel's function."""
    name = _engine_ffi.new("char[]", game.encode())
    _crash_report[:] = [kernel, name]  # the handler uses both
    lib.pp_report_crashes(_engine_ffi.NULL if kernel is None else kernel.c, name)
