"""perfectplay solves board games completely: for every position, who wins and in how many moves.

Names are looked up when they are first used, so that a plugin can import `hookimpl` without loading the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfectplay.analysis.comparison import compare_gbl2
    from perfectplay.analysis.export import export_table
    from perfectplay.analysis.moves import Strength, best_line, choose_move, rate_moves
    from perfectplay.analysis.selection import Selection, random_positions, select, value_columns
    from perfectplay.analysis.statistics import survey
    from perfectplay.errors import NotInTable, PerfectPlayError, PluginError, TableError, UsageError
    from perfectplay.game.board import Board, Cell, Click, Piece, Tray
    from perfectplay.game.game import Game
    from perfectplay.game.loading import installed_games, load_game, make_game
    from perfectplay.game.match import Match, load_match
    from perfectplay.game.options import Option
    from perfectplay.game.position import Position
    from perfectplay.game.spec import About, hookimpl
    from perfectplay.prove.proof import Proof, prove_position
    from perfectplay.solve.solve import Solution, solve_game
    from perfectplay.solve.verification import verify_table
    from perfectplay.table.locations import open_table
    from perfectplay.table.table import Table
    from perfectplay.values import Outcome, Status, Value
    from perfectplay_native.python_rules import PositionBatch

    __version__: str

_HOMES = {
    "analysis.comparison": ("compare_gbl2",),
    "analysis.export": ("export_table",),
    "analysis.moves": ("best_line", "rate_moves", "Strength", "choose_move"),
    "analysis.selection": ("value_columns", "random_positions", "Selection", "select"),
    "analysis.statistics": ("survey",),
    "errors": ("NotInTable", "PerfectPlayError", "PluginError", "TableError", "UsageError"),
    "game.board": ("Board", "Cell", "Click", "Piece", "Tray"),
    "game.game": ("Game",),
    "game.loading": ("installed_games", "load_game", "make_game"),
    "game.match": ("Match", "load_match"),
    "game.options": ("Option",),
    "game.position": ("Position",),
    "game.spec": ("About", "hookimpl"),
    "perfectplay_native.python_rules": ("PositionBatch",),
    "prove.proof": ("Proof", "prove_position"),
    "solve.solve": ("Solution", "solve_game"),
    "solve.verification": ("verify_table",),
    "table.locations": ("open_table",),
    "table.table": ("Table",),
    "values": ("Outcome", "Status", "Value"),
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
    "PositionBatch",
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
