"""Mistakes of plugin authors: reserved names and options, changed rules, hooks that misbehave."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
import types
from pathlib import Path

import click
import pytest

from perfectplay.cli import root
from perfectplay.cli._common import GameCommand
from perfectplay.cli.solve import make_solve_command
from perfectplay.errors import PluginError
from perfectplay.game.engine import translate_error
from perfectplay.game.loading import load_game, make_game
from perfectplay.game.plugins import COMMANDS
from perfectplay.game.spec import hookimpl
from perfectplay.solve.solve import solve_game
from perfectplay_native.errors import no_move_error

from ..cli import assert_refused, solve


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch) -> Path:
    """An empty directory for tables and other files."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(place))
    monkeypatch.chdir(place)
    return place


# ---- names ----


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gobblet", "there is already a game 'gobblet', from perfectplay"),
        ("stones", "there is already a game 'stones', from try-stones 1.0"),
        ("native", "there is already a package 'perfectplay_native'"),  # the engine itself
    ],
)
def test_a_new_game_cannot_replace_what_is_installed(install, codes, tables, monkeypatch, name, reason):
    install("stones", codes.subtraction)
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "quantik")  # an excluded game is still installed
    assert_refused(solve("new", name), 2, reason)
    assert not any(tables.iterdir())


# ---- options ----


def own_options() -> list[tuple[str, str]]:
    """Return the long options of all game commands, each with its command."""
    context = click.Context(root, info_name="solve")
    found = {name: root.get_command(context, name) for name in COMMANDS}
    return [
        (word.removeprefix("--"), name)
        for name, command in {"nim": make_solve_command("nim"), **found}.items()
        if isinstance(command, GameCommand)
        for param in [*command.params, click.Option(["--help"])]
        for word in (*param.opts, *param.secondary_opts)
        if word.startswith("--") and not word.startswith("--no-")
    ]


@pytest.mark.parametrize(("option", "command"), own_options())
def test_a_game_cannot_have_an_option_of_a_command(install, codes, option, command):
    """A game's option `limit` once hid that of `export`."""
    install("nim", codes.variants.replace('"stones"', f'"{option}"'))
    reason = f"nim: rename the game's option '{option}', because `solve "
    assert_refused(solve(command) if command == "nim" else solve(command, "nim"), 1, f"{reason}{command}` already has")
    assert reason in solve("check", "nim").stderr


def test_a_flag_cannot_have_the_negation_of_a_commands_option(install, codes):
    install("nim", codes.variants.replace('Option("quick-end"', 'Option("save"'))
    assert "already has an option --no-save" in solve("nim").stderr
    assert solve("rules", "nim").exit_code == 0  # which has no such option


# ---- rules that change ----


def test_rules_version_comes_from_the_variant_or_the_module(codes):
    in_module = codes.variants + "\nRULES_VERSION = 4\n"
    in_object = codes.variants.replace("class Variant:", "class Variant:\n    RULES_VERSION = 5")
    assert make_game(codes.module_of(codes.subtraction + "\nRULES_VERSION = 3\n")).rules_version == 3
    assert make_game(codes.module_of(in_module)).rules_version == 4
    assert make_game(codes.module_of(in_object)).rules_version == 5
    both = make_game(codes.module_of(in_object + "\nRULES_VERSION = 4\n"))
    assert both.rules_version == 5  # the variant takes precedence
    for wrong in ("0", "'new'"):
        with pytest.raises(PluginError, match=f"RULES_VERSION is {wrong}; expected an int from 1 up"):
            make_game(codes.module_of(codes.variants + f"\nRULES_VERSION = {wrong}\n"))


