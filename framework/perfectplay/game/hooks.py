"""Calls a game's hooks and checks their results, so that a mistake in a plugin is reported as the plugin's.

pluggy validates the names and arguments of hooks when a plugin is registered. `register_hooks` is the only place that
does so, for games and for host plugins. The hooks of a game are then called directly, because a call through pluggy
costs microseconds. Such a call has three frames: a method of `Game`, `Hooks.call`, and the plugin's function.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import pluggy

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, PluginError, UsageError, did_you_mean
from perfectplay.game.spec import PROJECT, About
from perfectplay.values import Status

if TYPE_CHECKING:
    from perfectplay.game.board import Board
    from perfectplay.game.index import Index

Hook = Callable[..., Any]
T = TypeVar("T")

# In perfectplay.h a position has 64 bits, where all ones mean "no position", and a move has 32. The limits of tiers and
# scores are in perfectplay_native.limits, which loads the engine and is therefore imported only when it is needed.
MAX_POSITION = 2**64 - 2
MAX_MOVE = 2**32 - 1


def plugin_manager(spec: type) -> pluggy.PluginManager:
    """Return a pluggy manager for the hooks of one specification class."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(spec)
    return manager


def register_hooks(manager: pluggy.PluginManager, source: object, name: str, spec: type) -> dict[str, Hook]:
    """Register a plugin (module or object) and return its functions by hook name.

    Raises PluginError for an unknown hook or wrong arguments; the plugin is not registered then.
    """
    try:
        manager.register(source, name)
        callers = manager.get_hookcallers(source) or []
        names = [hook for hook in vars(spec) if not hook.startswith("_")]
        return {caller.name: _plain_function(name, caller, source, names) for caller in callers}
    except pluggy.PluginValidationError as error:  # an argument that the hook does not have
        manager.unregister(name=name)
        raise PluginError(f"{name}: {_misnamed_argument(source, spec) or ' '.join(str(error).split())}") from error
    except PluginError:
        manager.unregister(name=name)
        raise


def _misnamed_argument(source: object, spec: type) -> str | None:
    """Find a hook with a wrongly named argument and return the advice to its author."""
    for hook, specified in vars(spec).items():
        function = getattr(source, hook, None)
        if hook.startswith("_") or not callable(function):
            continue
        expected = list(inspect.signature(specified).parameters)[1:]  # without self
        actual = list(inspect.signature(function).parameters)
        for argument, name in zip(actual, expected, strict=False):
            if argument not in expected and name not in actual:
                return f"hook '{hook}' has an argument '{argument}'; rename it to '{name}'"
    return None


def _plain_function(plugin: str, caller: pluggy.HookCaller, source: object, names: list[str]) -> Hook:
    if caller.spec is None:
        hint = did_you_mean(caller.name, names)
        raise PluginError(f"{plugin}: '{caller.name}' is marked @hookimpl but is not a hook{hint}")
    (implementation,) = [each for each in caller.get_hookimpls() if each.plugin is source]
    if implementation.argnames != caller.spec.argnames or implementation.wrapper or implementation.hookwrapper:
        # Hooks are called directly, so they must take exactly these arguments.
        signature = f"{caller.name}({', '.join(caller.spec.argnames)})"
        raise PluginError(f"{plugin}: hook '{caller.name}' must be a plain function {signature}")
    return implementation.function


class HookWatcher(Protocol):
    """Notified before and after every hook call. `solve check` uses it to name the hook that crashed."""

    def before_hook(self, hook: str, arguments: tuple[Any, ...]) -> None: ...

    def ran_out_of_memory(self) -> None: ...

    def after_call(self) -> None: ...


class Checked(Generic[T]):
    """The name of a hook and the check of its result, which returns the result or raises WrongResult."""

    def __init__(self, name: str, check: Callable[[Any], T]) -> None:
        self.name = name
        self.check = check


class WrongResult(Exception):
    """A hook returned something that it must not."""

    def __init__(self, result: object, expected: str) -> None:
        super().__init__(expected)
        self.result = result


