"""A game's hooks, each called and its answer checked: for positions that are known to be positions.

`Game` checks what people hand in, once, and then asks here; so nothing is checked twice on its way through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

from perfectplay.about import About
from perfectplay.board import Board
from perfectplay.errors import PLUGIN_FAULTS, UsageError
from perfectplay.hook_guard import MAX_POSITION, Guard, as_int, brief
from perfectplay.hook_signatures import Hook
from perfectplay.values import Status


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
