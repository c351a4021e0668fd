"""perfectplay solves board games completely: for every position, who wins and in how many moves.

Names are looked up when they are first used, so that a plugin can import `hookimpl` without loading the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfectplay.analysis import best_line, rate_moves
    from perfectplay.board import Board, Cell, Click, Piece, Tray
    from perfectplay.errors import NotInTable, PerfectPlayError, PluginError, TableError, UsageError
    from perfectplay.exports import export_table
    from perfectplay.exports.comparing import compare_gbl2
    from perfectplay.game import Game, installed_games, load_game, make_game
    from perfectplay.hookspecs import hookimpl
    from perfectplay.options import Option
    from perfectplay.playing import Match, Strength, choose_move, load_match
    from perfectplay.sampling import random_positions
    from perfectplay.selection import Selection, select
    from perfectplay.solver import Solution, solve_game
    from perfectplay.surveying import survey
    from perfectplay.tables import Table, open_table
    from perfectplay.values import Outcome, Status, Value
    from perfectplay.verify import verify_table
    from perfectplay.weak import Proof, prove_position

_HOMES = {
    "analysis": ("best_line", "rate_moves"),
    "board": ("Board", "Cell", "Click", "Piece", "Tray"),
    "errors": ("NotInTable", "PerfectPlayError", "PluginError", "TableError", "UsageError"),
    "exports": ("export_table",),
    "exports.comparing": ("compare_gbl2",),
    "game": ("Game", "installed_games", "load_game", "make_game"),
    "hookspecs": ("hookimpl",),
    "options": ("Option",),
    "playing": ("Match", "Strength", "choose_move", "load_match"),
    "sampling": ("random_positions",),
    "selection": ("Selection", "select"),
    "solver": ("Solution", "solve_game"),
    "surveying": ("survey",),
    "tables": ("Table", "open_table"),
    "values": ("Outcome", "Status", "Value"),
    "verify": ("verify_table",),
    "weak": ("Proof", "prove_position"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Board",
    "Cell",
    "Click",
    "Game",
    "Match",
    "NotInTable",
    "Option",
    "Outcome",
    "PerfectPlayError",
    "Piece",
    "PluginError",
    "Proof",
    "Selection",
    "Solution",
    "Status",
    "Strength",
    "Table",
    "TableError",
    "Tray",
    "UsageError",
    "Value",
    "best_line",
    "choose_move",
    "compare_gbl2",
    "export_table",
    "hookimpl",
    "installed_games",
    "load_game",
    "load_match",
    "make_game",
    "open_table",
    "prove_position",
    "random_positions",
    "rate_moves",
    "select",
    "solve_game",
    "survey",
    "verify_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'perfectplay' has no attribute {name!r}")
    return getattr(import_module(f"perfectplay.{_HOME_OF[name]}"), name)
