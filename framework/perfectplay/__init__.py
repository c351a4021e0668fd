"""perfectplay solves board games completely: for every position, who wins and in how many moves.

Names are looked up when they are first used, so that a plugin can import `hookimpl` without loading the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfectplay.board import Board, Cell, Click, Piece, Tray
    from perfectplay.errors import NotInTable, PerfectPlayError, PluginError, TableError, UsageError
    from perfectplay.game import Game, installed_games, load_game, make_game
    from perfectplay.hookspecs import hookimpl
    from perfectplay.options import Option
    from perfectplay.solver import Solution, solve_game
    from perfectplay.tables import Table, open_table
    from perfectplay.values import Outcome, Status, Value
    from perfectplay.verify import verify_table

_HOMES = {
    "board": ("Board", "Cell", "Click", "Piece", "Tray"),
    "errors": ("NotInTable", "PerfectPlayError", "PluginError", "TableError", "UsageError"),
    "game": ("Game", "installed_games", "load_game", "make_game"),
    "hookspecs": ("hookimpl",),
    "options": ("Option",),
    "solver": ("Solution", "solve_game"),
    "tables": ("Table", "open_table"),
    "values": ("Outcome", "Status", "Value"),
    "verify": ("verify_table",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Board",
    "Cell",
    "Click",
    "Game",
    "NotInTable",
    "Option",
    "Outcome",
    "PerfectPlayError",
    "Piece",
    "PluginError",
    "Solution",
    "Status",
    "Table",
    "TableError",
    "Tray",
    "UsageError",
    "Value",
    "hookimpl",
    "installed_games",
    "load_game",
    "make_game",
    "open_table",
    "solve_game",
    "verify_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'perfectplay' has no attribute {name!r}")
    return getattr(import_module(f"perfectplay.{_HOME_OF[name]}"), name)
