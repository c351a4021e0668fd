"""Commands on a game: which word is the game, whose options they take, and how often it is loaded."""

from __future__ import annotations

from click.testing import CliRunner

from perfectplay.cli import root
from perfectplay.cli.root import COMMANDS
from perfectplay.plugins import RESERVED_NAMES


def test_every_command_is_a_reserved_name():
    assert {*COMMANDS, "help"} == RESERVED_NAMES


def test_a_command_loads_its_game_once(install, codes, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    code = codes.variants.replace("def options():", "def options():\n    print('options asked')")
    install("nim", code.replace('Variant(options["stones"]', 'Variant(print("made") or options["stones"]'))
    printed = CliRunner().invoke(root, ["nim", "--no-save"]).output
    assert printed.count("made") == 1
    assert printed.count("options asked") == 2  # once for the command line, once for the variant


def test_the_value_of_an_option_is_not_taken_for_the_game(install, codes, tmp_path, monkeypatch):
    """`play --load quantik gobblet` once took Quantik's options."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    install("nim", codes.variants)
    install("stones", codes.subtraction)
    assert CliRunner().invoke(root, ["nim", "--stones", "5"]).exit_code == 0
    played = CliRunner().invoke(root, ["play", "--load", "stones", "nim", "--stones", "5"])
    assert "stones: No such file or directory" in played.output
