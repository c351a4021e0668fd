"""Checks a plugin's functions against the specification of the hooks. Beside `hookspecs`, nothing else knows pluggy.

pluggy is for checking only: a pluggy call costs microseconds, so what leaves this module are plain functions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from operator import index
from typing import Any, ClassVar, Protocol

import pluggy

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, PluginError, UsageError, did_you_mean
from perfectplay.game.board import Board
from perfectplay.game.spec import PROJECT, About
from perfectplay.values import Status

Hook = Callable[..., Any]


def hooks_of(source: object, name: str, spec: type) -> dict[str, Hook]:
    """Let pluggy check one plugin against a specification; return its plain functions."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(spec)
    try:
        manager.register(source, name)
    except pluggy.PluginValidationError as error:  # arguments that the hook does not have
        raise PluginError(f"{name}: {_misnamed_argument(source, spec) or ' '.join(str(error).split())}") from error
    known = [caller.name for caller in vars(manager.hook).values() if caller.has_spec()]
    return {caller.name: _plain_function(name, caller, known) for caller in manager.get_hookcallers(source) or []}


def _misnamed_argument(source: object, spec: type) -> str | None:
    """What to call an argument that a hook does not have; None where no hook has one too many."""
    for hook, specified in vars(spec).items():
        function = getattr(source, hook, None)
        if hook.startswith("_") or not callable(function):
            continue
        right = list(inspect.signature(specified).parameters)[1:]  # without self
        given = list(inspect.signature(function).parameters)
        for argument, name in zip(given, right, strict=False):
            if argument not in right and name not in given:
                return f"hook '{hook}' has an argument '{argument}': call it '{name}'"
    return None


def _plain_function(plugin: str, caller: pluggy.HookCaller, known: list[str]) -> Hook:
    if caller.spec is None:
        hint = did_you_mean(caller.name, known)
        raise PluginError(f"{plugin}: '{caller.name}' is marked @hookimpl but is not a hook{hint}")
    (implementation,) = caller.get_hookimpls()
    if implementation.argnames != caller.spec.argnames or implementation.wrapper or implementation.hookwrapper:
        # Hooks are called directly, so the arguments must be exactly these.
        signature = f"{caller.name}({', '.join(caller.spec.argnames)})"
        raise PluginError(f"{plugin}: hook '{caller.name}' must be a plain function {signature}")
    return implementation.function


# Calls a plugin's hooks and checks their answers, so that a plugin's mistake is reported as the plugin's.
#
# Every error says which game, which hook, on which position or text, and what was expected.

MAX_POSITION = 2**64 - 2
"""The largest position; all ones stands for "no position" in the engine."""
MAX_MOVE = 2**32 - 1
MAX_TIER = 2**24 - 1
MAX_SCORE = 2**15 - 1

Subject = int | str | None
"""What a hook was asked about: a position, a text, or nothing."""


class HookWatcher(Protocol):
    """Hears of every question that a hook is asked: before it is asked, and once it is answered."""

    def asks_hook(self, hook: str, arguments: tuple[Any, ...]) -> None: ...

    def ran_out_of_memory(self) -> None: ...

    def after_call(self) -> None: ...


