"""A solve started from the page: in a thread, its progress to be asked for at any time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from perfectplay.errors import Interrupted, PerfectPlayError
from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.progress import Progress
from perfectplay.solve.solve import solve_game


class SolveJob:
    """One solve, begun when it is made. The table is on disk when `running` becomes false and `error` is None."""

    def __init__(self, game: Game, directory: Path) -> None:
        self.game = game
        self.error: str | None = None
        self._directory = directory
        self._latest: Progress | None = None
        self._stop = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"solve {game.identity}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return not self._done.is_set()

    def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        self._stop.set()
        self._thread.join()

    def report(self) -> dict[str, Any]:
        """How far it is, as JSON."""
        if not self.running:
            return {"state": "failed" if self.error else "done", "error": self.error}
        latest = self._latest
        if latest is None:
            return {"state": "solving", "phase": "starting", "fraction": None, "text": "Starting…"}
        fraction = min(1.0, latest.positions / latest.total) if latest.total else None
        of = f" of {latest.total:,}" if latest.total else ""
        speed = wording.rate(latest.positions, latest.seconds)
        text = f"{latest.phase.capitalize()}: {latest.positions:,}{of} positions, {speed}"
        return {"state": "solving", "phase": latest.phase, "fraction": fraction, "text": text}

    def _run(self) -> None:
        try:
            solution = solve_game(self.game, directory=self._directory, progress=self._hear, stop=self._stop)
            solution.table.close()
        except Interrupted:
            self.error = "stopped before it was finished; nothing was kept"
        except PerfectPlayError as error:
            self.error = str(error).replace(str(self._directory), "the tables' directory")
        except Exception as error:  # a thread's error would be lost, and the page would wait for ever
            self.error = f"the solve failed: {type(error).__name__}"
        finally:
            self._done.set()

    def _hear(self, progress: Progress) -> None:
        self._latest = progress
