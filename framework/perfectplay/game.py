"""One game, ready to use: what every part of the host talks to instead of a plugin.

A plugin gives what it likes: all rules in Python, or a kernel in C and nothing else. `Game` fills the gaps
and checks what goes in and what comes out. Engines that call a billion times use `kernel` or `rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfectplay import plugins
from perfectplay.board import Board
from perfectplay.errors import PerfectPlayError, PluginError, UsageError
from perfectplay.hook_guard import MAX_POSITION, Guard, brief
from perfectplay.options import Option, OptionValue, identity, read_options
from perfectplay.plugins import Hook, Plugin
from perfectplay.values import Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perfectplay_native.engine import Positions
    from perfectplay_native.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Rules:
    """The bare rules, for an engine's inner loop: no checks, and a hook's exceptions as they come.

    Use `Game.hook_error` to say what happened when one does.
    """

    start: Callable[[], int]
    valid: Callable[[int], bool]
    moves: Callable[[int], Sequence[int]]
    apply: Callable[[int, int], int]
    undo: Callable[[int, int], int]
    canonicalize: Callable[[int], int]
    status: Callable[[int], int]
    format_move: Callable[[int, int], str]
    tier: Callable[[int], int] | None
    parents: Callable[[int], Sequence[int]] | None


@dataclass(frozen=True, slots=True)
class GameInfo:
    """One line of `solve games`. A broken game has a reason in `broken`, and little else."""

    name: str
    version: str
    kind: str
    options: tuple[Option, ...] = ()
    broken: str | None = None


class Game:
    """A game in one variant, from `load_game`, or from `make_game` for a plugin that is not installed.

    Every method takes positions that `valid` accepts and raises UsageError for others; a hook that raises, or
    returns what it must not, is a PluginError. Methods may be called from several threads if the hooks may.
    """

    def __init__(self, plugin: Plugin, declared: Sequence[Option], options: Mapping[str, OptionValue]) -> None:
        self.name = plugin.name
        self.version = plugin.version
        self.declared_options = tuple(declared)
        self.options = dict(options)
        self.identity = identity(plugin.name, options)
        """Names this variant among all games, and its table among all tables."""
        self._guard = Guard(plugin.name)
        self._hooks = dict(plugin.hooks)
        self.kernel: Kernel | None = self._load_kernel()
        self._hooks = {**self._defaults(), **self._hooks}
        if self.kernel is None:
            plugins.require_rules(self.name, plugin.source, self._hooks)
        self.rules_version = self._rules_version(plugin.source)
        self.rules = Rules(
            **{hook: self._hooks[hook] for hook in ("valid", *plugins.REQUIRED_HOOKS, "format_move")},
            tier=self._hooks.get("tier"),
            parents=self._hooks.get("parents"),
        )
        self._try_start()

    def __repr__(self) -> str:
        return f"<Game {self.identity} ({self.kind})>"

    @property
    def kind(self) -> str:
        return "Python" if self.kernel is None else "C kernel"

    # ---- the rules ----

    def start(self) -> int:
        """The position in which play begins."""
        return self._guard.position("start", None, self._call("start"))

    def valid(self, position: int) -> bool:
        """Whether this is a position of the game. Anything may be asked."""
        in_range = isinstance(position, int) and 0 <= position <= MAX_POSITION
        return in_range and bool(self._call("valid", position))

    def moves(self, position: int) -> list[int]:
        """The legal moves; none when the game is over."""
        self._check(position)
        answer = self._call("moves", position)
        answer = self._guard.sequence("moves", position, answer, "a list of moves")
        return [self._guard.move("moves", position, move) for move in answer]

    def apply(self, position: int, move: int) -> int:
        """The position after one of its `moves`."""
        self._check(position)
        return self._guard.position("apply", position, self._call("apply", position, move))

    def undo(self, position: int, move: int) -> int:
        """The position before `move`, which led to this one."""
        self._check(position)
        return self._guard.position("undo", position, self._call("undo", position, move))

    def canonicalize(self, position: int) -> int:
        """The representative of all positions that are the same up to symmetry."""
        self._check(position)
        return self._guard.position("canonicalize", position, self._call("canonicalize", position))

    def status(self, position: int) -> Status:
        """How the position stands by rule alone, for the side to move."""
        self._check(position)
        answer = self._call("status", position)
        try:
            return Status(answer)
        except ValueError:
            raise self._guard.refuse("status", position, answer, "a Status was expected") from None

    def move_classes(self, position: int) -> list[list[int]]:
        """The legal moves, those that lead to the same position up to symmetry together."""
        classes: dict[int, list[int]] = {}
        for move in self.moves(position):
            classes.setdefault(self.canonicalize(self.apply(position, move)), []).append(move)
        return list(classes.values())

    # ---- structure, where the game has it ----

    @property
    def has_tier(self) -> bool:
        return self.rules.tier is not None

    @property
    def has_parents(self) -> bool:
        return self.rules.parents is not None

    def tier(self, position: int) -> int:
        """The tier, which never falls as play goes on; 0 for a game without tiers."""
        self._check(position)
        if not self.has_tier:
            return 0
        return self._guard.tier(position, self._call("tier", position))

    def parents(self, position: int) -> list[int]:
        """The canonical positions with a move into an image of this one; only where `has_parents`."""
        self._check(position)
        if not self.has_parents:
            raise PluginError(f"{self.name}: there is no hook 'parents'; ask `has_parents` first")
        answer = self._guard.sequence("parents", position, self._call("parents", position), "a list of positions")
        return [self._guard.position("parents", position, parent) for parent in answer]

    # ---- many positions at once, as numpy arrays ----

    def movers(self, positions: Positions) -> npt.NDArray[np.int8] | None:
        """For each position 0 if the player who begins is to move, else 1; None where the game does not tell."""
        import numpy as np

        if "movers" in self._hooks:
            return np.asarray(self._many("movers", positions), dtype=np.int8)
        boards = map(self.board, map(int, positions))
        turns = [board.to_move for board in boards if board is not None]
        return np.array(turns, dtype=np.int8) if len(turns) == len(positions) else None

    def twins(self, positions: Positions) -> Positions | None:
        """For each position the other one that shares its slot in the table; None where slots are not shared."""
        return self._many("twins", positions) if "twins" in self._hooks else None

    def _many(self, hook: str, positions: Positions) -> Any:
        answer = self._call(hook, positions)
        if getattr(answer, "shape", None) != positions.shape:
            raise self._guard.refuse(hook, None, answer, f"an array of length {len(positions)} was expected")
        return answer

    # ---- what people read and write ----

    def encode(self, text: str) -> int:
        """The position a text describes, in any notation of the game; UsageError if it describes none."""
        try:
            answer = self._hooks["encode"](text)
        except ValueError as error:
            raise UsageError(f"cannot read {brief(text)} as a position of {self.name}: {error}") from error
        except Exception as error:
            raise self._guard.raised("encode", text, error) from error
        position = self._guard.position("encode", text, answer)
        if not self.valid(position):
            raise UsageError(f"{brief(text)} is no position of {self.name} that can occur")
        return position

    def decode(self, position: int) -> str:
        """The text people use for a position; `encode` reads it back."""
        self._check(position)
        return self._guard.text("decode", position, self._call("decode", position))

    def notations(self, position: int) -> dict[str, str]:
        """Every notation of a position, by name."""
        self._check(position)
        answer = self._call("notations", position)
        if not isinstance(answer, Mapping):
            raise self._guard.refuse("notations", position, answer, "texts by name were expected")
        return {name: self._guard.text("notations", position, text) for name, text in answer.items()}

    def format_move(self, position: int, move: int) -> str:
        """The text people use for a move."""
        self._check(position)
        return self._guard.text("format_move", position, self._call("format_move", position, move))

    def parse_move(self, position: int, text: str) -> int:
        """The legal move that a text names; UsageError if it names none."""
        legal = self.moves(position)
        try:
            answer = self._hooks["parse_move"](position, text)
        except ValueError as error:
            raise UsageError(f"cannot read {brief(text)} as a move here: {error}") from error
        except Exception as error:
            raise self._guard.raised("parse_move", position, error) from error
        move = self._guard.move("parse_move", position, answer)
        if move not in legal:
            raise UsageError(f"{brief(text)} is no legal move here: {self._some_moves(position)}")
        return move

    def board(self, position: int) -> Board | None:
        """The board to draw and to click; None where the game has no drawing."""
        self._check(position)
        if "board" not in self._hooks:
            return None
        answer = self._call("board", position)
        if not isinstance(answer, Board):
            raise self._guard.refuse("board", position, answer, "a Board was expected")
        return answer

    # ---- helpers ----

    def benchmarks(self) -> Iterable[tuple[str, float, str]]:
        """The game's own measurements for `solve bench`; none by default."""
        measured: Iterable[tuple[str, float, str]] = self._call("benchmarks") if "benchmarks" in self._hooks else ()
        return measured

    def hook_error(self, hook: str, position: int, error: Exception) -> PerfectPlayError:
        """The error for an engine to raise when one of `rules` raised: it names game, hook and position."""
        return self._guard.raised(hook, position, error)

    def _call(self, hook: str, *arguments: Any) -> Any:
        return self._guard.call(hook, self._hooks[hook], *arguments)

    def _check(self, position: int) -> None:
        if not self.valid(position):
            raise UsageError(f"{brief(position)} is no position of {self.name}")

    # ---- filling the gaps ----

    def _load_kernel(self) -> Kernel | None:
        if "kernel" not in self._hooks:
            return None
        from perfectplay_native.kernel import Kernel  # loads the engine: only where a game has a kernel

        kernel = self._call("kernel")
        if not isinstance(kernel, Kernel):
            raise self._guard.refuse("kernel", None, kernel, "a perfectplay_native.kernel.Kernel was expected")
        missing = [name for name in ("valid", *plugins.REQUIRED_HOOKS) if not getattr(kernel.c, name)]
        if missing:
            raise PluginError(f"{self.name}: the kernel leaves the required {', '.join(missing)} NULL")
        return kernel

    def _defaults(self) -> dict[str, Hook]:
        """For every hook that can be derived, how."""
        defaults: dict[str, Hook] = {
            "valid": lambda position: True,
            "encode": _read_number,
            "decode": str,
            "notations": lambda position: {"text": self.decode(position)},
            "format_move": lambda position, move: str(move),
            "parse_move": self._find_move,
        }
        kernel = self.kernel
        if kernel is not None:
            derived = ["valid", *plugins.REQUIRED_HOOKS]
            derived += [name for name in ("tier", "parents") if getattr(kernel.c, name)]
            defaults |= {name: getattr(kernel, name) for name in derived}
        return defaults

    def _find_move(self, position: int, text: str) -> int:
        for move in self.moves(position):
            if self.format_move(position, move) == text.strip():
                return move
        raise ValueError(self._some_moves(position))

    def _some_moves(self, position: int) -> str:
        names = [self.format_move(position, move) for move in self.moves(position)]
        if not names:
            return "the game is over"
        return "legal are " + ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")

    def _rules_version(self, source: object) -> int:
        if self.kernel is not None:
            return self.kernel.rules_version
        version = getattr(source, "RULES_VERSION", 1)
        if not isinstance(version, int) or version < 1:
            raise PluginError(f"{self.name}: RULES_VERSION is {version!r}: an int from 1 up was expected")
        return version

    def _try_start(self) -> None:
        """Ask each rule once, so that a game that cannot work is refused when it is loaded."""
        start = self.start()
        if not self.valid(start):
            raise PluginError(f"{self.name}: hook 'start' returned {start}, which hook 'valid' refuses")
        self.canonicalize(start)
        self.status(start)
        self.moves(start)


