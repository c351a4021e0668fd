"""What is served: every installed game, and every variant that has a table; tables are opened read-only.

A table that appears while the server runs (somebody solved the game elsewhere) is found at the next request.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from perfectplay.errors import PerfectPlayError
from perfectplay.game.game import Game
from perfectplay.game.loading import installed_games, load_game
from perfectplay.table.locations import find_tables, has_table, open_table, table_path
from perfectplay.table.table import Table
from perfectplay.web.solving import SolveJob

ASKED_VARIANTS = 50
"""So many variants without a table, asked for by their address, are kept at hand."""


@dataclass(slots=True)
class ServedGame:
    """One game in one variant, with its table once there is one."""

    game: Game
    path: Path
    table: Table | None = None
    job: SolveJob | None = None
    problem: str | None = None
    """Why a table that is there cannot be read."""
    overview: dict[str, Any] | None = None
    """The table in numbers, once somebody has asked."""
    estimate: str | None = None
    """What a solve takes, once somebody has asked."""
    start: int = field(init=False)
    _tried: float | None = None
    """When the table that could not be opened was changed: it is tried again when it is another."""
    _looking: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Answers are worked out in threads too: whoever comes while one opens the table waits for it."""

    def __post_init__(self) -> None:
        self.start = self.game.start()

    @property
    def solving(self) -> bool:
        return self.job is not None and self.job.running

    def find_table(self) -> Table | None:
        """The table, opened if it has come into being, and again while it grows; None where there is none (yet)."""
        finished = self.table is not None and self.table.complete
        if not finished and not self.solving:
            with self._looking:
                try:
                    self._look()
                except PerfectPlayError as error:
                    # The path is nobody's business but the terminal's.
                    self.problem = str(error).replace(str(self.path), "the table")
        return self.table

    def _look(self) -> None:
        """Open what is there, if it has changed since the last look."""
        if not has_table(self.path):
            self.problem = self._tried = None
        elif self._tried != (changed := _changed(self.path)):
            self._tried = changed
            self.table, self.overview, self.problem = open_table(self.game, self.path), None, None


class Library:
    """All games that the server offers, by identity (`gobblet`, `connect4-height=4-width=5`)."""

    def __init__(
        self, directory: Path | None = None, games: Iterable[Game] | None = None, *, files: Iterable[str] = ()
    ) -> None:
        """`games` are served instead of the installed ones; games in `files` besides, and before one of their name."""
        self.directory = directory
        self.broken: dict[str, str] = {}
        self._asked: deque[str] = deque()
        self._lock = threading.Lock()
        found = self._installed() if games is None else list(games)
        found += [load_game(file) for file in files]
        self.games = {game.identity: ServedGame(game, table_path(game, self.directory)) for game in found}
        for served in self.games.values():
            served.find_table()

    def get(self, name: str) -> ServedGame | None:
        """A game by its identity, in which options that have their defaults may be left out: `dots`, `dots-rows=1`.

        A variant that nobody has solved yet comes into being when it is asked for.
        """
        served = self.games.get(name)
        if served is None and (game := self._variant(name)) is not None:
            served = self.games.get(game.identity)
            if served is None:
                served = self.games[game.identity] = ServedGame(game, table_path(game, self.directory))
                self._asked.append(game.identity)
                while len(self._asked) > ASKED_VARIANTS:
                    self._forget(self._asked.popleft())
        return served

    def _variant(self, name: str) -> Game | None:
        for base in {served.game.name: served.game for served in self.games.values()}.values():
            options = _options_of(base, name)
            if options is not None:
                with suppress(PerfectPlayError):  # there is no such variant
                    return load_game(base.name, **options)
        return None

    def _forget(self, name: str) -> None:
        if self.games[name].table is None and not self.games[name].solving:
            del self.games[name]

    def start_solving(self, served: ServedGame) -> SolveJob | None:
        """Solve a game in the background; None where another solve is running."""
        with self._lock:
            if any(other.solving for other in self.games.values()):
                return None
            served.job = SolveJob(served.game, served.path.parent)
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
            if info.needs:
                continue
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


def _options_of(game: Game, name: str) -> dict[str, str] | None:
    """The options that a name of the game's spells, `dots-rows=1`; None where it spells something else."""
    if not (game.declared_options and name.startswith(game.name)):
        return None
    options = "|".join(re.escape(option.name) for option in game.declared_options)
    before, *parts = re.split(f"-({options})=", name.removeprefix(game.name))
    names, values = parts[::2], parts[1::2]
    if before or len(set(names)) < len(names):
        return None
    return dict(zip(names, map(unquote, values), strict=True))


def _changed(path: Path) -> float:
    """When anything in a directory was changed last."""
    return max((each.stat().st_mtime for each in path.iterdir()), default=0.0)
