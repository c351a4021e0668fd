"""How the memory of a solve is shared: by the program, what a game in Python has said, the enumeration, the engine."""

from __future__ import annotations

from dataclasses import dataclass

from perfectplay import wording
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.solving.memory_limits import Available, available_memory
from perfectplay.solving.sizes import FIXED_MEMORY, SMALLEST_BUDGET
from perfectplay_native.kernel import Kernel


def require_enough(memory: int | None) -> None:
    """UsageError for a `--memory` that nothing can be done with."""
    if memory is not None and memory < SMALLEST_BUDGET:
        raise UsageError(f"--memory is too small: the least that works is {SMALLEST_BUDGET >> 20}M")


@dataclass(frozen=True, slots=True)
class Budget:
    """What `--memory` gives to a solve; without it, what there is."""

    memory: int | None
    kernel: Kernel

    @property
    def for_answers(self) -> int:
        """What may hold the answers of a game in Python."""
        return (available_memory().bytes if self.memory is None else self.memory - FIXED_MEMORY) // 4

    def for_enumeration(self, *, in_files: bool) -> int | None:
        """What sets of positions may take; None for all that there is, files being there for the rest."""
        if self.memory is not None:
            return (self.memory - FIXED_MEMORY) // 2
        return None if in_files else available_memory().bytes

    @property
    def for_engine(self) -> int | None:
        """What the rest of it leaves to the engine; None without a bound."""
        return None if self.memory is None else self.memory - FIXED_MEMORY - self.kernel.remembered_bytes

    def require(self, needed: int, game: str) -> None:
        """Refuse at once what memory cannot hold, rather than be killed for it later."""
        if needed > self._available().bytes:
            self.kernel.forget()
        available = self._available()
        if needed > available.bytes:
            room = max(SMALLEST_BUDGET, available.bytes // 2)
            first = "" if available.bytes >= room else f"see to it that there are {wording.size(room)}, and "
            raise PerfectPlayError(
                f"solving {game} in memory needs about {needed >> 20}M and {available.limit} leaves "
                f"{available.bytes >> 20}M: {first}use `--backend lmdb --memory {room >> 20}M`, which needs less"
            )

    def _available(self) -> Available:
        if self.memory is None:
            return available_memory()
        return Available(self.memory - self.kernel.remembered_bytes, "--memory")
