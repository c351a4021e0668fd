"""What is served: every installed game, and every variant that has a table; tables are opened read-only.

A table that appears while the server runs (somebody solved the game elsewhere) is found at the next request.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game, installed_games, load_game
from perfectplay.tables.locations import find_tables, has_table, table_directory, table_path
from perfectplay.tables.opening import open_table
from perfectplay.tables.table import Table
from perfectplay.web.solving import SolveJob


@dataclass(slots=True)
class ServedGame:
    """One game in one variant, with its table once there is one."""

    game: Game
    path: Path
    table: Table | None = None
    job: SolveJob | None = None
    problem: str | None = None
    """Why a table that is there cannot be read."""
    start: int = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.game.start()

    @property
    def solving(self) -> bool:
        return self.job is not None and self.job.running

    def find_table(self) -> Table | None:
        """The table, opened if it has come into being; None where there is none (yet)."""
        if self.table is None and not self.solving and has_table(self.path):
            try:
                self.table = open_table(self.game, self.path)
                self.problem = None
            except PerfectPlayError as error:
                # The path is nobody's business but the terminal's.
                self.problem = str(error).replace(str(self.path), "the table")
        return self.table


class Library:
    """All games that the server offers, by identity (`gobblet`, `connect4-height=4-width=5`)."""

    def __init__(self, directory: Path | None = None, games: Iterable[Game] | None = None) -> None:
        self.directory = directory or table_directory()
        self.broken: dict[str, str] = {}
        self._lock = threading.Lock()
        found = self._installed() if games is None else list(games)
        self.games = {game.identity: ServedGame(game, table_path(game, self.directory)) for game in found}
        for served in self.games.values():
            served.find_table()

    def get(self, name: str) -> ServedGame | None:
        return self.games.get(name)

    def start_solving(self, served: ServedGame) -> SolveJob | None:
        """Solve a game in the background; None where another solve is running."""
        with self._lock:
            if any(other.solving for other in self.games.values()):
                return None
            served.job = SolveJob(served.game, self.directory)
            return served.job

    def close(self) -> None:
        for served in self.games.values():
            if served.job is not None:
                served.job.stop()
            if served.table is not None:
                served.table.close()

    def _installed(self) -> list[Game]:
        games: list[Game] = []
        for info in installed_games():
            if info.broken:
                self.broken[info.name] = info.broken
                continue
            games.append(load_game(info.name))
            if info.options:
                games += self._variants(games[-1])
        return games

    def _variants(self, default: Game) -> list[Game]:
        """The game's other variants that have a table here."""
        variants = []
        for table in find_tables(self.directory):
            if table.info is None or table.info.game != default.name:
                continue
            try:
                variant = load_game(default.name, **table.info.options)
            except PerfectPlayError:
                continue  # made when the game had other options
            if variant.identity == table.path.name != default.identity:
                variants.append(variant)
        return variants
