"""A small solved game with the right results of all queries, for comparison after a fault (campaign.py)."""

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
"""Exit codes of a child: all answers right; one clear error; a wrong answer; an unexpected error."""


class Solved:
    """A solved game: a plain and a compact table, or a table of outcomes, and the results of all queries."""

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
                self.tables["compact"] = compact_table(table, compact)

    def run_queries(self, path: Path) -> int:
        """Compare every position, the proof, the statistics and the moves from the start. Returns the worst result."""
        queries: list[Callable[[Table], bool]] = [
            lambda table: table.complete and table.probe_many(self.positions).tolist() == self.codes,
            lambda table: verify_table(table, threads=1).bad == 0,
            lambda table: survey(table).total == self.statistics,
            lambda table: self._values_of_moves(table) == self.moves,
        ]
        return max(self._run(query, path) for query in queries)

    def _run(self, query: Callable[[Table], bool], path: Path) -> int:
        try:
            with open_table(self.game, path) as table:
                return RIGHT if query(table) else WRONG
        except PerfectPlayError:
            return REPORTED

    def _values_of_moves(self, table: Table) -> list[Value | None]:
        return [each.value for each in rate_moves(self.game, table, self.game.start())]