def test_alternating_turns_are_declared_by_the_variant_or_the_module(codes):
    def alternates(source: str) -> bool:
        return make_game(codes.module_of(source)).turns_alternate

    plain, promise = codes.subtraction, "\nTURNS_ALTERNATE = True"
    with_mover = f"{plain}\n@hookimpl\ndef mover(position): return 0\n"
    one_player = "\n@hookimpl\ndef players(): return ['Ann']"
    assert (alternates(with_mover), alternates(with_mover + promise)) == (False, True)
    assert alternates(plain + promise)  # it is no news without `mover`
    assert not alternates(with_mover + promise + one_player)

    variants = codes.variants.replace(
        "    @hookimpl", "    @hookimpl\n    def mover(self, position): return 0\n    @hookimpl", 1
    )
    broken = variants.replace("class Variant:", "class Variant:\n    TURNS_ALTERNATE = False")
    assert (alternates(variants), alternates(variants + promise), alternates(broken + promise)) == (False, True, False)
    with pytest.raises(PluginError, match="TURNS_ALTERNATE is 1; expected True or False"):
        alternates(plain + "\nTURNS_ALTERNATE = 1")


def test_kernel_and_module_must_have_the_same_rules_version():
    @hookimpl
    def kernel():
        return load_game("quantik").kernel

    same, other = (types.SimpleNamespace(kernel=kernel, RULES_VERSION=version) for version in (1, 2))
    assert make_game(same).rules_version == 1
    with pytest.raises(PluginError, match="RULES_VERSION is 2, but the kernel's rules_version is 1"):
        make_game(other)


@pytest.mark.parametrize("code", ["subtraction", "variants"])
def test_a_table_of_other_code_of_an_installed_game_is_rejected(install, codes, code):
    install("stones", getattr(codes, code))
    assert solve("stones").exit_code == 0
    assert solve("show", "stones").exit_code == 0
    change(install, "(1, 2)", "(1, 2, 3)")
    for line in ("show", "stones"), ("stones",):
        reason = "was made before the code of stones changed: replace it with `solve stones --force`"
        assert_refused(solve(*line), 1, reason)


def test_a_game_with_a_rules_version_may_change_its_code(install, codes):
    install("stones", codes.subtraction + "\nRULES_VERSION = 1\n")
    assert solve("stones").exit_code == 0
    change(install, '"""Take one', '"""Please take one')
    assert solve("show", "stones").exit_code == 0
    change(install, "RULES_VERSION = 1", "RULES_VERSION = 2")
    assert_refused(solve("show", "stones"), 1, "version 1 of the rules of stones", "version 2")


def change(install, old: str, new: str) -> None:
    """Change the code of the installed game and forget the imported module."""
    (file,) = install.path.glob("*.py")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    sys.modules.pop(file.stem, None)
    shutil.rmtree(install.path / "__pycache__", ignore_errors=True)  # it may have the same time and size
    importlib.invalidate_caches()


# ---- hooks that misbehave ----


def test_output_of_a_plugin_does_not_mix_with_json(install, codes):
    loud = codes.variants.replace("@hookimpl\ndef", "print('imported')\n@hookimpl\ndef")
    for hook in ("options", "configure", "start", "status", "moves"):
        loud = re.sub(rf"(def {hook}\(.*\):) *\n? *", rf"\1 print('{hook} asked'); ", loud)
    install("nim", loud)
    commands = ("nim", "show nim", "line nim", "stats nim", "random nim 2", "verify nim", "rules nim", "check nim")
    for command in commands:
        done = solve(*command.split(), "--json")
        assert done.exit_code == 0, done.stderr
        json.loads(done.stdout)
        assert "options asked" in done.stderr
        assert "start asked" in done.stderr
    talk = solve("talk", "nim", input="5\n")
    assert json.loads(talk.stdout)["position"] == "5"
    assert {game["name"] for game in json.loads(solve("games", "--json").stdout)} >= {"nim", "gobblet"}


def late(code: str, hook: str, does: str, *, when: str = "position == 2") -> str:
    """Return the game with a hook that does something else in one position, after the game has been loaded."""
    found = re.search(rf"def {hook}\(.*\): ", code)
    assert found
    head, body = code[: found.end()], code[found.end() :]
    return f"import os, sys\n{head}\n    if {when}: {does}\n    {body}"


FAULTS = {"sys.exit(0)": "SystemExit: 0", "raise KeyError('late')": "KeyError: 'late'"}
RULES = ("moves", "apply", "status", "canonicalize")


