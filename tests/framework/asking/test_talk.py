"""`solve talk`: one JSON answer per line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from perfectplay import load_game, solve_game
from perfectplay.cli.talk import answer


@pytest.fixture(scope="module")
def table():
    with solve_game(load_game("openspiel", game="tic_tac_toe"), save=False).table as solved:
        yield solved


def ask(table, query: object) -> dict:
    return answer(table, query if isinstance(query, str) else json.dumps(query))


def test_a_position_may_be_a_text_a_number_or_an_object(table):
    text = "o../.x./..x"
    number = table.game.encode(text)
    found = ask(table, '"o../.x./..x"')
    assert found == ask(table, number) == ask(table, {"position": text}) == ask(table, {"position": number})
    assert found == {
        "position": text,
        "id": number,
        "status": "ongoing",
        "outcome": "draw",
        "remoteness": 6,
        "best": found["best"],
    }
    assert found["best"]


def test_all_moves_are_listed_on_request(table):
    found = ask(table, {"position": "4 0 8", "moves": True})
    assert len(found["moves"]) == 6
    for move in found["moves"]:
        assert ask(table, move["id"])["remoteness"] == move["remoteness"] - 1
    assert found["best"] == [move["move"] for move in found["moves"] if move["outcome"] == "draw"]


def test_a_finished_game_has_no_moves(table):
    found = ask(table, '"0 3 1 4 2"')
    assert (found["status"], found["remoteness"], found["best"]) == ("won", 0, [])


def test_invalid_bytes_and_characters_get_an_error(tmp_path):
    """Bytes that are not UTF-8, and half of a surrogate pair, which is valid in JSON only."""
    solve = [sys.executable, "-c", "from perfectplay.cli import main; main()"]
    environment = {**os.environ, "PERFECTPLAY_TABLES": str(tmp_path), "PYTHONIOENCODING": "ascii"}
    small = ["connect4", "--width", "3", "--height", "3"]
    subprocess.run([*solve, *small, "-q"], env=environment, check=True, capture_output=True)
    start = load_game("connect4", width=3, height=3).start()
    queries = b'"\\ud800"\n"\xff"\n"\xc3\xa9"\n\n' + str(start).encode() + b"\n"
    done = subprocess.run([*solve, "talk", *small], input=queries, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(each)) for each in answers] == ["error", "error", "error", "position"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("5x", "not valid JSON"),
        ("true", "true is not a position of openspiel"),
        ("null", "null is not a position"),
        ('{"pos": 1}', "unknown key 'pos'"),
        ('"xxx/xxx/xxx"', "no position"),
        ("-1", "-1 is not a position"),
        ("[" * 100_000, "not valid JSON"),
        ("1" * 10_000, "not valid JSON"),
        ('{"moves": true}', "no 'position'"),
        ('{"position": "4", "moves": "no"}', "'moves' must be true or false"),
        (json.dumps(list(range(10_000))), "… is not a position of openspiel"),
        ("NaN", "NaN is not a position"),
    ],
)
def test_an_invalid_query_gets_an_error_and_the_next_an_answer(table, line, words):
    assert words in ask(table, line)["error"]
    assert "error" not in ask(table, '"4"')
