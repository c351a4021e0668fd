"""What the author of a plugin runs into: names and options that are taken, rules that change, hooks that misbehave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from perfectplay.cli import root


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch) -> Path:
    """An empty place for tables, and for whatever else is written."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(place))
    monkeypatch.chdir(place)
    return place


def solve(*words: str) -> Result:
    return CliRunner().invoke(root, list(words))


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
