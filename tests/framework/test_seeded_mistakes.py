"""Mistakes that authors make, one at a time, in games that are right: `check` notices every one, and survives it.

A line of the table: the game, what of its source is replaced by what, and the law that tells the author; `load`
if the game is refused as soon as it is loaded, None if the change is harmless. Some answers are hints, where a game
could be meant that way.
"""

from __future__ import annotations

import random
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from perfectplay import Board, Cell, Click, Status, hookimpl, make_game
from perfectplay.errors import PluginError
from perfectplay.testing import run_checks

from .conftest import TIC_TAC_TOE

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
SOURCES = {
    "tictactoe": TIC_TAC_TOE,
    "dots": (EXAMPLES / "dots.py").read_text(),
    "three boxes": (EXAMPLES / "dots.py").read_text(),
    "sliding": (EXAMPLES / "sliding.py").read_text(),
    "mutorere": (EXAMPLES / "mutorere/perfectplay_mutorere/plugin.py").read_text(),
}
OPTIONS = {
    "dots": {"rows": 1, "columns": 2},
    "three boxes": {"rows": 1, "columns": 3},  # where who moves at the end may have lost; the smaller is quicker
    "sliding": {"rows": 2, "columns": 2},
}

HOOK = "@hookimpl\ndef start()"
"""In front of this, tic-tac-toe can be given one hook more."""

METHOD = "    @hookimpl\n    def valid"
FREE = "return [cell for cell, owner in enumerate(cells(position)) if owner == 0]"

