"""One game, ready to use: what every part of the host talks to instead of a plugin.

A plugin gives what it likes: all rules in Python, or a kernel in C and nothing else. `Game` fills the gaps
and checks what goes in and what comes out. Engines that call a billion times use `kernel` or `rules`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex
from zlib import crc32

from perfectplay.errors import PerfectPlayError, PluginError, UsageError
from perfectplay.game import defaults as default_hooks
from perfectplay.game import plugins
from perfectplay.game.board import Board
from perfectplay.game.hooks import CheckedHooks, Guard, Hook, as_int, brief
from perfectplay.game.options import Option, OptionValue, as_words, chosen, identity
from perfectplay.game.plugins import Plugin
from perfectplay.game.position import Position
from perfectplay.game.spec import About
from perfectplay.values import Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perfectplay_native.kernel import Kernel
    from perfectplay_native.positions import Positions


DEFAULT_PLAYERS = ("First", "Second")


class Game:
    """A game in one variant, from `load_game`, or from `make_game` for a plugin that is not installed.

    Every method takes positions that `valid` accepts and raises UsageError for others; a hook that raises, or
    returns what it must not, is a PluginError. Methods may be called from several threads if the hooks may.
    """

    def __init__(self, plugin: Plugin, declared: Sequence[Option], options: Mapping[str, OptionValue]) -> None:
        self.name = plugin.name
        self.version = plugin.version
        self.file = plugin.file
        """The file that the game was loaded from, where it is not installed."""
        self.command_word = self.name if self.file is None else str(self.file)
        """What the command line calls the game."""
        self.found_by_name = bool(plugin.code)
        """Whether `load_game(command_word)` gives it in another process too."""
        self.unmarked_hooks = plugins.unmarked_hooks(plugin)
        """What is called like a hook, but not marked as one, and so never asked."""
        self.declared_options = tuple(declared)
        self.options = dict(options)
        self.identity = identity(plugin.name, options)
        """Names this variant among all games, and its table among all tables."""
        self._last_checked: int | None = None
        guard = Guard(plugin.name)
        self.kernel: Kernel | None = default_hooks.load_kernel(guard, plugin)
        if self.kernel is None:
            plugins.require_rules(plugin)
        self._ask = CheckedHooks(guard, {**self._defaults(), **default_hooks.of_kernel(self.kernel), **plugin.hooks})
        self.rules_version = _rules_version(plugin, self.kernel)
        self.dates_rules_by_code = self.kernel is None and plugin.rules_version is None and bool(plugin.code)
        """Whether any change of the code counts as one of the rules, as the game does not say itself."""
        self._try_start()
        self._players = self._declared_players()
        self.rules = default_hooks.bare_rules(self._ask.functions, self.kernel, players=len(self._players))

    def __repr__(self) -> str:
        return f"<Game {self.identity} ({self.kind})>"

    @property
    def kind(self) -> str:
        return "Python" if self.kernel is None else "C kernel"

    # ---- the rules ----

    def start(self) -> int:
        """The position in which play begins."""
        return self._ask.start()

    def valid(self, position: object) -> bool:
        """Whether this is a position of the game. Anything may be asked."""
        number = as_int(position)
        if not self._ask.valid(number):
            return False
        self._last_checked = number
        return True

    def moves(self, position: SupportsIndex) -> list[int]:
        """The legal moves; none when the game is over."""
        return self._ask.moves(self._checked(position))

    def apply(self, position: SupportsIndex, move: SupportsIndex) -> int:
        """The position after one of its `moves`; UsageError for any other move."""
        position = self._checked(position)
        legal, number = self._ask.moves(position), as_int(move)
        if number is None or number not in legal:
            raise UsageError(f"{brief(move)} is not a legal move here: {self._some_moves(position, legal)}")
        return self._ask.apply(position, number)

    def undo(self, position: SupportsIndex, move: SupportsIndex) -> int:
        """The position before `move`, which led to this one; only where `has_undo`."""
        position = self._checked(position)
        if not self.has_undo:
            raise PluginError(f"{self.name}: there is no hook 'undo'; ask `has_undo` first")
        return self._ask.undo(position, index(move))

    def canonicalize(self, position: SupportsIndex) -> int:
        """The representative of all positions that are the same up to symmetry."""
        return self._ask.canonicalize(self._checked(position))

    def status(self, position: SupportsIndex) -> Status:
        """How the position stands by rule alone, for the side to move."""
        return self._ask.status(self._checked(position))

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The names, who begins first; a puzzle has one. Where the game names nobody, they are those on the board."""
        if self.is_puzzle or self._names_players or not self._ask.has("board"):
            return self._players
        return self._ask.board(self._ask.start()).players

    @property
    def is_puzzle(self) -> bool:
        """Whether one player plays alone: WON is solved, and LOST a dead end."""
        return len(self._players) == 1

    @property
    def has_mover(self) -> bool:
        """Whether the game itself says whose turn it is; otherwise turns alternate."""
        return self._ask.has("mover")

    @property
    def turns_alternate(self) -> bool:
        """Whether every move passes the turn, as it does without `mover`, and as a kernel may promise."""
        if self.is_puzzle:
            return False
        return not self.has_mover or (self.kernel is not None and self.kernel.turns_alternate)

    @property
    def has_score(self) -> bool:
        return self._ask.has("score")

    def mover(self, position: SupportsIndex) -> int | None:
        """Who is to move, 0 being the player who begins; None where the game does not tell.

        A game without the hook tells if it has a board.
        """
        position = self._checked(position)
        if self.has_mover:
            return self._ask.mover(position)
        if self.is_puzzle:
            return 0
        return self._ask.board(position).to_move if self._ask.has("board") else None

    def keeps_turn(self, parent: SupportsIndex, child: SupportsIndex) -> bool:
        """Whether a move from one position to the other leaves the turn with the same player."""
        if self.is_puzzle:
            return True
        return self.has_mover and self.mover(parent) == self.mover(child)

    def score(self, position: SupportsIndex) -> int:
        """By how much the mover wins a finished game, negative if the mover loses; only where `has_score`."""
        position = self._checked(position)
        if not self.has_score:
            raise PluginError(f"{self.name}: there is no hook 'score'; ask `has_score` first")
        return self._ask.score(position)

    def move_classes(self, position: SupportsIndex) -> list[list[int]]:
        """The legal moves, those that lead to the same position up to symmetry together."""
        ask, position = self._ask, self._checked(position)
        classes: dict[int, list[int]] = {}
        for move in ask.moves(position):
            classes.setdefault(ask.canonicalize(ask.apply(position, move)), []).append(move)
        return list(classes.values())

    # ---- structure, where the game has it ----

    @property
    def has_undo(self) -> bool:
        return self._ask.has("undo")

    @property
    def has_tier(self) -> bool:
        return self._ask.has("tier")

    @property
    def has_parents(self) -> bool:
        return self._ask.has("parents")

    def tier(self, position: SupportsIndex) -> int:
        """The tier, which never falls as play goes on; 0 for a game without tiers."""
        position = self._checked(position)
        return self._ask.tier(position) if self.has_tier else 0

    def parents(self, position: SupportsIndex) -> list[int]:
        """The canonical positions with a move into an image of this one; only where `has_parents`."""
        position = self._checked(position)
        if not self.has_parents:
            raise PluginError(f"{self.name}: there is no hook 'parents'; ask `has_parents` first")
        return self._ask.parents(position)

    # ---- many positions at once, as numpy arrays ----

    def movers(self, positions: Positions) -> npt.NDArray[np.int8] | None:
        """For each position 0 if the player who begins is to move, else 1; None where the game does not tell."""
        import numpy as np

        if self.kernel is not None:
            from perfectplay_native.positions import movers_of_many

            found = movers_of_many(self.kernel, positions)
            if found is not None:
                return np.asarray(found, dtype=np.int8)
        turns = [self.mover(int(position)) for position in positions]
        return None if None in turns else np.array(turns, dtype=np.int8)

    def colour_swapped(self, positions: Positions) -> Positions | None:
        """For each position the other one that shares its slot in the table; None where slots are not shared."""
        if not self._ask.has("colour_swapped"):
            return None
        swapped: Positions = self._ask.array("colour_swapped", positions)
        return swapped

    # ---- what people read and write ----

    def position(self, place: str | SupportsIndex | None = None) -> Position:
        """A position to hold, from a text in any notation or a number; by default the start.

        >>> from perfectplay import load_game
        >>> load_game("gobblet").position("74242").apply("L(1,1)")
        <Position of gobblet: s,m,sL/.,L,./.,.,.:blue>
        """
        if place is None:
            return Position(self, self.start())
        return Position(self, self.encode(place) if isinstance(place, str) else self._checked(place))

    def encode(self, text: str) -> int:
        """The position a text describes, in any notation of the game; UsageError if it describes none."""
        position = self._ask.encode(text)
        if not self.valid(position):
            raise UsageError(f"{brief(text)} is not a position of {self.name} that can occur")
        return position

    def decode(self, position: SupportsIndex) -> str:
        """The text people use for a position; `encode` reads it back."""
        return self._ask.decode(self._checked(position))

    def notations(self, position: SupportsIndex) -> dict[str, str]:
        """Every notation of a position, by name."""
        return self._ask.notations(self._checked(position))

    def format_move(self, position: SupportsIndex, move: SupportsIndex) -> str:
        """The text people use for a move."""
        return self._ask.format_move(self._checked(position), index(move))

    def format_moves(self, position: SupportsIndex, moves: Sequence[int]) -> list[str]:
        """The texts of several moves of a position, which is checked once."""
        return self._ask.format_moves(self._checked(position), moves)

    def parse_move(self, position: SupportsIndex, text: str) -> int:
        """The legal move that a text names; UsageError if it names none."""
        position = self._checked(position)
        legal = self._ask.moves(position)
        move = self._ask.parse_move(position, text)
        if move not in legal:
            raise UsageError(f"{brief(text)} is not a legal move here: {self._some_moves(position, legal)}")
        return move

    def board(self, position: SupportsIndex) -> Board | None:
        """The board to draw and to click, with the names that `players` gives; None where the game has no drawing."""
        position = self._checked(position)
        if not self._ask.has("board"):
            return None
        board = self._ask.board(position)
        unnamed = board.players == DEFAULT_PLAYERS and self._players != DEFAULT_PLAYERS
        return replace(board, players=self._players) if unnamed else board

    @property
    def about(self) -> About:
        """The title and the rules, for people."""
        return self._ask.about() if self._ask.has("about") else About(self.name)

    # ---- helpers ----

    def solve_command(
        self, *, backend: str | None = None, values: str | None = None, directory: Path | None = None
    ) -> str:
        """The command line that solves this variant, or with its backend resumes it.

        >>> from perfectplay import load_game
        >>> load_game("gobblet").solve_command(backend="lmdb")
        'solve gobblet --backend lmdb'
        """
        words = ["solve", self.command_word, *self.option_words]
        words += ["--backend", backend] if backend else []
        words += ["--values", values] if values else []
        words += ["--dir", str(directory)] if directory else []
        return shlex.join(words)

    @property
    def advice(self) -> str:
        """What to do where the plugin is at fault."""
        return f"run `{shlex.join(['solve', 'check', self.command_word, *self.option_words])}`"

    @property
    def option_words(self) -> list[str]:
        """The options of this variant that are not the default, as a command line has them."""
        return as_words(chosen(self.declared_options, self.options))

    def benchmarks(self) -> Iterable[tuple[str, float, str]]:
        """The game's own measurements for `solve bench`; none by default."""
        return self._ask.benchmarks() if self._ask.has("benchmarks") else ()

    def hook_error(self, hook: str, position: int | None, error: BaseException) -> PerfectPlayError:
        """The error for an engine to raise when one of `rules` raised: it names game, hook and position."""
        return self._ask.guard.raised(hook, position, error)

    def _checked(self, position: SupportsIndex) -> int:
        """The position as an int, if it is one; UsageError if not."""
        number = as_int(position)
        if number is None or (number != self._last_checked and not self._ask.valid(number)):
            raise UsageError(f"{brief(position)} is not a position of {self.name}")
        self._last_checked = number  # many things are asked of the same position, one after the other
        return number

    # ---- filling the gaps ----

    def _defaults(self) -> dict[str, Hook]:
        """For every hook that needs no kernel to be derived, how."""
        return {
            "valid": lambda position: True,
            "canonicalize": lambda position: position,
            "encode": default_hooks.read_number,
            "decode": str,
            "notations": lambda position: {"text": self._ask.decode(position)},
            "format_move": lambda position, move: str(move),
            "parse_move": self._find_move,
        }

    def _find_move(self, position: int, text: str) -> int:
        legal = self._ask.moves(position)
        for move in legal:
            if self._ask.format_move(position, move) == text.strip():
                return move
        raise ValueError(self._some_moves(position, legal))

    def _some_moves(self, position: int, legal: Sequence[int]) -> str:
        if not legal:
            return "the game is over"
        names = ", ".join(self._ask.format_move(position, move) for move in legal[:10])
        return f"legal are {names}" + (f" and {len(legal) - 10} more" if len(legal) > 10 else "")

    def _try_start(self) -> None:
        """Ask each rule once, so that a game that cannot work is refused when it is loaded."""
        start = self._ask.start()
        if not self._ask.valid(start):
            raise PluginError(f"{self.name}: hook 'start' returned {start}, which hook 'valid' refuses")
        self._ask.canonicalize(start)
        self._ask.status(start)
        self._ask.moves(start)

    def _declared_players(self) -> tuple[str, ...]:
        count = default_hooks.kernel_players(self.kernel)
        named = self._ask.players()
        self._names_players = bool(named)
        names = named or DEFAULT_PLAYERS[:count]
        if self.kernel is not None and len(names) != count:
            raise PluginError(
                f"{self.name}: hook 'players' has {len(names)} names, but the kernel's players is {count}"
            )
        return names


def _rules_version(plugin: Plugin, kernel: Kernel | None) -> int:
    """What the plugin declares; where it declares nothing, any change of its code may be one of the rules."""
    declared = plugin.rules_version
    if kernel is not None:
        if declared not in (None, kernel.rules_version):
            raise PluginError(
                f"{plugin.name}: RULES_VERSION is {declared}, but the kernel's rules_version is "
                f"{kernel.rules_version}: raise them together, or leave RULES_VERSION out"
            )
        return kernel.rules_version
    if declared is not None:
        return declared
    return crc32(b"".join(file.read_bytes() for file in plugin.code)) if plugin.code else 1
