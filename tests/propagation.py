"""Solves with a chosen way of propagation. The public function has no option for it, because all ways agree."""

from __future__ import annotations

from functools import partial
from typing import Any

from perfectplay.game.game import Game
from perfectplay.solve.options import SolveOptions
from perfectplay.solve.solve import Solution, run_solve
from perfectplay.solve.steps import LocalSteps
from perfectplay_native.engine import Propagation


def solve_by(game: Game, propagation: str, **options: Any) -> Solution:
    """Solve a game by `propagation`: auto, retract, graph or forward."""
    steps = partial(LocalSteps, propagation=Propagation[propagation.upper()])
    return run_solve(game, SolveOptions(**options), steps)