MISTAKES = [
    # ---- status ----
    ("tictactoe", "return Status.LOST", "return True", "hooks"),
    ("tictactoe", "return Status.LOST", "return 1", "hooks"),
    ("tictactoe", "return Status.LOST", "return 'LOST'", "hooks"),
    ("tictactoe", "return Status.LOST", "return None", "hooks"),
    ("tictactoe", "return Status.ONGOING if 0 in board else Status.DRAWN", "return 0 not in board", "load"),
    ("tictactoe", "else Status.DRAWN", "else 0", "hooks"),
    ("tictactoe", "return Status.LOST", "return Status.WON", "status"),
    ("tictactoe", "else Status.DRAWN", "else Status.ONGOING", "status"),
    (
        "tictactoe",
        "    board = cells(position)\n    if any",
        "    board = cells(position)\n    assert 9 != sum(board)\n    if any",
        "hooks",
    ),
    ("tictactoe", "    if status(position) is not Status.ONGOING:\n        return []\n", "", "status"),
    # ---- moves and apply ----
    ("tictactoe", FREE, "return range(9)", "encoding"),
    ("tictactoe", FREE, "return (cell for cell in range(9))", "load"),
    ("tictactoe", "return [cell for cell, owner", "return [0] * (position == 0) + [cell for cell, owner", "moves"),
    ("tictactoe", "        return []\n", "        return None\n", "hooks"),
    ("tictactoe", "        return []\n", "        return [-1]\n", "hooks"),
    ("tictactoe", "        return []\n", "        return [1 << 32]\n", "hooks"),
    ("tictactoe", "        return []\n", "        return ['a1']\n", "hooks"),
    (
        "tictactoe",
        "return position + (1 + turn(position)) * 3**move",
        "return position + (1 + turn(position)) * 3**move / 2",
        "hooks",
    ),
    (
        "tictactoe",
        "return position + (1 + turn(position)) * 3**move",
        "return position - (1 + turn(position)) * 3**move",
        "hooks",
    ),
    ("tictactoe", "(1 + turn(position)) * 3**move", "(1 + turn(position)) * 3**move << 64", "hooks"),
    ("tictactoe", "(1 + turn(position)) * 3**move", "1 * 3**move", "encoding"),
    ("tictactoe", "(1 + turn(position)) * 3**move", "(2 - turn(position)) * 3**move", "encoding"),
    (
        "tictactoe",
        "def apply(position, move): return position +",
        "def apply(position, move): return None and position +",
        "hooks",
    ),
    ("tictactoe", "def start(): return 0", "def start(): return 2", "load"),
    ("tictactoe", "def start(): return 0", "def start(): return 0.0", "load"),
    # ---- symmetry ----
    ("tictactoe", "return min(images)", "return images[0]", "canonical"),
    ("tictactoe", "return min(images)", "return None", "load"),
    ("tictactoe", "return min(images)", "return 0 if position else 0", "symmetry"),
    ("tictactoe", "return min(images)", "return min(images) + 3**9", "canonical"),
    ("tictactoe", "for step in range(8)", "for step in range(3)", "canonical"),
    ("tictactoe", "for step in range(8)", "for step in range(5)", "canonical"),
    ("tictactoe", "TURN = [6, 3, 0, 7, 4, 1, 8, 5, 2]", "TURN = [3, 0, 1, 6, 4, 2, 7, 8, 5]", "symmetry"),
    ("tictactoe", "MIRROR = [2, 1, 0, 5, 4, 3, 8, 7, 6]", "MIRROR = [2, 1, 0, 5, 4, 3, 8, 7, 7]", "canonical"),
    ("tictactoe", "MIRROR = [2, 1, 0, 5, 4, 3, 8, 7, 6]", "MIRROR = [1, 0, 2, 4, 3, 5, 7, 6, 8]", "symmetry"),
    (
        "tictactoe",
        "return min(images)",
        "return min(images + [pack([-owner % 3 for owner in cells(image)]) for image in images])",
        "canonical",
    ),
    ("tictactoe", "(2, 5, 8), (0, 4, 8)", "(2, 5, 8)", "symmetry"),
    ("tictactoe", "(0, 3, 6), (1, 4, 7), (2, 5, 8), ", "", "symmetry"),
    # ---- undo and valid ----
    (
        "tictactoe",
        "def undo(position, move): return position -",
        "def undo(position, move): return position + 0 *",
        "undo",
    ),
    ("tictactoe", "return position - position // 3**move % 3 * 3**move", "return position - 3**move", "undo"),
    ("tictactoe", "return position - position // 3**move % 3 * 3**move", "return ''", "hooks"),
    (
        "tictactoe",
        "def valid(position): return position < 3**9",
        "def valid(position): return position < 3**8",
        "encoding",
    ),
    (
        "tictactoe",
        "turn(position) in (0, 1)",
        "turn(position) in (0, 1) and status(position) is Status.ONGOING",
        "encoding",
    ),
    (
        "tictactoe",
        "def valid(position): return",
        "def valid(position):\n    assert position < 2**60\n    return",
        "hooks",
    ),
    # ---- texts ----
    ("tictactoe", "raise ValueError", "raise KeyError", "hooks"),
    (
        "tictactoe",
        '    if len(text) != 9 or set(text) - set(".XO"):\n        raise ValueError("nine of . X O were expected")\n',
        "",
        None,
    ),
    ("tictactoe", '".XO"[owner] for owner', '".XX"[owner] for owner', "text"),
    ("tictactoe", "for letter in text])", "for letter in text[::-1]])", "text"),
    ("tictactoe", 'def decode(position): return "".join', "def decode(position): return list", "hooks"),
    (
        "tictactoe",
        'NAMES = [column + row for row in "321" for column in "abc"]',
        'NAMES = [row for row in "321" for column in "abc"]',
        "moves",
    ),
    (
        "tictactoe",
        "def format_move(position, move): return NAMES[move]",
        "def format_move(position, move): return move",
        "hooks",
    ),
    (
        "tictactoe",
        HOOK,
        "@hookimpl\ndef parse_move(position, text): return (NAMES.index(text) + 1) % 9\n\n" + HOOK,
        "hooks",
    ),
    ("tictactoe", HOOK, "@hookimpl\ndef notations(position): return {'code': 'x'}\n\n" + HOOK, "text"),
    ("tictactoe", HOOK, "@hookimpl\ndef notations(position): return ['x']\n\n" + HOOK, "hooks"),
    ("tictactoe", HOOK, "@hookimpl\ndef about(): return 'Noughts and crosses'\n\n" + HOOK, "load"),
    # ---- board ----
    ("tictactoe", "turn(position), clicks=clicks", "turn(position)", "board"),
    ("tictactoe", "for move in moves(position))", "for move in moves(position)[1:])", "board"),
    ("tictactoe", "for move in moves(position))", "for move in moves(position) * 2)", "board"),
    ("tictactoe", "Click(move, NAMES[move])", "Click(move, NAMES[move].upper())", "board"),
    ("tictactoe", "Click(move, NAMES[move])", "Click(0, NAMES[move])", "board"),
    ("tictactoe", "turn(position), clicks=clicks", "1 - turn(position), clicks=clicks", "turns"),
    ("tictactoe", "turn(position), clicks=clicks", "0, clicks=clicks", "turns"),
    ("tictactoe", "turn(position), clicks=clicks", "1 + turn(position), clicks=clicks", "turns"),
    ("tictactoe", 'Piece(1, "O")', 'Piece(2, "O")', "board"),
    ("tictactoe", 'Piece(1, "O")', 'Piece(1, "O", shape="disc")', "board"),
    ("tictactoe", 'Piece(1, "O")', 'Piece(1, "O", size=3)', "board"),
    ("tictactoe", "Cell(NAMES[i], *divmod(i, 3)", "Cell('a1', *divmod(i, 3)", "board"),
    ("tictactoe", "return Board(3, 3, tuple(places), turn(position), clicks=clicks)", "return places", "hooks"),
    # ---- structure ----
    ("tictactoe", HOOK, "@hookimpl\ndef tier(position): return cells(position).count(0)\n\n" + HOOK, "tiers"),
    ("tictactoe", HOOK, "@hookimpl\ndef tier(position): return cells(position)[0]\n\n" + HOOK, "symmetry"),
    ("tictactoe", HOOK, "@hookimpl\ndef tier(position): return -position\n\n" + HOOK, "hooks"),
    ("mutorere", "if move in moves(earlier)", "if move in moves(earlier)[:1]", "parents"),
    ("mutorere", "for earlier, move in before if move in moves(earlier)", "for earlier, move in before", "parents"),
    ("mutorere", "return list({canonicalize(earlier)", "return list({earlier", "parents"),
    ("mutorere", "places[(point - 1) % 8]", "places[point - 1]", "symmetry"),
    ("mutorere", "pack([SWAPPED[man] for man in places], 1)", "pack([SWAPPED[man] for man in places], 2)", "canonical"),
    ("mutorere", "    if mover == 2:", "    if mover == 2 and places[8]:", "symmetry"),
    (
        "mutorere",
        "@hookimpl\ndef start()",
        "@hookimpl\ndef tier(position): return position % 3\n\n@hookimpl\ndef start()",
        "tiers",
    ),
    # ---- turns, scores and puzzles ----
    ("dots", "    @hookimpl\n    def mover", "    def mover", "turns"),
    ("dots", "return self.unpack(position)[2]", "return 0", "turns"),
    ("dots", "return self.unpack(position)[2]", "return 1 - self.unpack(position)[2]", "turns"),
    ("dots", "return self.unpack(position)[2]", "return self.unpack(position)[2] + 1", "hooks"),
    ("dots", "return self.unpack(position)[2]", "return 'Ann'", "hooks"),
    ("dots", "        score = self.score(position)\n", "        score = self.unpack(position)[1]\n", "score"),
    ("three boxes", "score > 0 else", "score > 1 else", "score"),
    ("three boxes", "score < 0 else Status.DRAWN", "score > 0 else Status.DRAWN", "score"),
    (
        "dots",
        "        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN",
        "        return score",
        "hooks",
    ),
    ("dots", "return lead if mover == 0 else -lead", "return lead / 2", "hooks"),
    ("dots", "return lead if mover == 0 else -lead", "return 99999 * lead", "hooks"),
    ("dots", 'return ("Ann", "Bob")', 'return ("Ann", "Bob", "Cid")', "load"),
    ("dots", 'return ("Ann", "Bob")', 'return "Ann"', "load"),
    ("dots", 'return ("Ann", "Bob")', 'return ("Ann", "Ann")', "load"),
    ("dots", "self.unpack(position)[0].bit_count()", "-self.unpack(position)[0].bit_count() % 99", "tiers"),
    ("sliding", "    @hookimpl\n    def players", "    def players", "turns"),
    ("sliding", "Status.WON if", "Status.LOST if", "status"),
    ("sliding", "to_move=0", "to_move=1", "turns"),
    ("sliding", "        if tiles == self.solved:\n            return []\n", "", "status"),
    ("sliding", METHOD, "    @hookimpl\n    def mover(self, position): return position & 1\n\n" + METHOD, "turns"),
    # ---- names ----
    ("tictactoe", "def canonicalize(", "def canonicalise(", "load"),
    ("tictactoe", "def apply(position, move)", "def apply(position, m)", "load"),
    ("tictactoe", "@hookimpl\ndef moves", "def moves", "load"),
    ("tictactoe", "@hookimpl\ndef encode", "def encode", "load"),
]


