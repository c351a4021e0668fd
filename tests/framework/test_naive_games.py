"""Games with typical mistakes of beginners: `solve check` finds each and suggests a correction."""

from __future__ import annotations

import re

import pytest

from perfectplay import load_game, make_game, solve_game
from perfectplay.errors import PluginError
from perfectplay.testing import Effort, check_game, run_checks

from .. import zoo

STONES = zoo.read("subtraction", {"return 7": "return 20", "<= 7": "<= 20", "(1, 2)": "(1, 2, 3)"})

TUPLES = """
from perfectplay import Status, hookimpl

@hookimpl
def start(): return (0,) * 9

@hookimpl
def moves(position): return [cell for cell in range(9) if position[cell] == 0]

@hookimpl
def apply(position, move): return position[:move] + (1,) + position[move + 1:]

@hookimpl
def status(position): return Status.ONGOING if 0 in position else Status.DRAWN
"""

TIC_TAC_TOE = """
from perfectplay import Status, hookimpl

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
turn = 0

def board_of(position): return tuple(position // 3**cell % 3 for cell in range(9))
def number_of(board): return sum(owner * 3**cell for cell, owner in enumerate(board))
def owner(board): return 1 + sum(map(bool, board)) % 2

@hookimpl
def start(): return 0

@hookimpl
def moves(position):
    if status(position) is not Status.ONGOING:
        return []
    return [cell for cell, owner in enumerate(board_of(position)) if owner == 0]

@hookimpl
def apply(position, move):
    board = board_of(position)
    return number_of(board[:move] + (owner(board),) + board[move + 1:])

@hookimpl
def status(position):
    board = board_of(position)
    if any(board[a] == board[b] == board[c] != 0 for a, b, c in LINES):
        return Status.LOST
    return Status.ONGOING if 0 in board else Status.DRAWN
"""

NUMBERED = """
BOARDS = [(0,) * 9]

def board_of(position): return BOARDS[position]
def number_of(board):
    if board not in BOARDS:
        BOARDS.append(board)
    return BOARDS.index(board)
"""

HEXAPAWN = zoo.read("hexapawn")
STUCK = "Status.LOST if has_arrived(position) or not moves(position) else"

JUGS = zoo.read("jugs")
NAIVE = {
    "positions are tuples": (TUPLES, {}, "load", "a position is an int; `Grid` and `Fields` in perfectplay.authoring"),
    "a set of moves": (
        STONES,
        {"[taken for": "{taken for", "position]": "position}"},
        "load",
        "expected a list of moves",
    ),
    "dice": (
        STONES,
        {"(1, 2, 3)": "__import__('random').sample((1, 2, 3), 2)"},
        "pure",
        "depend only on its arguments",
    ),
    "the winner is WON": (
        STONES,
        {"Status.LOST": "Status.WON"},
        "status",
        "if the player who has just moved wins, return LOST",
    ),
    "a global turn": (
        TIC_TAC_TOE,
        {
            "def apply(position, move):\n": "def apply(position, move):\n    global turn\n    turn = 1 - turn\n",
            "(owner(board),)": "(1 + turn,)",
        },
        "pure",
        "depend only on its arguments",
    ),
    "positions are numbered as they are met": (
        TIC_TAC_TOE.replace(
            "def board_of(position): return tuple(position // 3**cell % 3 for cell in range(9))\n", ""
        ).replace("def number_of(board): return sum(owner * 3**cell for cell, owner in enumerate(board))\n", NUMBERED),
        {},
        "pure",
        "in a new process, .* numbered in the order in which they occur",
    ),
    "a board beyond 64 bits": (TIC_TAC_TOE, {"range(9)": "range(49)"}, "hooks", "a position must fit 64 bits"),
    "nothing about being stuck": (HEXAPAWN, {}, "status", "but there is no move; return LOST, DRAWN or WON"),
    "the turn is no part of the text": (
        HEXAPAWN.replace("Status.LOST if has_arrived(position) else", STUCK)
        + "\n@hookimpl\ndef decode(position): return ''.join('.WB'[owner] for owner in board_of(position))\n"
        + "\n@hookimpl\ndef encode(text): return pack(['.WB'.index(letter) for letter in text], 0)\n",
        {},
        "text",
        "every position a different text",
    ),
    "the turn is no part of what is the same": (
        HEXAPAWN.replace("Status.LOST if has_arrived(position) else", STUCK)
        + "\n@hookimpl\ndef canonicalize(position): return position % 3**9\n",
        {},
        "symmetry",
        "they are not symmetric|must preserve it",
    ),
    "players are 1 and 2": (
        HEXAPAWN.replace("Status.LOST if has_arrived(position) else", STUCK)
        + "\n@hookimpl\ndef mover(position): return 1 + turn(position)\n",
        {},
        "hooks",
        r"0 \(first player\) or 1 \(second player\)",
    ),
    "WON is a win for the first player": (
        TIC_TAC_TOE,
        {"        return Status.LOST": "        return Status.WON if sum(map(bool, board)) % 2 else Status.LOST"},
        "status",
        "Second wins in all that were found; return the status for the player who would move next",
    ),
    "a pass that nothing shows": (
        HEXAPAWN.replace("Status.LOST if has_arrived(position) else", STUCK),
        {
            "    return found\n": "    return found or ([] if has_arrived(position) else [99])\n",
            "    board = board_of(position)\n    source": "    if move == 99: return position\n"
            "    board = board_of(position)\n    source",
        },
        "moves",
        "does not change the position; if it passes the turn, the player to move must be part of the position",
    ),
    "a hook that is not marked": (
        STONES + "\ndef mover(position): return position % 2\n",
        {},
        "hooks",
        "'mover' has the name of a hook, .* lacks @hookimpl",
    ),
    "another start each time": (
        "from itertools import count\nGAMES = count()\n" + STONES,
        {"def start(): return 20": "def start(): return 20 + next(GAMES) % 2"},
        "pure",
        "the result for start changed from 2[01] to 2[01]",
    ),
    "a puzzle of two": (JUGS, {}, "turns", "if one player plays alone, return one name from 'players'"),
}


