"""A C kernel, seen from Python: for tools, tests and everything that is not the hot path."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple, Protocol

from perfectplay_native._engine import ffi as _engine_ffi
from perfectplay_native._engine import lib

ABI = int(lib.PP_ABI)
"""The version of perfectplay.h this engine was built with."""

NO_POSITION = int(lib.PP_NO_POSITION)
"""Stands for "no position"; the largest position is one less."""

INDEX_BITS = int(lib.PP_INDEX_BITS)
KEEPS_TURN = int(lib.PP_KEEPS_TURN)
MAX_EDGES = int(lib.PP_MAX_EDGES)
MAX_TIERS = int(lib.PP_MAX_TIERS)
MAX_TIER_SIZE = (1 << INDEX_BITS) - 1

_SPARE = 64
"""Beyond what a kernel may write: so that one that writes a little more is told so, rather than crash."""


def slot_of(tier: int, index: int) -> int:
    return tier << INDEX_BITS | index


def tier_of_slot(slot: int) -> int:
    return (slot & ~KEEPS_TURN) >> INDEX_BITS


def index_of_slot(slot: int) -> int:
    return slot & (1 << INDEX_BITS) - 1


class Edge(NamedTuple):
    """A move as `expand` and `retract` list it: the slot of the other position, as (tier, index), and its turn."""

    slot: tuple[int, int]
    keeps_turn: bool
    """Whether the same player is to move before and after."""

    @classmethod
    def of(cls, slot: int) -> Edge:
        return cls((tier_of_slot(slot), index_of_slot(slot)), bool(slot & KEEPS_TURN))


class Watcher(Protocol):
    """Hears of every question that is asked through `Kernel`: before it is asked, and once it is answered."""

    def before_call(self, function: str, arguments: tuple[Any, ...]) -> None: ...

    def after_call(self) -> None: ...


class _Buffers(threading.local):
    """Room for the answers of one call; each thread has its own."""

    def __init__(self) -> None:
        self.pp_move = _engine_ffi.new("pp_move[]", MAX_EDGES + _SPARE)
        self.pp_position = _engine_ffi.new("pp_position[]", MAX_EDGES + _SPARE)
        self.images = _engine_ffi.new("pp_position[]", MAX_EDGES + _SPARE)


_buffers = _Buffers()
_ASKING_C = nullcontext()


class Kernel:
    """A game's C rules, from the cffi module that holds them: ``Kernel(ffi, lib.my_kernel)``.

    A variant is the same kernel with other fields: ``Kernel(ffi, lib.my_kernel, context=size, tier_count=17)``. It is
    then copied, and keeps `context` alive, which may be anything of that `ffi`: a struct, a table, or what
    ``ffi.gc(lib.my_new(4, 5), lib.my_free)`` gives.

    Every method takes a position that `valid` accepts; it is the caller's part to ask first. Raises ValueError for a
    kernel that another ABI was built for, or that breaks a limit.
    """

    __slots__ = ("_keep", "c", "watcher")

    parallel: ClassVar[bool] = True
    """Whether several threads may ask it at once."""
    cheap: ClassVar[bool] = True
    """Whether its rules answer so fast that asking them again costs less than storing what they said."""

    def __init__(self, ffi: Any, kernel: Any, *, context: Any = None, **fields: int) -> None:
        pointer = kernel if ffi.typeof(kernel).kind == "pointer" else ffi.addressof(kernel)
        # The module has its own ffi; the engine's types are reached through the address.
        built_for = _engine_ffi.cast("uint32_t *", int(ffi.cast("uintptr_t", pointer)))[0]
        if built_for != ABI:
            raise ValueError(
                f"the kernel was built for kernel interface {built_for}, this perfectplay has {ABI}: build the plugin "
                f"again"
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
                raise ValueError(f"the kernel's {name} is {value:,}: it must be from {least} to {most:,}")
        index = [name for name in ("tier_size", "rank", "unrank") if self.has(name)]
        if len(index) not in (0, 3):
            raise ValueError(f"the kernel has {' and '.join(index)}, but tier_size, rank and unrank go together")
        for name in ("expand", "retract", "survey"):
            if self.has(name) and not self.ranked:
                raise ValueError(f"the kernel has {name}, but no rank: slots are those of an index of its own")
        if self.has("survey") and not self.has("expand"):
            raise ValueError("the kernel has survey, but no expand: `solve check` compares the two")
        largest = _engine_ffi.new("uint32_t *")
        if self.ranked and lib.pp_largest_tier(self.c, largest) > MAX_TIER_SIZE:
            size = self.tier_size(largest[0])
            raise ValueError(
                f"the kernel's tier_size of tier {largest[0]} is {size:,}: it must be below 2**{INDEX_BITS}"
            )

    def asking(self, stop: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Wraps every call that may ask the kernel.

        Where its functions are Python's, one that raises calls `stop`, and the error is raised when the call is over.
        """
        return _ASKING_C

    def remembering(self, limit: int) -> AbstractContextManager[None]:
        """Wraps a solve, in which the same things are asked again and again: where the rules are Python's, their
        answers are kept, in at most `limit` bytes. One thread at a time."""
        return _ASKING_C

    def hear_all(self) -> Iterable[int]:
        """Remember what a game in Python says of all positions, if it can say that at once; yields how many so far."""
        return ()

    def index(self, tiers: Iterable[tuple[int, Iterable[memoryview]]]) -> None:
        """Note the place of each position among the keys of its tier, with what is remembered of it; so that solving
        need not look for children."""

    def forget(self) -> None:
        """Give up what is remembered."""

    @property
    def remembered_bytes(self) -> int:
        return 0

    def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function of the kernel; what it writes is the caller's to check."""
        if self.watcher is None:
            return getattr(self.c, function)(self.c, *arguments)
        self.watcher.before_call(function, arguments)
        answer = getattr(self.c, function)(self.c, *arguments)
        self.watcher.after_call()
        return answer

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
    def players(self) -> int:
        """2, or 1 for a puzzle."""
        return int(self.c.players) or 2

    @property
    def turns_alternate(self) -> bool:
        """Whether the kernel promises that every move passes the turn, although it has `mover`."""
        return bool(self.c.flags & lib.PP_TURNS_ALTERNATE)

    @property
    def scored(self) -> bool:
        """Whether the game is won by so and so much."""
        return bool(self.c.score)

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
        return int(self.ask("start"))

    def valid(self, position: int) -> bool:
        return 0 <= position < NO_POSITION and (not self.c.valid or bool(self.ask("valid", position)))

    def moves(self, position: int) -> list[int]:
        return self._list("moves", position, _buffers.pp_move, "max_moves")

    def _list(self, function: str, position: int, buffer: Any, limit: str) -> list[int]:
        count = self.ask(function, position, buffer)
        if count > getattr(self.c, limit):
            most = getattr(self.c, limit)
            raise ValueError(f"the kernel's {function} wrote {count:,}, more than its {limit}, {most:,}: raise it")
        found: list[int] = _engine_ffi.unpack(buffer, count)
        return found

    def apply(self, position: int, move: int) -> int:
        return int(self.ask("apply", position, move))

    def undo(self, position: int, move: int) -> int:
        """The converse of `apply`; only where the kernel has it."""
        return int(self.ask("undo", position, move))

    def canonicalize(self, position: int) -> int:
        return int(self.ask("canonicalize", position)) if self.c.canonicalize else position

    def follow(self, position: int, moves: Sequence[int]) -> tuple[list[int], list[int]]:
        """Where moves of a position lead, and the canonical forms of that: a call of the kernel for each is dear."""
        if self.watcher is not None:
            children = [self.apply(position, move) for move in moves]
            return children, [self.canonicalize(child) for child in children]
        count, given, children, images = len(moves), _buffers.pp_move, _buffers.pp_position, _buffers.images
        given[0:count] = moves
        lib.pp_follow(self.c, position, given, count, children, images)
        return _engine_ffi.unpack(children, count), _engine_ffi.unpack(images, count)

    def status(self, position: int) -> int:
        return int(self.ask("status", position))

    def tier(self, position: int) -> int:
        return int(self.ask("tier", position)) if self.c.tier else 0

    def tier_children(self, tier: int) -> list[int] | None:
        """The tiers one move away; None where the kernel only promises that tier numbers never fall."""
        if not self.c.tier_children:
            return None
        buffer = _engine_ffi.new("uint32_t[]", self.tier_count)
        return list(buffer[0 : self.ask("tier_children", tier, buffer)])

    def tier_size(self, tier: int) -> int:
        """How many slots a tier of a ranked game has."""
        return int(self.ask("tier_size", tier))

    def unrank(self, tier: int, index: int) -> int | None:
        """A position of a slot of a ranked game; None where the slot holds none."""
        positions = _buffers.pp_position
        positions[1] = NO_POSITION
        self.ask("unrank", slot_of(tier, index), 1, positions)
        if positions[1] != NO_POSITION:
            raise ValueError("the kernel's unrank wrote more positions than it was asked for")
        return None if positions[0] == NO_POSITION else int(positions[0])

    # ---- the rest only where the kernel `has` the function ----

    def mover(self, position: int) -> int:
        """Who is to move: 0 the player who begins, 1 the other."""
        return int(self.ask("mover", position))

    def score(self, position: int) -> int:
        """By how much the mover wins a finished position."""
        return int(self.ask("score", position))

    def parents(self, position: int) -> list[int]:
        """Distinct canonical parents; those of tiers that play cannot return to may be missing."""
        return self._list("parents", position, _buffers.pp_position, "max_parents")

    def children(self, position: int) -> list[int]:
        """The distinct canonical children."""
        return self._list("children", position, _buffers.pp_position, "max_moves")

    def wins_now(self, position: int) -> bool:
        """True only if the mover can end the game with a win at once."""
        return bool(self.ask("wins_now", position))

    def rank(self, position: int) -> tuple[int, int]:
        """The (tier, index) of a position of a ranked game."""
        slot = self.ask("rank", position)
        return tier_of_slot(slot), index_of_slot(slot)

    def expand(self, position: int) -> list[Edge]:
        """The slots of the children, as the kernel writes them."""
        return list(map(Edge.of, self._list("expand", position, _buffers.pp_position, "max_moves")))

    def retract(self, position: int) -> list[Edge]:
        """The slots of the parents, as the kernel writes them."""
        return list(map(Edge.of, self._list("retract", position, _buffers.pp_position, "max_parents")))
