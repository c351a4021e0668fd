"""Checks a plugin's functions against the specification of the hooks. Beside `hookspecs`, nothing else knows pluggy.

pluggy is for checking only: a pluggy call costs microseconds, so what leaves this module are plain functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pluggy

from perfectplay.errors import PluginError, did_you_mean
from perfectplay.hookspecs import PROJECT

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