def changed(**hooks):
    """Tic-tac-toe with some hooks replaced; each gets the game and the right hook before the arguments."""

    class Seeded:
        @hookimpl
        def start(self):
            return self._ask("start")

        @hookimpl
        def moves(self, position):
            return self._ask("moves", position)

        @hookimpl
        def apply(self, position, move):
            return self._ask("apply", position, move)

        @hookimpl
        def status(self, position):
            return self._ask("status", position)

        def __init__(self):
            self.right = module(SOURCES["tictactoe"])
            self.calls = 0

        def _ask(self, hook, *arguments):
            self.calls += 1
            right = getattr(self.right, hook)
            return hooks[hook](self, right, *arguments) if hook in hooks else right(*arguments)

    return Seeded


def counting():
    """Mū tōrere with a count of moves in every position: play often ends, but there is no end of positions."""
    right = module(SOURCES["mutorere"])

    class Counting:
        @hookimpl
        def start(self):
            return right.start()

        @hookimpl
        def moves(self, position):
            return right.moves(position & 0xFFFFF)

        @hookimpl
        def apply(self, position, move):
            return right.apply(position & 0xFFFFF, move) | (position >> 20) + 1 << 20

        @hookimpl
        def status(self, position):
            return right.status(position & 0xFFFFF)

    return Counting()


