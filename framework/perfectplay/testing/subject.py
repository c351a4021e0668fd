"""The game under test, with the questions that several laws ask, and a guard around its kernel's buffers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from perfectplay_native._engine import ffi, lib

from perfectplay.compile.compiler import NotCompiled
from perfectplay.compile.kernel import compile_rules, may_compile
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.hooks import watched_call
from perfectplay.testing.sandbox import CallLog
from perfectplay.tiers.order import TierScan, components, tier_graph
from perfectplay.values import Status
from perfectplay_native.kernel import Edge, Kernel, slot_of

TIER_SAMPLES = 1 << 7
"""Slots per tier of a declared index that are expanded to find its tiers."""

SPARE_ENTRIES = 1 << 12
"""Entries after the end of a kernel's buffer, which it must not change."""

MAX_SURVEYED = 64
"""The largest number of slots in one survey."""

FILL_BYTES = (0x5A, 0xA5)
"""Initial contents of buffers. There are two, because a kernel might write one of them."""


class GameUnderTest:
    """One game, and the log that the sandbox reads if the game crashes."""

    def __init__(self, game: Game, log: CallLog | None = None) -> None:
        self.game = game
        self._log = log

    def log_check(self, law: str, position: int | None = None) -> None:
        """Log that this law is now checked, in this position."""
        if self._log is not None:
            self._log.set_check(law, position)

    def call(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call and log a function that belongs to a hook but is not a method of the game."""
        return watched_call(hook, function, *arguments)

    def name(self, position: int) -> str:
        """Return a position as messages show it: its text, if `decode` works, and the number."""
        try:
            text = self.game.decode(position)
        except PerfectPlayError:
            text = str(position)
        return f"position {position}" if text == str(position) else f"position {text} ({position})"

    @cached_property
    def has_board(self) -> bool:
        return self.game.board(self.game.start()) is not None

    @cached_property
    def ranked_kernel(self) -> Kernel | None:
        """The kernel of a game with an index; None for any other game."""
        kernel = game_kernel(self.game) if self.game.index is not None else self.game.kernel
        return kernel if kernel is not None and kernel.ranked else None

    @property
    def kernel(self) -> Kernel:
        """The kernel of a game that has a kernel or an index."""
        kernel = self.ranked_kernel or self.game.kernel
        assert kernel is not None
        return kernel

    def image(self, position: int) -> int:
        """Return the representative of all images of this position in a declared index."""
        return int(lib.pp_declared_canonical(self.kernel.c, position))

    @cached_property
    def tiers(self) -> list[int]:
        """The tiers of an index, or of a declared index those that samples of its slots lead to."""
        return list(tier_graph(self.kernel, {}, TierScan(samples=TIER_SAMPLES)))

    @cached_property
    def compiled(self) -> Kernel | None:
        """The compiled rules of a game in Python; None if they cannot be compiled."""
        if not may_compile(self.game):
            return None
        try:
            return compile_rules(self.game)
        except NotCompiled:
            return None

    @cached_property
    def guarded_kernel(self) -> GuardedKernel:
        return GuardedKernel(self.kernel, self.game.name)

    def is_over(self, position: int) -> bool:
        return self.game.status(position) is not Status.ONGOING

    def is_open(self, position: int) -> bool:
        """Return whether the engine asks for parents: the game is not over, and there is no known win in one move."""
        kernel = self.game.kernel
        if self.is_over(position):
            return False
        return kernel is None or not kernel.has("wins_now") or not kernel.wins_now(position)

    def has_winning_move(self, position: int) -> bool:
        """Return whether some move ends the game with a win for the player who makes it."""
        game = self.game
        for _, child in game.follow(position):
            if game.status(child) is (Status.WON if game.keeps_turn(position, child) else Status.LOST):
                return True
        return False

    def children(self, position: int) -> set[int]:
        """Return the canonical children."""
        game = self.game
        return {game.canonicalize(child) for _, child in game.follow(position)}

    def playout(self, plies: int, seed: int) -> Iterator[int]:
        """Yield the positions of a random game, until a hook fails."""
        dice = random.Random(seed)
        position = self.game.start()
        yield position
        with suppress(PerfectPlayError):
            while plies and (legal := self.game.moves(position)):
                position = self.game.apply(position, dice.choice(legal))
                plies -= 1
                yield position

    def component(self, tier: int) -> set[int]:
        """Return the tiers that play can reach from this one and return from, itself included."""
        return self._components.get(tier, {tier})

    @cached_property
    def _components(self) -> dict[int, set[int]]:
        kernel = self.game.kernel
        if kernel is not None and kernel.layout is not None:
            graph = tier_graph(kernel, {}, TierScan(samples=TIER_SAMPLES))
            return {tier: set(component.tiers) for component in components(graph) for tier in component.tiers}
        if kernel is None or not kernel.has("tier_children"):
            return {}  # tiers never decrease, so each is a component
        order = components({tier: kernel.tier_children(tier) or [] for tier in range(kernel.tier_count)})
        return {tier: set(component.tiers) for component in order for tier in component.tiers}


class GuardedKernel:
    """Calls functions of a kernel that fill buffers. Raises PluginError if one writes beyond the declared size."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel = kernel
        self.name = name

    def check_room(self, position: int, *, where: str) -> None:
        """List the moves, children and parents of a position. Only the moves are listed if the game is over."""
        self._check_room("moves", "pp_move", "max_moves", position, where)
        if self.kernel.status(position) == 0:
            for function in ("children", "expand"):
                self._check_room(function, "pp_slot", "max_moves", position, where)
            for function in ("parents", "retract"):
                self._check_room(function, "pp_slot", "max_parents", position, where)

    def _check_room(self, function: str, kind: str, field: str, position: int, where: str) -> None:
        if not self.kernel.has(function):
            return
        room = int(getattr(self.kernel.c, field))
        buffer = _filled(kind, room + SPARE_ENTRIES, FILL_BYTES[0])
        count = int(self.kernel.call(function, position, buffer))
        spare = ffi.buffer(buffer)[room * ffi.sizeof(kind) :]
        if count > room or spare.strip(bytes(FILL_BYTES[:1])):
            raise PluginError(
                f"{self.name}: the kernel's {function} writes {count} entries in {where}, but its {field} is {room}; "
                f"raise {field} to the maximum over all positions"
            )

    def unrank(self, tier: int, first: int, count: int) -> list[int | None]:
        """Return the positions of consecutive slots, with None where the kernel writes nothing."""
        written = []
        for fill in FILL_BYTES:
            buffer = _filled("pp_position", count + SPARE_ENTRIES, fill)
            self.kernel.call("unrank", slot_of(tier, first), count, buffer)
            if ffi.buffer(buffer)[count * ffi.sizeof("pp_position") :].strip(bytes([fill])):
                raise PluginError(f"{self.name}: the kernel's unrank writes more than the {count} requested positions")
            written.append(list(buffer[0:count]))
        return [int(one) if one == other else None for one, other in zip(*written, strict=True)]

    def survey(self, tier: int, first: int, wanted: Sequence[int]) -> dict[int, tuple[int, list[Edge]]]:
        """Return the code of each wanted slot, and its children if it is open. `first` begins the surveyed range."""
        codes = _filled("uint8_t", MAX_SURVEYED, FILL_BYTES[0])
        edges = self.survey_open(tier, first, wanted, codes)
        return {index: (int(codes[index - first]), children) for index, children in zip(wanted, edges, strict=True)}

    def survey_open(self, tier: int, first: int, wanted: Sequence[int], codes: Any = ffi.NULL) -> list[list[Edge]]:
        """Return the children of slots, which are all open if there is no buffer for codes."""
        if not wanted:
            return []
        room = self.kernel.max_moves * len(wanted)
        slots = _filled("pp_slot", room + SPARE_ENTRIES, FILL_BYTES[0])
        buffer = ffi.new("uint32_t[]", MAX_SURVEYED)
        bits = sum(1 << index - first for index in wanted)
        self.kernel.call("survey", slot_of(tier, first), wanted[-1] - first + 1, bits, codes, slots, buffer)
        ends = [int(buffer[index - first]) for index in wanted]
        if ends != sorted(ends) or ends[-1] > room:
            raise PluginError(
                f"{self.name}: the kernel's survey of tier {tier} from slot {first} has ends {ends}; they must not "
                f"decrease, and each slot has at most max_moves ({self.kernel.max_moves}) children"
            )
        bounds = zip([0, *ends], ends, strict=False)
        return [[Edge.of(int(slot)) for slot in slots[begin:end]] for begin, end in bounds]


def _filled(kind: str, count: int, byte: int) -> Any:
    buffer = ffi.new(f"{kind}[]", count)
    ffi.buffer(buffer)[:] = bytes([byte]) * (count * ffi.sizeof(kind))
    return buffer
