"""The games that are served: every installed game, and every variant with a table. Tables are opened read-only.

A table that appears while the server runs, because the game was solved elsewhere, is found at the next request.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from perfectplay.compile.kernel import solving_kernel
from perfectplay.errors import Interrupted, PerfectPlayError, TableError
from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.game.loading import installed_games, load_game
from perfectplay.solve.solve import solve_game
from perfectplay.table.locations import (
    find_tables,
    has_table,
    modification_time,
    open_table,
    table_directory,
    table_path,
)
from perfectplay.table.table import Table
from perfectplay.threads import Progress

MAX_REQUESTED_VARIANTS = 20
"""How many variants without a table, requested by address, are kept in memory."""

MAX_NAME = 1000
"""Characters of a variant's name."""


@dataclass(slots=True)
class ServedGame:
    """One game in one variant, and its table once it has one."""

    game: Game
    path: Path
    requested: bool = False
    """Whether a client named it in an address. Without a table, it is not listed, and its hooks run with limits."""
    table: Table | None = None
    job: SolveJob | None = None
    problem: str | None = None
    """Why an existing table cannot be read."""
    overview: Any = None
    """The table's statistics (`exploring.Overview`), once they have been counted."""
    estimate: tuple[str, bool] | None = None
    """The cost of a solve, once it has been estimated, and whether it is known and fits this machine."""
    start: int = field(init=False)
    _tried: float | None = None
    """Modification time of the table that was opened last. It is opened again only after a change."""
    _opening: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Requests are answered in several threads; only one of them opens the table."""

    def __post_init__(self) -> None:
        self.start = self.game.start()

    @property
    def bounded(self) -> bool:
        """Whether its hooks must run in a separate process with limits. Those of a C kernel take no time."""
        return self.requested and self.table is None and self.game.kernel is None

    @property
    def solving(self) -> bool:
        return self.job is not None and self.job.running

    def find_table(self) -> Table | None:
        """Return the table, or None without one. A table that is new or has grown is opened first."""
        finished = self.table is not None and self.table.complete
        if not finished and not self.solving:
            with self._opening:
                try:
                    self._open_if_changed()
                except FileNotFoundError:
                    self.problem = self._tried = None  # it has just been removed
                except PerfectPlayError as error:
                    # Clients must not see paths of the server.
                    self.problem = str(error).replace(str(self.path), "the table")
        return self.table

    def _open_if_changed(self) -> None:
        if not has_table(self.path):
            self.problem = self._tried = None
        elif self._tried != (modified := modification_time(self.path)):
            self._tried = modified
            table = open_table(self.game, self.path, kernel=solving_kernel(self.game))
            self.table, self.overview, self.problem = table, None, None


@dataclass(frozen=True, slots=True)
class VariantName:
    """The parts of a variant's name."""

    base: Game
    options: dict[str, str]

    @property
    def has_text(self) -> bool:
        """Whether the game has an option that may be any text, so that a name can describe a game of any size."""
        return any(option.text for option in self.base.declared_options)

    def load(self) -> Game:
        return load_game(self.base.name, **self.options)

    def check(self) -> None:
        """Load the variant and call its most important hooks, to see what that takes."""
        game = self.load()
        start = game.start()
        game.status(start)
        game.moves(start)
        game.decode(start)


