"""A game that is ready to use: the interface between plugins and all other parts of the host.

A plugin may have all rules in Python, or a C kernel and nothing else. `Game` adds defaults for omitted hooks and checks
arguments and results. The engine, which needs billions of calls, uses `Game.kernel` or `Game.rules` directly.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, cast
from zlib import crc32

from perfectplay.errors import PerfectPlayError, PluginError, UsageError
from perfectplay.game import hooks
from perfectplay.game.board import Board
from perfectplay.game.board_text import make_text_board
from perfectplay.game.defaults import (
    KERNEL_HOOKS,
    add_index,
    default_hooks,
    engine_rules,
    kernel_hooks,
    list_moves,
    load_kernel,
)
from perfectplay.game.drawing import Drawing, draw_svg, find_places
from perfectplay.game.hooks import Checked, Hook, Hooks, WrongResult, as_int, brief
from perfectplay.game.index import Index
from perfectplay.game.options import Option, OptionValue, as_words, chosen, identity
from perfectplay.game.plugins import REQUIRED_HOOKS, Plugin, require_rules, unmarked_hooks
from perfectplay.game.spec import About
from perfectplay.values import Outcome, Status, Value

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perfectplay_native.declared_index import Layout
    from perfectplay_native.kernel import Kernel
    from perfectplay_native.positions import Positions

DEFAULT_PLAYERS = ("First", "Second")


class Game:
    """A game in one variant, returned by `load_game`, or by `make_game` for a plugin that is not installed.

    Every method checks its position and raises UsageError for one that `valid` rejects, because it cannot know whether
    the caller has checked it. A hook that raises or returns a wrong result is a PluginError. Methods are thread-safe if
    the hooks are.
    """

    def __init__(self, plugin: Plugin, declared: Sequence[Option], options: Mapping[str, OptionValue]) -> None:
        self.name = plugin.name
        self.version = plugin.version
        self.file = plugin.file
        """The file that the game was loaded from, unless it is installed."""
        self.command_word = self.name if self.file is None else str(self.file)
        """The game's name or file on the command line."""
        self.is_loadable = bool(plugin.code)
        """Whether `load_game(command_word)` returns the same game in another process."""
        self.unmarked_hooks = unmarked_hooks(plugin)
        """Functions named like hooks but not marked @hookimpl, so they are never called."""
        self.declared_options = tuple(declared)
        self.options = dict(options)
        self.identity = identity(plugin.name, options)
        """The unique name of this variant and of its table."""
        self.compile_rules = True
        """Whether a solve may translate rules in Python to C (see docs/compiled.md)."""
        self.index: Index | None = (
            Hooks(plugin.name, plugin.hooks).call(hooks.INDEX) if "index" in plugin.hooks else None
        )
        """The declaration of the hook `index`; None if the game has its own index or none."""
        self.kernel: Kernel | None = load_kernel(plugin)
        if self.kernel is None:
            require_rules(plugin)
        elif self.index is not None:
            self.kernel = add_index(plugin.name, self.kernel, self.index_layout)
        functions: dict[str, Hook] = {}
        self.hook_functions: Mapping[str, Hook] = plugin.hooks
        """The plugin's own functions by hook name, without defaults and checks. Compiled rules are made from them."""
        self._hooks = Hooks(plugin.name, functions)
        functions.update({**default_hooks(self._hooks), **kernel_hooks(self.kernel), **plugin.hooks})
        self.has_undo, self.has_tier, self.has_parents = (
            "undo" in functions,
            "tier" in functions,
            "parents" in functions,
        )
        self.has_score = "score" in functions
        self.has_mover = "mover" in functions
        """Whether the game has the hook `mover`; without it turns alternate."""
        self._has_board = "board" in functions
        self.has_python_rules = any(hook in plugin.hooks for hook in (*REQUIRED_HOOKS, *KERNEL_HOOKS))
        """Whether the plugin has any rules in Python, and not only a kernel."""
        self.rules_version = _rules_version(plugin, self.kernel, self.index)
        self.dates_rules_by_code = self.kernel is None and plugin.rules_version is None and bool(plugin.code)
        """Whether any change of the code counts as a change of the rules, because the game has no RULES_VERSION."""
        self._try_start()
        names = self._hooks.players()
        count = 2 if self.kernel is None else self.kernel.players
        self._names_players = bool(names)
        self._players = names or DEFAULT_PLAYERS[:count]
        if self.kernel is not None and len(self._players) != count:
            raise PluginError(f"{self.name}: hook 'players' returned {len(names)} names, but the kernel has {count}")
        promised = plugin.turns_alternate is True if self.kernel is None else self.kernel.turns_alternate
        self.turns_alternate = not self.is_puzzle and (not self.has_mover or promised)
        """Whether every move passes the turn: without the hook `mover`, or if the plugin or its kernel declares it."""
        self.rules = engine_rules(
            functions, self.kernel, players=len(self._players), turns_alternate=self.turns_alternate
        )
        """The rules without checks, for the engine."""

    def _try_start(self) -> None:
        """Call the required hooks once, so that a game that cannot work is rejected when it is loaded."""
        start = self._hooks.call(hooks.START)
        if not self._hooks.valid(start):
            raise PluginError(f"{self.name}: hook 'start' returned {start}, which hook 'valid' rejects")
        if self.index is not None and (fault := self.index.fault(start, start)):
            raise PluginError(f"{self.name}: hook 'index' does not fit the start position: {fault}")
        self._hooks.call(hooks.CANONICALIZE, start)
        self._hooks.call(hooks.STATUS, start)
        self._hooks.call(hooks.MOVES, start)

    @cached_property
    def index_layout(self) -> Layout:
        """The tables of the declared index. Raises PluginError if they would be too large."""
        assert self.index is not None
        try:
            return self.index.layout()
        except ValueError as error:
            raise PluginError(
                f"{self.name}: hook 'index' returned a declaration that cannot be used: {error}"
            ) from error

    def __repr__(self) -> str:
        return f"<Game {self.identity} ({self.kind})>"

    @property
    def kind(self) -> str:
        return "Python" if self.kernel is None else "C kernel"

    @property
    def index_kind(self) -> str | None:
        """`declared` for an index of the hook `index`, `built-in` for one of the kernel; None without an index."""
        if self.index is not None:
            return "declared"
        return "built-in" if self.kernel is not None and self.kernel.ranked else None

    # ---- rules ----

    def start(self) -> int:
        """Return the start position."""
        return self._hooks.call(hooks.START)

    def valid(self, position: object) -> bool:
        """Return whether this is a position of the game. Takes any object."""
        return self._hooks.valid(as_int(position))

    def _checked(self, position: SupportsIndex) -> int:
        number = as_int(position)
        if number is None or not self._hooks.valid(number):
            raise UsageError(f"{brief(position)} is not a position of {self.name}")
        return number

    def moves(self, position: SupportsIndex) -> list[int]:
        """Return the legal moves; empty when the game is over."""
        return self._hooks.call(hooks.MOVES, self._checked(position))

    def apply(self, position: SupportsIndex, move: SupportsIndex) -> int:
        """Return the position after a legal move. Raises UsageError for an illegal one.

        The moves are generated to check that, because hooks need not reject illegal moves. Loops over all moves use
        `follow`, `rules.follow` or `move_classes`, which do not.
        """
        position = self._checked(position)
        legal, number = self._hooks.call(hooks.MOVES, position), as_int(move)
        if number is None or number not in legal:
            raise self._illegal_move(move, position, legal)
        return self._hooks.call(hooks.APPLY, position, number)

    def follow(self, position: SupportsIndex) -> list[tuple[int, int]]:
        """Return the legal moves, each with the position after it."""
        call, position = self._hooks.call, self._checked(position)
        return [(move, call(hooks.APPLY, position, move)) for move in call(hooks.MOVES, position)]

    def _illegal_move(self, move: object, position: int, legal: Sequence[int]) -> UsageError:
        return UsageError(f"{brief(move)} is not a legal move here: {list_moves(self._hooks, position, legal)}")

    def move_classes(self, position: SupportsIndex) -> list[list[int]]:
        """Return the legal moves, grouped by the canonical form of the resulting position."""
        call, position = self._hooks.call, self._checked(position)
        classes: dict[int, list[int]] = {}
        for move in call(hooks.MOVES, position):
            classes.setdefault(call(hooks.CANONICALIZE, call(hooks.APPLY, position, move)), []).append(move)
        return list(classes.values())

    def undo_moves(self, position: SupportsIndex) -> list[tuple[int, int]]:
        """Return the legal moves, each with the result of `undo` after it, which should be this position.

        Requires `has_undo`. Single moves cannot be undone, because nothing checks whether a move led to a position, and
        a kernel may crash if it did not.
        """
        self._require_hook("undo")
        call = self._hooks.call
        return [(move, call(hooks.UNDO, child, move)) for move, child in self.follow(position)]

    def canonicalize(self, position: SupportsIndex) -> int:
        """Return the canonical form: the representative of all positions that are equal up to symmetry."""
        return self._hooks.call(hooks.CANONICALIZE, self._checked(position))

    def status(self, position: SupportsIndex) -> Status:
        """Return whether the game is over, and the result for the side to move."""
        return self._hooks.call(hooks.STATUS, self._checked(position))

    def score(self, position: SupportsIndex) -> int:
        """Return the mover's margin of victory in a finished game, negative for a loss. Requires `has_score`."""
        self._require_hook("score")
        return self._hooks.call(hooks.SCORE, self._checked(position))

    def tier(self, position: SupportsIndex) -> int:
        """Return the tier, which never decreases during play; 0 for a game without tiers."""
        position, tier = self._checked(position), hooks.PYTHON_TIER if self.kernel is None else hooks.KERNEL_TIER
        return self._hooks.call(tier, position) if self.has_tier else 0

    def parents(self, position: SupportsIndex) -> list[int]:
        """Return the canonical positions with a move to an image of this one. Requires `has_parents`."""
        self._require_hook("parents")
        return self._hooks.call(hooks.PARENTS, self._checked(position))

    def _require_hook(self, hook: str) -> None:
        if not self._hooks.has(hook):
            raise PluginError(f"{self.name}: there is no hook '{hook}'; check `has_{hook}` first")

    # ---- players and turns ----

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The players' names, first player first; a puzzle has one. Defaults to the names on the board."""
        if self.is_puzzle or self._names_players or not self._has_board:
            return self._players
        return self._hooks.call(hooks.BOARD, self._hooks.call(hooks.START)).players

    @property
    def is_puzzle(self) -> bool:
        """Whether there is a single player, for whom WON means solved and LOST a dead end."""
        return len(self._players) == 1

    def mover(self, position: SupportsIndex) -> int | None:
        """Return who is to move: 0 for the first player, 1 for the second, None if unknown.

        Without the hook `mover` it is read from the board. Without a board it is known for the start position only.
        """
        position = self._checked(position)
        if self.has_mover:
            return self._hooks.call(hooks.MOVER, position)
        if self.is_puzzle:
            return 0
        if self._has_board:
            return self._hooks.call(hooks.BOARD, position).to_move
        return 0 if position == self._hooks.call(hooks.START) else None

    def movers(self, positions: Positions, kernel: Kernel | None = None) -> npt.NDArray[np.int8] | None:
        """Return `mover` of each position in an array; None for a game without the hook `mover` and without a board.

        A `kernel` of the compiled rules makes it fast for a game in Python.
        """
        import numpy as np

        if kernel := kernel or self.kernel:
            from perfectplay_native.positions import movers_of_many

            movers = movers_of_many(kernel, positions)
            if movers is not None:
                return np.asarray(movers, dtype=np.int8)
        if not (self.has_mover or self.is_puzzle or self._has_board):
            return None
        return np.array([self.mover(int(position)) for position in positions], dtype=np.int8)

    def keeps_turn(self, parent: SupportsIndex, child: SupportsIndex) -> bool:
        """Return whether the same player is to move in both positions."""
        if self.is_puzzle:
            return True
        return self.has_mover and self.mover(parent) == self.mover(child)

    def colour_swapped(self, positions: Positions) -> Positions | None:
        """Return for each position the other one that shares its slot in the table; None if slots are not shared."""

        def same_length(result: Any) -> Positions:
            if getattr(result, "shape", None) != positions.shape:
                raise WrongResult(result, f"expected an array of length {len(positions)}")
            return cast("Positions", result)

        return (
            self._hooks.call(Checked("colour_swapped", same_length), positions)
            if self._hooks.has("colour_swapped")
            else None
        )

    # ---- notation, boards and names ----

    def position(self, place: str | SupportsIndex | None = None) -> Position:
        """Return a Position object for a text in any notation or a number; by default the start position.

        >>> from perfectplay import load_game
        >>> load_game("gobblet").position("74242").apply("L(1,1)")
        <Position of gobblet: s,m,sL/.,L,./.,.,.:blue>
        """
        if place is None:
            return Position(self, self.start())
        return Position(self, self.encode(place) if isinstance(place, str) else self._checked(place))

    def encode(self, text: str) -> int:
        """Return the position that a text in any notation describes. Raises UsageError if there is none."""
        position = self._hooks.read(hooks.ENCODE, f"position of {self.name}", text)
        if not self._hooks.valid(position):
            raise UsageError(f"{brief(text)} is not a position of {self.name} that can occur")
        return position

    def decode(self, position: SupportsIndex) -> str:
        """Return the position as a text, which `encode` reads."""
        return self._hooks.call(hooks.DECODE, self._checked(position))

    def notations(self, position: SupportsIndex) -> dict[str, str]:
        """Return the position in all notations, by name."""
        return self._hooks.call(hooks.NOTATIONS, self._checked(position))

    def format_move(self, position: SupportsIndex, move: SupportsIndex) -> str:
        """Return a move as a text."""
        return self._hooks.call(hooks.FORMAT_MOVE, self._checked(position), index(move))

    def format_moves(self, position: SupportsIndex, moves: Sequence[int]) -> list[str]:
        """Return several moves of one position as texts."""
        return self._hooks.format_moves(self._checked(position), moves)

    def parse_move(self, position: SupportsIndex, text: str) -> int:
        """Return the legal move that a text describes. Raises UsageError if there is none."""
        position = self._checked(position)
        legal = self._hooks.call(hooks.MOVES, position)
        move = self._hooks.read(hooks.PARSE_MOVE, "move here", position, text)
        if move not in legal:
            raise self._illegal_move(text, position, legal)
        return move

    def board(self, position: SupportsIndex) -> Board | None:
        """Return the board to draw, with the players' names; None if the game has no drawing."""
        position = self._checked(position)
        if not self._has_board:
            return None
        board = self._hooks.call(hooks.BOARD, position)
        unnamed = board.players == DEFAULT_PLAYERS and self._players != DEFAULT_PLAYERS
        return replace(board, players=self._players) if unnamed else board

    @property
    def about(self) -> About:
        """The title and the rules for people."""
        return self._hooks.call(hooks.ABOUT) if self._hooks.has("about") else About(self.name)

    def benchmarks(self) -> Iterable[tuple[str, float, str]]:
        """Yield the game's measurements for `solve bench`; none by default."""
        return self._hooks.benchmarks() if self._hooks.has("benchmarks") else ()

    # ---- commands and errors ----

    def command_line(self, *arguments: str, command: str | None = None) -> str:
        """Return the shell command that solves this variant, or that runs another `command` on it.

        >>> from perfectplay import load_game
        >>> load_game("gobblet").command_line("--backend", "lmdb")
        'solve gobblet --backend lmdb'
        """
        options = as_words(chosen(self.declared_options, self.options))
        return shlex.join(["solve", *([command] if command else []), self.command_word, *options, *arguments])

    @property
    def advice(self) -> str:
        """The end of an error message about a mistake in the plugin."""
        return f"run `{self.command_line(command='check')}`"

    def hook_error(self, hook: str, position: int | None, error: BaseException) -> PerfectPlayError:
        """Return the error for the engine to raise when one of `rules` raised `error`."""
        return hooks.hook_error(self.name, hook, () if position is None else (position,), error)


