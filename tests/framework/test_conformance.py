"""The conformance kit: good games pass, and every mistake an author makes has its own sentence."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from perfectplay import hookimpl, load_game, make_game
from perfectplay.cli import _app as root
from perfectplay.errors import PluginError
from perfectplay.testing import BrokenLaws, check_game, law_names, run_checks
from perfectplay.values import Status


def breaches(game) -> dict[str, str]:
    return {result.law: result.breach for result in run_checks(game) if result.breach}


def breaches_of(codes, *changes: tuple[str, str]) -> dict[str, str]:
    """What tic-tac-toe breaks after some changes to its source."""
    code = codes.tic_tac_toe
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    return breaches(make_game(codes.module_of(code), name="tictactoe"))


@pytest.mark.parametrize("name", ["subtraction", "tic_tac_toe"])
def test_good_games_keep_every_law(request, name):
    check_game(request.getfixturevalue(name))


def test_a_kernel_in_c_with_a_perfect_index_keeps_every_law():
    results = {result.law: result for result in run_checks(load_game("gobblet"))}
    assert all(result.breach is None for result in results.values())
    assert all(results[law].applies for law in ("kernel", "rank", "retract", "tiers", "board"))


MISTAKES = {
    "undo wrong": (
        ("def undo(position, move): return position -", "def undo(position, move): return position + 0 *"),
        "undo",
        r"undo\(apply\(p, m\), m\) must be p: from position \.{9} \(0\), move 0 leads to 1, and 'undo' takes that back"
        r" to 1; a move must say everything",
    ),
    "canonical not idempotent": (
        ("return min(images)", "return images[0]"),
        "canonical",
        "it must choose one position of each kind and then keep it",
    ),
    "asymmetric symmetry": (
        ("TURN = [6, 3, 0, 7, 4, 1, 8, 5, 2]", "TURN = [3, 0, 1, 6, 4, 2, 7, 8, 5]"),
        "symmetry",
        r"'canonicalize' calls position .* the same as position .*, but",
    ),
    "only some images tried": (
        ("for step in range(8)", "for step in range(3)"),
        "canonical",
        "for example the smallest of all images",
    ),
    "moves on a finished game": (
        ("    if status(position) is not Status.ONGOING:\n        return []\n", ""),
        "status",
        r"'status' says LOST in position .*, but 'moves' still lists \d moves: return none when the game is over",
    ),
    "stuck but ongoing": (
        ("else Status.DRAWN", "else Status.ONGOING"),
        "status",
        "'status' says ONGOING in position .*, but there is no move: say what being stuck means, LOST, DRAWN or WON",
    ),
    "tier going back": (
        (
            "@hookimpl\ndef start",
            "@hookimpl\ndef tier(position): return cells(position).count(0)\n\n@hookimpl\ndef start",
        ),
        "tiers",
        r"tiers must never go back: move 0 leads from position \.{9} \(0\) in tier 9 to .* in tier 8; number tiers so",
    ),
    "a move twice": (
        ("return [cell for cell, owner", "return [0] * (position == 0) + [cell for cell, owner"),
        "moves",
        r"'moves' lists move 0 twice in position \.{9} \(0\): list each legal move once",
    ),
    "two moves of one text": (
        ('NAMES = [column + row for row in "321" for column in "abc"]', 'NAMES = ["a1"] * 9'),
        "moves",
        "give each move of a position a text of its own",
    ),
    "a text for two positions": (
        ('".XO"[owner] for owner', '".XX"[owner] for owner'),
        "text",
        "every position needs a text of its own, that 'encode' reads back",
    ),
    "a position over 64 bits": (
        ("* 3**move", "* 3**move << 64"),
        "hooks",
        r"tictactoe: hook 'apply' returned \d+ in position 0: a position must fit 64 bits",
    ),
    "an exception inside a hook": (
        ("    images, board = [], cells(position)", "    images, board = [], cells(position); 1 // (position - 5)"),
        "hooks",
        "tictactoe: hook 'canonicalize' raised ZeroDivisionError: .* in position 5",
    ),
    "an illegal move": (
        ("def valid(position): return position < 3**9", "def valid(position): return position < 3**8"),
        "encoding",
        r"move 8 leads from position \.{9} \(0\) to 6561, which 'valid' refuses: list only legal moves",
    ),
    "a valid that raises": (
        ("def valid(position): return", "def valid(position):\n    assert position < 2**60\n    return"),
        "hooks",
        "hook 'valid' raised AssertionError in position",
    ),
    "clicks that are no moves": (
        ("for move in moves(position))", "for move in moves(position)[1:])"),
        "board",
        "must have one click for each legal move",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_has_its_own_message(codes, mistake):
    change, law, message = MISTAKES[mistake]
    found = breaches_of(codes, change)
    assert law in found, found
    assert re.search(message, found[law]), found[law]


def test_missing_and_misspelt_hooks_are_named_before_any_law_is_tried(codes):
    with pytest.raises(PluginError, match="missing 'apply'"):
        check_game(codes.module_of(codes.subtraction.replace("@hookimpl\ndef apply", "def apply")))
    with pytest.raises(PluginError, match="did you mean 'canonicalize'"):
        check_game(codes.module_of(codes.subtraction.replace("canonicalize", "canonicalise")))


class Counter:
    """A game that counts its moves, for ever."""

    @hookimpl
    def start(self):
        return 0

    @hookimpl
    def moves(self, position):
        return [1]

    @hookimpl
    def apply(self, position, move):
        return position + 1

    @hookimpl
    def undo(self, position, move):
        return position - 1

    @hookimpl
    def canonicalize(self, position):
        return position

    @hookimpl
    def status(self, position):
        return Status.ONGOING


def test_an_endless_position_space_is_found():
    found = breaches(make_game(Counter()))
    assert list(found) == ["finite"]
    assert "after 16,384 moves play had neither ended nor come back" in found["finite"]
    assert "Leave out whatever the rest of the game does not depend on" in found["finite"]


class Walk:
    """Steps left and right on a ring of ten; `parents` may be wrong in either way."""

    def __init__(self, parents):
        self.wrong = parents

    @hookimpl
    def start(self):
        return 0

    @hookimpl
    def moves(self, position):
        return [1, 9]

    @hookimpl
    def apply(self, position, move):
        return (position + move) % 10

    @hookimpl
    def undo(self, position, move):
        return (position - move) % 10

    @hookimpl
    def canonicalize(self, position):
        return position

    @hookimpl
    def status(self, position):
        return Status.ONGOING

    @hookimpl
    def parents(self, position):
        return self.wrong(position)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        (lambda p: [(p + 1) % 10, (p - 1) % 10], None),
        (lambda p: [(p + 1) % 10], "'parents' of the latter does not list the former"),
        (lambda p: [(p + 1) % 10, (p - 1) % 10, (p + 5) % 10], "but no move leads from there to it"),
    ],
)
def test_parents_must_be_the_converse_of_moves(parents, message):
    found = breaches(make_game(Walk(parents)))
    assert list(found) == ([] if message is None else ["parents"])
    if message is not None:
        assert message in found["parents"]


class Ladder(Counter):
    """Climb one to nine rungs at a time. Going back from rung 200 or higher ends on the wrong rung."""

    @hookimpl
    def moves(self, position):
        return list(range(1, 10)) if position < 300 else []

    @hookimpl
    def apply(self, position, move):
        return position + move

    @hookimpl
    def undo(self, position, move):
        return position - move + (position >= 200)

    @hookimpl
    def status(self, position):
        return Status.ONGOING if position < 300 else Status.LOST


def test_a_mistake_deep_in_the_game_is_found_in_playouts_and_shown_where_it_begins():
    found = breaches(make_game(Ladder()))  # 150 positions are tried one by one, so playouts must find it
    assert list(found) == ["undo"]
    first = re.search(r"from position (\d+), move (\d+)", found["undo"])
    assert first is not None
    assert int(first[1]) < 200 <= int(first[1]) + int(first[2])


def test_all_broken_laws_are_reported_together(codes):
    code = codes.tic_tac_toe.replace("return min(images)", "return images[0]")
    code = code.replace("else Status.DRAWN", "else Status.ONGOING")
    with pytest.raises(BrokenLaws) as caught:
        check_game(codes.module_of(code))
    assert "canonical:" in str(caught.value)
    assert "status:" in str(caught.value)


def test_solve_check_prints_the_laws_and_exits_with_1_if_one_is_broken(install, codes):
    install("good", codes.tic_tac_toe)
    install("bad", codes.tic_tac_toe.replace("return min(images)", "return images[0]"))
    good = CliRunner().invoke(root, ["check", "good"])
    assert good.exit_code == 0
    assert "good: keeps all 12 laws that apply to it" in good.output
    bad = CliRunner().invoke(root, ["check", "bad"])
    assert bad.exit_code == 1
    width = max(map(len, law_names()))
    assert f"\n✗ {'canonical':<{width}}  'canonicalize' turns position" in bad.output
    as_json = CliRunner().invoke(root, ["check", "bad", "--json"])
    broken = [law["law"] for law in json.loads(as_json.output)["laws"] if law["breach"]]
    assert as_json.exit_code == 1
    assert "canonical" in broken


def test_with_pytest_a_game_is_tested_in_three_lines(tmp_path, codes):
    (tmp_path / "good_game.py").write_text(codes.tic_tac_toe)
    (tmp_path / "bad_game.py").write_text(codes.tic_tac_toe.replace("return min(images)", "return images[0]"))
    for name in ("good", "bad"):
        test = f"import {name}_game as GAME\ndef test_law(game_law):\n    game_law()\n"
        (tmp_path / f"test_{name}.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-rf", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "FAILED test_bad.py::test_law[canonical] - Failed: 'canonicalize' turns" in done.stdout
    assert "FAILED test_good.py" not in done.stdout
    assert "Traceback" not in done.stdout


def test_laws_have_names_of_their_own():
    assert len(law_names()) == len(set(law_names())) == 22
