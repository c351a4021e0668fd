"""Finds, imports and validates plugins: games, and host plugins (table backends and export formats).

A broken plugin never affects another one. Its error is raised only when the plugin itself is requested.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, EntryPoints, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from pluggy import PluginManager

from perfectplay.errors import PLUGIN_FAULTS, PluginError, UsageError, did_you_mean
from perfectplay.game.hooks import Checked, Hook, Hooks, WrongResult, plugin_manager, register_hooks
from perfectplay.game.spec import GameSpec, HostSpec

if TYPE_CHECKING:
    from perfectplay.game.options import Option

GAMES_GROUP = "perfectplay.games"
HOST_GROUP = "perfectplay.host"
LIMIT_VARIABLE = "PERFECTPLAY_PLUGINS"

COMMANDS = {
    "games": "List the installed games.",
    "plan": "Estimate the time, memory and disk space of a solve, and recommend a command.",
    "prove": "Prove who wins one position by search, without solving the game.",
    "serve": "Explore solved games in a browser, and play against perfect play.",
    "show": "Show a position: the board, who wins, and the value of each move.",
    "line": "Show best play from a position to the end.",
    "play": "Play against the table.",
    "stats": "Show counts of a table: by tier, outcome and remoteness.",
    "random": "Show random positions with their values.",
    "export": "Write a table in another format.",
    "compare": "Compare a file of outcomes with a table.",
    "talk": "Answer queries about positions, one line of JSON each.",
    "tables": "List or remove the tables on disk.",
    "verify": "Prove every value of a table from the rules.",
    "compact": "Compress a finished table.",
    "bench": "Measure the speed of a game, the engine and tables on this machine.",
    "compile": "Show how a game's Python rules are translated to C, and how fast they are.",
    "rules": "Show a game's title, players, rules and options.",
    "new": "Create the project of a new game.",
    "check": "Check a game's rules for mistakes.",
}
"""Built-in commands with their help lines. `perfectplay.cli.NAME.command` implements NAME."""

RESERVED_NAMES = frozenset({*COMMANDS, "help"})
"""A game cannot have the name of a command."""

REQUIRED_HOOKS = ("start", "moves", "apply", "status")
"""The rules. A kernel provides them all; a plugin without a kernel must implement them."""

BUILTIN_HOST_PLUGINS = ("perfectplay.table.backends", "perfectplay.analysis.formats", "perfectplay.cluster")
"""Modules registered in the same way as third-party host plugins. They are not entry points, so that
PERFECTPLAY_PLUGINS cannot exclude them."""

_GAME_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Plugin:
    """A validated game plugin, with its functions by hook name."""

    name: str
    source: object
    hooks: Mapping[str, Hook]
    version: str = ""
    file: Path | None = None
    """The file that it was loaded from, unless it is installed."""
    rules_version: int | None = None
    """Its RULES_VERSION, if defined."""
    turns_alternate: bool | None = None
    """Its TURNS_ALTERNATE, if defined."""
    code: tuple[Path, ...] = ()
    """Its Python files, if known."""

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options that the plugin declares. The hook is called once."""
        from perfectplay.game.options import Option  # not at the top, because `solve --help` does not need it

        def check(result: object) -> tuple[Option, ...]:
            if not isinstance(result, Sequence) or not all(isinstance(option, Option) for option in result):
                raise WrongResult(result, "expected a list of Option")
            return tuple(result)

        return Hooks(self.name, self.hooks).call(Checked("options", check)) if "options" in self.hooks else ()


# ---- entry points ----


@cache
def _scan(path: tuple[str, ...]) -> dict[str, EntryPoints]:
    """Read the entry points of all installed packages. This takes about ten milliseconds, so once per `sys.path`."""
    points = entry_points()
    return {group: points.select(group=group) for group in (GAMES_GROUP, HOST_GROUP)}