@pytest.mark.parametrize("does", FAULTS)
@pytest.mark.parametrize("hook", RULES)
def test_a_hook_that_exits_or_raises_during_a_solve_is_named(install, codes, hook, does):
    """A hook that called sys.exit(0) once ended a solve silently with exit code 0."""
    install("bad", late(codes.subtraction, hook, does))
    reason = f"bad: hook '{hook}' raised {FAULTS[does]} in position 2"
    for command in (["bad"], ["bad", "--json"], ["prove", "bad", "--no-save"], ["plan", "bad"]):
        refused = solve(*command)
        assert refused.exit_code == 1, command
        assert refused.stdout == ""
        assert reason in refused.stderr.splitlines()[-1]
    checked = json.loads(solve("check", "bad", "--json").stdout)
    assert reason in next(law["breach"] for law in checked["laws"] if law["law"] == "hooks")
    assert "bad" in [game["name"] for game in json.loads(solve("games", "--json").stdout)]


@pytest.mark.parametrize("does", FAULTS)
@pytest.mark.parametrize("hook", ["moves", "apply", "canonicalize", "format_move", "mover"])
def test_a_hook_that_fails_after_the_solve_is_named(install, codes, monkeypatch, hook, does):
    more = "\n@hookimpl\ndef format_move(position, move): return str(move)\n"
    more += "\n@hookimpl\ndef mover(position): return position in (5, 6, 2, 3)\n"
    install("bad", late(codes.subtraction + more, hook, does, when="position == 2 and 'BROKEN' in os.environ"))
    assert solve("bad").exit_code == 0
    monkeypatch.setenv("BROKEN", "yes")
    for command in (["show", "bad", "2"], ["show", "bad", "2", "--json"], ["line", "bad", "2"]):
        refused = solve(*command)
        assert refused.exit_code == 1, command
        assert f"bad: hook '{hook}' raised {FAULTS[does]} in position 2" in refused.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("yield ('perft', 1.0, 'nodes/s'); sys.exit(0)", "raised SystemExit: 0"),
        ("yield ('perft', 1.0, 'nodes/s'); {}['late']", "raised KeyError: 'late'"),
        ("yield 'perft'", "returned 'perft': expected (name, rate, unit)"),
        ("return 5", "returned 5: expected an iterable of (name, rate, unit)"),
    ],
)
def test_errors_in_benchmarks_are_the_plugins(install, codes, body, reason):
    install("bad", f"import sys\n{codes.subtraction}\n@hookimpl\ndef benchmarks(): {body}\n")
    refused = solve("bench", "bad")
    assert refused.exit_code == 1
    assert refused.stderr.splitlines()[-1] == f"error: bad: hook 'benchmarks' {reason}"


def test_contradictory_rules_suggest_solve_check(install, codes):
    install("stones", codes.subtraction.replace("if position else Status.LOST", ""))
    reason = "'status' returned ONGOING in position 0, but hook 'moves' returned no move"
    assert_refused(solve("stones"), 1, reason, "; run `solve check stones`\n")


def test_a_move_to_an_invalid_position_is_the_plugins_fault(install, codes):
    install("stones", codes.subtraction.replace("position <= 7", "position != 2"))
    assert solve("stones").exit_code == 0
    assert_refused(solve("show", "stones", 3), 1, "no value for a move of position 3", "run `solve check stones`\n")


def test_an_error_in_an_invalid_position_names_the_real_mistake(codes):
    """The message was once that 2 is not a position, although the user had asked to solve the game."""
    broken = codes.subtraction.replace("position <= 7", "position != 2").replace(
        "if taken <= position]", "if taken <= position and 6 // (position - 2) < 9]"
    )
    game = make_game(codes.module_of(broken), name="stones")
    with pytest.raises(PluginError) as caught:
        solve_game(game, save=False)
    assert str(caught.value) == "stones: play leads to position 2, which hook 'valid' rejects; run `solve check stones`"


def test_rule_errors_of_the_engine_become_plugin_errors(codes):
    game = make_game(codes.module_of(codes.variants), name="nim", stones=5)
    error = translate_error(no_move_error(3), game)
    assert isinstance(error, PluginError)
    assert str(error).startswith("nim: position 3 is ONGOING but has no move")
    assert str(error).endswith("; run `solve check nim --stones 5`")