class Guard:
    """The guard of one game's hooks."""

    __slots__ = ("game",)

    watcher: ClassVar[HookWatcher | None] = None
    """Set in a process of its own alone, as `solve check` starts one."""

    def __init__(self, game: str) -> None:
        self.game = game

    def call(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a hook; whatever it raises becomes a PluginError."""
        try:
            return function(*arguments) if Guard.watcher is None else self.ask(hook, function, *arguments)
        except PLUGIN_FAULTS as error:
            raise self.raised(hook, arguments[0] if arguments else None, error) from error

    def ask(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a hook; what it raises is the caller's to deal with."""
        watcher = Guard.watcher
        if watcher is None:
            return function(*arguments)
        watcher.asks_hook(hook, arguments)
        try:
            return function(*arguments)
        except (MemoryError, SystemError):  # Python has only the latter to say where memory ends in a deep recursion
            watcher.ran_out_of_memory()
            raise
        finally:
            watcher.after_call()

    def raised(self, hook: str, subject: object, error: BaseException) -> PerfectPlayError:
        """The error for a hook that raised; our own errors stay what they are."""
        if isinstance(error, PerfectPlayError):
            return error
        text = " ".join(str(error).split())
        what = f"{type(error).__name__}: {text}" if text else type(error).__name__
        return PluginError(f"{self.game}: hook '{hook}' raised {what}{_where(subject)}")

    def refuse(self, hook: str, subject: Subject, answer: object, expected: str) -> PluginError:
        """The error for an answer that is not what the hook promises."""
        return PluginError(f"{self.game}: hook '{hook}' returned {brief(answer)}{_where(subject)}: {expected}")

    def position(self, hook: str, subject: Subject, answer: Any) -> int:
        return self._number(hook, subject, answer, "a position", MAX_POSITION)

    def move(self, hook: str, subject: Subject, answer: Any) -> int:
        return self._number(hook, subject, answer, "a move", MAX_MOVE)

    def tier(self, subject: Subject, answer: Any) -> int:
        return self._number("tier", subject, answer, "a tier", MAX_TIER)

    def mover(self, subject: Subject, answer: Any) -> int:
        number = as_int(answer)
        if number not in (0, 1):
            raise self.refuse("mover", subject, answer, "0 for the player who begins, or 1 for the other, was expected")
        return number

    def score(self, subject: Subject, answer: Any) -> int:
        number = as_int(answer)
        if number is None or isinstance(answer, bool):
            raise self.refuse(
                "score", subject, answer, "a score is an int: by how much the mover wins, or loses if < 0"
            )
        if abs(number) > MAX_SCORE:
            raise self.refuse("score", subject, answer, f"a score is between -{MAX_SCORE:,} and {MAX_SCORE:,}")
        return number

    def text(self, hook: str, subject: Subject, answer: Any) -> str:
        if not isinstance(answer, str):
            raise self.refuse(hook, subject, answer, "a text was expected")
        return answer

    def sequence(self, hook: str, subject: Subject, answer: Any, expected: str) -> Sequence[Any]:
        if not isinstance(answer, Sequence) or isinstance(answer, str):
            raise self.refuse(hook, subject, answer, f"{expected} was expected")
        return answer

    def _number(self, hook: str, subject: Subject, answer: Any, what: str, largest: int) -> int:
        number = as_int(answer)
        if number is None:
            pack = "; `Grid` and `Fields` in perfectplay.authoring pack things into one"
            raise self.refuse(
                hook, subject, answer, f"{what} is an int{pack if isinstance(answer, Collection) else ''}"
            )
        if not 0 <= number <= largest:
            bits = largest.bit_length()
            limit = f"2**{bits}-{2**bits - largest}"
            raise self.refuse(hook, subject, answer, f"{what} must fit {bits} bits, from 0 to {limit}")
        return number


def as_int(thing: Any) -> int | None:
    """The integer that something is, numpy's included; None if it is not one."""
    try:
        return index(thing)
    except TypeError:
        return None


def brief(thing: object) -> str:
    """A short repr, for messages of one line."""
    text = repr(thing)
    return text if len(text) <= 60 else text[:57] + "…"


def _where(subject: object) -> str:
    if isinstance(subject, int):
        return f" in position {subject}"
    return f" on the text {brief(subject)}" if isinstance(subject, str) else ""


# A game's hooks, each called and its answer checked: for positions that are known to be positions.
#
# `Game` checks what people hand in, once, and then asks here; so nothing is checked twice on its way through.


class CheckedHooks:
    """The hooks of one game by name. A hook that raises, or returns what it must not, is a PluginError."""

    def __init__(self, guard: Guard, functions: Mapping[str, Hook]) -> None:
        self.guard = guard
        self.functions = functions

    def has(self, hook: str) -> bool:
        return hook in self.functions

    def call(self, hook: str, *arguments: Any) -> Any:
        """What a hook returns, unchecked."""
        return self.guard.call(hook, self.functions[hook], *arguments)

    # ---- the rules ----

    def start(self) -> int:
        return self.guard.position("start", None, self.call("start"))

    def valid(self, position: object) -> bool:
        """Whether this is a position of the game. Anything may be asked."""
        in_range = isinstance(position, int) and 0 <= position <= MAX_POSITION
        return in_range and bool(self.call("valid", position))

    def moves(self, position: int) -> list[int]:
        answer = self.guard.sequence("moves", position, self.call("moves", position), "a list of moves")
        return [self.guard.move("moves", position, move) for move in answer]

    def apply(self, position: int, move: int) -> int:
        return self._next_position("apply", position, move)

    def undo(self, position: int, move: int) -> int:
        return self._next_position("undo", position, move)

    def canonicalize(self, position: int) -> int:
        return self._next_position("canonicalize", position)

    def status(self, position: int) -> Status:
        answer = self.call("status", position)
        if not isinstance(answer, Status):
            expected = "a Status was expected, such as Status.LOST if the player to move has lost"
            if as_int(answer) is not None and not isinstance(answer, bool):
                expected += "; by how much is for the hook 'score'"
            raise self.guard.refuse("status", position, answer, expected)
        return answer

    def mover(self, position: int) -> int:
        return self.guard.mover(position, self.call("mover", position))

    def score(self, position: int) -> int:
        return self.guard.score(position, self.call("score", position))

    def players(self) -> tuple[str, ...]:
        """What the hook says, or `about`; nobody where neither does."""
        if self.has("players"):
            return self._names("players", self.call("players"))
        named = self.about().players if self.has("about") else ()
        return self._names("about", named) if named else ()

    def _names(self, hook: str, given: object) -> tuple[str, ...]:
        answer = self.guard.sequence(hook, None, given, "a list of one name or two")
        names = tuple(self.guard.text(hook, None, name) for name in answer)
        if not 1 <= len(set(names)) == len(names) <= 2 or not all(map(str.strip, names)):
            raise self.guard.refuse(hook, None, answer, "two different names were expected, or one for a puzzle")
        return names

    def about(self) -> About:
        answer = self.call("about")
        if not isinstance(answer, About) or not answer.title.strip():
            raise self.guard.refuse("about", None, answer, "an About with a title was expected")
        return answer

    def tier(self, position: int) -> int:
        return self.guard.tier(position, self.call("tier", position))

    def parents(self, position: int) -> list[int]:
        answer = self.guard.sequence("parents", position, self.call("parents", position), "a list of positions")
        return [self.guard.position("parents", position, parent) for parent in answer]

    def _next_position(self, hook: str, position: int, *move: int) -> int:
        return self.guard.position(hook, position, self.call(hook, position, *move))

    # ---- what people read and write ----

    def encode(self, text: str) -> int:
        """The position a text describes, which may yet be one that cannot occur; UsageError if it describes none."""
        return self.guard.position("encode", text, self._read("encode", text, what=f"position of {self.guard.game}"))

    def parse_move(self, position: int, text: str) -> int:
        """The move that a text names, which may yet be illegal; UsageError if it names none."""
        return self.guard.move("parse_move", position, self._read("parse_move", position, text, what="move here"))

    def _read(self, hook: str, *arguments: Any, what: str) -> Any:
        """What a hook makes of a text; its ValueError is the user's mistake, anything else the plugin's."""
        try:
            return self.guard.ask(hook, self.functions[hook], *arguments)
        except ValueError as error:
            text = brief(arguments[-1])
            reason = re.sub(rf"^{re.escape(text)} is not a \w+: ", "", str(error))  # that is said already
            raise UsageError(f"cannot read {text} as a {what}: {reason}") from error
        except PLUGIN_FAULTS as error:
            raise self.guard.raised(hook, arguments[0], error) from error

    def decode(self, position: int) -> str:
        return self.guard.text("decode", position, self.call("decode", position))

    def notations(self, position: int) -> dict[str, str]:
        answer = self.call("notations", position)
        if not isinstance(answer, Mapping):
            raise self.guard.refuse("notations", position, answer, "texts by name were expected")
        return {name: self.guard.text("notations", position, text) for name, text in answer.items()}

    def format_move(self, position: int, move: int) -> str:
        return self.guard.text("format_move", position, self.call("format_move", position, move))

    def format_moves(self, position: int, moves: Sequence[int]) -> list[str]:
        """The texts of several moves, asked without a detour; one by one where one is wrong, to say which."""
        if self.guard.watcher is None:
            with suppress(*PLUGIN_FAULTS):
                texts = list(map(self.functions["format_move"], repeat(position), moves))
                if {*map(type, texts)} <= {str}:
                    return texts
        return [self.format_move(position, move) for move in moves]

    def board(self, position: int) -> Board:
        answer = self.call("board", position)
        if not isinstance(answer, Board):
            raise self.guard.refuse("board", position, answer, "a Board was expected")
        return answer

    def benchmarks(self) -> Iterator[tuple[str, float, str]]:
        """The game's own measurements, each made when it is asked for."""
        answer = self.call("benchmarks")
        if not isinstance(answer, Iterable):
            raise self.guard.refuse("benchmarks", None, answer, "(what, rate, unit) of each measurement was expected")
        measuring = iter(answer)
        while (found := self.guard.call("benchmarks", next, measuring, None)) is not None:
            match found:
                case (str(what), int() | float() as rate, str(unit)):
                    yield what, rate, unit
                case _:
                    raise self.guard.refuse("benchmarks", None, found, "(what, rate, unit) was expected")

    # ---- many positions at once ----

    def array(self, hook: str, positions: Any) -> Any:
        """The answer of a hook that takes an array: one of the same length."""
        answer = self.call(hook, positions)
        if getattr(answer, "shape", None) != positions.shape:
            raise self.guard.refuse(hook, None, answer, f"an array of length {len(positions)} was expected")
        return answer
