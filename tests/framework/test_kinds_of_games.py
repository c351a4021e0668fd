"""Repeated turns, scores and puzzles in real games, compared with an independent solver."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from perfectplay import Game, Outcome, Status, Value, load_game, make_game, solve_game, verify_table
from perfectplay.testing import Effort, run_checks
from perfectplay_native.build import kernel_ffi
from perfectplay_native.kernel import Kernel

from .. import zoo
from ..games.kalah import reference as kalah
from ..native.conftest import build_module
from ..zoo import EXAMPLES, HERE, references
from ..zoo.othello import Othello
from .seeded import quick_checks

KALAH_RULES = list(itertools.product([False, True], repeat=2))
SCORED = {
    "dots 1×1": (lambda: load_game(str(EXAMPLES / "dots.py"), rows=1, columns=1), references.dots(1, 1)),
    "dots 1×3": (lambda: load_game(str(EXAMPLES / "dots.py"), rows=1, columns=3), references.dots(1, 3)),
    "dots 2×2": (lambda: load_game(str(EXAMPLES / "dots.py")), references.dots(2, 2)),
    "othello 4×4": (lambda: make_game(Othello(4), name="othello"), references.othello(4)),
}
for pits, seeds, *rules in [(*size, *rules) for size in [(3, 2), (2, 4), (1, 6)] for rules in KALAH_RULES]:
    options = {"pits": pits, "seeds": seeds, "empty-capture": rules[0], "either-row": rules[1]}
    game = references.by_reference(kalah, kalah.start(pits, seeds, *rules))
    SCORED[f"kalah {options}"] = (partial(load_game, "kalah", **options), game)


def assert_no_breaches(game: Game) -> None:
    with quick_checks():
        assert not run_checks(game, Effort(seconds=0.5)).breaches


@pytest.mark.parametrize("name", SCORED)
def test_scores_and_plies_equal_those_of_a_plain_solver(name):
    make, (rules, start) = SCORED[name]
    game = make()
    assert_no_breaches(game)
    values = references.solve(rules, start)
    pairs = _walk_together(game, rules, start)
    with solve_game(game, save=False).table as table:
        for position, state in pairs.items():
            assert _as_pair(table.probe(position)) == values[state], game.decode(position)
        assert verify_table(table).bad == 0
        assert table.statistics.positions == len(pairs)


def _walk_together(game, rules, start):
    """Return all reachable positions, each with the corresponding state of the plain game."""
    pairs, waiting = {}, [(game.start(), start)]
    while waiting:
        position, state = waiting.pop()
        if position not in pairs:
            pairs[position] = state
            end, successors = rules(state)
            moves = game.moves(position)
            assert (end is None, len(moves)) == (game.status(position) is Status.ONGOING, len(successors))
            for move, (successor, stays) in zip(moves, successors, strict=True):
                child = game.apply(position, move)
                assert game.keeps_turn(position, child) == stays
                waiting.append((child, successor))
        assert (
            pairs[position] == state or game.status(position) is not Status.ONGOING
        )  # a finished position has only the score
    return pairs


def _as_pair(value: Value) -> tuple[int, int]:
    return (value.score, value.remoteness)


def test_the_eight_puzzle_takes_at_most_31_moves():
    game = load_game(str(EXAMPLES / "sliding.py"), rows=3, columns=3)
    assert_no_breaches(game)
    distances = _distances_from_the_solved_board()
    assert len(distances) == 181_440
    assert max(distances.values()) == 31
    with solve_game(game, save=False).table as table:
        boards = list(distances)
        codes = table.probe_many([game.encode(_as_text(board)) for board in boards])
        assert codes.tolist() == [Value(Outcome.WIN, distances[board]).code for board in boards]
        assert table.statistics.positions == len(boards)
        assert table.statistics.longest_win == 31


def _distances_from_the_solved_board():
    """Breadth-first search backwards; a board is a text with a dot for the gap."""
    start = "12345678."
    distances, frontier = {start: 0}, [start]
    for depth in itertools.count(1):
        following = []
        for board in frontier:
            gap = board.index(".")
            for other in (gap - 3, gap + 3, gap - 1 if gap % 3 else -1, gap + 1 if gap % 3 < 2 else -1):
                if 0 <= other < 9:
                    swapped = list(board)
                    swapped[gap], swapped[other] = swapped[other], swapped[gap]
                    board_after = "".join(swapped)
                    if board_after not in distances:
                        distances[board_after] = depth
                        following.append(board_after)
        if not following:
            return distances
        frontier = following
    raise AssertionError


def _as_text(board: str) -> str:
    return "/".join(board[row : row + 3] for row in (0, 3, 6))


@pytest.fixture(scope="module")
def lights(shared):
    ffi = kernel_ffi("compiled_lights_kernel", sources=[str(HERE / "lights.c")], kernels=["lights_kernel"])
    module = build_module(ffi, "compiled_lights_kernel", shared)
    return make_game(zoo.module_of(kernel=lambda: Kernel(module.ffi, module.lib.lights_kernel)), name="lights")


def test_lights_out_can_be_solved_a_quarter_of_the_time_with_at_most_15_presses(lights):
    assert lights.is_puzzle
    assert_no_breaches(lights)
    fewest = _fewest_presses()
    solution = solve_game(lights, save=False)
    with solution.table as table:
        stats = table.statistics
        assert stats.wins * 4 == stats.positions == 1 << 25
        assert stats.draws == stats.positions - stats.wins  # an unsolvable position never ends
        assert stats.longest_win == 15
        codes = np.concatenate([np.asarray(block) for block in table.values(0)])
        assert (codes == fewest).all()


def _fewest_presses():
    """Return the value code of every set of lights: the fewest presses that lead there, by linear algebra."""
    side, count = 5, 25
    switched = np.zeros(1, dtype=np.uint32)  # for every set of presses, the lights that it switches
    weight = np.zeros(1, dtype=np.uint8)
    for at in range(count):
        mask = 0
        for y, x in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
            row, column = at // side + y, at % side + x
            if 0 <= row < side and 0 <= column < side:
                mask |= 1 << row * side + column
        switched = np.concatenate([switched, switched ^ np.uint32(mask)])
        weight = np.concatenate([weight, weight + np.uint8(1)])
    fewest = np.full(1 << count, 255, dtype=np.uint8)
    np.minimum.at(fewest, switched, weight)
    return np.where(fewest == 255, 0, fewest << 2 | 3).astype(np.uint8)
