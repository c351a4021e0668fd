"""Commands on a game: which word is the game, whose options they take, and how often it is loaded."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from perfectplay.cli import root
from perfectplay.commands import COMMANDS
from perfectplay.game.plugins import RESERVED_NAMES
from perfectplay.web.library import Library


def test_every_command_is_a_reserved_name():
    assert {*COMMANDS, "help"} == RESERVED_NAMES


def test_a_command_loads_its_game_once(install, codes, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    code = codes.variants.replace("def options():", "def options():\n    print('options asked')")
    install("nim", code.replace('Variant(options["stones"]', 'Variant(print("made") or options["stones"]'))
    printed = CliRunner().invoke(root, ["nim", "--no-save"]).output
    assert printed.count("made") == 1
    assert printed.count("options asked") == 1


def test_the_value_of_an_option_is_not_taken_for_the_game(install, codes, tmp_path, monkeypatch):
    """`play --load quantik gobblet` once took Quantik's options."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    install("nim", codes.variants)
    install("stones", codes.subtraction)
    assert CliRunner().invoke(root, ["nim", "--stones", "5"]).exit_code == 0
    played = CliRunner().invoke(root, ["play", "--load", "stones", "nim", "--stones", "5"])
    assert "stones: No such file or directory" in played.output


def test_a_file_need_not_be_installed_and_its_tables_lie_beside_it(codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "nim.py"
    file.write_text(codes.variants)
    assert "keeps all" in CliRunner().invoke(root, ["check", "./nim.py", "--stones", "9"]).output
    solved = CliRunner().invoke(root, ["./nim.py", "--stones", "9"])
    assert "Second player wins in 6 plies" in solved.output
    assert "Try `solve show nim.py" in solved.output
    assert [path.name for path in (tmp_path / "nim.tables").iterdir()] == ["nim-last=wins-quick-end=no-stones=9"]
    shown = CliRunner().invoke(root, ["show", "nim.py", "8", "--stones", "9"])
    assert "wins in 5 plies" in shown.output
    library = Library(files=["nim.py"])
    assert library.get("nim-last=wins-quick-end=no-stones=7") is not None
    library.close()


def test_a_solve_that_fails_leaves_nothing_beside_the_file(codes, tmp_path):
    file = tmp_path / "mygame.py"
    file.write_text(codes.subtraction.replace("return position - move", "return 1 // 0"))
    refused = CliRunner().invoke(root, [str(file)])
    assert "hook 'apply' raised ZeroDivisionError" in refused.stderr
    assert [each.name for each in tmp_path.iterdir() if each.name != "__pycache__"] == ["mygame.py"]


def test_a_table_of_a_file_that_has_changed_is_not_believed(codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "stones.py"
    file.write_text(codes.subtraction)
    assert CliRunner().invoke(root, ["stones.py"]).exit_code == 0
    file.write_text(codes.subtraction.replace("(1, 2)", "(1, 2, 3)"))
    refused = CliRunner().invoke(root, ["show", "stones.py"])
    assert refused.exit_code == 1
    assert "was made before stones.py changed: run `solve stones.py` again" in refused.stderr
    assert CliRunner().invoke(root, ["stones.py"]).exit_code == 0
    assert "wins in" in CliRunner().invoke(root, ["show", "stones.py"]).output


def test_rules_are_told(install, codes):
    about = '\nfrom perfectplay import About\n@hookimpl\ndef about(): return About("Stones", "Take one\\nor two.")\n'
    install("stones", codes.subtraction + about)
    told = CliRunner().invoke(root, ["rules", "stones"]).output
    assert told == "Stones\nFirst against Second\n\nTake one or two.\n"
    assert "Stones" in CliRunner().invoke(root, ["games"]).output


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("none.py", None, "there is no file none.py"),
        ("Big.py", "", "a game cannot be named 'Big'"),
        ("check.py", "", "built-in command"),
        ("empty.py", "", "missing 'start', 'moves', 'apply', 'status'"),
        ("broken.py", "\n1 / 0\n", "broken.py, line 2"),
    ],
)
def test_a_file_that_is_no_game_is_refused_in_one_line(tmp_path, monkeypatch, file, text, message):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / file).write_text(text)
    for line in (["check", file], [file]):
        refused = CliRunner().invoke(root, line)
        assert refused.exit_code in (1, 2)
        assert message in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_check_leaves_nothing_behind(run_solve, tmp_path):
    checked = run_solve("check", "kalah", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert not list(tmp_path.iterdir())
