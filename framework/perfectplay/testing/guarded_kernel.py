"""Asks a kernel into buffers with room to spare: one that writes too much, or too little, is named and not obeyed."""

from __future__ import annotations

from typing import Any

from perfectplay_native._engine import ffi

from perfectplay.errors import PluginError
from perfectplay_native.kernel import Edge, Kernel, slot_of

SPARE = 1 << 12
"""Entries behind the room that a kernel asks for; they must stay as they are."""

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
        c = self.kernel.c
        room = int(getattr(c, field))
        buffer = _filled(kind, room + SPARE, UNTOUCHED[0])
        count = int(getattr(c, function)(c, position, buffer))
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
            self.kernel.c.unrank(self.kernel.c, slot_of(tier, first), count, buffer)
            if ffi.buffer(buffer)[count * ffi.sizeof("pp_position") :].strip(bytes([fill])):
                raise PluginError(
                    f"{self.name}: the kernel's unrank writes more than the {count} positions it is asked for"
                )
            written.append(list(buffer[0:count]))
        return [int(one) if one == other else None for one, other in zip(*written, strict=True)]

    def survey(self, tier: int, index: int) -> tuple[int, list[Edge]]:
        """What the kernel's survey says of one slot: its code, and its children if it is open."""
        c, room = self.kernel.c, self.kernel.max_moves
        slots, codes, ends = (
            _filled("pp_slot", room + SPARE, UNTOUCHED[0]),
            ffi.new("uint8_t[1]"),
            ffi.new("uint32_t[1]"),
        )
        c.survey(c, slot_of(tier, index), 1, 1, codes, slots, ends)
        if ends[0] > room:
            raise PluginError(
                f"{self.name}: the kernel's survey lists {ends[0]} children, but its max_moves is {room}: raise it"
            )
        return int(codes[0]), [Edge.of(int(slot)) for slot in slots[0 : ends[0]]]


def _filled(kind: str, count: int, byte: int) -> Any:
    buffer = ffi.new(f"{kind}[]", count)
    ffi.buffer(buffer)[:] = bytes([byte]) * (count * ffi.sizeof(kind))
    return buffer
