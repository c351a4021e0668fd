"""What stands in for the hooks that a plugin leaves out: its kernel's functions, and the bare rules for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perfectplay.errors import PluginError
from perfectplay.game import plugins
from perfectplay.game.hooks import MAX_POSITION, Guard, Hook
from perfectplay.game.plugins import Plugin
from perfectplay.values import Status
from perfectplay_native.python_rules import PythonRules

if TYPE_CHECKING:
    from perfectplay_native.kernel import Kernel

KERNEL_HOOKS = ("valid", "undo", "canonicalize", "mover", "score", "tier", "parents")
"""What a kernel may give besides the required rules."""


def load_kernel(guard: Guard, plugin: Plugin) -> Kernel | None:
    """The plugin's kernel, if it has one."""
    if "kernel" not in plugin.hooks:
        return None
    from perfectplay_native.kernel import Kernel  # loads the engine: only where a game has a kernel

    kernel = guard.call("kernel", plugin.hooks["kernel"])
    if not isinstance(kernel, Kernel):
        raise guard.refuse("kernel", None, kernel, "a perfectplay_native.kernel.Kernel was expected")
    missing = [name for name in plugins.REQUIRED_HOOKS if not kernel.has(name)]
    if missing:
        raise PluginError(f"{plugin.name}: the kernel leaves the required {', '.join(missing)} NULL")
    return kernel


def of_kernel(kernel: Kernel | None) -> dict[str, Hook]:
    """The hooks that a kernel stands in for."""
    if kernel is None:
        return {}
    given = [name for name in KERNEL_HOOKS if kernel.has(name)]
    hooks: dict[str, Hook] = {name: getattr(kernel, name) for name in (*plugins.REQUIRED_HOOKS, *given)}

    def status(position: int) -> Status | int:
        number = kernel.status(position)
        return Status(number) if number in _STATUS_NUMBERS else number  # any other is refused where it is checked

    return {**hooks, "status": status}


def kernel_players(kernel: Kernel | None) -> int:
    """How many players a kernel has; two where there is none."""
    return 2 if kernel is None else kernel.players


def bare_rules(hooks: Mapping[str, Hook], kernel: Kernel | None, *, players: int) -> PythonRules:
    """The hooks that an engine asks, called as they are."""
    status, apply, canonicalize = hooks["status"], hooks["apply"], hooks["canonicalize"]

    def strict_status(position: int) -> Status:
        answer: Status = status(position)
        if type(answer) is not Status:  # the engine would take a bool or a score for one
            raise TypeError("not a Status")
        return answer

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
    )


def read_number(text: str) -> int:
    """The position of a text, where the game has no notation of its own."""
    if not text.strip().isdecimal():
        raise ValueError("a number was expected")
    number = int(text)
    if number > MAX_POSITION:
        raise ValueError("it is too large for a position")
    return number


_STATUS_NUMBERS = frozenset(map(int, Status))
