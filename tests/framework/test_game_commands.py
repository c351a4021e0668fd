"""Commands on a game: which word is the game, its options, files, and how often a game is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfectplay.game.plugins import COMMANDS, RESERVED_NAMES
from perfectplay.web.library import Library

from .. import zoo
from ..cli import assert_refused, solve


def test_no_game_can_have_the_name_of_a_command():
    assert {*COMMANDS, "help"} == RESERVED_NAMES


def test_a_command_loads_its_game_once(install, codes, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    code = codes.variants.replace("def options():", "def options():\n    print('options called')")
    install("nim", code.replace('Variant(options["stones"]', 'Variant(print("configured") or options["stones"]'))
    output = solve("nim", "--no-save").output
    assert (output.count("configured"), output.count("options called")) == (1, 1)


def test_the_value_of_an_option_is_not_mistaken_for_the_game(install, codes, tmp_path, monkeypatch):
    """`play --load quantik gobblet` once took Quantik's options."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    install("nim", codes.variants)
    install("stones", codes.subtraction)
    assert solve("nim", "--stones", 5).exit_code == 0
    assert "stones: No such file or directory" in solve("play", "--load", "stones", "nim", "--stones", 5).output
    assert "stones.py: No such file or directory" in solve("play", "--load=stones.py", "nim", "--stones", 5).output
    for words in (["--stones", 5, "nim"], ["--json", "nim", "--stones=5"], ["--stones", 5, "--", "nim"]):
        assert solve("show", *words).exit_code == 0


def test_rules_are_printed(install, codes):
    about = '\nfrom perfectplay import About\n@hookimpl\ndef about(): return About("Stones", "Take one\\nor two.")\n'
    install("stones", codes.subtraction + about)
    assert solve("rules", "stones").output == "Stones\nFirst against Second\n\nTake one or two.\n"
    assert "Stones" in solve("games").output


# ---- games in a file ----


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_needs_no_installation_and_its_tables_are_beside_it(codes, folder):
    (folder / "nim.py").write_text(codes.variants)
    assert "checks passed" in solve("check", "./nim.py", "--stones", 9).output
    solved = solve("./nim.py", "--stones", 9)
    assert "Second player wins in 6 plies" in solved.output
    assert "`solve show nim.py" in solved.output
    assert [path.name for path in (folder / "nim.tables").iterdir()] == ["nim-last=wins-quick-end=no-stones=9"]
    assert "wins in 5 plies" in solve("show", "nim.py", 8, "--stones", 9).output
    library = Library(files=["nim.py"])
    assert library.get("nim-last=wins-quick-end=no-stones=7") is not None
    library.close()


def test_a_failed_solve_leaves_nothing_beside_the_file(codes, folder):
    (folder / "mygame.py").write_text(codes.subtraction.replace("return position - move", "return 1 // 0"))
    assert "hook 'apply' raised ZeroDivisionError" in solve("mygame.py").stderr
    assert [path.name for path in folder.iterdir() if path.name != "__pycache__"] == ["mygame.py"]


def test_a_table_of_a_file_that_has_changed_is_refused(codes, folder):
    (folder / "stones.py").write_text(codes.subtraction)
    assert solve("stones.py").exit_code == 0
    (folder / "stones.py").write_text(codes.subtraction.replace("(1, 2)", "(1, 2, 3)"))
    assert_refused(solve("show", "stones.py"), 1, "stones.py changed", "`solve stones.py`")
    assert solve("stones.py").exit_code == 0
    assert "wins in" in solve("show", "stones.py").output


@pytest.mark.parametrize(
    ("file", "text", "code", "words"),
    [
        ("none.py", None, 2, ["none.py"]),
        ("Big.py", "", 2, ["'Big'"]),
        ("check.py", "", 2, ["built-in command"]),
        ("empty.py", "", 1, ["'start', 'moves', 'apply', 'status'"]),
        ("broken.py", "\n1 / 0\n", 1, ["broken.py, line 2"]),
        ("leaves.py", "\nimport sys\nsys.exit()\n", 1, ["SystemExit", "leaves.py, line 3"]),
    ],
)
@pytest.mark.parametrize("command", [["check"], []])
def test_a_file_without_a_game_is_refused_in_one_line(folder, command, file, text, code, words):
    if text is not None:
        (folder / file).write_text(text)
    assert_refused(solve(*command, file), code, *words)


HANGING_OPTIONS = """
from perfectplay import hookimpl
@hookimpl
def options():
    while True: pass
@hookimpl
def configure(options): pass
"""


ENDLESS_THREAD = "import threading, time; threading.Thread(target=time.sleep, args=[99]).start()\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("while True: pass", ["2 seconds", "loaded"]),
        ("import os; os.abort()", ["SIGABRT", "loaded"]),
        ("import os; os._exit(0)", ["exit code 0", "loaded"]),
        ("raise KeyboardInterrupt", ["KeyboardInterrupt"]),
        ("class Odd(BaseException): pass\nraise Odd('odd')", ["Odd"]),
        ("import os; os.kill(os.getpid(), 11)", ["crashed with SIGSEGV", "loaded"]),
        (ENDLESS_THREAD + zoo.read("subtraction"), ["starts a thread", "that keeps running"]),
        (HANGING_OPTIONS, ["hook 'options'", "2 seconds"]),
        (HANGING_OPTIONS.replace("while True: pass", "import os; os.abort()"), ["hook 'options'", "SIGABRT"]),
    ],
)
def test_check_survives_a_file_that_hangs_or_crashes_when_it_is_loaded(folder, monkeypatch, text, words):
    """The file once ran in the main process, before the sandbox was started."""
    monkeypatch.setattr("perfectplay.testing.sandbox.PATIENCE", 2)
    (folder / "mygame.py").write_text(text)
    assert_refused(solve("check", "./mygame.py"), 1, "error: mygame: ", *words)


def test_check_leaves_nothing_behind(run_solve, tmp_path):
    checked = run_solve("check", "kalah", "--seconds", "0", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert not any(law["breach"] for law in json.loads(checked.stdout)["laws"])
    assert not list(tmp_path.iterdir())
