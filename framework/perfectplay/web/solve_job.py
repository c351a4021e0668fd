"""A solve started from the page. It runs in a thread, and its progress can be read at any time."""

from __future__ import annotations

import threading
from pathlib import Path

from perfectplay.errors import Interrupted, PerfectPlayError
from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.progress import Progress
from perfectplay.solve.solve import solve_game


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
