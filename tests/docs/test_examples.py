"""Example plugins and new projects are built, installed with pip, checked, solved and removed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = {"tictactoe", "mutorere", "tapatan", "teeko"}


def games(fresh) -> dict[str, dict]:
    return {game["name"]: game for game in json.loads(fresh.run("solve games --json"))}


@pytest.fixture(scope="module")
def examples(fresh):
    """The fresh environment with the examples installed; the last test uninstalls them."""
    assert not EXAMPLES & games(fresh).keys()
    fresh.run(f"pip install --no-build-isolation {' '.join(f'./examples/{name}' for name in sorted(EXAMPLES))}")
    return fresh


def test_new_projects_pass_their_own_tests_and_lint_unchanged(fresh):
    names, printed = ("first-try", "quick", "placing", "quick-placing"), {}
    for name, options in zip(names, ("", "--c", "--indexed", "--c --indexed"), strict=True):
        advice = re.findall(r"^    (.*)$", fresh.run(f"solve new {name} {options}"), re.MULTILINE)
        assert advice[0].startswith("pip install")
        printed |= {command: fresh.run(command) for command in advice}
    assert "already exists" in fresh.run("mkdir taken && solve new taken", code=2)
    assert "built-in command" in fresh.run("solve new verify", code=2)
    assert "lower-case letters" in fresh.run("solve new Chess", code=2)
    listed = games(fresh)
    for name in names:
        assert listed[name]["kind"] == ("C kernel" if name.startswith("quick") else "Python, compiled")
        assert "passed" in fresh.run(f"cd {name} && pytest -q -p no:cacheprovider")
        assert f"{name}: all " in printed[f"solve check {name}"]
        indexed, solved = name.endswith("placing"), printed[f"solve {name}"]
        assert ("draw in 9 plies" if indexed else "second player wins in 6 plies") in solved.lower()
        assert ("index             declared" in solved) == indexed
    for lint in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *lint, *(str(fresh.work / name) for name in names)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "most"), [("tictactoe", 60), ("teeko", 120)])
def test_an_example_is_short(name, most):
    """Teeko has an index."""
    assert len((ROOT / f"docs/examples/{name}/perfectplay_{name}/plugin.py").read_text().splitlines()) <= most


def test_installed_examples_are_listed_and_pass_their_checks(examples):
    assert games(examples)["tictactoe"]["kind"] == "Python, compiled"
    for name in EXAMPLES:
        assert "passed" in examples.run(f"cd examples/{name} && pytest -q -p no:cacheprovider")


def test_an_uninstalled_game_is_gone(examples):
    examples.run(f"pip uninstall -y {' '.join(f'perfectplay-{name}' for name in sorted(EXAMPLES))}")
    assert not EXAMPLES & games(examples).keys()
    assert "unknown game 'tictactoe'" in examples.run("solve tictactoe", code=2)
