"""Gets a game by its name: finds its plugin, reads the options of the variant, and lists what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game import plugins
from perfectplay.game.game import Game
from perfectplay.game.hooks import Guard
from perfectplay.game.options import Option, OptionValue, read_options
from perfectplay.game.plugins import Plugin


@dataclass(frozen=True, slots=True)
class GameInfo:
    """One line of `solve games`. A broken game has a reason in `broken`, and little else."""

    name: str
    version: str
    kind: str
    options: tuple[Option, ...] = ()
    broken: str | None = None
    title: str = ""
    needs: str | None = None
    """What must be installed before it can be used; it is not broken then."""


def load_game(name: str, /, **options: object) -> Game:
    """Return an installed game, or the game in a file (`./mygame.py`).

    Options are those of the command, `load_game("kalah", pits=4, either_row=True)`: hyphens become underscores.
    UsageError if there is none of this name or an option is wrong, PluginError if the game is broken.
    """
    return build_game(plugins.load_plugin(name), options)


def make_game(source: object, /, *, name: str = "game", version: str = "", **options: object) -> Game:
    """Return the game of a plugin (module or object) that need not be installed."""
    return build_game(plugins.make_plugin(source, name=name, version=version), options)


def build_game(plugin: Plugin, given: Mapping[str, object]) -> Game:
    """Return the variant of a loaded plugin that these options choose."""
    declared = plugin.options
    options = read_options(plugin.name, declared, given)
    if "configure" in plugin.hooks:
        source = _configured(plugin, options)
        variant = plugins.make_plugin(source, name=plugin.name, version=plugin.version)
        rules_version = plugin.rules_version if variant.rules_version is None else variant.rules_version
        plugin = replace(variant, file=plugin.file, code=plugin.code, rules_version=rules_version)
    return Game(plugin, declared, options)


def _configured(plugin: Plugin, options: Mapping[str, OptionValue]) -> object:
    """What `configure` makes of the options. A ValueError is its word for options that do not go together."""

    def configure(given: Mapping[str, OptionValue]) -> object:
        try:
            return plugin.hooks["configure"](given)
        except ValueError as error:
            raise UsageError(f"{plugin.name}: {' '.join(str(error).split())}") from error

    return Guard(plugin.name).call("configure", configure, options)


def installed_games() -> list[GameInfo]:
    """Every installed game, the broken ones with their reason."""
    return [_info(name) for name in plugins.game_names()]


def _info(name: str) -> GameInfo:
    try:
        game = load_game(name)
        title = game.about.title
    except UsageError as error:  # nobody chose an option: `configure` refuses the default, as something is missing
        return GameInfo(name, plugins.game_version(name), "", needs=str(error).removeprefix(f"{name}: "))
    except PerfectPlayError as error:
        return GameInfo(name, plugins.game_version(name), "", broken=str(error).removeprefix(f"{name}: "))
    return GameInfo(name, game.version, game.kind, game.declared_options, title=title)