CELLS_OF_A_SET = """
ORDER = {name: place for place, name in enumerate({f"{column}{row}" for column in "abc" for row in "123"})}
PLACES = [ORDER[f"{column}{row}"] for row in "123" for column in "abc"]
"""
LEFT_AND_RIGHT = """
@hookimpl
def canonicalize(position):
    board = board_of(position)
    mirrored = tuple(board[cell] for cell in (2, 1, 0, 5, 4, 3, 8, 7, 6))
    return number_of(min(board, mirrored, key=lambda image: hash("".join(".XO"[owner] for owner in image))))
"""
SETTINGS = """
from perfectplay import Option

@hookimpl
def options(): return [Option("most", 3, "stones that may be taken", minimum=1, maximum=9)]

@hookimpl
def configure(options):
    global MOST
    MOST = options["most"]
    return Stones()

class Stones:
    start, moves, apply, status = (staticmethod(hook) for hook in (start, moves, apply, status))
"""

IN_FILES = {
    "cells in the order of a set": (
        TIC_TAC_TOE.replace("turn = 0\n", CELLS_OF_A_SET),
        {"3**cell % 3": "3**PLACES[cell] % 3", "owner * 3**cell": "owner * 3**PLACES[cell]"},
        "in the order of a set of strings",
    ),
    "the image with the smallest hash": (TIC_TAC_TOE + LEFT_AND_RIGHT, {}, r"or by hash\(\)"),
    "options in globals": (
        STONES + SETTINGS,
        {"for taken in (1, 2, 3)": "for taken in range(1, MOST + 1)"},
        "another most than 3 is loaded; store the options in the object that 'configure' returns",
    ),
}
"""Mistakes that appear only in another process or variant, so the game must be loadable by name."""


@pytest.mark.parametrize("mistake", NAIVE)
def test_a_mistake_is_reported_with_a_correction(mistake):
    source, changes, law, message = NAIVE[mistake]
    try:
        results = run_checks(make_game(zoo.module_of(zoo.change(source, changes))), Effort(seconds=0.5)).results
    except PluginError as error:
        found = {"load": str(error)}
    else:
        found = {each.law: each.breach or each.hint or "" for each in results}
    assert re.search(message, found[law]), found


@pytest.mark.parametrize("mistake", IN_FILES)
def test_mistakes_that_appear_in_another_process_are_reported(mistake, tmp_path):
    source, changes, message = IN_FILES[mistake]
    file = tmp_path / "naive.py"
    file.write_text(zoo.change(source, changes))
    found = {each.law: each.breach for each in run_checks(load_game(str(file)), Effort(seconds=0.5)).results}
    assert re.search(message, found.pop("pure") or "")
    assert not any(found.values())


def test_variants_with_separate_options_pass():
    check_game("kalah", pits=2, seeds=2)


@pytest.mark.parametrize(
    "source",
    [STONES, TIC_TAC_TOE, HEXAPAWN.replace("Status.LOST if has_arrived(position) else", STUCK)],
    ids=["stones", "tic-tac-toe", "hexapawn"],
)
def test_without_the_mistake_all_checks_pass(source):
    assert not run_checks(make_game(zoo.module_of(source)), Effort(seconds=0.5)).breaches


def test_a_shared_list_of_moves_is_copied():
    """`apply` changed the list by calling `moves` while the engine iterated over it, which gave wrong values."""
    changes = {
        "def moves(position): return": "def moves(position):\n    LEGAL[:] =",
        "if taken <= position]": "if taken <= position]\n    return LEGAL",
        "return position - move": "return position - move if moves(position - move) else 0",
    }
    shared = zoo.module_of("LEGAL = []\n" + zoo.change(STONES, changes))
    with solve_game(make_game(shared), save=False).table as table:
        assert [str(table.probe(stones)) for stones in (4, 7, 20)] == ["loss in 2", "win in 3", "loss in 10"]
