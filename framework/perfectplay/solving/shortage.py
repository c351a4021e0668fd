"""Says during a solve, once, that memory or disk will not be enough for it: before hours have been spent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perfectplay import wording
from perfectplay.game import Game
from perfectplay.solving.counting import FIRST_SAMPLE, estimate_positions
from perfectplay.solving.memory_limits import Available, available_memory
from perfectplay.solving.sizes import Shape, enumerated_shape, free_disk
from perfectplay_native.kernel import Kernel

MANY = 1_000_000
"""Positions found before it is worth asking how many more there are."""

ESTIMATE_SECONDS = 0.5
"""What that question may cost."""


class _TooSlow(Exception):
    """The estimate would hold up the solve."""


class ShortageWatch:
    """Compares what a solve needs with what there is, as soon as the former is known."""

    def __init__(
        self,
        game: Game,
        kernel: Kernel,
        *,
        in_memory: bool,
        outcomes: bool,
        budget: int | None,
        saved_in: Path | None,
        warn: Callable[[str], None] | None,
    ) -> None:
        self._game, self._kernel = game, kernel
        self._in_memory, self._budget, self._saved_in = in_memory, budget, saved_in
        self._outcomes = outcomes
        self._warn = warn
        self._asked = False

    def found(self, positions: int) -> None:
        """So many positions have been enumerated, and there are more. The first time there are many, ask how many."""
        if self._warn is None or self._asked or positions < MANY:
            return
        self._asked = True
        began = time.thread_time()

        def check() -> None:
            if time.thread_time() - began > ESTIMATE_SECONDS:
                raise _TooSlow

        try:
            count = estimate_positions(self._kernel, most=FIRST_SAMPLE, check=check)
        except _TooSlow:
            return
        self.look_at(enumerated_shape(self._kernel, count))

    def look_at(self, shape: Shape, *, done_bytes: int = 0) -> None:
        """Warn if a solve of this shape does not fit; `done_bytes` of its table are there already."""
        if self._warn is None:
            return
        shape = replace(shape, outcomes=self._outcomes)
        parts = [*self._memory(shape), *self._disk(shape, done_bytes)]
        if parts:
            warn, self._warn = self._warn, None
            warn(f"{' and '.join(parts)}; `solve plan {self._game.command_word}` says what fits")

    def _memory(self, shape: Shape) -> list[str]:
        if not self._in_memory:  # beyond its budget it uses files
            return []
        available = available_memory() if self._budget is None else Available(self._budget, "--memory")
        if shape.memory_backend <= available.bytes:
            return []
        return [
            f"solving {self._game.name} in memory takes about {wording.size(shape.memory_backend)}, and "
            f"{available.limit} leaves {wording.size(available.bytes)}"
        ]

    def _disk(self, shape: Shape, done_bytes: int) -> list[str]:
        if self._saved_in is None:
            return []
        free = free_disk(self._saved_in)
        needed = shape.table_bytes - done_bytes
        if needed <= free:
            return []
        return [f"the table takes about {wording.size(needed)} on disk, and {wording.size(free)} are free there"]
