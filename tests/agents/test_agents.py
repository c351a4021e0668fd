"""Players that use a table, and the evaluation of policies against one."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from fractions import Fraction
from types import SimpleNamespace

import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

from perfectplay import Status, Strength, UsageError, load_game, solve_game
from perfectplay import agents as evaluation
from perfectplay.agents import PettingZooOpponent, TablePlayer, evaluate_policy
from perfectplay.agents.openspiel import OpenSpielBot
from perfectplay.values import Outcome, Value

GAMES = 300  # benchmarks/openspiel.py plays 10,000


@pytest.fixture(scope="module")
def table():
    with solve_game(load_game("openspiel", game="tic_tac_toe"), save=False).table as table:
        yield table


@pytest.fixture(scope="module")
def positions(table) -> list[int]:
    (tier,) = table.records
    return [int(each) for each in table.positions(tier, 0, table.records[tier].size)]


def ongoing(table, positions):
    return [each for each in positions if table.game.status(each) is Status.ONGOING]


def test_a_table_player_is_optimal_everywhere(table, positions):
    result = evaluate_policy(table, TablePlayer(table, seed=1), positions)
    assert (result.positions, result.optimal, result.kept) == (4520, 1.0, 1.0)
    assert (result.value_regret, result.remoteness_regret) == (0.0, 0.0)
    assert not any(depth.blunders for depth in result.by_remoteness.values())
    assert str(result).startswith("4,520 positions: 100.0% best moves")


def test_a_random_player_is_rated_as_by_an_independent_minimax(table, positions):
    """The expectation over uniform moves, from an independent minimax."""

    def solve(state, solved):  # (outcome for player 0, plies) under best play
        key = str(state)
        if key not in solved:
            if state.is_terminal():
                solved[key] = (int(state.returns()[0]), 0)
            else:
                sign = 1 - 2 * state.current_player()
                children = [solve(state.child(action), solved) for action in state.legal_actions()]
                solved[key] = max(((w, n + 1) for w, n in children), key=lambda v: (sign * v[0], -sign * v[0] * v[1]))
        return solved[key]

    solved: dict[str, tuple[int, int]] = {}
    solve(pyspiel.load_game("tic_tac_toe").new_initial_state(), solved)
    optimal = kept = regret = delay = Fraction(0)
    blunders: dict[int, Fraction] = {}
    seen = set()
    stack = [pyspiel.load_game("tic_tac_toe").new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal() or str(state) in seen:
            continue
        seen.add(str(state))
        sign = 1 - 2 * state.current_player()
        best = solved[str(state)]
        for action in state.legal_actions():
            child = state.child(action)
            stack.append(child)
            won, plies = solved[str(child)]
            share = Fraction(1, len(state.legal_actions()))
            same = sign * won == sign * best[0]
            optimal += share * (same and (plies + 1 == best[1] or won == 0))
            kept += share * same
            delay += share * (same and won != 0) * abs(plies + 1 - best[1])
            regret += share * (sign * best[0] - sign * won)
            if not same:
                blunders[best[1]] = blunders.get(best[1], Fraction(0)) + share
    count = len(seen)

    def uniform(position):
        moves = table.game.moves(position)
        return dict.fromkeys(moves, 1 / len(moves))

    result = evaluate_policy(table, uniform, positions)
    assert result.positions == count
    assert result.optimal == pytest.approx(float(optimal / count))
    assert result.kept == pytest.approx(float(kept / count))
    assert result.value_regret == pytest.approx(float(regret / count))
    assert result.remoteness_regret == pytest.approx(float(delay / count))
    ours = {plies: depth.blunders for plies, depth in result.by_remoteness.items() if depth.blunders}
    assert ours == pytest.approx({plies: float(share) for plies, share in blunders.items()})
    player = TablePlayer(table, mistakes=1.0)
    assert player.probabilities(table.game.start()) == pytest.approx(uniform(table.game.start()))


def test_mistakes_and_temperature_weaken_the_player(table):
    position = table.game.encode("0 1")  # x in a corner, o on the adjacent edge: x can win
    perfect = TablePlayer(table).probabilities(position)
    assert sum(share > 0 for share in perfect.values()) < len(perfect) == 7
    for weaker in (TablePlayer(table, mistakes=0.5), TablePlayer(table, temperature=1.0)):
        shares = weaker.probabilities(position)
        assert sum(shares.values()) == pytest.approx(1)
        assert all(share > 0 for share in shares.values())
        good = sum(share for move, share in shares.items() if perfect[move] > 0)
        assert good > sum(perfect[move] > 0 for move in perfect) / 7
    assert [TablePlayer(table, mistakes=0.5, seed=3)(position) for _ in range(3)] == [
        TablePlayer(table, mistakes=0.5, seed=3)(position) for _ in range(3)
    ]


@pytest.mark.parametrize(("options", "words"), [({"mistakes": 1.5}, "from 0 to 1"), ({"temperature": -1}, "from 0 up")])
def test_wrong_strengths_are_rejected(table, options, words):
    with pytest.raises(UsageError, match=words):
        TablePlayer(table, **options)


def test_a_player_with_a_strength_is_the_opponent_of_choose_move(table, positions):
    perfect = evaluate_policy(table, TablePlayer(table, strength=Strength.PERFECT).probabilities, positions)
    casual = evaluate_policy(table, TablePlayer(table, strength=Strength.CASUAL).probabilities, positions)
    assert perfect.kept == pytest.approx(1)
    assert casual.kept < 1
    assert casual.by_remoteness[1].blunders == 0, "an immediate win is easy to see"
    with pytest.raises(UsageError, match="either a strength"):
        TablePlayer(table, strength=Strength.CASUAL, mistakes=0.1)


def test_wrong_policies_are_rejected(table):
    start = table.game.start()
    with pytest.raises(UsageError, match="the policy returned 99 in"):
        evaluate_policy(table, lambda position: 99, [start])
    with pytest.raises(UsageError, match="do not add up to 1"):
        evaluate_policy(table, lambda position: {0: 0.5}, [start])
    for shares in ({0: 2.0, 1: -1.0}, {0: float("nan")}, {0: float("inf"), 1: float("-inf")}):
        with pytest.raises(UsageError, match="are not probabilities"):
            evaluate_policy(table, lambda position, shares=shares: shares, [start])
    with pytest.raises(TypeError):
        evaluate_policy(table, lambda position: 0, [start + 0.5])
    with pytest.raises(UsageError, match="the game is over"):
        TablePlayer(table)(table.game.encode("0 3 1 4 2"))


def test_the_bot_never_loses_in_openspiels_evaluation(table):
    game = pyspiel.load_game("tic_tac_toe")
    rng = random.Random(7)
    bots = [OpenSpielBot(TablePlayer(table, seed=1)), pyspiel.make_uniform_random_bot(1, 5)]
    scores = [evaluate_bots(game.new_initial_state(), bots, rng)[0] for _ in range(GAMES)]
    bots = [pyspiel.make_uniform_random_bot(0, 6), OpenSpielBot(TablePlayer(table, seed=2))]
    scores += [evaluate_bots(game.new_initial_state(), bots, rng)[1] for _ in range(GAMES)]
    assert min(scores) == 0 or min(scores) == 1
    assert sum(scores) > GAMES


def test_the_bot_rejects_the_state_of_another_game(table):
    other = pyspiel.load_game("mnk(m=3,n=3,k=2)").new_initial_state()
    with pytest.raises(UsageError, match=r"the table is of tic_tac_toe\(\), not of mnk"):
        OpenSpielBot(TablePlayer(table)).step(other)


def test_plies_are_lost_only_with_equal_outcome_and_score():
    """A win by a smaller margin is not a slower win, and a long draw is as good as a short one."""
    values = [Value(Outcome.DRAW, None), Value(Outcome.DRAW, 4), Value(Outcome.WIN, 7, 3), Value(Outcome.WIN, 5, 1)]
    assert [evaluation.plies_lost(best, worth) for best, worth in zip(values[::2], values[1::2], strict=True)] == [0, 0]
    assert evaluation.plies_lost(Value(Outcome.WIN, 3), Value(Outcome.WIN, 5)) == 2
    assert evaluation.plies_lost(Value(Outcome.LOSS, 8), Value(Outcome.LOSS, 2)) == 6


def test_a_bot_has_a_policy_and_needs_an_openspiel_table(table):
    other = SimpleNamespace(game=SimpleNamespace(name="gobblet"))
    with pytest.raises(UsageError, match="the table is of gobblet"):
        OpenSpielBot(TablePlayer(other))
    policy, action = OpenSpielBot(TablePlayer(table)).step_with_policy(
        pyspiel.load_game("tic_tac_toe").new_initial_state()
    )
    assert action in dict(policy)


def test_the_opponent_never_loses_in_pettingzoo(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PettingZoo and pygame
        from pettingzoo.classic import tictactoe_v3

        env = tictactoe_v3.env()
    marks = ".xo"

    def position(env) -> int:  # PettingZoo numbers cells by columns, OpenSpiel by rows
        cells = [marks[square] for square in env.unwrapped.board.squares]
        return table.game.encode("/".join("".join(cells[row::3]) for row in range(3)))

    def action(move: int) -> int:
        return move % 3 * 3 + move // 3

    opponent = PettingZooOpponent(TablePlayer(table, seed=4), position, action)
    chance = random.Random(11)
    for game in range(60):
        env.reset(seed=game)
        ours = env.agents[game % 2]
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if agent == ours:
                assert reward >= 0
                env.step(opponent(env))
            elif terminated or truncated:
                env.step(None)
            else:
                env.step(chance.choice([int(each) for each in observation["action_mask"].nonzero()[0]]))
    env.close()


def test_optional_packages_are_imported_on_first_use():
    program = (
        "import sys, perfectplay, perfectplay.cli._app, perfectplay.agents; "
        "print([name for name in ('pyspiel', 'pettingzoo', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
