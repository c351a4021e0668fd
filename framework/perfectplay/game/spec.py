"""The hooks of a game plugin: the one place that defines them.

A game is an entry point in the group `perfectplay.games`; its name is the word after `solve`. It points at a
module or an object whose functions carry `@hookimpl`. The required hooks are the rules; where `kernel` is
given, the host derives from it every hook that the plugin leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

from perfectplay.game.board import Board
from perfectplay.values import Status

if TYPE_CHECKING:
    from perfectplay.game.options import Option
    from perfectplay_native.kernel import Kernel
    from perfectplay_native.positions import Positions
    from perfectplay_native.python_rules import PositionBatch

PROJECT = "perfectplay"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class GameSpec(Protocol):
    """What a game may implement. Positions are ints below 2**64, moves ints below 2**32."""

    @hookspec
    def start(self) -> int:
        """Return the position in which play begins."""

    @hookspec
    def moves(self, position: int) -> Sequence[int]:
        """Return the legal moves, each once; none when the game is over or the mover is stuck."""

    @hookspec
    def apply(self, position: int, move: int) -> int:
        """Return the position after `move`."""

    @hookspec
    def status(self, position: int) -> Status:
        """Return ONGOING, or LOST, DRAWN or WON for the side to move; a stuck mover is never ONGOING."""

    @hookspec
    def mover(self, position: int) -> int:
        """Return who is to move, 0 for the player who begins or 1 for the other (default: turns alternate)."""

    @hookspec
    def players(self) -> Sequence[str]:
        """Return the players' names, who begins first; a single name makes the game a puzzle (default: two)."""

    @hookspec
    def score(self, position: int) -> int:
        """Return by how much the mover wins a finished game, negative if the mover loses (default: none is kept)."""

    @hookspec
    def canonicalize(self, position: int) -> int:
        """Return the chosen representative of all positions that are the same up to symmetry (default: itself)."""

    @hookspec
    def undo(self, position: int, move: int) -> int:
        """Return the position before `move`: undo(apply(p, m), m) == p; only `solve check` asks."""

    @hookspec
    def valid(self, position: int) -> bool:
        """Return whether these 64 bits are a position of the game (default: yes); any may be asked."""

    @hookspec
    def encode(self, text: str) -> int:
        """Return the position of `text`, or raise ValueError that says what is wrong (default: a number)."""

    @hookspec
    def decode(self, position: int) -> str:
        """Return the text people use for `position`, which `encode` reads back (default: its number)."""

    @hookspec
    def about(self) -> About:
        """Return the game's title, its rules and its players' names, as people would tell them (default: its name)."""

    @hookspec
    def format_move(self, position: int, move: int) -> str:
        """Return the text people use for a move (default: its number)."""

    @hookspec
    def parse_move(self, position: int, text: str) -> int:
        """Return the move that `text` names, or raise ValueError (default: what `format_move` writes)."""

    @hookspec
    def notations(self, position: int) -> Mapping[str, str]:
        """Return every notation of a position by name; `encode` reads each (default: decode's alone)."""

    @hookspec
    def board(self, position: int) -> Board:
        """Return cells, stacks, trays and click targets for terminal and browser (default: only text)."""

    @hookspec
    def colour_swapped(self, positions: Positions) -> Positions:
        """Return each position with colours and mover swapped; only where `rank` gives both one slot."""

    @hookspec
    def tier(self, position: int) -> int:
        """Return a number from 0 up that never falls as play goes on; enables tier-by-tier solving."""

    @hookspec
    def parents(self, position: int) -> Sequence[int]:
        """Return the canonical positions with a move into an image of this one; speeds up loopy games."""

    @hookspec
    def walk(self) -> Iterable[PositionBatch]:
        """Yield what the hooks above say of all positions, some at a time; saves a solve its calls of Python."""

    @hookspec
    def kernel(self) -> Kernel:
        """Return the game's C kernel. The host derives from it every hook that the plugin leaves out."""

    @hookspec
    def benchmarks(self) -> Iterable[tuple[str, float, str]]:
        """Measure and yield (what, rate, unit) for `solve bench`, such as ("perft", 5e7, "nodes/s")."""

    @hookspec
    def options(self) -> Sequence[Option]:
        """Return the variants' options (`--width 5`); `configure` must be there too."""

    @hookspec
    def configure(self, options: Mapping[str, Any]) -> object:
        """Return the plugin for these options: an object or module with the hooks above."""


class HostSpec(Protocol):
    """What a plugin in the group `perfectplay.host` may add to the host; built-in ones come the same way."""

    @hookspec
    def register_backends(self, register: Callable[[str, Any], None]) -> None:
        """Call register(name, backend) for each table backend."""

    @hookspec
    def register_exporters(self, register: Callable[[str, Any], None]) -> None:
        """Call register(name, exporter) for each export format."""


# What people want to know of a game before they look at its table.


@dataclass(frozen=True, slots=True)
class About:
    """A game's title, and its rules as one would explain them: a few sentences, paragraphs apart by an empty line."""

    title: str
    rules: str = ""
    players: tuple[str, ...] = ()
    """The players' names, as the hook `players` gives them; for a game without that hook."""
