"""OpenSpiel's games: solutions compared with OpenSpiel's solver, texts, unsupported games, and other processes."""

from __future__ import annotations

import subprocess
import sys
import threading

import pyspiel
import pytest
from open_spiel.python.algorithms.minimax import alpha_beta_search
from open_spiel.python.algorithms.minimax_solver import MinimaxSolver

from perfectplay import Outcome, UsageError, load_game, solve_game, verify_table
from perfectplay.testing import Effort, run_checks
from perfectplay_openspiel import states
from perfectplay_openspiel.plugin import normalize_name
from perfectplay_openspiel.states import StateBook

from ...framework.seeded import quick_checks

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


def minimax(state, values: dict) -> float:
    """Return player 0's return. OpenSpiel's solver uses only the text, which need not show the side to move."""
    key = state.current_player(), str(state)
    if key not in values:
        if state.is_terminal():
            values[key] = state.returns()[0]
        else:
            best = max if state.current_player() == 0 else min
            values[key] = best(minimax(state.child(action), values) for action in state.legal_actions())
    return values[key]


@pytest.mark.parametrize("name", SMALL)
def test_every_value_agrees_with_minimax(name):
    game, rules = load_game("openspiel", game=name), pyspiel.load_game(name)
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == SMALL[name]
        assert verify_table(table).bad == 0
        initial, values = rules.new_initial_state(), {}
        ours = table.probe(game.start())
        assert (ours.score or ours.outcome) == MinimaxSolver(name).solve()[str(initial)].value
        minimax(initial, values)
        book = StateBook(rules)
        positions = [int(each) for tier in table.records for each in table.positions(tier, 0, table.records[tier].size)]
        assert len(positions) == len(values) > 5
        for position in positions:
            value, state = table.probe(position), book.state(position)
            player = state.current_player()
            expected = values[player, str(state)]
            assert (value.score or value.outcome) == (-expected if player == 1 else expected)


def test_a_one_player_game_finds_the_best_return():
    """Cliff walking pays -1 per step, and the shortest path along a 3×4 board has five steps."""
    game = load_game("openspiel", game="cliff_walking(height=3,width=4,horizon=12)")
    with solve_game(game, save=False).table as table:
        value = table.probe(game.start())
        assert (value.score, value.remoteness) == (-5, 5)
        assert game.is_puzzle


def test_a_cyclic_game_that_openspiels_recursion_cannot_solve_is_solved():
    """Pawns of Quoridor can walk back and forth. Searches of 8 and 7 plies prove the loss in exactly 8."""
    name = "quoridor(board_size=3,wall_count=1)"
    game = load_game("openspiel", game=name)
    with solve_game(game, save=False).table as table:
        value = table.probe(game.start())
        assert (value.outcome, value.remoteness) == (Outcome.LOSS, 8)
        for depth, expected in ((8, -1), (7, 0)):
            rules = pyspiel.load_game(name)
            score, _ = alpha_beta_search(rules, maximum_depth=depth, value_function=lambda state: 0)
            assert score == expected