def extra_turn_without_mover():
    """Whoever takes two stones moves again, and the author does not say so; a board shows it."""

    class Stones:
        @hookimpl
        def start(self):
            return 9 << 1

        @hookimpl
        def moves(self, position):
            return [taken for taken in (1, 2) if taken <= position >> 1]

        @hookimpl
        def apply(self, position, move):
            return (position >> 1) - move << 1 | ((position & 1) ^ (move == 1))

        @hookimpl
        def status(self, position):
            return Status.ONGOING if position >> 1 else Status.LOST

        @hookimpl
        def board(self, position):
            clicks = tuple(Click(move, f"take{move}") for move in self.moves(position))
            return Board(1, 2, (Cell("take1", 0, 0), Cell("take2", 0, 1)), position & 1, clicks=clicks)

    return Stones()


def puzzle_without_players():
    """Lights in a row; pressing one switches it and its neighbours. Nothing says that one player is alone."""

    class Lights:
        @hookimpl
        def start(self):
            return 0b10110

        @hookimpl
        def moves(self, position):
            return list(range(5)) if position else []

        @hookimpl
        def apply(self, position, move):
            return position ^ (7 << move >> 1) & 31

        @hookimpl
        def status(self, position):
            return Status.ONGOING if position else Status.LOST

    return Lights()


def score_as_status():
    """Take one or two of nine coins; the author returns the lead where a status belongs."""

    class Coins:
        @hookimpl
        def start(self):
            return 9 << 8 | 9

        @hookimpl
        def moves(self, position):
            return [taken for taken in (1, 2) if taken <= position >> 8]

        @hookimpl
        def apply(self, position, move):
            return (position >> 8) - move << 8 | 18 - ((position & 255) + move)

        @hookimpl
        def status(self, position):
            return Status.ONGOING if position >> 8 else (position & 255) - 9

    return Coins()


NAIVE = {
    "extra turn": (extra_turn_without_mover, "turns", "Where a player may move again, give 'mover'"),
    "puzzle": (puzzle_without_players, "turns", "return one name from 'players'"),
    "score as status": (score_as_status, "hooks", "expected a Status, .* from the hook 'score'"),
    "move counter": (counting, "finite", "a count of moves\\? Leave out whatever"),
}


@pytest.mark.parametrize("mistake", NAIVE)
def test_the_naive_mistakes_are_told_what_to_write(mistake):
    make, law, message = NAIVE[mistake]
    found = noticed(make)
    assert re.search(message, found[law]), found


OBJECTS = {
    "moods": (changed(status=lambda self, right, p: Status.DRAWN if self.calls % 997 == 0 else right(p)), None),
    "guesses moves": (changed(moves=lambda self, right, p: random.sample(right(p), k=len(right(p)))), "pure"),
    "forgets moves": (changed(moves=lambda self, right, p: right(p)[: 9 - self.calls // 5000]), None),
    "tires": (changed(apply=lambda self, right, p, m: right(p, m) if self.calls < 9999 else p), None),
    "exits": (changed(apply=lambda self, right, p, m: sys.exit(3) if p == 1 else right(p, m)), "hooks"),
    "recurs": (changed(apply=lambda self, right, p, m: self.apply(p, m) if p == 1 else right(p, m)), "hooks"),
    "raises late": (changed(status=lambda self, right, p: right(p) if p < 5000 else {}[p]), "hooks"),
}


@pytest.mark.parametrize("mistake", OBJECTS)
def test_hooks_with_a_memory_or_a_will_of_their_own_are_noticed(mistake):
    make, law = OBJECTS[mistake]
    found = noticed(make)
    assert found, mistake
    assert law is None or law in found, found


def test_there_are_many_of_them():
    assert len(MISTAKES) + len(OBJECTS) + len(NAIVE) >= 70


def noticed(make: Callable[[], object], **options: object) -> dict[str, str]:
    """What `check` says, by law: breaches and hints."""
    try:
        game = make_game(make(), name="seeded", **options)
    except PluginError as error:
        return {"load": str(error)}
    results = run_checks(game)
    return {each.law: each.breach or each.hint or "" for each in results if each.breach or each.hint}


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("seeded")
    exec(source, vars(made))
    return made


@pytest.mark.parametrize("game", SOURCES)
def test_without_a_mistake_nothing_is_noticed(game):
    assert noticed(lambda: module(SOURCES[game]), **OPTIONS.get(game, {})) == {}


@pytest.mark.parametrize(("game", "old", "new", "law"), MISTAKES)
def test_the_mistake_is_noticed(game, old, new, law):
    assert old in SOURCES[game]
    found = noticed(lambda: module(SOURCES[game].replace(old, new)), **OPTIONS.get(game, {}))
    if law is None:
        assert found == {}  # harmless
    else:
        assert law in found, found
        assert "\n" not in found[law]
