"""The game under test, with what several laws want to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from perfectplay_native._engine import ffi

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.game import Game
from perfectplay.game.hooks import watched_call
from perfectplay.testing.sandbox import Watch
from perfectplay.tiers.order import components
from perfectplay.values import Status
from perfectplay_native.kernel import Edge, Kernel, slot_of


class GameUnderTest:
    """One game, asked by the laws."""

    def __init__(self, game: Game, watch: Watch | None = None) -> None:
        self.game = game
        self._watch = watch

    def tries(self, law: str, position: int | None = None) -> None:
        """Say what is tried now, to who watches."""
        if self._watch is not None:
            self._watch.tries(law, position)

    def ask(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what belongs to a hook but is not one of the game's methods, for who watches to hear of it."""
        return watched_call(hook, function, *arguments)

    def name(self, position: int) -> str:
        """A position as messages name it: people's notation where it works, and the number."""
        try:
            text = self.game.decode(position)
        except PerfectPlayError:
            text = str(position)
        return f"position {position}" if text == str(position) else f"position {text} ({position})"

    @cached_property
    def draws(self) -> bool:
        """Whether the game has boards."""
        return self.game.board(self.game.start()) is not None

    def mover_hook(self, position: int) -> int | None:
        """What the game itself says of whose turn it is; None where it has no hook for that."""
        return self.game.mover(position) if self.game.has_mover else None

    def is_over(self, position: int) -> bool:
        return self.game.status(position) is not Status.ONGOING

    def is_open(self, position: int) -> bool:
        """Whether neither the rules nor a win at once settle a position, so that the engine asks for its parents."""
        kernel = self.game.kernel
        if self.is_over(position):
            return False
        return kernel is None or not kernel.has("wins_now") or not kernel.wins_now(position)

    def can_win_at_once(self, position: int) -> bool:
        """Whether some move ends the game with a win for the player who makes it."""
        game = self.game
        for move in game.moves(position):
            child = game.apply(position, move)
            if game.status(child) is (Status.WON if game.keeps_turn(position, child) else Status.LOST):
                return True
        return False

    def children(self, position: int) -> set[int]:
        """The canonical children."""
        game = self.game
        return {game.canonicalize(game.apply(position, move)) for move in game.moves(position)}

    @cached_property
    def guarded(self) -> GuardedKernel:
        assert self.game.kernel is not None
        return GuardedKernel(self.game.kernel, self.game.name)

    def sisters(self, tier: int) -> set[int]:
        """The tiers that are solved together with this one: play can go there and come back (itself included)."""
        return self._sister_tiers.get(tier, {tier})

    @cached_property
    def _sister_tiers(self) -> dict[int, set[int]]:
        kernel = self.game.kernel
        if kernel is None or not kernel.has("tier_children"):
            return {}  # numbers never fall, so play comes back to the same tier only
        found = components({tier: kernel.tier_children(tier) or [] for tier in range(kernel.tier_count)})
        return {tier: set(component.tiers) for component in found for tier in component.tiers}


# Asks a kernel into buffers with room to spare: one that writes too much, or too little, is named and not obeyed.

SPARE = 1 << 12
"""Entries behind the room that a kernel asks for; they must stay as they are."""

MOST_SURVEYED = 64
"""Slots that one survey may be asked about."""

UNTOUCHED = (0x5A, 0xA5)
"""Bytes that nobody writes on purpose; two kinds, so that an answer cannot be one by accident."""


class GuardedKernel:
    """A kernel's functions that write lists. Writing beyond their room is a PluginError that names the field."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel = kernel
        self.name = name

    def check_room(self, position: int, *, where: str) -> None:
        """Ask everything that lists moves, children or parents of a position; finished ones have moves only."""
        self._ask("moves", "pp_move", "max_moves", position, where)
        if self.kernel.status(position) == 0:
            for function in ("children", "expand"):
                self._ask(function, "pp_slot", "max_moves", position, where)
            for function in ("parents", "retract"):
                self._ask(function, "pp_slot", "max_parents", position, where)

    def _ask(self, function: str, kind: str, field: str, position: int, where: str) -> None:
        if not self.kernel.has(function):
            return
        room = int(getattr(self.kernel.c, field))
        buffer = _filled(kind, room + SPARE, UNTOUCHED[0])
        count = int(self.kernel.call(function, position, buffer))
        behind = ffi.buffer(buffer)[room * ffi.sizeof(kind) :]
        if count > room or behind.strip(bytes(UNTOUCHED[:1])):
            raise PluginError(
                f"{self.name}: the kernel's {function} writes {count} answers in {where}, but its {field} is {room}: "
                f"raise {field} to the most that any position has"
            )

    def unrank(self, tier: int, first: int, count: int) -> list[int | None]:
        """Positions of consecutive slots; None where the kernel writes nothing at all."""
        written = []
        for fill in UNTOUCHED:
            buffer = _filled("pp_position", count + SPARE, fill)
            self.kernel.call("unrank", slot_of(tier, first), count, buffer)
            if ffi.buffer(buffer)[count * ffi.sizeof("pp_position") :].strip(bytes([fill])):
                raise PluginError(
                    f"{self.name}: the kernel's unrank writes more than the {count} positions it is asked for"
                )
            written.append(list(buffer[0:count]))
        return [int(one) if one == other else None for one, other in zip(*written, strict=True)]

    def survey(self, tier: int, first: int, wanted: Sequence[int]) -> dict[int, tuple[int, list[Edge]]]:
        """What the kernel's survey says of some slots from `first` on: their codes, and the children of the open."""
        codes = _filled("uint8_t", MOST_SURVEYED, UNTOUCHED[0])
        edges = self._survey(tier, first, wanted, codes)
        return {index: (int(codes[index - first]), found) for index, found in zip(wanted, edges, strict=True)}

    def survey_open(self, tier: int, first: int, wanted: Sequence[int]) -> list[list[Edge]]:
        """The children of slots that are known to be open, as the kernel's survey lists them."""
        return self._survey(tier, first, wanted, ffi.NULL)

    def _survey(self, tier: int, first: int, wanted: Sequence[int], codes: Any) -> list[list[Edge]]:
        if not wanted:
            return []
        room = self.kernel.max_moves * len(wanted)
        slots = _filled("pp_slot", room + SPARE, UNTOUCHED[0])
        ends = ffi.new("uint32_t[]", MOST_SURVEYED)
        bits = sum(1 << index - first for index in wanted)
        self.kernel.call("survey", slot_of(tier, first), wanted[-1] - first + 1, bits, codes, slots, ends)
        until = [int(ends[index - first]) for index in wanted]
        if until != sorted(until) or until[-1] > room:
            raise PluginError(
                f"{self.name}: the kernel's survey of tier {tier}, from slot {first} on, has ends {until}: they must "
                f"rise, and each slot have at most max_moves, {self.kernel.max_moves}, children"
            )
        bounds = zip([0, *until], until, strict=False)
        return [[Edge.of(int(slot)) for slot in slots[begin:end]] for begin, end in bounds]


def _filled(kind: str, count: int, byte: int) -> Any:
    buffer = ffi.new(f"{kind}[]", count)
    ffi.buffer(buffer)[:] = bytes([byte]) * (count * ffi.sizeof(kind))
    return buffer
