"""perfectplay solves board games completely: for every position, who wins and in how many moves.

Names are looked up when they are first used, so that a plugin can import `hookimpl` without loading the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfectplay.about import About
    from perfectplay.board import Board, Cell, Click, Piece, Tray
    from perfectplay.errors import NotInTable, PerfectPlayError, PluginError, TableError, UsageError
    from perfectplay.exports.export import export_table
    from perfectplay.exports.gbl2_compare import compare_gbl2
    from perfectplay.game import Game
    from perfectplay.hookspecs import hookimpl
    from perfectplay.loading import installed_games, load_game, make_game
    from perfectplay.match import Match, load_match
    from perfectplay.options import Option
    from perfectplay.position import Position
    from perfectplay.queries.columns import value_columns
    from perfectplay.queries.moves import best_line, rate_moves
    from perfectplay.queries.opponent import Strength, choose_move
    from perfectplay.queries.sampling import random_positions
    from perfectplay.queries.selection import Selection, select
    from perfectplay.queries.statistics import survey
    from perfectplay.solving.strong import Solution, solve_game
    from perfectplay.solving.verify import verify_table
    from perfectplay.solving.weak import Proof, prove_position
    from perfectplay.tables.opening import open_table
    from perfectplay.tables.table import Table
    from perfectplay.values import Outcome, Status, Value
    from perfectplay_native.rules import Studied

    __version__: str

_HOMES = {
    "about": ("About",),
    "board": ("Board", "Cell", "Click", "Piece", "Tray"),
    "errors": ("NotInTable", "PerfectPlayError", "PluginError", "TableError", "UsageError"),
    "exports.export": ("export_table",),
    "exports.gbl2_compare": ("compare_gbl2",),
    "game": ("Game",),
    "hookspecs": ("hookimpl",),
    "loading": ("installed_games", "load_game", "make_game"),
    "match": ("Match", "load_match"),
    "options": ("Option",),
    "position": ("Position",),
    "queries.columns": ("value_columns",),
    "queries.moves": ("best_line", "rate_moves"),
    "queries.opponent": ("Strength", "choose_move"),
    "queries.sampling": ("random_positions",),
    "queries.selection": ("Selection", "select"),
    "queries.statistics": ("survey",),
    "solving.strong": ("Solution", "solve_game"),
    "solving.verify": ("verify_table",),
    "solving.weak": ("Proof", "prove_position"),
    "tables.opening": ("open_table",),
    "tables.table": ("Table",),
    "values": ("Outcome", "Status", "Value"),
    "perfectplay_native.rules": ("Studied",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "About",
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
    "Position",
    "Proof",
    "Selection",
    "Solution",
    "Status",
    "Strength",
    "Studied",
    "Table",
    "TableError",
    "Tray",
    "UsageError",
    "Value",
    "__version__",
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
    "value_columns",
    "verify_table",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("perfectplay")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'perfectplay' has no attribute {name!r}")
    home = _HOME_OF[name]
    return getattr(import_module(home if home.startswith("perfectplay_native") else f"perfectplay.{home}"), name)


def __dir__() -> list[str]:
    return __all__
