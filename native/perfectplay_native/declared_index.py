"""An index for a kernel without its own, from a declaration of cells and pieces (src/declared_index.c)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeVar

import numpy as np

from perfectplay_native._engine import ffi, lib
from perfectplay_native.errors import AsymmetryError, MissingChildError
from perfectplay_native.kernel import Kernel, slot_of

AnyKernel = TypeVar("AnyKernel", bound=Kernel)

NO_BIT = 255
NO_TURN = 64
GENERATOR_CELLS = 64


class LayoutError(ValueError):
    """A declaration exceeds a limit of the index. The message says which."""


class Number(NamedTuple):
    """A number in adjacent bits of a position, each value of which is a separate tier."""

    shift: int
    width: int
    partner: int
    """The place of the number that a colour swap exchanges it with, its own if there is none."""


class Layout:
    """The tables of an index. They never change, so several kernels and threads may share them.

    `cells` lists the bits of each cell, lowest first. `kinds` has the least and the largest number of pieces for each
    value of a cell. `generators` are permutations of the cells. `swapped` has the value that a colour swap makes of
    each value, for positions in which `turn_bit` is set. Raises LayoutError if the tables would be too large.
    """

    __slots__ = ("c",)

    def __init__(
        self,
        cells: Sequence[Sequence[int]],
        kinds: Mapping[int, tuple[int, int]],
        generators: Sequence[Sequence[int]] = (),
        numbers: Sequence[Number] = (),
        *,
        turn_bit: int = NO_TURN,
        swapped: Mapping[int, int] | None = None,
    ) -> None:
        planes, values = max(map(len, cells)), sorted(kinds)
        places = {value: place for place, value in enumerate(values)}
        images = [[*image, *range(len(image), GENERATOR_CELLS)] for image in generators]
        arrays = {
            "bits": [[*bits, *[NO_BIT] * (planes - len(bits))] for bits in cells],
            "values": [values],
            "least": [[kinds[value][0] for value in values]],
            "most": [[kinds[value][1] for value in values]],
            "generator": images,
            "swapped": [[places[(swapped or {}).get(value, value)] for value in values]],
        }
        buffers = {name: ffi.new("uint8_t[]", [n for row in rows for n in row]) for name, rows in arrays.items()}
        number_array = ffi.new("pp_declared_number[]", [tuple(number) for number in numbers])
        sizes = {"cells": len(cells), "planes": planes, "kinds": len(kinds), "generators": len(generators)}
        declaration = {**sizes, **buffers, "numbers": len(numbers), "number": number_array, "turn_bit": turn_bit}
        result = ffi.new("int *")
        layout = lib.pp_layout_new(ffi.new("pp_declaration *", declaration), result)
        if layout == ffi.NULL:
            raise _layout_error(result[0])
        self.c = ffi.gc(layout, lib.pp_layout_free)

    def add_to(self, kernel: AnyKernel) -> AnyKernel:
        """Return a copy of a kernel without an index that has this index. Both call the same rules."""
        with kernel.callback_errors():
            pointer = lib.pp_declared_new(kernel.c, self.c)
        if pointer == ffi.NULL:
            raise MemoryError
        indexed = copy(kernel)
        indexed.wrap(ffi.gc(pointer, lib.pp_declared_free), self)
        return indexed


def _layout_error(result: int) -> LayoutError | MemoryError:
    reasons = {
        lib.PP_LAYOUT_LARGE_GROUP: "the symmetry group is too large (limit: 4,096 symmetries); declare a smaller group",
        lib.PP_LAYOUT_LARGE_ORBIT: "a kind has too many patterns on cells that symmetries exchange; "
        "allow fewer pieces (limit: 256 MiB of tables)",
        lib.PP_LAYOUT_LARGE_TABLES: "there are too many slots, tiers or tables; "
        "declare narrower ranges of pieces (limits: 2^40 - 1 slots per tier, 256 MiB of tables)",
        lib.PP_LAYOUT_BAD: "the cells, numbers or symmetries are out of range",
    }
    return MemoryError() if result == lib.PP_LAYOUT_NO_MEMORY else LayoutError(reasons[result])


def child_tiers(kernel: Kernel, tier: int, first: int, count: int) -> set[int]:
    """Return the tiers that moves from consecutive slots of a declared index lead to. Thread-safe.

    Raises MissingChildError if a move leads to a position that does not fit the declaration, and AsymmetryError if the
    rules do not have one of the declared symmetries. Only some positions are compared with their images.
    """
    reached = np.zeros(kernel.tier_count, dtype=np.uint8)
    fault = ffi.new("pp_position[2]")
    with kernel.callback_errors():
        buffer: Any = ffi.from_buffer("uint8_t[]", reached)
        result = lib.pp_declared_child_tiers(kernel.c, slot_of(tier, first), count, buffer, fault)
    if result == lib.PP_SCAN_MISFIT:
        raise MissingChildError(fault[0])
    if result == lib.PP_SCAN_ASYMMETRIC:
        raise AsymmetryError(fault[0], fault[1])
    if result != lib.PP_SCAN_OK:
        raise MemoryError
    return set(np.flatnonzero(reached).tolist())