def _points(group: str, *, all_plugins: bool = False) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, without those that PERFECTPLAY_PLUGINS excludes."""
    limit = None if all_plugins else os.environ.get(LIMIT_VARIABLE)
    allowed = None if limit is None else {name.strip() for name in limit.split(",")}
    points: dict[str, list[EntryPoint]] = {}
    for point in _scan(tuple(sys.path))[group]:
        if allowed is None or point.name in allowed:
            points.setdefault(point.name, []).append(point)
    return points


def game_names() -> list[str]:
    """Return the names of all installed games without importing them, so some may be broken."""
    return sorted(_points(GAMES_GROUP))


def game_origins() -> dict[str, str]:
    """Return the package and version of each installed game without importing it; several are joined by `and`."""
    return {name: _origin(points) for name, points in sorted(_points(GAMES_GROUP).items())}


def game_version(name: str) -> str:
    """Return the version of the package that contains a game without importing it; empty if there are several."""
    points = _points(GAMES_GROUP).get(name, [])
    return points[0].dist.version if len(points) == 1 and points[0].dist else ""


def _origin(points: list[EntryPoint]) -> str:
    return " and ".join(_package(point.dist) if point.dist else point.value for point in points)


@cache  # reading metadata is slow, and one package may contain many games
def _package(distribution: Distribution) -> str:
    return f"{distribution.name} {distribution.version}"


# ---- games ----


def load_plugin(name: str) -> Plugin:
    """Import and validate an installed game, or a game in a file such as `./mygame.py`.

    Raises UsageError if there is no such game, PluginError if it is broken.
    """
    if is_file(name):
        return _load_file(Path(name))
    points = _points(GAMES_GROUP).get(name, [])
    if not points:
        raise unknown_game(name)
    if problem := _name_problem(name):
        raise PluginError(f"{name}: {problem}; {_origin(points)} must rename its game")
    if len(points) > 1:
        raise PluginError(f"{name}: {_origin(points)} both have a game of this name; rename or uninstall your plugin")
    (point,) = points
    plugin = make_plugin(_import(point), name=name, version=point.dist.version if point.dist else "")
    return replace(plugin, code=_source_files(point.module))


def is_file(word: str) -> bool:
    """Return whether a command-line argument is a file with a game, and not the name of an installed one."""
    return word.endswith(".py")


def _source_files(name: str) -> tuple[Path, ...]:
    """Return the Python files of an imported module's package, or of the module if it is in none."""
    module = sys.modules[name]
    package = sys.modules.get(module.__spec__.parent or "") if module.__spec__ else None
    if package is not None:
        return tuple(sorted(file for folder in package.__path__ for file in Path(folder).rglob("*.py")))
    return (Path(module.__file__),) if module.__file__ else ()


def _load_file(path: Path) -> Plugin:
    """Load the plugin in a Python file. The game is named after the file."""
    name = path.stem
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if problem := _name_problem(name):
        raise UsageError(f"a game cannot be named {name!r}: {problem}; rename {path}")
    spec = spec_from_file_location(f"perfectplay_file_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))  # as `python mygame.py` does
    try:
        spec.loader.exec_module(module)
    except PLUGIN_FAULTS as error:
        raise _import_error(name, str(path), error) from error
    return replace(make_plugin(module, name=name), file=path, code=(path,))


def make_plugin(source: object, *, name: str, version: str = "") -> Plugin:
    """Validate the hooks of a module or object. Raises PluginError with the reason and a suggestion.

    Missing rules are not an error here, because the plugin may have a kernel; see `require_rules`.
    """
    if source is None or isinstance(source, type):
        description = "None" if source is None else f"the class {source.__name__}"
        raise PluginError(f"{name}: the plugin is {description}; it must be a module or an object with hooks")
    # Every game gets a separate manager, because a hook of one game must not call those of the others.
    hooks = register_hooks(plugin_manager(GameSpec), source, name, GameSpec)
    for pair in (("options", "configure"), ("encode", "decode")):
        for hook, partner in (pair, pair[::-1]):
            if hook in hooks and partner not in hooks:
                raise PluginError(f"{name}: hook '{hook}' requires the hook '{partner}', which is missing")
    rules_version = getattr(source, "RULES_VERSION", None)
    if rules_version is not None and (not isinstance(rules_version, int) or rules_version < 1):
        raise PluginError(f"{name}: RULES_VERSION is {rules_version!r}; expected an int from 1 up")
    turns_alternate = getattr(source, "TURNS_ALTERNATE", None)
    if turns_alternate is not None and not isinstance(turns_alternate, bool):
        raise PluginError(f"{name}: TURNS_ALTERNATE is {turns_alternate!r}; expected True or False")
    return Plugin(name, source, hooks, version, rules_version=rules_version, turns_alternate=turns_alternate)


def require_rules(plugin: Plugin) -> None:
    """Raise PluginError, with their names, if a plugin without a kernel lacks required hooks."""
    missing = [hook for hook in REQUIRED_HOOKS if hook not in plugin.hooks]
    if not missing:
        return
    unmarked = [hook for hook in missing if hook in unmarked_hooks(plugin)]
    hint = f" ({_quote(unmarked)} exists but is not marked @hookimpl)" if unmarked else ""
    raise PluginError(f"{plugin.name}: missing {_quote(missing)}{hint}; these hooks are required without a kernel")


def unmarked_hooks(plugin: Plugin) -> list[str]:
    """Return the plugin's functions that are named like hooks but not marked @hookimpl."""
    names = [name for name in vars(GameSpec) if not name.startswith("_") and name not in plugin.hooks]
    return [name for name in names if callable(getattr(plugin.source, name, None))]


def check_new_name(name: str, package: str) -> None:
    """Raise UsageError if a new game cannot have this name, or if its package would replace an installed one."""
    if problem := _name_problem(name):
        raise UsageError(f"a game cannot be named {name!r}: {problem}")
    if points := _points(GAMES_GROUP, all_plugins=True).get(name):
        raise UsageError(f"there is already a game '{name}', from {_origin(points)}; choose another name")
    if find_spec(package) is not None:
        raise UsageError(f"there is already a package '{package}', which the game would replace; choose another name")


def _name_problem(name: str) -> str | None:
    if name in RESERVED_NAMES:
        return "this is the name of a built-in command"
    return None if _GAME_NAME.fullmatch(name) else "a name consists of lower-case letters, digits, '-' and '_'"


def unknown_game(name: str) -> UsageError:
    """Return the error for a game that is not installed, with the most similar name and a list of all names."""
    if name in _points(GAMES_GROUP, all_plugins=True):
        limit = f"{LIMIT_VARIABLE}={os.environ.get(LIMIT_VARIABLE)}"
        return UsageError(f"game '{name}' is installed, but {limit} excludes it")
    names = game_names()
    installed = f"installed games: {', '.join(names)}" if names else "no games are installed"
    return UsageError(f"unknown game '{name}'{did_you_mean(name, names)} ({installed})")


# ---- host plugins ----


@dataclass(frozen=True, slots=True)
class Registry:
    """The objects that host plugins have registered through one hook, and the errors of broken plugins, by name."""

    entries: dict[str, Any] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)