def _rules_version(plugin: Plugin, kernel: Kernel | None, index: Index | None) -> int:
    """Return the declared version. A game in Python without one gets a checksum of its code.

    A table depends on the declared index as well, so that is part of the version.
    """
    version = plugin.rules_version
    if kernel is not None:
        if version not in (None, kernel.rules_version):
            raise PluginError(
                f"{plugin.name}: RULES_VERSION is {version}, but the kernel's rules_version is "
                f"{kernel.rules_version}; change both together, or remove RULES_VERSION"
            )
        version = kernel.rules_version
    elif version is None:
        version = crc32(b"".join(file.read_bytes() for file in plugin.code)) if plugin.code else 1
    return version if index is None else crc32(f"{version} {index.checksum}".encode())


class ValueSource(Protocol):
    """Has values of positions: a `Table`."""

    def probe(self, position: SupportsIndex) -> Value: ...


# ---- objects for notebooks ----


class Position(int):
    """A position together with its game, returned by `Game.position`. It is immutable.

    It is a number, so every function that takes a position as a number also takes one of these. Two are equal if they
    are the same position of the same variant of a game, even if the game was loaded twice.

    >>> from perfectplay import load_game
    >>> start = load_game("gobblet").position()
    >>> start
    <Position of gobblet: .,.,./.,.,./.,.,.:orange>
    >>> after = start.apply("L(1,1)")
    >>> str(after), len(after.moves), after.to_move, after.is_over
    ('.,.,./.,L,./.,.,.:blue', 24, 1, False)
    >>> start == load_game("gobblet").position()
    True
    """

    game: Game

    def __new__(cls, game: Game, number: SupportsIndex) -> Position:
        self = super().__new__(cls, index(number))
        self.game = game
        return self

    def __getnewargs__(self) -> tuple[Game, int]:  # type: ignore[override]  # for copies
        return self.game, int(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Position) and other.game.identity != self.game.identity:
            return False
        return int.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        return True  # position 0 is a position like any other

    def __str__(self) -> str:
        return self.game.decode(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"<Position of {self.game.identity}: {self}>"

    @property
    def to_move(self) -> int | None:
        """Who is to move: 0 for the first player, 1 for the second, None if unknown."""
        return self.game.mover(self)

    @property
    def moves(self) -> Moves:
        """The legal moves; empty when the game is over."""
        return Moves(Move(self, move) for move in self.game.moves(self))

    def apply(self, move: str | SupportsIndex) -> Position:
        """Return the position after a move, given as a text or a number. Raises UsageError for an illegal move."""
        number = self.game.parse_move(self, move) if isinstance(move, str) else move
        return Position(self.game, self.game.apply(self, number))

    @property
    def status(self) -> Status:
        """Whether the game is over, and the result for the side to move."""
        return self.game.status(self)

    @property
    def is_over(self) -> bool:
        return self.status is not Status.ONGOING

    def canonical(self) -> Position:
        """Return the canonical form."""
        return Position(self.game, self.game.canonicalize(self))

    def value(self, table: ValueSource) -> Value:
        """Return the value for the side to move. Raises NotInTable if the table has none."""
        return table.probe(self)

    def values(self, table: ValueSource) -> dict[Move, Value]:
        """Return the value of each legal move for the player who makes it, best first."""
        values = {move: move.value(table) for move in self.moves}
        return dict(sorted(values.items(), key=lambda item: item[1].preference()))

    def best(self, table: ValueSource) -> Move | None:
        """Return a best move; None when the game is over.

        With a table of outcomes, which has no distances, a move that ends the game is preferred among winning ones.
        """
        values = self.values(table)
        best = [move for move, value in values.items() if value == next(iter(values.values()))]
        if best and values[best[0]].outcome_only and values[best[0]].outcome is Outcome.WIN:
            best.sort(key=lambda move: not move.child.is_over)
        return best[0] if best else None

    @property
    def board(self) -> Board | None:
        """The board to draw; None if the game has no drawing."""
        return self.game.board(self)

    def svg(
        self,
        *,
        arrows: Iterable[str | SupportsIndex | tuple[str, str]] = (),
        lastmove: str | SupportsIndex | None = None,
        size: int | None = None,
        flipped: bool = False,
    ) -> str | None:
        """Return a picture of the board as SVG; None if the game has no board and its texts have no rows.

        `arrows` are moves of this position, or pairs of cells. `lastmove` is the `Move` that led here; the cells of a
        Move are those of the position before it. `size` is the width in pixels. With `flipped` the second player is
        at the bottom. Raises UsageError for an illegal move or an unknown cell.

        >>> from perfectplay import load_game
        >>> start = load_game("gobblet").position()
        >>> start.apply("L(1,1)").svg(lastmove=start.moves["L(1,1)"], size=300)[:35]
        '<svg xmlns="http://www.w3.org/2000/'
        """
        board = self._drawn_board()
        if board is None:
            return None
        places = [arrow if isinstance(arrow, tuple) else self._places(arrow, board) for arrow in arrows]
        marked: tuple[str | None, ...] = ()
        if isinstance(lastmove, Move):
            marked = lastmove.places
        elif lastmove is not None:
            raise UsageError(f"lastmove must be a Move, which has the position before it, not {brief(lastmove)}")
        return draw_svg(board, Drawing(arrows=places, marked=marked, size=size, flipped=flipped, over=self.is_over))

    def _drawn_board(self) -> Board | None:
        """Return the board, which is made from the text if the game has no hook `board`."""
        return self.board or make_text_board(self.game, self, self.to_move)

    def _places(self, move: str | SupportsIndex, board: Board) -> tuple[str | None, str | None]:
        number = self.game.parse_move(self, move) if isinstance(move, str) else index(move)
        if number not in self.game.moves(self):
            raise UsageError(f"{brief(move)} is not a legal move here")
        return find_places(board, number)

    def _repr_svg_(self) -> str | None:
        """Return the picture that a notebook shows."""
        return self.svg()


class Move(int):
    """A legal move of a position: a number in the game's encoding, and a name.

    >>> from perfectplay import load_game
    >>> move = load_game("gobblet").position().moves["L(1,1)"]
    >>> move, move.name, move.child
    (<Move L(1,1)>, 'L(1,1)', <Position of gobblet: .,.,./.,L,./.,.,.:blue>)
    """

    position: Position
    """The position in which the move is made."""

    def __new__(cls, position: Position, number: SupportsIndex) -> Move:
        self = super().__new__(cls, index(number))
        self.position = position
        return self

    def __getnewargs__(self) -> tuple[Position, int]:  # type: ignore[override]  # for copies
        return self.position, int(self)

    def __bool__(self) -> bool:
        return True  # move 0 is a move like any other

    @property
    def name(self) -> str:
        return self.position.game.format_move(self.position, self)

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    def __repr__(self) -> str:
        return f"<Move {self.name}>"

    @property
    def child(self) -> Position:
        """The position after the move."""
        return self.position.apply(self)

    @property
    def places(self) -> tuple[str | None, str | None]:
        """The ids of the cells where the move starts and ends on the board; None for each that it does not have."""
        board = self.position._drawn_board()
        return (None, None) if board is None else find_places(board, int(self))

    def value(self, table: ValueSource) -> Value:
        """Return the value for the player who makes the move. Raises NotInTable if the table has none."""
        child = self.child
        return table.probe(child).for_parent(keeps_turn=self.position.game.keeps_turn(self.position, child))


class Moves(tuple[Move, ...]):
    """The legal moves of a position. A name works as an index and with `in`, as in `moves["L(1,1)"]`."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        return [move.name for move in self]

    def __contains__(self, move: object) -> bool:
        return move in self.names if isinstance(move, str) else super().__contains__(move)

    def __getitem__(self, key: Any) -> Any:
        """Return the move at a place in the list, or with a name. Raises KeyError for a name that is not legal."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        names = self.names
        if key not in names:
            raise KeyError(f"{key!r} is not a legal move here")
        return self[names.index(key)]

    def __repr__(self) -> str:
        return f"<Moves {' '.join(self.names)}>"
