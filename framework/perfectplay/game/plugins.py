"""Finds plugins, loads them and has them checked.

A broken plugin is broken alone: whoever asks for it gets the reason, and the others never notice.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any

from perfectplay.commands import COMMANDS
from perfectplay.errors import PLUGIN_FAULTS, PluginError, UsageError, did_you_mean
from perfectplay.game.hooks import Guard, Hook, hooks_of
from perfectplay.game.options import Option
from perfectplay.game.spec import GameSpec, HostSpec

GAMES_GROUP = "perfectplay.games"
HOST_GROUP = "perfectplay.host"
LIMIT_VARIABLE = "PERFECTPLAY_PLUGINS"

RESERVED_NAMES = frozenset({*COMMANDS, "help"})
"""The built-in commands: no game can be called like one of them."""

REQUIRED_HOOKS = ("start", "moves", "apply", "status")
"""The rules. A kernel gives them all; without one, the plugin must."""

BUILTIN_HOST_PLUGINS: tuple[str, ...] = ("perfectplay.table.backends", "perfectplay.analysis.formats")
"""Modules with our own backends and exporters, registered as a third party's are."""

_GAME_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Plugin:
    """A plugin that passed the checks: its plain functions by hook name."""

    name: str
    source: object
    hooks: Mapping[str, Hook]
    version: str = ""
    file: Path | None = None
    """The file it was loaded from, where it is not installed."""
    rules_version: int | None = None
    """Its RULES_VERSION, if it says so."""
    code: tuple[Path, ...] = ()
    """The Python files it consists of, if they are known."""

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options that the plugin declares. The hook is called once."""
        if "options" not in self.hooks:
            return ()
        guard = Guard(self.name)
        declared = guard.call("options", self.hooks["options"])
        if not isinstance(declared, Sequence) or not all(isinstance(option, Option) for option in declared):
            raise guard.refuse("options", None, declared, "a list of Option was expected")
        return tuple(declared)


@dataclass(frozen=True, slots=True)
class Registry:
    """What host plugins add, by name; and the plugins that failed, with their reasons."""

    backends: dict[str, Any] = field(default_factory=dict)
    exporters: dict[str, Any] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)


def game_names() -> list[str]:
    """The names of all installed games, without importing any of them; some may turn out to be broken."""
    return sorted(_found(GAMES_GROUP))


def game_origins() -> dict[str, str]:
    """The distribution that brings each installed game, without importing any; several are joined by `and`."""
    name_and_version = cache(_name_and_version)  # reading metadata is slow, and many games may come in one
    found = sorted(_found(GAMES_GROUP).items())
    return {game: " and ".join(_origin(point, name_and_version) for point in points) for game, points in found}


def game_version(name: str) -> str:
    """The version of the distribution that brings a game, without importing it; empty if unclear."""
    found = _found(GAMES_GROUP).get(name, [])
    return found[0].dist.version if len(found) == 1 and found[0].dist else ""


def load_plugin(name: str) -> Plugin:
    """Import an installed game, or a file, and check its hooks; UsageError if there is none, PluginError if broken."""
    if is_file(name):
        return _load_file(Path(name))
    found = _found(GAMES_GROUP).get(name, [])
    if not found:
        raise unknown_game(name)
    origin = " and ".join(_origin(point) for point in found)
    if problem := _name_problem(name):
        raise PluginError(f"{name}: {problem}; {origin} must give its game another name")
    if len(found) > 1:
        raise PluginError(f"{name}: {origin} both bring a game of this name; rename or uninstall your plugin")
    plugin = make_plugin(_import(found[0]), name=name, version=game_version(name))
    return replace(plugin, code=_code_of(found[0].module))


def is_file(word: str) -> bool:
    """Whether a word means a file with a game, and not an installed one: `./mygame.py`."""
    return word.endswith(".py")


def _code_of(name: str) -> tuple[Path, ...]:
    """The Python files of an imported module's package, or its own where it is in none."""
    module = sys.modules[name]
    package = sys.modules.get(module.__spec__.parent or "") if module.__spec__ else None
    if package is not None:
        return tuple(sorted(file for folder in package.__path__ for file in Path(folder).rglob("*.py")))
    return (Path(module.__file__),) if module.__file__ else ()


