"""The entry points of the conformance kit: `check_game`, `solve check` and the pytest plugin.

The messages for single mistakes are tested in test_seeded_mistakes.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from perfectplay import load_game
from perfectplay.testing import BrokenLaws, Effort, check_game, law_names, laws, run_checks
from perfectplay.values import Status

from .. import zoo
from ..cli import solve
from .seeded import quick_checks, report_plugin


def not_idempotent(code: str) -> str:
    return zoo.change(code, {"return min(images)": "return images[0]"})


@pytest.mark.parametrize("name", ["subtraction", "tic_tac_toe"])
def test_correct_games_pass(request, name):
    check_game(request.getfixturevalue(name))


def test_a_kernel_with_an_index_passes():
    with quick_checks():
        results = {result.law: result for result in run_checks(load_game("gobblet"), Effort(seconds=1)).results}
    assert all(result.breach is None for result in results.values())
    assert all(results[law].applies for law in ("functions", "rank", "retract", "tiers", "board"))


def test_an_endless_game_is_reported(monkeypatch):
    monkeypatch.setattr(laws, "MAX_SECONDS", 300)  # a busy machine would stop earlier
    found = report_plugin(
        zoo.module_of(
            start=lambda: 0,
            moves=lambda position: [1],
            apply=lambda position, move: position + 1,
            status=lambda position: Status.ONGOING,
            mover=lambda position: position % 2,
        )
    )
    assert list(found) == ["finite"]
    assert "after 16,384 moves, a game has neither ended nor repeated a position" in found["finite"]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((1, 9), None),
        ((1,), "'parents' of the second does not list the first"),
        ((1, 9, 5), "no move leads from there"),
    ],
)
def test_parents_must_be_the_inverse_of_moves(steps, message):
    """Steps to the left and right on a ring of ten places."""
    found = report_plugin(
        zoo.module_of(
            start=lambda: 0,
            moves=lambda position: [1, 9],
            apply=lambda position, move: (position + move) % 10,
            status=lambda position: Status.ONGOING,
            parents=lambda position: [(position + step) % 10 for step in steps],
        )
    )
    found.pop("turns", None)  # a hint, if there is no breach
    assert list(found) == ([] if message is None else ["parents"])
    assert message is None or message in found["parents"]


def test_a_mistake_deep_in_the_game_is_shown_where_it_begins():
    """Climb 1 to 9 of 300 rungs per move. `undo` is wrong from rung 200; only playouts reach it."""
    found = report_plugin(
        zoo.module_of(
            start=lambda: 0,
            moves=lambda position: list(range(1, 10)) if position < 300 else [],
            apply=lambda position, move: position + move,
            undo=lambda position, move: position - move + (position >= 200),
            status=lambda position: Status.ONGOING if position < 300 else Status.LOST,
        )
    )
    assert list(found) == ["undo"]
    numbers = re.search(r"move (\d+) leads from position (\d+) ", found["undo"])
    assert numbers is not None
    assert int(numbers[2]) < 200 <= int(numbers[1]) + int(numbers[2])


def test_all_broken_laws_are_reported_together(codes):
    code = zoo.change(not_idempotent(codes.tic_tac_toe), {"else Status.DRAWN": "else Status.ONGOING"})
    with pytest.raises(BrokenLaws) as caught:
        check_game(codes.module_of(code))
    assert "canonical:" in str(caught.value)
    assert "status:" in str(caught.value)


def test_solve_check_prints_the_results_and_exits_with_1_after_a_breach(install, codes):
    install("good", codes.tic_tac_toe)
    install("bad", not_idempotent(codes.tic_tac_toe))
    good = solve("check", "good", "--seconds", 0.3)
    assert good.exit_code == 0
    assert "good: all 13 applicable checks passed" in good.output
    bad = solve("check", "bad", "--seconds", 0.3)
    assert bad.exit_code == 1
    width = max(map(len, law_names()))
    assert f"\n✗ {'canonical':<{width}}  'canonicalize' maps position" in bad.output
    as_json = solve("check", "bad", "--seconds", 0.3, "--json")
    assert as_json.exit_code == 1
    assert "canonical" in [law["law"] for law in json.loads(as_json.output)["laws"] if law["breach"]]


def test_with_pytest_a_game_is_tested_in_three_lines(tmp_path, codes):
    (tmp_path / "good_game.py").write_text(codes.tic_tac_toe)
    (tmp_path / "bad_game.py").write_text(not_idempotent(codes.tic_tac_toe))
    for name in ("good", "bad"):
        test = f"import {name}_game as GAME\ndef test_law(game_law):\n    game_law()\n"
        (tmp_path / f"test_{name}.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-rf", "-p", "no:cacheprovider", "-p", "no:schemathesis", str(tmp_path)]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 1
    assert "FAILED test_bad.py::test_law[canonical] - Failed: 'canonicalize' maps" in process.stdout
    assert "FAILED test_good.py" not in process.stdout
    assert "Traceback" not in process.stdout


def test_the_pytest_plugin_does_not_load_the_engine():
    program = (
        "import sys, perfectplay.testing.pytest_plugin\n"
        "assert not {'hypothesis', 'numpy', 'perfectplay.testing.laws', 'perfectplay_native'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_names_of_the_laws_are_distinct():
    assert len(law_names()) == len(set(law_names())) == 25
