"""Default implementations of hooks that a plugin omits, and the unchecked rules for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perfectplay.errors import PluginError
from perfectplay.game.hooks import DECODE, FORMAT_MOVE, MAX_POSITION, MOVES, Checked, Hook, Hooks, WrongResult
from perfectplay.game.plugins import REQUIRED_HOOKS, Plugin
from perfectplay.values import Status
from perfectplay_native.python_rules import PythonRules

if TYPE_CHECKING:
    from perfectplay_native.declared_index import Layout
    from perfectplay_native.kernel import Kernel

KERNEL_HOOKS = ("valid", "undo", "canonicalize", "mover", "score", "tier", "parents")
"""Functions that a kernel may have in addition to the required ones."""

_STATUS_NUMBERS = frozenset(map(int, Status))


def load_kernel(plugin: Plugin) -> Kernel | None:
    """Return the plugin's kernel, or None if it has none. Raises PluginError for an incomplete one."""
    if "kernel" not in plugin.hooks:
        return None
    from perfectplay_native.kernel import Kernel  # loads the engine, which a game in Python may not need

    def check(result: object) -> Kernel:
        if not isinstance(result, Kernel):
            raise WrongResult(result, "expected a perfectplay_native.kernel.Kernel")
        return result

    kernel = Hooks(plugin.name, plugin.hooks).call(Checked("kernel", check))
    if missing := [name for name in REQUIRED_HOOKS if not kernel.has(name)]:
        raise PluginError(f"{plugin.name}: in the kernel the required {', '.join(missing)} is NULL")
    return kernel


def add_index(name: str, kernel: Kernel, layout: Layout) -> Kernel:
    """Return the kernel with a declared index. Raises PluginError if it has its own."""
    if kernel.ranked:
        raise PluginError(f"{name}: the kernel has its own index, so remove the hook 'index'")
    return layout.add_to(kernel)


def kernel_hooks(kernel: Kernel | None) -> dict[str, Hook]:
    """Return the hooks that a kernel implements."""
    if kernel is None:
        return {}
    optional = [name for name in KERNEL_HOOKS if kernel.has(name)]
    hooks: dict[str, Hook] = {name: getattr(kernel, name) for name in (*REQUIRED_HOOKS, *optional)}

    def status(position: int) -> Status | int:
        number = kernel.status(position)
        return Status(number) if number in _STATUS_NUMBERS else number  # the check of the hook rejects others

    return {**hooks, "status": status}


def default_hooks(hooks: Hooks) -> dict[str, Hook]:
    """Return the defaults that need no kernel. They call other hooks of the same game."""

    def find_move(position: int, text: str) -> int:
        legal = hooks.call(MOVES, position)
        for move in legal:
            if hooks.call(FORMAT_MOVE, position, move) == text.strip():
                return move
        raise ValueError(list_moves(hooks, position, legal))

    return {
        "valid": lambda position: True,
        "canonicalize": lambda position: position,
        "encode": _read_number,
        "decode": str,
        "notations": lambda position: {"text": hooks.call(DECODE, position)},
        "format_move": lambda position, move: str(move),
        "parse_move": find_move,
    }


def list_moves(hooks: Hooks, position: int, legal: Sequence[int]) -> str:
    """Return the part of an error message that lists the legal moves, at most ten of them."""
    if not legal:
        return "the game is over"
    names = ", ".join(hooks.format_moves(position, legal[:10]))
    return f"the legal moves are {names}" + (f" and {len(legal) - 10} more" if len(legal) > 10 else "")


def _read_number(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("expected a number")
    number = int(text)
    if number > MAX_POSITION:
        raise ValueError("the number is too large for a position")
    return number


def engine_rules(
    hooks: Mapping[str, Hook], kernel: Kernel | None, *, players: int, turns_alternate: bool
) -> PythonRules:
    """Return the hooks that the engine calls. Results are not checked, except that a status must be a Status."""
    status, apply, canonicalize = hooks["status"], hooks["apply"], hooks["canonicalize"]

    def strict_status(position: int) -> Status:
        result: Status = status(position)
        if type(result) is not Status:  # the engine would accept a bool or a score
            raise TypeError("not a Status")
        return result

    def follow(position: int, moves: Sequence[int]) -> tuple[list[int], list[int]]:
        children = [apply(position, move) for move in moves]
        return children, [canonicalize(child) for child in children]

    by_kernel = kernel is not None and (apply, canonicalize) == (kernel.apply, kernel.canonicalize)
    return PythonRules(
        start=hooks["start"],
        valid=hooks["valid"],
        moves=hooks["moves"],
        apply=apply,
        canonicalize=canonicalize,
        status=strict_status,
        follow=kernel.follow if kernel is not None and by_kernel else follow,
        undo=hooks.get("undo"),
        tier=hooks.get("tier"),
        parents=hooks.get("parents"),
        mover=hooks.get("mover"),
        score=hooks.get("score"),
        walk=hooks.get("walk"),
        players=players,
        turns_alternate=turns_alternate,
    )