class Library:
    """All games that the server offers, by identity (`gobblet`, `connect4-height=4-width=5`)."""

    def __init__(
        self, directory: Path | None = None, games: Iterable[Game] | None = None, *, files: Iterable[str] = ()
    ) -> None:
        """Load the installed games, or only `games`, and those in `files`, which replace games of the same name."""
        self.directory = directory
        self.broken: dict[str, str] = {}
        self.requested: dict[str, ServedGame] = {}
        """Variants without a table that clients have named, oldest first. Only these clients see them in lists."""
        self._lock = threading.Lock()
        loaded = self._load_installed() if games is None else list(games)
        loaded += [load_game(file) for file in files]
        self.games = {game.identity: ServedGame(game, table_path(game, self.directory)) for game in loaded}
        for served in self.games.values():
            served.find_table()

    def get(self, name: str) -> ServedGame | None:
        """Return a game by its identity; None if it is not loaded."""
        served = self.games.get(name) or self.requested.get(name)
        if served is not None and served.requested and served.find_table() is not None:  # it has been solved since
            self.games[name] = self.requested.pop(name, served)
        return served

    def find_variant(self, name: str) -> VariantName | None:
        """Return the game and the options that a name describes; None if no game has such a name.

        Options with default values may be omitted (`dots`, `dots-rows=1`).
        """
        if len(name) > MAX_NAME:
            return None
        for base in {served.game.name: served.game for served in self.games.values()}.values():
            options = _parse_options(base, name)
            if options is not None:
                return VariantName(base, options)
        return None

    def has_solved(self, name: str) -> bool:
        """Return whether a directory of this name has a table, which may be of a variant that is not loaded yet."""
        directory = self.directory or table_directory()
        try:
            return "/" not in name and not name.startswith(".") and has_table(directory / name)
        except TableError:  # it is private, or the name is too long for a file
            return False

    def add(self, game: Game) -> ServedGame:
        """Serve a variant: for everybody if it has a table, otherwise until MAX_REQUESTED_VARIANTS others follow."""
        with self._lock:
            served = self.get(game.identity)
            if served is None:
                served = ServedGame(game, table_path(game, self.directory), requested=True)
                self.requested[game.identity] = served
                unsolved = [each for each, other in self.requested.items() if not other.solving]
                for each in unsolved[:-MAX_REQUESTED_VARIANTS]:
                    del self.requested[each]
            return self.get(game.identity) or served

    def find_solving(self) -> ServedGame | None:
        """Return the game that is being solved."""
        all_games = [*self.games.values(), *self.requested.values()]
        return next((served for served in all_games if served.solving), None)

    def start_solving(self, served: ServedGame) -> SolveJob | None:
        """Start a solve in the background; None where another solve is running."""
        with self._lock:
            if self.find_solving() is not None:
                return None
            served.job = SolveJob(served.game, served.path.parent)
            return served.job

    def close(self) -> None:
        for served in (*self.games.values(), *self.requested.values()):
            if served.job is not None:
                served.job.stop()
            if served.table is not None:
                served.table.close()

    def _load_installed(self) -> list[Game]:
        games: list[Game] = []
        for info in installed_games():
            if info.needs:
                continue
            if info.broken:
                self.broken[info.name] = info.broken
                continue
            games.append(load_game(info.name))
            if info.options:
                games += self._load_solved_variants(games[-1])
        return games

    def _load_solved_variants(self, default: Game) -> list[Game]:
        variants = []
        for table in find_tables(self.directory):
            if table.info is None or table.info.game != default.name:
                continue
            try:
                variant = load_game(default.name, **table.info.options)
            except PerfectPlayError:
                continue  # the game had other options when the table was made
            if variant.identity == table.path.name != default.identity:
                variants.append(variant)
        return variants


def _parse_options(game: Game, name: str) -> dict[str, str] | None:
    """Return the options in a variant's name (`dots-rows=1`); None if it is not a variant of this game."""
    if not (game.declared_options and name.startswith(game.name)):
        return None
    options = "|".join(re.escape(option.name) for option in game.declared_options)
    prefix, *parts = re.split(f"-({options})=", name.removeprefix(game.name))
    names, values = parts[::2], parts[1::2]
    if prefix or len(set(names)) < len(names):
        return None
    return dict(zip(names, map(unquote, values), strict=True))


class SolveJob:
    """One solve, which starts on construction. The table is on disk once `running` is false and `error` is None."""

    def __init__(self, game: Game, directory: Path) -> None:
        self.game = game
        self.error: str | None = None
        self.progress: Progress | None = None
        """The latest report; None before the first."""
        self._directory = directory
        self._stop = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"solve {game.identity}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return not self._done.is_set()

    @property
    def fraction(self) -> float | None:
        """The finished part, from 0 to 1; None where it is not known."""
        if self.progress is None or not self.progress.total:
            return None
        return min(1.0, self.progress.positions / self.progress.total)

    def describe_progress(self) -> str:
        if self.progress is None:
            return "Starting…"
        latest = self.progress
        total = f" of {latest.total:,}" if latest.total else ""
        speed = wording.rate(latest.positions, latest.seconds)
        return f"{latest.phase.capitalize()}: {latest.positions:,}{total} positions, {speed}"

    def stop(self) -> None:
        """Stop the solve and wait until it has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            solution = solve_game(self.game, directory=self._directory, progress=self._update, stop=self._stop)
            solution.table.close()
        except Interrupted:
            self.error = "The solve was stopped; no table was written."
        except PerfectPlayError as error:
            self.error = str(error).replace(str(self._directory), "the table directory")
        except Exception as error:  # an exception in a thread is lost, and the page would wait forever
            self.error = f"The solve failed: {type(error).__name__}"
        finally:
            self._done.set()

    def _update(self, progress: Progress) -> None:
        self.progress = progress
