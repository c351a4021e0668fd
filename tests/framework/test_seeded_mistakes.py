"""Mistakes that authors make, one at a time, in games that are correct otherwise: `solve check` notices each of them.

Some are reported as hints, because the rules could be meant that way.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from perfectplay import Board, Cell, Click, Piece, Status, make_game
from perfectplay.compile.kernel import CompiledKernel, find_compiled
from perfectplay.compile.translation import Untranslatable, translate
from perfectplay.errors import PluginError

from .. import zoo
from .seeded import Mistake, indexed_example, module_in_file, read_mistakes, report, report_plugin

GAMES = {
    "tictactoe": (zoo.read("tictactoe"), {}),
    "dots": (zoo.read("dots"), {"rows": 1, "columns": 2}),
    "three boxes": (zoo.read("dots"), {"rows": 1, "columns": 3}),  # slower, but the mover at the end may have lost
    "sliding": (zoo.read("sliding"), {"rows": 2, "columns": 2}),
    "mutorere": (zoo.read(zoo.MUTORERE), {}),
    "indexed tictactoe": (indexed_example("tictactoe")[0], {}),
    "indexed mutorere": (indexed_example("mutorere")[0], {}),
}
MISTAKES = read_mistakes("seeded_rules.txt")


@pytest.mark.parametrize("game", GAMES)
def test_correct_games_have_no_breaches_and_no_hints(game):
    source, options = GAMES[game]
    found = report_plugin(zoo.module_of(source), **options)
    assert found.keys() <= ({"turns"} if game == "indexed tictactoe" else set()), found  # it has no board


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.game}-{mistake.law}")
def test_a_mistake_in_the_source_is_noticed(mistake: Mistake, tmp_path: Path):
    source, options = GAMES[mistake.game]
    plugin = module_in_file(zoo.change(source, {mistake.old: mistake.new}), tmp_path / "game.py")
    quick = mistake.law not in ("harmless", "pure")
    found = report_plugin(plugin, quick=quick, seconds=mistake.seconds, **options)
    if mistake.law == "harmless":
        assert found == {}
    else:
        assert mistake.law in found, found
        assert re.search(mistake.message, found[mistake.law]), found
        assert "\n" not in found[mistake.law]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_false_promise_of_alternating_turns_is_noticed(compiled: bool, tmp_path: Path):
    plugin = module_in_file(zoo.read("turns") + "\nTURNS_ALTERNATE = True\n", tmp_path / "turns.py")

    def make():
        game = make_game(plugin, name="turns")
        game.compile_rules = compiled
        return game

    assert isinstance(find_compiled(make()), CompiledKernel) == compiled
    found = report(make)
    assert found.keys() == {"alternation"}
    assert re.fullmatch(
        r"move 2 in position .* keeps the turn, but the plugin has TURNS_ALTERNATE = True; remove it",
        found["alternation"],
    )


def test_most_games_with_a_mistake_are_checked_with_compiled_rules(tmp_path: Path):
    compiled = 0
    for i, mistake in enumerate(MISTAKES):
        source, options = GAMES[mistake.game]
        with suppress(PluginError, Untranslatable):  # refused, or solved with the Python rules
            plugin = module_in_file(zoo.change(source, {mistake.old: mistake.new}), tmp_path / f"game{i}.py")
            translate(make_game(plugin, name="seeded", **options))
            compiled += 1
    assert compiled >= 70


def changed(**mistakes):
    """Tic-tac-toe with some hooks replaced. Each gets the number of calls and the correct hook before the arguments."""
    correct, calls = zoo.module_of(zoo.read("tictactoe")), count(1)

    def call(hook, *arguments):
        number, function = next(calls), getattr(correct, hook)
        return mistakes[hook](number, function, *arguments) if hook in mistakes else function(*arguments)

    return zoo.module_of(
        start=lambda: call("start"),
        moves=lambda position: call("moves", position),
        apply=lambda position, move: call("apply", position, move),
        status=lambda position: call("status", position),
    )


def recurse(*arguments):
    return recurse(*arguments)


def count_moves():
    """Mū tōrere with a count of moves in every position: games end, but the number of positions is unbounded."""
    correct = zoo.module_of(zoo.read(zoo.MUTORERE))
    return zoo.module_of(
        start=correct.start,
        moves=lambda position: correct.moves(position & 0xFFFFF),
        apply=lambda position, move: correct.apply(position & 0xFFFFF, move) | (position >> 20) + 1 << 20,
        status=lambda position: correct.status(position & 0xFFFFF),
    )


def omit_mover():
    """Stones: a player who takes two moves again. `board` shows that, but there is no hook `mover`."""

    def moves(position):
        return [stones for stones in (1, 2) if stones <= position >> 1]

    def board(position):
        clicks = tuple(Click(move, f"take{move}") for move in moves(position))
        return Board(1, 2, (Cell("take1", 0, 0), Cell("take2", 0, 1)), position & 1, clicks=clicks)

    return zoo.module_of(
        start=lambda: 9 << 1,
        moves=moves,
        apply=lambda position, move: (position >> 1) - move << 1 | ((position & 1) ^ (move == 1)),
        status=lambda position: Status.ONGOING if position >> 1 else Status.LOST,
        board=board,
    )


def draw_stones(cells, click=Click, claims=lambda stones: ()):
    """Take one or two of nine stones in turn, with a board that has one mistake."""

    def moves(position):
        return [stones for stones in (1, 2) if stones <= position >> 1]

    def board(position):
        clicks = tuple(click(move, f"take{move}") for move in moves(position))
        return Board(1, 2, cells, position & 1, clicks=clicks, claims=claims(position >> 1))

    return zoo.module_of(
        start=lambda: 9 << 1,
        moves=moves,
        apply=lambda position, move: (position >> 1) - move << 1 | ((position & 1) ^ 1),
        status=lambda position: Status.ONGOING if position >> 1 else Status.LOST,
        board=board,
    )


CELLS = (Cell("take1", 0, 0), Cell("take2", 0, 1))
OVAL = (Cell("take1", 0, 0, shape="oval"), CELLS[1])
SEEDS = (Cell("take1", 0, 0, (Piece(0, "three", shape="seeds"),)), CELLS[1])


def omit_players():
    """Lights in a row, where pressing one switches its neighbours too. No hook declares that it is a puzzle."""
    return zoo.module_of(
        start=lambda: 0b10110,
        moves=lambda position: list(range(5)) if position else [],
        apply=lambda position, move: position ^ (7 << move >> 1) & 31,
        status=lambda position: Status.ONGOING if position else Status.LOST,
    )


def return_score_as_status():
    """Take one or two of nine coins; `status` returns the lead."""
    return zoo.module_of(
        start=lambda: 9 << 8 | 9,
        moves=lambda position: [coins for coins in (1, 2) if coins <= position >> 8],
        apply=lambda position, move: (position >> 8) - move << 8 | 18 - ((position & 255) + move),
        status=lambda position: Status.ONGOING if position >> 8 else (position & 255) - 9,
    )


def shuffled(moves):
    return random.sample(moves, k=len(moves))


OBJECTS: dict[str, tuple[Callable[[], object], str, str]] = {
    "extra turn": (omit_mover, "turns", "if a player may move again, add 'mover'"),
    "shape of a cell": (lambda: draw_stones(OVAL), "board", "unknown shape 'oval'"),
    "seeds in words": (lambda: draw_stones(SEEDS), "board", "'three'; expected their number"),
    "region only": (
        lambda: draw_stones(CELLS, click=lambda move, target: Click(move, None, region=(target,))),
        "board",
        "without a target",
    ),
    "claim lost": (
        lambda: draw_stones(CELLS, claims=lambda stones: ("take1",) if stones % 3 else ()),
        "board",
        "claims 'take1', but not after move",
    ),
    "puzzle": (omit_players, "turns", "return one name from 'players'"),
    "score as status": (return_score_as_status, "hooks", "Status.* hook 'score'"),
    "move counter": (count_moves, "finite", "a count of moves, leave it out"),
    "status by chance": (lambda: changed(status=lambda n, f, p: Status.DRAWN if n % 997 == 0 else f(p)), "", ""),
    "moves shuffled": (lambda: changed(moves=lambda n, f, p: shuffled(f(p))), "pure", ""),
    "moves forgotten": (lambda: changed(moves=lambda n, f, p: f(p)[: 9 - n // 5000]), "", ""),
    "apply wears out": (lambda: changed(apply=lambda n, f, p, m: f(p, m) if n < 9999 else p), "", ""),
    "exit": (lambda: changed(apply=lambda n, f, p, m: sys.exit(3) if p == 1 else f(p, m)), "hooks", "SystemExit"),
    "recursion": (lambda: changed(apply=lambda n, f, p, m: recurse() if p == 1 else f(p, m)), "hooks", "Recursion"),
    "late error": (lambda: changed(status=lambda n, f, p: f(p) if p < 5000 else {}[p]), "hooks", "KeyError"),
}
"""Games by mistake, with the law and the message. Without a law, the first law to notice it depends on timing."""


@pytest.mark.parametrize("mistake", OBJECTS)
def test_a_mistake_in_an_object_is_noticed(mistake):
    make, law, message = OBJECTS[mistake]
    found = report_plugin(make())
    assert found
    if law:
        assert re.search(message, found[law]), found


def test_no_mistake_was_lost():
    assert len(MISTAKES) + len(OBJECTS) >= 128