class Hooks:
    """The hooks of one game. Arguments are not checked here, because `Game` has done so."""

    watcher: ClassVar[HookWatcher | None] = None
    """Set only in the child processes of `solve check`."""

    def __init__(self, game: str, functions: Mapping[str, Hook]) -> None:
        self.game = game
        self.functions = functions

    def has(self, hook: str) -> bool:
        return hook in self.functions

    def call(self, hook: Checked[T], *arguments: Any) -> T:
        """Call a hook and return its checked result.

        Raises PluginError, which names the game, the hook, the position and the result, if the hook raises or its
        result is wrong. Errors of perfectplay itself pass through.
        """
        function = self.functions[hook.name]
        try:
            result = function(*arguments) if Hooks.watcher is None else watched_call(hook.name, function, *arguments)
            return hook.check(result)
        except WrongResult as error:
            wrong = f"returned {brief(error.result)}{_location(arguments)}: {error}"
            raise PluginError(f"{self.game}: hook '{hook.name}' {wrong}") from None
        except PerfectPlayError:
            raise
        except PLUGIN_FAULTS as error:
            raise hook_error(self.game, hook.name, arguments, error) from error

    def read(self, hook: Checked[int], noun: str, *arguments: Any) -> int:
        """Call `encode` or `parse_move`. A ValueError means that the user's text is wrong; it becomes a UsageError."""
        function, text = self.functions[hook.name], brief(arguments[-1])

        def read(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except ValueError as error:
                reason = re.sub(rf"^{re.escape(text)} is not a \w+: ", "", str(error))  # would be a repetition
                raise UsageError(f"cannot read {text} as a {noun}: {reason}") from error

        return Hooks(self.game, {hook.name: read}).call(hook, *arguments)

    def valid(self, position: object) -> bool:
        """Return whether this is a position of the game. Takes any object."""
        return isinstance(position, int) and 0 <= position <= MAX_POSITION and self.call(VALID, position)

    def players(self) -> tuple[str, ...]:
        """Return the names from the hook `players`, else from `about`; empty if neither has any."""
        if self.has("players"):
            return self.call(PLAYERS)
        return tuple(self.call(ABOUT).players) if self.has("about") else ()

    def format_moves(self, position: int, moves: Sequence[int]) -> list[str]:
        """Return the texts of several moves. The checks are made together, and one by one if something is wrong."""
        if Hooks.watcher is None:
            with suppress(*PLUGIN_FAULTS):
                texts = list(map(self.functions["format_move"], repeat(position), moves))
                if {*map(type, texts)} <= {str}:
                    return texts
        return [self.call(FORMAT_MOVE, position, move) for move in moves]

    def benchmarks(self) -> Iterator[tuple[str, float, str]]:
        """Yield the game's benchmarks. Each is measured when it is requested."""
        measurements = self.call(BENCHMARKS)
        steps = Hooks(self.game, {"benchmarks": lambda: next(measurements, None)})
        while (measurement := steps.call(BENCHMARK)) is not None:
            yield measurement


def watched_call(hook: str, function: Hook, *arguments: Any) -> Any:
    """Call a function and notify the watcher, if there is one. Exceptions pass through."""
    watcher = Hooks.watcher
    if watcher is None:
        return function(*arguments)
    watcher.before_hook(hook, arguments)
    try:
        return function(*arguments)
    except (MemoryError, SystemError):  # CPython raises the latter when memory runs out in a deep recursion
        watcher.ran_out_of_memory()
        raise
    finally:
        watcher.after_call()


def hook_error(game: str, hook: str, arguments: Sequence[Any], error: BaseException) -> PerfectPlayError:
    """Return the error for a hook that raised `error`."""
    if isinstance(error, PerfectPlayError):
        return error
    text = " ".join(str(error).split())
    description = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return PluginError(f"{game}: hook '{hook}' raised {description}{_location(arguments)}")


def _location(arguments: Sequence[Any]) -> str:
    subject = arguments[0] if arguments else None
    if isinstance(subject, int):
        return f" in position {subject}"
    return f" on the text {brief(subject)}" if isinstance(subject, str) else ""


def as_int(value: Any) -> int | None:
    """Return an integer as an int, numpy's integers included; None for anything else."""
    try:
        return index(value)
    except TypeError:
        return None


def brief(value: object) -> str:
    """Return a short repr for messages of one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


# ---- checks of results ----


def _number(result: Any, noun: str, largest: int) -> int:
    number = as_int(result)
    if number is None:
        advice = "; `Grid` and `Fields` in perfectplay.authoring pack several numbers into one"
        raise WrongResult(result, f"{noun} is an int{advice if isinstance(result, Collection) else ''}")
    if not 0 <= number <= largest:
        bits = largest.bit_length()
        raise WrongResult(result, f"{noun} must fit {bits} bits, from 0 to 2**{bits}-{2**bits - largest}")
    return number


def _position(result: Any) -> int:
    return _number(result, "a position", MAX_POSITION)


def _move(result: Any) -> int:
    return _number(result, "a move", MAX_MOVE)


def _sequence(result: Any, noun: str) -> Sequence[Any]:
    if not isinstance(result, Sequence) or isinstance(result, str):
        raise WrongResult(result, f"expected {noun}")
    return result


def _text(result: Any) -> str:
    return _instance(result, str, "expected a str")


def _instance(result: Any, kind: type[T], expected: str) -> T:
    if not isinstance(result, kind):
        raise WrongResult(result, expected)
    return result


def _status(result: Any) -> Status:
    margin = as_int(result) is not None and not isinstance(result, bool)
    hint = "; return a margin of victory from the hook 'score'" if margin else ""
    return _instance(result, Status, f"expected a Status, such as Status.LOST if the player to move has lost{hint}")


def _mover(result: Any) -> int:
    if (number := as_int(result)) not in (0, 1):
        raise WrongResult(result, "expected 0 (first player) or 1 (second player)")
    return number


def _score(result: Any) -> int:
    from perfectplay_native.limits import MAX_SCORE

    number = as_int(result)
    if number is None or isinstance(result, bool):
        raise WrongResult(result, "expected an int, the mover's margin of victory, negative for a loss")
    if abs(number) > MAX_SCORE:
        raise WrongResult(result, f"a score is between -{MAX_SCORE:,} and {MAX_SCORE:,}")
    return number


def _tier(result: Any, *, kernel: bool) -> int:
    from perfectplay_native.limits import MAX_PYTHON_TIERS, MAX_TIERS

    number, limit = as_int(result), MAX_TIERS if kernel else MAX_PYTHON_TIERS
    if number is None or number < 0:
        raise WrongResult(result, "a tier is an int from 0 up")
    if number >= limit:
        kind = "with a kernel" if kernel else "in Python"
        raise WrongResult(result, f"a game {kind} has tiers below {limit:,}; number them without large gaps")
    return number


def _names(result: Any) -> tuple[str, ...]:
    names = tuple(_text(name) for name in _sequence(result, "a list of one or two names"))
    if not 1 <= len(set(names)) == len(names) <= 2 or not all(map(str.strip, names)):
        raise WrongResult(result, "expected two different names, or one for a puzzle")
    return names


def _about(result: Any) -> About:
    if not isinstance(result, About) or not result.title.strip():
        raise WrongResult(result, "expected an About with a title")
    if result.players:
        _names(result.players)
    return result


def _texts_by_name(result: Any) -> dict[str, str]:
    if not isinstance(result, Mapping):
        raise WrongResult(result, "expected a mapping from names to texts")
    return {name: _text(text) for name, text in result.items()}


def _board(result: Any) -> Board:
    from perfectplay.game.board import Board  # not at the top, because `solve --help` does not need it

    return _instance(result, Board, "expected a Board")


def _index(result: Any) -> Index:
    from perfectplay.game.index import Index

    return _instance(result, Index, "expected an Index from perfectplay.authoring")


def _measurements(result: Any) -> Iterator[Any]:
    if not isinstance(result, Iterable):
        raise WrongResult(result, "expected an iterable of (name, rate, unit)")
    return iter(result)


def _measurement(result: Any) -> tuple[str, float, str] | None:
    match result:
        case None | (str(), int() | float(), str()):
            return result
    raise WrongResult(result, "expected (name, rate, unit)")


START = Checked("start", _position)
VALID = Checked("valid", bool)
MOVES = Checked("moves", lambda result: [_move(move) for move in _sequence(result, "a list of moves")])
APPLY = Checked("apply", _position)
UNDO = Checked("undo", _position)
CANONICALIZE = Checked("canonicalize", _position)
STATUS = Checked("status", _status)
MOVER = Checked("mover", _mover)
SCORE = Checked("score", _score)
KERNEL_TIER = Checked("tier", lambda result: _tier(result, kernel=True))
PYTHON_TIER = Checked("tier", lambda result: _tier(result, kernel=False))
PARENTS = Checked("parents", lambda result: [_position(each) for each in _sequence(result, "a list of positions")])
PLAYERS = Checked("players", _names)
ABOUT = Checked("about", _about)
ENCODE = Checked("encode", _position)
DECODE = Checked("decode", _text)
NOTATIONS = Checked("notations", _texts_by_name)
FORMAT_MOVE = Checked("format_move", _text)
PARSE_MOVE = Checked("parse_move", _move)
BOARD = Checked("board", _board)
INDEX = Checked("index", _index)
CONFIGURE: Checked[object] = Checked("configure", lambda result: result)
BENCHMARKS = Checked("benchmarks", _measurements)
BENCHMARK = Checked("benchmarks", _measurement)
