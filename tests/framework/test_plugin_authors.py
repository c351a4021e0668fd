"""What the author of a plugin runs into: names and options that are taken, rules that change, hooks that misbehave."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from perfectplay.cli import root
from perfectplay.cli.common import GameCommand
from perfectplay.cli.root import COMMANDS
from perfectplay.cli.solve import solve_command


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch) -> Path:
    """An empty place for tables, and for whatever else is written."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(place))
    monkeypatch.chdir(place)
    return place


def solve(*words: str) -> Result:
    return CliRunner().invoke(root, list(words), prog_name="solve")


# ---- names ----


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gobblet", "there is a game 'gobblet' already, from perfectplay"),
        ("stones", "there is a game 'stones' already, from try-stones 1.0"),
        ("native", "there is a package 'perfectplay_native' already"),  # the engine itself
    ],
)
def test_a_new_game_cannot_replace_what_is_installed(install, codes, tables, monkeypatch, name, reason):
    install("stones", codes.subtraction)
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "quantik")  # what is left out is installed all the same
    refused = solve("new", name)
    assert refused.exit_code == 2
    assert reason in refused.stderr
    assert not any(tables.iterdir())


def test_nobody_is_told_to_uninstall_perfectplay(install, codes):
    install("gobblet", codes.subtraction, package="mine")
    refused = solve("gobblet")
    assert refused.exit_code == 1
    assert "mine 1.0" in refused.stderr
    assert "both bring a game of this name; rename or uninstall your plugin" in refused.stderr


# ---- options ----


def own_options() -> list[tuple[str, str]]:
    """Every long option of every command on a game, and the command."""
    context = click.Context(root, info_name="solve")
    found = {name: root.get_command(context, name) for name in COMMANDS}
    return [
        (word.removeprefix("--"), name)
        for name, command in {"nim": solve_command("nim"), **found}.items()
        if isinstance(command, GameCommand)
        for param in [*command.params, click.Option(["--help"])]
        for word in (*param.opts, *param.secondary_opts)
        if word.startswith("--") and not word.startswith("--no-")
    ]


@pytest.mark.parametrize(("option", "command"), own_options())
def test_a_game_cannot_take_an_option_of_any_command(install, codes, option, command):
    """A game's option `limit` once hid that of `export`."""
    install("nim", codes.variants.replace('"stones"', f'"{option}"'))
    refused = solve(command) if command == "nim" else solve(command, "nim")
    assert refused.exit_code == 1
    assert f"nim: its option '{option}' is taken: `solve {command}` has a --{option} of its own" in refused.stderr
    assert f"nim: its option '{option}' is taken: `solve " in solve("check", "nim").stderr


def test_a_flag_cannot_be_turned_off_by_what_a_command_has(install, codes):
    install("nim", codes.variants.replace('Option("quick-end"', 'Option("save"'))
    assert "has a --no-save of its own" in solve("nim").stderr
    assert solve("rules", "nim").exit_code == 0  # which has no such option
