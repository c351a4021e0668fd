"""A small game, solved, and all that there is to ask of its tables: what a fault must not change (campaign.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from perfectplay import Game, open_table, solve_game, verify_table
from perfectplay.analysis.moves import rate_moves
from perfectplay.analysis.statistics import survey
from perfectplay.errors import PerfectPlayError
from perfectplay.table.compaction import compact_table
from perfectplay.table.table import Table
from perfectplay.values import Value
from perfectplay_native.engine import NO_SLOT

RIGHT, REPORTED, WRONG, BROKEN = range(4)
"""How a child ends: all answers right; one clear error; a wrong answer; another error than one of ours."""


class Solved:
    """A small game, solved: a plain table, a compact one, and all that there is to ask. Of outcomes, a plain one."""

    def __init__(self, game: Game, directory: Path, *, values: str = "full") -> None:
        self.game = game
        place = directory / ("plain" if values == "full" else values)
        solution = solve_game(game, backend="lmdb", directory=place, values=values)
        with solution.table as table:
            self.hash, self.statistics = solution.hash, table.statistics
            every = [table.positions(tier, 0, record.size) for tier, record in table.records.items()]
            self.positions = np.concatenate(every)[np.concatenate(every) != NO_SLOT]
            self.codes = table.probe_many(self.positions).tolist()
            self.moves = self._values_of_moves(table)
            self.tables = {place.name: table.store.path}
            if values == "full":
                compact = directory / "compact" / game.identity
                self.tables["compact"] = compact_table(table, compact, progress=lambda done: None)

    def ask_everything(self, path: Path) -> int:
        """Every position, the proof, the statistics and the start's moves, one by one: each right, or an error."""
        questions: list[Callable[[Table], bool]] = [
            lambda table: table.complete and table.probe_many(self.positions).tolist() == self.codes,
            lambda table: verify_table(table, threads=1).bad == 0,
            lambda table: survey(table).total == self.statistics,
            lambda table: self._values_of_moves(table) == self.moves,
        ]
        return max(self._ask(question, path) for question in questions)

    def _ask(self, question: Callable[[Table], bool], path: Path) -> int:
        try:
            with open_table(self.game, path) as table:
                return RIGHT if question(table) else WRONG
        except PerfectPlayError:
            return REPORTED

    def _values_of_moves(self, table: Table) -> list[Value | None]:
        return [each.value for each in rate_moves(self.game, table, self.game.start())]
