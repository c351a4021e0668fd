"""OpenSpiel's games: solved, equal to OpenSpiel's own solver, and usable from another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyspiel
import pytest
from open_spiel.python.algorithms.minimax import alpha_beta_search
from open_spiel.python.algorithms.minimax_solver import MinimaxSolver

from perfectplay import Outcome, UsageError, load_game, solve_game, verify_table
from perfectplay.testing import check_game
from perfectplay_openspiel import states
from perfectplay_openspiel.states import StateBook

SMALL = {
    "tic_tac_toe": "draw in 9",
    "connect_four(rows=3,columns=4)": "draw in 12",
    "mnk(m=3,n=3,k=3)": "draw in 9",
    "breakthrough(rows=4,columns=3)": "win in 9",
    "hex(board_size=3)": "win in 5",
    "y(board_size=3)": "win in 5",
    "nim(pile_sizes=1;3;5)": "win in 6",
    "clobber(rows=3,columns=3)": "win in 5",
    "dots_and_boxes(num_rows=1,num_cols=2)": "draw in 7",
    "dots_and_boxes(num_rows=2,num_cols=2,utility_margin=true)": "win by 2 in 12",
    "havannah(board_size=2)": "win in 3",
    "gomoku(size=3,connect=3)": "draw in 9",
    "checkers(rows=8,columns=2)": "loss in 6",
}


def minimax(state, known: dict) -> float:
    """What player 0 gets. OpenSpiel's solver goes by the text alone, which need not say whose turn it is."""
    key = state.current_player(), str(state)
    if key not in known:
        if state.is_terminal():
            known[key] = state.returns()[0]
        else:
            best = max if state.current_player() == 0 else min
            known[key] = best(minimax(state.child(action), known) for action in state.legal_actions())
    return known[key]


@pytest.mark.parametrize("name", SMALL)
def test_every_value_is_that_of_minimax(name):
    game, rules = load_game("openspiel", game=name), pyspiel.load_game(name)
    with solve_game(game).table as table:
        assert str(table.probe(game.start())) == SMALL[name]
        assert verify_table(table).bad == 0
        initial, known = rules.new_initial_state(), {}
        ours = table.probe(game.start())
        assert (ours.score or ours.outcome) == MinimaxSolver(name).solve()[str(initial)].value
        minimax(initial, known)
        book = StateBook(rules)
        positions = [int(each) for tier in table.records for each in table.positions(tier, 0, table.records[tier].size)]
        assert len(positions) == len(known) > 5
        for position in positions:
            value, player = table.probe(position), book.player(position)
            expected = known[player, str(book.state(position))]
            assert (value.score or value.outcome) == (-expected if player == 1 else expected)


def test_a_game_for_one_finds_the_best_return():
    """Cliff walking pays -1 a step: from corner to corner along a 3×4 board these are five."""
    game = load_game("openspiel", game="cliff_walking(height=3,width=4,horizon=12)")
    with solve_game(game).table as table:
        value = table.probe(game.start())
        assert (value.score, value.remoteness) == (-5, 5)
        assert game.is_puzzle


