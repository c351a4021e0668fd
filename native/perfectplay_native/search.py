"""The weak solver, seen from Python: prove one position, and read what was proven on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Engine, Positions
from perfectplay_native.errors import EngineError, EngineOutOfMemory, error_of
from perfectplay_native.kernel import Kernel

Outcomes = npt.NDArray[np.uint8]
"""Outcomes for the side to move: 1 lost, 2 drawn, 3 won."""


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """What a search has done so far."""

    evaluated: int
    """Positions looked at, with all their moves."""
    unique: int
    """Outcomes proven."""
    hits: int
    """Times that the table knew an outcome."""
    below: int
    """Times that a table underneath knew one."""
    cycles: int
    """Times that a move led back to a position on the path."""
    terminals: tuple[int, int, int]
    """Positions met that are over, or won at once: for the player to move at the root, for the other, for nobody."""
    expanded: int
    """Positions whose children are all proven too, by `prove_reachable`."""
    provisional: int
    """Draws that now rest on a repetition."""
    confirmed: int
    forgotten: int
    depth: int
    max_depth: int
    memory: int
    """Bytes that the search holds."""


_MARK = 4
"""Beside an outcome: the children of the position are in the table too."""


class Search:
    """A table of proven outcomes that grows with every position asked for.

    Not thread-safe, but for `stop` and `counts`. What a Python game's function raises stops the call, which then
    raises it; close the search then, for what it stored on the strength of that answer may be wrong.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._lent: list[Any] = []  # the engine underneath, which must live as long as the search
        made = lib.pp_search_new(kernel.c)
        if made == ffi.NULL:
            raise EngineOutOfMemory("not enough memory for the search itself")
        self._open: Any = ffi.gc(made, partial(_free_search, self._lent))

    @property
    def _c(self) -> Any:
        made = self._open  # another thread may close it at any moment
        if made is None:
            raise EngineError("the search is closed")
        return made

    def use(self, engine: Engine) -> None:
        """Ask the tiers that are attached to an engine of the same kernel, whose values must be right."""
        search, used = self._c, engine.c
        self._check(lib.pp_search_use(search, used))
        self._lent[:] = [used]

    def close(self) -> None:
        """Free it: at once, or where another thread is in a call, after that."""
        self._open = None

    def run(self, position: int, *, naive: bool = False) -> None:
        """Prove a valid position; after a stop, the same call resumes where it was.

        `naive` is for tests: it stores draws by repetition at once, as though they held on every path, so its draws,
        and what follows from them, may be wrong.

        Raises EngineStopped after `stop`, EngineOutOfMemory when memory runs out; what is proven by then is kept.
        EngineError where the rules contradict themselves.
        """
        self._run(lib.pp_search_run, position, naive)

    def prove_reachable(self) -> None:
        """Prove every position that play can reach from one that is proven. Raises as `run` does."""
        self._run(lib.pp_search_prove_reachable)

    def _run(self, function: Callable[..., int], *arguments: Any) -> None:
        search = self._c
        with self.kernel.asking(self.stop):
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
        """Make the running call return as soon as it can. Any thread may ask."""
        lib.pp_search_stop(self._c, 1)

    @property
    def counts(self) -> SearchCounts:
        c = lib.pp_search_progress(self._c)
        numbers = {name: getattr(c, name) for name in SearchCounts.__slots__ if name not in ("terminals", "memory")}
        return SearchCounts(**numbers, terminals=tuple(c.terminals), memory=c.bytes)

    def outcome(self, position: int) -> int | None:
        """The outcome of a valid position, if it is proven: 1 lost, 2 drawn, 3 won, for the side to move."""
        with self.kernel.asking():
            return int(lib.pp_search_outcome(self._c, position)) or None

    def entries(self) -> tuple[Positions, Outcomes]:
        """Everything proven: canonical positions in ascending order, and their outcomes."""
        positions, outcomes, _ = self.marked_entries()
        return positions, outcomes

    def marked_entries(self) -> tuple[Positions, Outcomes, npt.NDArray[np.bool_]]:
        """The same, and of each position whether its children are proven too, by `prove_reachable`."""
        count = self.counts.unique
        positions, outcomes = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint8)
        lib.pp_search_entries(
            self._c, ffi.from_buffer("pp_position[]", positions), ffi.from_buffer("uint8_t[]", outcomes)
        )
        order = np.argsort(positions)
        outcomes = outcomes[order]
        return positions[order], outcomes & np.uint8(_MARK - 1), outcomes >= _MARK

    def learn(self, positions: Positions, outcomes: Outcomes, marks: npt.NDArray[np.bool_] | None = None) -> None:
        """Take outcomes of canonical positions for proven, with the marks of `marked_entries`."""
        given, worth = np.ascontiguousarray(positions, dtype=np.uint64), np.ascontiguousarray(outcomes, dtype=np.uint8)
        if marks is not None:
            worth = worth + _MARK * marks.astype(np.uint8)
        self._check(
            lib.pp_search_learn(
                self._c, ffi.from_buffer("pp_position[]", given), ffi.from_buffer("uint8_t[]", worth), given.size
            )
        )


def _free_search(lent: list[Any], search: Any) -> None:
    """Free a search before the engine that was lent to it."""
    lib.pp_search_free(search)
    lent.clear()
