"""The weak solver as a Python object: prove one position, and read the outcomes proven on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError, EngineOutOfMemory, error_of
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions, pointer

Outcomes = npt.NDArray[np.uint8]
"""Outcomes for the side to move: 1 loss, 2 draw, 3 win."""


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """Statistics of a search."""

    evaluated: int
    """Positions whose moves were generated."""
    unique: int
    """Outcomes in the transposition table."""
    hits: int
    """Hits in the transposition table."""
    below: int
    """Hits in the tablebase (`use_tablebase`)."""
    cycles: int
    """Moves back to a position on the path."""
    terminals: tuple[int, int, int]
    """Finished positions and wins in one move: for the player to move at the root, for the other player, and draws."""
    expanded: int
    """Positions whose children are all proven, too, by `prove_reachable`."""
    provisional: int
    """Draws that currently depend on a repetition."""
    confirmed: int
    """Such draws that became certain."""
    forgotten: int
    """Such draws that were discarded, because a position that they depended on was not a draw."""
    depth: int
    max_depth: int
    memory: int
    """Bytes allocated by the search."""

    def __add__(self, other: SearchCounts) -> SearchCounts:
        """Return the statistics of two searches together."""
        total = {name: getattr(self, name) + getattr(other, name) for name in self.__slots__}
        first, second, drawn = (a + b for a, b in zip(self.terminals, other.terminals, strict=True))
        deepest = max(self.max_depth, other.max_depth)
        return SearchCounts(**total | {"terminals": (first, second, drawn), "max_depth": deepest})


_EXPANDED = 4
"""Added to the outcome of a position whose children are in the table, too."""


class Search:
    """A table of proven outcomes, which grows with every call of `run`.

    Not thread-safe, except for `stop` and `counts`. If a function of a Python game raises, the call stops and raises
    that error. Close the search then, because outcomes stored after the error may be wrong.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._tablebase: list[Any] = []  # the engine in use, which must live as long as the search
        search = lib.pp_search_new(kernel.c)
        if search == ffi.NULL:
            raise EngineOutOfMemory("not enough memory for the search itself")
        self._open: Any = ffi.gc(search, partial(_free_search, self._tablebase))

    @property
    def _c(self) -> Any:
        search = self._open  # another thread may close it at any time
        if search is None:
            raise EngineError("the search is closed")
        return search

    def use_tablebase(self, engine: Engine) -> None:
        """Probe the tiers attached to an engine of the same kernel. Their values must be right."""
        search, tablebase = self._c, engine.c
        self._check(lib.pp_search_use_tablebase(search, tablebase))
        self._tablebase[:] = [tablebase]

    def set_holder(self, player: int) -> None:
        """Prove only whether a player, 0 or 1, can avoid a loss. A draw then means that this player can.

        Only for a kernel with `mover`, and before anything but wins and losses is in the table.
        """
        if self.kernel.players == 1 or not self.kernel.has("mover"):
            raise ValueError("the kernel does not define who is to move")
        lib.pp_search_set_holder(self._c, player)

    def close(self) -> None:
        """Free the search, as soon as no other thread is in a call."""
        self._open = None

    def run(self, position: int) -> None:
        """Prove a valid position. After a stop, the same call resumes the search.

        Raises EngineStopped after `stop`, and EngineOutOfMemory when memory runs out; the outcomes proven so far are
        kept. Raises EngineError if the rules contradict themselves.
        """
        self._run(lib.pp_search_run, position)

    def prove_reachable(self) -> None:
        """Prove every position that play can reach from a proven one. Raises the same errors as `run`."""
        self._run(lib.pp_search_prove_reachable)

    def _run(self, function: Callable[..., int], *arguments: Any) -> None:
        search = self._c
        with self.kernel.callback_errors(self.stop):
            result = function(search, *arguments)
        self._check(result)

    def _check(self, result: int) -> None:
        if result == lib.PP_STOPPED:
            lib.pp_search_stop(self._c, 0)
        if result == lib.PP_OUT_OF_MEMORY:
            raise EngineOutOfMemory("no memory is left for more outcomes")
        if result != lib.PP_OK:
            raise error_of(result, position=lib.pp_search_error_position(self._c), number=0)

    def stop(self) -> None:
        """Make the running call return as soon as possible. Thread-safe."""
        lib.pp_search_stop(self._c, 1)

    @property
    def counts(self) -> SearchCounts:
        c = lib.pp_search_progress(self._c)
        numbers = {name: getattr(c, name) for name in SearchCounts.__slots__ if name not in ("terminals", "memory")}
        return SearchCounts(**numbers, terminals=tuple(c.terminals), memory=c.bytes)

    def outcome(self, position: int) -> int | None:
        """Return the outcome of a valid position (1 loss, 2 draw, 3 win for the side to move), or None if unproven."""
        with self.kernel.callback_errors():
            return int(lib.pp_search_outcome(self._c, position)) or None

    def entries(self) -> tuple[Positions, Outcomes]:
        """Return all proven positions, canonical and in ascending order, and their outcomes."""
        positions, outcomes, _ = self.marked_entries()
        return positions, outcomes

    def marked_entries(self) -> tuple[Positions, Outcomes, npt.NDArray[np.bool_]]:
        """Return `entries`, and for each position whether `prove_reachable` has proven all of its children."""
        count = self.counts.unique
        positions, outcomes = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint8)
        lib.pp_search_entries(self._c, pointer("pp_position[]", positions), pointer("uint8_t[]", outcomes))
        order = np.argsort(positions)
        outcomes = outcomes[order]
        return positions[order], outcomes & np.uint8(_EXPANDED - 1), outcomes >= _EXPANDED

    def add_entries(self, positions: Positions, outcomes: Outcomes, marks: npt.NDArray[np.bool_] | None = None) -> None:
        """Add proven outcomes of canonical positions, with the marks of `marked_entries`."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        entries = np.ascontiguousarray(outcomes, dtype=np.uint8)
        if marks is not None:
            entries = entries + _EXPANDED * marks.astype(np.uint8)
        self._check(
            lib.pp_search_add(
                self._c, pointer("pp_position[]", positions), pointer("uint8_t[]", entries), positions.size
            )
        )


def _free_search(tablebase: list[Any], search: Any) -> None:
    """Free a search before the engine that it uses."""
    lib.pp_search_free(search)
    tablebase.clear()