def test_a_cyclic_game_is_solved_where_openspiels_recursion_is_not():
    """Pawns of Quoridor walk back and forth; the search for 8 plies proves the loss, and that it is no nearer."""
    name = "quoridor(board_size=3,wall_count=1)"
    game = load_game("openspiel", game=name)
    with solve_game(game).table as table:
        value = table.probe(game.start())
        assert (value.outcome, value.remoteness) == (Outcome.LOSS, 8)
        for depth, expected in ((8, -1), (7, 0)):
            rules = pyspiel.load_game(name)
            found, _ = alpha_beta_search(rules, maximum_depth=depth, value_function=lambda state: 0)
            assert found == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leduc_poker", "leduc_poker cannot be solved: chance has a part in it"),
        ("matrix_rps", "matrix_rps cannot be solved: its players move at the same time"),
        ("dark_hex", "dark_hex cannot be solved: its players do not see everything"),
        ("chinese_checkers(players=3)", "it has 3 players, and one or two can be solved"),
        ("hexx", "OpenSpiel has no game 'hexx'"),
        ("hex(size=3)", "Unknown parameter 'size'"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(name, reason):
    with pytest.raises(UsageError) as caught:
        load_game("openspiel", game=name)
    assert str(caught.value).startswith("openspiel: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hook" not in str(caught.value)


@pytest.mark.parametrize("name", ["go(board_size=2)", "oware(num_houses_per_player=2,num_seeds_per_house=2)"])
def test_a_game_with_a_memory_is_refused_when_it_shows(name):
    """Superko in Go and repetition in Oware depend on positions that are long past, and no text tells."""
    with pytest.raises(UsageError, match="depends on how it was reached"):
        solve_game(load_game("openspiel", game=name))


@pytest.mark.parametrize("name", ["tic_tac_toe", "dots_and_boxes(num_rows=1,num_cols=2)", "havannah(board_size=2)"])
def test_the_laws_of_a_game_are_kept(name):
    check_game(load_game("openspiel", game=name))


def test_numbers_are_the_same_in_every_process_and_by_every_way():
    here = load_game("openspiel", game="tic_tac_toe")
    assert here.encode("4 0 8") == here.encode("8 0 4") == here.encode("o../.x./..x")
    program = "from perfectplay import load_game; print(load_game('openspiel').encode('4 0 8'))"
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(there.stdout) == here.encode("4 0 8")


def test_texts_and_actions_are_read_and_others_refused():
    game = load_game("openspiel", game="tic_tac_toe")
    assert game.notations(game.encode("4 0")) == {"text": "o../.x./...", "actions": "4 0"}
    with pytest.raises(UsageError, match="action 4, number 2 of the list, is not legal there"):
        game.encode("4 4")
    with pytest.raises(UsageError, match="no position of the game is shown so"):
        game.encode("xxx/xxx/xxx")
    assert not game.valid(12345)
    assert game.parse_move(game.start(), "x(1,1)") == game.parse_move(game.start(), "4") == 4
    with pytest.raises(UsageError, match=r"legal are x\(0,0\)"):
        game.parse_move(game.start(), "e4")


def test_two_states_of_one_number_are_noticed(monkeypatch):
    right = states._number
    monkeypatch.setattr(states, "_number", lambda player, text: (right(player, text)[0] % 1000, right(player, text)[1]))
    with pytest.raises(UsageError, match="two of its states share the number"):
        solve_game(load_game("openspiel", game="tic_tac_toe"))


def test_states_that_were_dropped_are_played_again(monkeypatch):
    monkeypatch.setattr(states, "MAX_STATES", 2)
    game = load_game("openspiel", game="tic_tac_toe")
    with solve_game(game).table as table:
        assert str(table.probe(game.start())) == "draw in 9"
        assert game.decode(game.encode("4 0 8")) == "o../.x./..x"


def test_threads_share_a_book():
    book = StateBook(pyspiel.load_game("tic_tac_toe"))
    seen: list[int] = []

    def walk(number: int, order: int) -> int:
        return 1 + sum(walk(child, order) for child in list(book.children(number).values())[::order][:3])

    threads = [threading.Thread(target=lambda o=order: seen.append(walk(book.start, o))) for order in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert seen.count(seen[0]) >= 2
    assert len(set(book._numbers)) == len(book)


def run(*words: str, tables: Path, code: int = 0, **environment: str) -> str:
    command = [sys.executable, "-c", "from perfectplay.cli import main; main()", *words]
    variables = {**os.environ, "PERFECTPLAY_TABLES": str(tables), **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stderr if code else done.stdout


def test_every_command_works_from_a_table_that_another_process_made(tmp_path):
    """Dots and boxes has turns that stay, scores, and a text that does not tell whose turn it is."""
    chosen = ("openspiel", "--game", "dots_and_boxes(num_rows=1,num_cols=2,utility_margin=true)")
    run(*chosen, "--backend", "lmdb", tables=tmp_path)
    shown = json.loads(run("show", *chosen, "--json", tables=tmp_path))
    assert shown["outcome"] == "draw"
    assert "P1(v,0,1)" in run("line", *chosen, tables=tmp_path)
    assert "0 1" in run("show", *chosen, "0 1", "--json", tables=tmp_path)
    assert "proven" in run("verify", *chosen, tables=tmp_path)
    run("export", *chosen, "csv", str(tmp_path / "all.csv"), tables=tmp_path)
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 144
    assert "Dots and Boxes (OpenSpiel)" in run("rules", *chosen, tables=tmp_path)


def test_without_openspiel_one_line_says_what_to_install(tmp_path):
    (tmp_path / "pyspiel.py").write_text("raise ImportError('not here')")
    refused = run("openspiel", tables=tmp_path, code=2, PYTHONPATH=str(tmp_path))
    assert refused == "error: openspiel: OpenSpiel is not installed: pip install 'perfectplay[openspiel]'\n"
    assert "openspiel" in run("games", tables=tmp_path, PYTHONPATH=str(tmp_path))
