"""Compares compiled rules with the Python hooks that they were translated from, position by position."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from perfectplay.compile.translation import HOOKS
from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, PluginError
from perfectplay.game.engine import find_fault
from perfectplay.game.game import Game
from perfectplay.game.hooks import MAX_POSITION, Hooks, brief, watched_call
from perfectplay.values import Status
from perfectplay_native.kernel import Kernel
from perfectplay_native.python_rules import PythonRules

SAMPLE = 1_000
"""How many positions are compared before a solve, or all if there are fewer."""

PLAYOUTS, MAX_PLIES = 200, 200
"""The number of random games in the sample, and their largest length."""


class RulesDiffer(PluginError):
    """Compiled rules and Python hooks have different results. The message shows both."""


def compare_sample(game: Game, kernel: Kernel, count: int = SAMPLE) -> int:
    """Compare compiled rules with the hooks in `count` reachable positions, or in all if there are fewer.

    Half of them are nearest to the start, the others are from random games as far as these lead to new positions.
    Returns the number of positions. Raises RulesDiffer, or the error of a hook.
    """
    compared: dict[int, list[int]] = {}

    def children(position: int) -> list[int]:
        if position not in compared:
            compared[position] = compare_position(game, kernel, position)
        return compared[position]

    def compare_nearest(limit: int) -> bool:
        """Compare positions in breadth-first order up to a limit. Returns whether there are more."""
        return any(len(compared) >= limit for _ in nearest)

    start, dice = _compare_start(game, kernel), random.Random(0)
    nearest = _breadth_first(start, children)
    if compare_nearest(count // 2):
        for _ in range(PLAYOUTS):
            position = start
            for _ in range(MAX_PLIES):
                if len(compared) >= count or not (following := children(position)):
                    break
                position = dice.choice(following)
        if len(compared) < count:
            compare_nearest(count)
    return len(compared)


def _breadth_first(start: int, children: Callable[[int], list[int]]) -> Iterator[int]:
    reached, queue = {start}, deque([start])
    while queue:
        position = queue.popleft()
        for child in children(position):
            if child not in reached:
                reached.add(child)
                queue.append(child)
        yield position


def _compare_start(game: Game, kernel: Kernel) -> int:
    start = game.start()
    _require_equal(game, [("start", start, kernel.start())], None)
    return game.canonicalize(start)


def compare_position(game: Game, kernel: Kernel, position: int) -> list[int]:
    """Compare everything that a solve uses in a valid position. Returns its canonical children.

    Raises RulesDiffer, or the error of a hook.
    """
    children: dict[int, int] = {}
    try:
        _require_equal(game, _results(game, kernel, position, children), position)
    except PerfectPlayError:
        raise
    except PLUGIN_FAULTS as error:
        raise find_fault(game, "all", position) or game.hook_error("status", position, error) from error
    return sorted(set(children.values()))


def _results(
    game: Game, kernel: Kernel, position: int, children: dict[int, int]
) -> Iterator[tuple[str, object, object]]:
    """Yield (function, result in Python, compiled result). Adds each child and its canonical form to `children`."""
    rules = _watched_rules(game)
    yield "valid", bool(rules.valid(position)), kernel.valid(position)
    status = rules.status(position)
    yield "status", Status(status).name, Status(kernel.status(position)).name
    yield "canonicalize", rules.canonicalize(position), kernel.canonicalize(position)
    if rules.tier is not None:
        yield "tier", rules.tier(position), kernel.tier(position)
    if rules.mover is not None:
        yield "mover", rules.mover(position), kernel.mover(position)
    if status != Status.ONGOING:
        if rules.score is not None:
            yield "score", rules.score(position), kernel.score(position)
        return
    moves = list(rules.moves(position))
    yield "moves", moves, kernel.moves(position)
    for move in moves:
        child = rules.apply(position, move)
        yield f"apply (move {move})", child, kernel.apply(position, move)
        if rules.undo is not None and kernel.has("undo"):
            yield f"undo (move {move})", rules.undo(child, move), kernel.undo(child, move)
        if child not in children:
            children[child] = rules.canonicalize(child)
            yield f"canonicalize (position {child})", children[child], kernel.canonicalize(child)
    if kernel.has("children"):
        yield "children", sorted(set(children.values())), sorted(set(kernel.children(position)))
    if kernel.has("wins_now") and kernel.wins_now(position):  # otherwise it promises nothing
        yield "wins_now", any(rules.status(child) == Status.LOST for child in set(children.values())), True
    if rules.parents is not None and kernel.has("parents"):
        yield "parents", sorted(set(rules.parents(position))), sorted(set(kernel.parents(position)))
    yield from _compare_validity(rules, kernel, position)


def _watched_rules(game: Game) -> PythonRules:
    """Return the hooks. In `solve check`, calls are logged, because a hook may crash or hang."""
    rules = game.rules
    if Hooks.watcher is None:
        return rules
    functions = {name: function for name in HOOKS if (function := getattr(rules, name)) is not None}
    watched: dict[str, Any] = {name: partial(watched_call, name, function) for name, function in functions.items()}
    return replace(rules, **watched)


def _compare_validity(rules: PythonRules, kernel: Kernel, position: int) -> Iterator[tuple[str, object, object]]:
    """Compare `valid` for a number that is probably not a position."""
    number = position ^ 1 << position % 64
    if number > MAX_POSITION:
        return
    try:
        expected = bool(rules.valid(number))
    except PLUGIN_FAULTS:
        return
    yield f"valid (number {number})", expected, kernel.valid(number)


def _require_equal(game: Game, results: Iterable[tuple[str, object, object]], position: int | None) -> None:
    for function, expected, actual in results:
        if actual != expected:
            where = "" if position is None else f" in position {position}"
            raise RulesDiffer(
                f"{game.name}: compiled rules and Python rules disagree on '{function}'{where}: compiled gives "
                f"{brief(actual)}, Python gives {brief(expected)}; add --no-compile"
            )