@pytest.mark.parametrize("max_depth", [4, states.MAX_DEPTH])
@pytest.mark.parametrize(
    "name", ["quoridor(board_size=3,wall_count=1)", "breakthrough(rows=4,columns=3)", "tic_tac_toe"]
)
def test_no_path_reaches_a_limit_on_the_length_of_a_game(name, max_depth, monkeypatch):
    """If expanding the newest states first gives paths that long, the walk uses the shortest paths."""
    monkeypatch.setattr(states, "MAX_DEPTH", max_depth)
    rules = pyspiel.load_game(name)
    walked, explored = StateBook(rules), StateBook(rules)
    numbers = {number for expanded in walked.walk() for number in expanded.numbers.tolist()}
    depths, level = {explored.start: 0}, [explored.start]
    while level:
        level = list(dict.fromkeys(c for n in level for c in explored.children(n).values() if c not in depths))
        depths.update(dict.fromkeys(level, max(depths.values()) + 1))
    assert numbers >= depths.keys()
    lengths = {number: len(walked.path(number)) for number in depths}
    assert lengths == depths or max(lengths.values()) < min(rules.max_game_length(), max_depth)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leduc_poker", "leduc_poker cannot be solved: it has chance events"),
        ("matrix_rps", "matrix_rps cannot be solved: its players move simultaneously"),
        ("dark_hex", "dark_hex cannot be solved: it has imperfect information"),
        ("chinese_checkers(players=3)", "it has 3 players"),
        ("hexx", "OpenSpiel has no game 'hexx'"),
        ("hex(size=3)", "Unknown parameter 'size'"),
        ("misere", "Missing parameter game"),
        ("breakthrough(rows=1,columns=1)", "rows_ > 1"),
        ("hex(num_cols=0,num_rows=0)", "OpenSpiel cannot load 'hex(num_cols=0,num_rows=0)': "),
        ("connect_four(rows=0)", "OpenSpiel cannot load 'connect_four(rows=0)': it crashes"),
        ("y(board_size=0)", "y(board_size=0) cannot be solved: '' is not finished but has no legal action"),
        ("efg_game(filename=x.efg)", "it is read from a file"),
        ("bargaining(instances_file=x.txt)", "it is read from a file"),
        ("crossword(puzzles_root=x)", "it is read from a file"),
    ],
)
def test_an_unsupported_game_is_rejected_with_one_line(name, reason):
    with pytest.raises(UsageError) as caught:
        load_game("openspiel", game=name)
    assert str(caught.value).startswith("openspiel: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hook" not in str(caught.value)


@pytest.mark.parametrize("name", ["go(board_size=2)", "oware(num_houses_per_player=2,num_seeds_per_house=2)"])
def test_a_game_with_hidden_state_is_rejected(name):
    """Superko in Go and repetition in Oware depend on earlier positions, which no text shows."""
    with pytest.raises(UsageError, match="depends on how it was reached"):
        solve_game(load_game("openspiel", game=name), save=False)


@pytest.mark.parametrize("name", ["tic_tac_toe", "dots_and_boxes(num_rows=1,num_cols=2)", "havannah(board_size=2)"])
def test_games_pass_the_checks(name):
    with quick_checks():
        assert not run_checks(load_game("openspiel", game=name), Effort(seconds=0.5)).breaches


def test_the_order_of_parameters_does_not_matter():
    names = ["connect_four(rows=3,columns=4)", "connect_four( columns=4, rows=3 )"]
    assert len({load_game("openspiel", game=name).identity for name in names}) == 1
    nested = "misere(game=connect_four(rows=3,columns=4))", "misere(game=connect_four(columns=4,rows=3))"
    assert normalize_name(nested[0]) == normalize_name(nested[1]) == nested[1]
    assert normalize_name("misere(game=tic_tac_toe())") == "misere(game=tic_tac_toe())"
    assert normalize_name("nim(pile_sizes=3;1)") == "nim(pile_sizes=3;1)"
    assert normalize_name("tic_tac_toe()") == "tic_tac_toe"
    assert normalize_name("broken(rows=3") == "broken(rows=3"
    assert load_game("openspiel", game="misere(game=tic_tac_toe())").start()


def test_numbers_are_the_same_in_every_process_and_by_every_path():
    game = load_game("openspiel", game="tic_tac_toe")
    assert game.encode("4 0 8") == game.encode("8 0 4") == game.encode("o../.x./..x")
    program = "from perfectplay import load_game; print(load_game('openspiel').encode('4 0 8'))"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(other.stdout) == game.encode("4 0 8")


def test_texts_and_actions_are_read_and_others_rejected():
    game = load_game("openspiel", game="tic_tac_toe")
    assert game.notations(game.encode("4 0")) == {"text": "o../.x./...", "actions": "4 0"}
    with pytest.raises(UsageError, match="action 4, number 2 of the list"):
        game.encode("4 4")
    with pytest.raises(UsageError, match="no position of the game has this text"):
        game.encode("xxx/xxx/xxx")
    assert not game.valid(12345)
    assert game.parse_move(game.start(), "x(1,1)") == game.parse_move(game.start(), "4") == 4
    with pytest.raises(UsageError, match=r"legal moves are x\(0,0\)"):
        game.parse_move(game.start(), "e4")


def test_two_states_with_the_same_number_are_detected(monkeypatch):
    full_hashes = states._hashes

    def short(texts: list[str]) -> tuple[states.Positions, states.Numbers]:
        text_hashes, checks = full_hashes(texts)
        return text_hashes % 8000 // 8 * 8, checks

    monkeypatch.setattr(states, "_hashes", short)
    with pytest.raises(UsageError, match="two of its states share the number"):
        solve_game(load_game("openspiel", game="tic_tac_toe"), save=False)


def test_states_that_were_not_kept_are_replayed(monkeypatch):
    monkeypatch.setattr(states, "MAX_STATES", 2)
    game = load_game("openspiel", game="tic_tac_toe")
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == "draw in 9"
        assert game.decode(game.encode("4 0 8")) == "o../.x./..x"


def test_threads_share_a_book():
    book, alone = StateBook(pyspiel.load_game("tic_tac_toe")), StateBook(pyspiel.load_game("tic_tac_toe"))
    seen: list[int] = []

    def walk(book: StateBook, number: int, order: int) -> int:
        return 1 + sum(walk(book, child, order) for child in list(book.children(number).values())[::order][:3])

    threads = [
        threading.Thread(target=lambda o=order: seen.append(walk(book, book.start, o))) for order in (1, -1, 1, -1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [walk(alone, alone.start, order) for order in (1, -1)]
    assert sorted(seen) == sorted(2 * expected)
    assert len(book) == len(alone)


def test_without_openspiel_one_line_tells_how_to_install_it(tmp_path, run):
    (tmp_path / "pyspiel.py").write_text("raise ImportError('not here')")
    message = run("openspiel", code=2, PYTHONPATH=str(tmp_path))
    assert message.count("\n") == 1
    assert message.startswith("error: openspiel: OpenSpiel is not installed")
    assert "pip install 'perfectplay[openspiel]'" in message
    assert "openspiel" in run("games", PYTHONPATH=str(tmp_path))
