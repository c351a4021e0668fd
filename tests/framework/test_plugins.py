"""Loading plugins: a broken one has a clear error and never affects another."""

from __future__ import annotations

import pytest

from perfectplay.analysis.export import check_exporter
from perfectplay.errors import PluginError, UsageError
from perfectplay.game import plugins
from perfectplay.game.loading import installed_games, load_game, make_game
from perfectplay.game.plugins import RESERVED_NAMES
from perfectplay.game.spec import GameSpec, hookimpl

from .. import zoo

MARK = "from perfectplay.game.spec import hookimpl\n@hookimpl\n"


def broken_reason(name: str) -> str | None:
    (info,) = [game for game in installed_games() if game.name == name]
    return info.broken


def test_an_installed_game_is_found_with_its_version_and_kind(install, codes):
    install("stones", codes.subtraction, version="2.5")
    (info,) = [game for game in installed_games() if game.name == "stones"]
    assert (info.version, info.kind, info.broken) == ("2.5", "Python", None)
    assert load_game("stones").start() == 7


def test_a_misspelt_hook_is_rejected_with_a_suggestion(install, codes):
    install("stones", codes.subtraction.replace("def canonicalize", "def canonicalise"))
    assert broken_reason("stones") == (
        "'canonicalise' is marked @hookimpl but is not a hook: did you mean 'canonicalize'?"
    )


def test_missing_rules_are_all_named(codes):
    code = codes.subtraction.replace("@hookimpl\ndef apply", "def apply").replace("def status", "def _status")
    code = code.replace("@hookimpl\ndef _status", "def _status")
    with pytest.raises(PluginError, match=r"missing 'apply', 'status' \('apply' exists but is not marked @hookimpl\)"):
        make_game(codes.module_of(code))


@pytest.mark.parametrize(
    ("line", "replacement", "message"),
    [
        (
            "def apply(position, move)",
            "def apply(position)",
            r"hook 'apply' must be a plain function apply\(position, move\)",
        ),
        (
            "def apply(position, move)",
            "def apply(place, move)",
            "^game: hook 'apply' has an argument 'place'; rename it to 'position'$",
        ),
        ("def start(): return 7", "def start(): return '7'", "hook 'start' returned '7': a position is an int"),
        ("def start(): return 7", "def start(): return 1 << 64", "must fit 64 bits"),
        ("def start(): return 7", "def start(): return 8", "'start' returned 8, which hook 'valid' rejects"),
        ("def start(): return 7", "def start(): return 7 // 0", "hook 'start' raised ZeroDivisionError"),
    ],
)
def test_a_hook_that_cannot_work_is_rejected_at_load(line, replacement, message):
    with pytest.raises(PluginError, match=message):
        zoo.make("subtraction", {line: replacement}, name="game")


def test_hooks_that_require_each_other(codes):
    code = codes.subtraction + "\n@hookimpl\ndef encode(text): return 0\n"
    with pytest.raises(PluginError, match="hook 'encode' requires the hook 'decode'"):
        make_game(codes.module_of(code))


def test_a_class_is_not_a_plugin():
    with pytest.raises(PluginError, match="the plugin is the class GameSpec"):
        make_game(GameSpec)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        (zoo.read("subtraction", {"def start(): return 7": "def start(): exit()"}), "SystemExit"),
        (zoo.read("subtraction", {"): return position\n": "): import sys; sys.exit(position)\n"}), "SystemExit"),
        (zoo.read("subtraction") + "@hookimpl\ndef about(): raise SystemExit\n", "SystemExit"),
        (MARK + "def kernel(): raise OSError('no such library')", "hook 'kernel' raised OSError: no such library"),
        (MARK + "def kernel(): return 5", "hook 'kernel' returned 5: expected a perfectplay_native.kernel.Kernel"),
    ],
)
def test_a_broken_plugin_is_listed_with_its_error_and_others_work(install, codes, code, reason):
    install("good", codes.subtraction)
    install("bad", code)
    assert reason in (broken_reason("bad") or "")
    assert broken_reason("good") is None
    with pytest.raises(PluginError, match="bad: "):
        load_game("bad")


def test_two_plugins_with_the_same_name_are_both_named(install, codes):
    install("stones", codes.subtraction, package="one", version="1.0")
    install("stones", codes.subtraction, package="other", version="3.1")
    reason = broken_reason("stones")
    assert reason is not None
    assert "one 1.0" in reason
    assert "other 3.1" in reason
    with pytest.raises(PluginError, match="both have a game of this name"):
        load_game("stones")


def test_a_conflict_with_a_game_of_perfectplay_names_the_other_package(install, codes):
    install("gobblet", codes.subtraction, package="mine")
    with pytest.raises(PluginError, match=r"mine 1\.0.* both .* this name; rename or uninstall your plugin"):
        load_game("gobblet")


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_the_names_of_commands_are_reserved(install, codes, name):
    install(name, codes.subtraction)
    assert "built-in command" in (broken_reason(name) or "")


def test_a_name_must_be_usable_as_a_directory(install, codes):
    install("Up/And", codes.subtraction, package="odd")
    assert "lower-case" in (broken_reason("Up/And") or "")


def test_the_environment_limits_the_plugins(install, codes, monkeypatch):
    install("a", codes.subtraction)
    install("b", codes.subtraction)
    install("c", "1 / 0")
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "a, b")
    assert [game.name for game in installed_games()] == ["a", "b"]
    with pytest.raises(UsageError, match="'c' is installed, but PERFECTPLAY_PLUGINS=a, b excludes it"):
        load_game("c")
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "")
    assert installed_games() == []


def test_an_unknown_game_gets_a_suggestion_and_the_list(install, codes, monkeypatch):
    install("stones", codes.subtraction)
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "stones")
    with pytest.raises(UsageError) as caught:
        load_game("stone")
    assert str(caught.value) == "unknown game 'stone': did you mean 'stones'? (installed games: stones)"
    with pytest.raises(UsageError, match=r"unknown game 'xyzzy' \(installed games: stones\)"):
        load_game("xyzzy")


def test_a_broken_host_plugin_does_not_affect_others(install, monkeypatch):
    install("good", MARK + "def register_exporters(register): register('tape', print)", group="host")
    install("rude", MARK + "def register_exporters(register): 1 / 0", group="host")
    install("typo", MARK + "def register_backend(register): pass", group="host")
    registry = plugins.call_host_plugins("register_exporters", check_exporter)
    assert registry.entries["tape"] is print
    assert set(registry.broken) == {"rude", "typo"}
    assert "did you mean 'register_backends'?" in registry.broken["typo"]


def test_every_hook_has_a_docstring_of_one_line():
    for name, hook in vars(GameSpec).items():
        if not name.startswith("_"):
            assert hook.__doc__, name
            assert "\n" not in hook.__doc__, name


def test_hookimpl_accepts_objects(codes):
    class Nim:
        @hookimpl
        def start(self):
            return 3

    module = codes.module_of(codes.subtraction)
    for name in ("moves", "apply", "undo", "canonicalize", "status"):
        setattr(Nim, name, staticmethod(getattr(module, name)))
    assert make_game(Nim()).start() == 3