def load_game(name: str, /, **options: object) -> Game:
    """Return an installed game.

    UsageError if there is none of this name or an option is wrong, PluginError if the game is broken.
    """
    return _build(plugins.load_plugin(name), options)


def make_game(source: object, /, *, name: str = "game", version: str = "", **options: object) -> Game:
    """Return the game of a plugin (module or object) that need not be installed."""
    return _build(Plugin(name, source, plugins.check_game(name, source), version), options)


def game_options(name: str) -> tuple[Option, ...]:
    """The options an installed game declares."""
    return _declared(plugins.load_plugin(name))


def installed_games() -> list[GameInfo]:
    """Every installed game, the broken ones with their reason."""
    return [_info(name) for name in plugins.game_names()]


def _info(name: str) -> GameInfo:
    try:
        game = load_game(name)
    except PerfectPlayError as error:
        return GameInfo(name, plugins.game_version(name), "", broken=str(error).removeprefix(f"{name}: "))
    return GameInfo(name, game.version, game.kind, game.declared_options)


def _build(plugin: Plugin, given: Mapping[str, object]) -> Game:
    declared = _declared(plugin)
    options = read_options(plugin.name, declared, given)
    if "configure" in plugin.hooks:
        source = Guard(plugin.name).call("configure", plugin.hooks["configure"], options)
        hooks = plugins.check_game(plugin.name, source)
        plugin = Plugin(plugin.name, source, hooks, plugin.version)
    return Game(plugin, declared, options)


def _declared(plugin: Plugin) -> tuple[Option, ...]:
    if "options" not in plugin.hooks:
        return ()
    guard = Guard(plugin.name)
    declared = guard.call("options", plugin.hooks["options"])
    if not isinstance(declared, Sequence) or not all(isinstance(option, Option) for option in declared):
        raise guard.refuse("options", None, declared, "a list of Option was expected")
    return tuple(declared)


def _read_number(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("a number was expected")
    number = int(text)
    if number > MAX_POSITION:
        raise ValueError("it is too large for a position")
    return number
