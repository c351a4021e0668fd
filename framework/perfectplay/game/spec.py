"""The specification of all hooks, for games and for host plugins.

A game is an entry point in the group `perfectplay.games`; its name is the word after `solve`. It refers to a module
or an object with functions marked `@hookimpl`. The hooks for the rules are required, unless the plugin has a
`kernel`, which then also provides defaults for other omitted hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

from perfectplay.values import Status

if TYPE_CHECKING:
    from perfectplay.game.board import Board
    from perfectplay.game.index import Index
    from perfectplay.game.options import Option
    from perfectplay_native.kernel import Kernel
    from perfectplay_native.positions import Positions
    from perfectplay_native.python_rules import PositionBatch

PROJECT = "perfectplay"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class GameSpec(Protocol):
    """The hooks of a game. Positions are ints below 2**64 - 1, moves are ints below 2**32."""

    @hookspec
    def start(self) -> int:
        """Return the start position."""

    @hookspec
    def moves(self, position: int) -> Sequence[int]:
        """Return the legal moves, without duplicates; empty when the game is over or the mover cannot move."""

    @hookspec
    def apply(self, position: int, move: int) -> int:
        """Return the position after `move`."""

    @hookspec
    def status(self, position: int) -> Status:
        """Return ONGOING, or LOST, DRAWN or WON for the side to move; never ONGOING if there is no legal move."""

    @hookspec
    def mover(self, position: int) -> int:
        """Return who is to move, 0 for the first player or 1 for the second (default: turns alternate)."""

    @hookspec
    def players(self) -> Sequence[str]:
        """Return the players' names, first player first; one name makes the game a puzzle (default: two players)."""

    @hookspec
    def score(self, position: int) -> int:
        """Return the mover's margin of victory in a finished game, negative for a loss (default: no scores)."""

    @hookspec
    def canonicalize(self, position: int) -> int:
        """Return the representative of all positions that are equal up to symmetry (default: the position itself)."""

    @hookspec
    def undo(self, position: int, move: int) -> int:
        """Return the position before `move`, so that undo(apply(p, m), m) == p; used only by `solve check`."""

    @hookspec
    def valid(self, position: int) -> bool:
        """Return whether this number is a position of the game; called with any number (default: True)."""

    @hookspec
    def encode(self, text: str) -> int:
        """Return the position that `text` describes, or raise ValueError with the reason (default: reads a number)."""

    @hookspec
    def decode(self, position: int) -> str:
        """Return the position in the usual notation, which `encode` must read (default: its number)."""

    @hookspec
    def about(self) -> About:
        """Return the title, the rules and the players' names (default: the game's name as title)."""

    @hookspec
    def format_move(self, position: int, move: int) -> str:
        """Return a move in the usual notation (default: its number)."""

    @hookspec
    def parse_move(self, position: int, text: str) -> int:
        """Return the move that `text` describes, or raise ValueError (default: compares with `format_move`)."""

    @hookspec
    def notations(self, position: int) -> Mapping[str, str]:
        """Return the position in all notations, by name; `encode` must read them (default: that of `decode`)."""

    @hookspec
    def board(self, position: int) -> Board:
        """Return the board to draw in terminal and browser, with click targets (default: no drawing)."""

    @hookspec
    def colour_swapped(self, positions: Positions) -> Positions:
        """Return each position with colours and mover swapped; only if `rank` gives both the same slot."""

    @hookspec
    def tier(self, position: int) -> int:
        """Return a number from 0 up that never decreases during play; enables tier-by-tier solving."""

    @hookspec
    def parents(self, position: int) -> Sequence[int]:
        """Return the canonical positions with a move to an image of this one; speeds up games with cycles."""

    @hookspec
    def walk(self) -> Iterable[PositionBatch]:
        """Yield the results of the hooks above for all positions, in batches; replaces one call per position."""

    @hookspec
    def kernel(self) -> Kernel:
        """Return the game's C kernel. Its functions are the defaults for hooks that the plugin omits."""

    @hookspec
    def index(self) -> Index:
        """Return the cells and pieces, from which the game gets tiers and an index; replaces enumeration."""

    @hookspec
    def benchmarks(self) -> Iterable[tuple[str, float, str]]:
        """Measure and yield (name, rate, unit) for `solve bench`, such as ("perft", 5e7, "nodes/s")."""

    @hookspec
    def options(self) -> Sequence[Option]:
        """Return the options that choose a variant (`--width 5`); requires `configure`."""

    @hookspec
    def configure(self, options: Mapping[str, Any]) -> object:
        """Return the plugin for these options, an object or module with the hooks above."""


class HostSpec(Protocol):
    """The hooks of a plugin in the group `perfectplay.host`; the built-in backends and formats use them too."""

    @hookspec
    def register_backends(self, register: Callable[[str, Any], None]) -> None:
        """Call register(name, backend) for each table backend."""

    @hookspec
    def register_exporters(self, register: Callable[[str, Any], None]) -> None:
        """Call register(name, exporter) for each export format."""


@dataclass(frozen=True, slots=True)
class About:
    """The title of a game and its rules in a few sentences; paragraphs are separated by an empty line."""

    title: str
    rules: str = ""
    players: tuple[str, ...] = ()
    """The players' names, for a game without the hook `players`."""
