"""Calls a plugin's hooks and checks their answers, so that a plugin's mistake is reported as the plugin's.

Every error says which game, which hook, on which position or text, and what was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import index
from typing import Any, ClassVar, Protocol

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, PluginError

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

    def answered(self) -> None: ...


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
            watcher.answered()

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
