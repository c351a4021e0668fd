"""Loads a game by its name or from a file, in the variant that its options choose, and lists the installed games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game import plugins
from perfectplay.game.game import Game
from perfectplay.game.hooks import CONFIGURE, Hooks
from perfectplay.game.options import Option, OptionValue, read_options
from perfectplay.game.plugins import Plugin

_CONSTANTS = ("rules_version", "turns_alternate")
"""Fields of a plugin that a variant has from its module unless it defines them."""


@dataclass(frozen=True, slots=True)
class GameInfo:
    """One line of `solve games`."""

    name: str
    version: str
    kind: str
    options: tuple[Option, ...] = ()
    broken: str | None = None
    """The error, if the game is broken."""
    title: str = ""
    needs: str | None = None
    """The error, if something else must be installed before the game can be used."""


def load_game(name: str, /, **options: object) -> Game:
    """Return an installed game, or the game in a file (`./mygame.py`).

    Options are those of the command line, with underscores for hyphens: `load_game("kalah", pits=4, either_row=True)`.
    Raises UsageError for an unknown game or a wrong option, PluginError for a broken game.
    """
    return build_game(plugins.load_plugin(name), options)


def make_game(source: object, /, *, name: str = "game", version: str = "", **options: object) -> Game:
    """Return the game of a plugin (module or object) that need not be installed."""
    return build_game(plugins.make_plugin(source, name=name, version=version), options)


def build_game(plugin: Plugin, chosen: Mapping[str, object]) -> Game:
    """Return the variant of a loaded plugin that these options choose."""
    declared = plugin.options
    options = read_options(plugin.name, declared, chosen)
    if "configure" in plugin.hooks:
        variant = plugins.make_plugin(_configured(plugin, options), name=plugin.name, version=plugin.version)
        defined = {name: getattr(plugin, name) for name in _CONSTANTS if getattr(variant, name) is None}
        plugin = replace(variant, file=plugin.file, code=plugin.code, **defined)
    return Game(plugin, declared, options)


def _configured(plugin: Plugin, options: Mapping[str, OptionValue]) -> object:
    def configure(options: Mapping[str, OptionValue]) -> object:
        try:
            return plugin.hooks["configure"](options)
        except ValueError as error:  # these options cannot be combined
            raise UsageError(f"{plugin.name}: {' '.join(str(error).split())}") from error

    return Hooks(plugin.name, {"configure": configure}).call(CONFIGURE, options)


def installed_games() -> list[GameInfo]:
    """Return all installed games. Broken ones are included, with the error."""
    return [_info(name) for name in plugins.game_names()]


def _info(name: str) -> GameInfo:
    try:
        game = load_game(name)
        return GameInfo(name, game.version, game.kind, game.declared_options, title=game.about.title)
    except UsageError as error:  # `configure` refuses the default options because a requirement is missing
        return GameInfo(name, plugins.game_version(name), "", needs=str(error).removeprefix(f"{name}: "))
    except PerfectPlayError as error:
        return GameInfo(name, plugins.game_version(name), "", broken=str(error).removeprefix(f"{name}: "))