def _load_file(path: Path) -> Plugin:
    """The plugin in a Python file, which need not be installed; the game is called like the file."""
    name = path.stem
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if problem := _name_problem(name):
        raise UsageError(f"no game can be called {name!r}: {problem}; rename {path}")
    spec = spec_from_file_location(f"perfectplay_file_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))  # as `python mygame.py` has it
    try:
        spec.loader.exec_module(module)
    except PLUGIN_FAULTS as error:
        raise _cannot_import(name, str(path), error) from error
    return replace(make_plugin(module, name=name), file=path, code=(path,))


def check_new_name(name: str, package: str) -> None:
    """UsageError where no new game can have this name, as it or its package would replace what is installed."""
    if problem := _name_problem(name):
        raise UsageError(f"no game can be called {name!r}: {problem}")
    installed = [_origin(point) for point in entry_points(group=GAMES_GROUP) if point.name == name]
    if installed:
        raise UsageError(f"there is a game '{name}' already, from {' and '.join(installed)}: choose another name")
    if find_spec(package) is not None:
        raise UsageError(f"there is a package '{package}' already, which the game would replace: choose another name")


def _name_problem(name: str) -> str | None:
    if name in RESERVED_NAMES:
        return "this is the name of a built-in command"
    return None if _GAME_NAME.fullmatch(name) else "a name is lower-case letters, digits, '-' and '_'"


def unknown_game(name: str) -> UsageError:
    """The error for a game that is not installed: the nearest name, and what there is."""
    if name in {point.name for point in entry_points(group=GAMES_GROUP)}:
        return UsageError(
            f"game '{name}' is installed, but {LIMIT_VARIABLE}={os.environ[LIMIT_VARIABLE]} leaves it out"
        )
    names = game_names()
    installed = f"installed games: {', '.join(names)}" if names else "no games are installed"
    return UsageError(f"unknown game '{name}'{did_you_mean(name, names)} ({installed})")


def make_plugin(source: object, *, name: str, version: str = "") -> Plugin:
    """Check the hooks of a module or object; PluginError names what is wrong and what would be right.

    Rules may be missing here: `require_rules` asks for them once it is known that there is no kernel.
    """
    if source is None or isinstance(source, type):
        what = "nothing" if source is None else f"the class {source.__name__}"
        raise PluginError(f"{name}: the plugin is {what}; it must be a module or an object with hooks")
    hooks = hooks_of(source, name, GameSpec)
    for pair in (("options", "configure"), ("encode", "decode")):
        for hook, partner in (pair, pair[::-1]):
            if hook in hooks and partner not in hooks:
                raise PluginError(f"{name}: hook '{hook}' needs its partner '{partner}', which is missing")
    rules_version = getattr(source, "RULES_VERSION", None)
    if rules_version is not None and (not isinstance(rules_version, int) or rules_version < 1):
        raise PluginError(f"{name}: RULES_VERSION is {rules_version!r}: an int from 1 up was expected")
    return Plugin(name, source, hooks, version, rules_version=rules_version)


def require_rules(plugin: Plugin) -> None:
    """Raise PluginError that names the rules a plugin without a kernel leaves out."""
    missing = [hook for hook in REQUIRED_HOOKS if hook not in plugin.hooks]
    if not missing:
        return
    unmarked = [hook for hook in missing if hook in unmarked_hooks(plugin)]
    hint = f" ({_quoted(unmarked)} is there, but not marked @hookimpl)" if unmarked else ""
    raise PluginError(f"{plugin.name}: missing {_quoted(missing)}{hint}; without a kernel these hooks are required")


def unmarked_hooks(plugin: Plugin) -> list[str]:
    """The functions of a plugin that are called like hooks, but are none for want of @hookimpl."""
    names = [name for name in vars(GameSpec) if not name.startswith("_") and name not in plugin.hooks]
    return [name for name in names if callable(getattr(plugin.source, name, None))]


def host_registry(*, builtin_only: bool = False) -> Registry:
    """Load every host plugin, built-in ones first, and collect what they register.

    The names of built-in ones are theirs, and looking for others takes ten milliseconds.
    """
    registry = Registry()
    others = {} if builtin_only else _found(HOST_GROUP)
    sources: list[tuple[str, Callable[[], object]]] = [
        *((module, partial(import_module, module)) for module in BUILTIN_HOST_PLUGINS),
        *((name, partial(_import, point)) for name, found in others.items() for point in found),
    ]
    for name, load in sources:
        try:
            hooks = hooks_of(load(), name, HostSpec)
            for hook, known, (module, check) in (
                ("register_backends", registry.backends, ("perfectplay.table.backends", "check_backend")),
                ("register_exporters", registry.exporters, ("perfectplay.analysis.export", "check_exporter")),
            ):
                if hook in hooks:
                    hooks[hook](_adder(name, known, getattr(import_module(module), check)))
        except PLUGIN_FAULTS as error:
            registry.broken[name] = str(error).removeprefix(f"{name}: ")
    return registry


def _adder(plugin: str, known: dict[str, Any], check: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    def register(name: str, thing: Any) -> None:
        if name in known:
            raise PluginError(f"{plugin}: '{name}' is registered already")
        check(name, thing)
        known[name] = thing

    return register


def _import(point: EntryPoint) -> object:
    try:
        return point.load()
    except PLUGIN_FAULTS as error:
        raise _cannot_import(point.name, point.value, error) from error


def _cannot_import(name: str, what: str, error: BaseException) -> PluginError:
    text = " ".join(str(error).split())
    return PluginError(f"{name}: cannot import {what}: {type(error).__name__}: {text}{_line_of(error)}")


def _line_of(error: BaseException) -> str:
    """Where in the plugin an import failed; a SyntaxError says so itself."""
    if isinstance(error, SyntaxError) or error.__traceback__ is None:
        return ""
    frames = [frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""


def _found(group: str) -> dict[str, list[EntryPoint]]:
    """Entry points by name, within the limit that the environment may set."""
    limit = os.environ.get(LIMIT_VARIABLE)
    allowed = None if limit is None else {word.strip() for word in limit.split(",")}
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group):
        if allowed is None or point.name in allowed:
            found.setdefault(point.name, []).append(point)
    return found


def _name_and_version(distribution: Distribution) -> str:
    return f"{distribution.name} {distribution.version}"


def _origin(point: EntryPoint, name_and_version: Callable[[Distribution], str] = _name_and_version) -> str:
    return name_and_version(point.dist) if point.dist else point.value


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