def call_host_plugins(hook: str, check: Callable[[str, Any], None]) -> Registry:
    """Call `register_backends` or `register_exporters` of all host plugins and return what they register.

    `check(name, entry)` raises PluginError for an entry of the wrong kind.
    """
    manager, errors = _host_plugins(tuple(sys.path), os.environ.get(LIMIT_VARIABLE))
    registry = Registry(broken=dict(errors))

    def register(name: str, entry: Any) -> None:
        if name in registry.entries:
            raise PluginError(f"'{name}' is already registered")
        check(name, entry)
        registry.entries[name] = entry

    # One by one, because a call through the manager would stop at the first plugin that raises.
    # Built-in plugins come first, so that no other plugin can take their names.
    implementations = getattr(manager.hook, hook).get_hookimpls()
    for implementation in sorted(implementations, key=lambda each: each.plugin_name not in BUILTIN_HOST_PLUGINS):
        try:
            implementation.function(register)
        except PLUGIN_FAULTS as error:
            registry.broken[implementation.plugin_name] = str(error)
    return registry


@cache
def _host_plugins(path: tuple[str, ...], limit: str | None) -> tuple[PluginManager, dict[str, str]]:
    """Register all host plugins, built-in ones first; return the manager, and the errors of broken plugins."""
    manager, broken = plugin_manager(HostSpec), {}
    loaders: list[tuple[str, Callable[[], object]]] = [
        *((module, partial(import_module, module)) for module in BUILTIN_HOST_PLUGINS),
        *((name, partial(_import, point)) for name, points in _points(HOST_GROUP).items() for point in points),
    ]
    for name, load in loaders:
        try:
            register_hooks(manager, load(), name, HostSpec)
        except PLUGIN_FAULTS as error:
            broken[name] = str(error).removeprefix(f"{name}: ")
    return manager, broken


# ---- importing ----


def _import(point: EntryPoint) -> object:
    try:
        return point.load()
    except PLUGIN_FAULTS as error:
        raise _import_error(point.name, point.value, error) from error


def _import_error(name: str, source: str, error: BaseException) -> PluginError:
    """Return the error for a plugin that cannot be imported, with the line that failed."""
    text, line = " ".join(str(error).split()), ""
    if not isinstance(error, SyntaxError):  # whose text contains the line
        frames = [frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename]
        line = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return PluginError(f"{name}: cannot import {source}: {type(error).__name__}: {text}{line}")


def _quote(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
