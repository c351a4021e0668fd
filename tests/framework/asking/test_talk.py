"""`solve talk`: a line of JSON in, a line of JSON out."""

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


def ask(table, question: object) -> dict:
    return answer(table, question if isinstance(question, str) else json.dumps(question))


def test_a_position_is_given_as_text_number_or_object(table):
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


def test_every_move_is_listed_where_it_is_asked_for(table):
    found = ask(table, {"position": "4 0 8", "moves": True})
    assert len(found["moves"]) == 6
    for move in found["moves"]:
        assert ask(table, move["id"])["remoteness"] == move["remoteness"] - 1
    assert found["best"] == [move["move"] for move in found["moves"] if move["outcome"] == "draw"]


def test_a_finished_game_has_no_moves(table):
    found = ask(table, '"0 3 1 4 2"')
    assert (found["status"], found["remoteness"], found["best"]) == ("won", 0, [])


def test_the_talk_goes_on_after_bytes_and_characters_that_no_terminal_shows(tmp_path):
    """What is not UTF-8, and half of a surrogate pair, which JSON can write and no encoding can."""
    solve = [sys.executable, "-c", "from perfectplay.cli import main; main()"]
    environment = {**os.environ, "PERFECTPLAY_TABLES": str(tmp_path), "PYTHONIOENCODING": "ascii"}
    small = ["connect4", "--width", "3", "--height", "3"]
    subprocess.run([*solve, *small, "-q"], env=environment, check=True, capture_output=True)
    start = load_game("connect4", width=3, height=3).start()
    asked = b'"\\ud800"\n"\xff"\n"\xc3\xa9"\n\n' + str(start).encode() + b"\n"
    done = subprocess.run([*solve, "talk", *small], input=asked, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(each)) for each in found] == ["error", "error", "error", "position"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("5x", "not a line of JSON"),
        ("true", "true is not a position of openspiel"),
        ("null", "null is not a position"),
        ('{"pos": 1}', "a question has 'position' and 'moves', not 'pos'"),
        ('"xxx/xxx/xxx"', "no position of the game has this text"),
        ("-1", "-1 is not a position"),
        ("[" * 100_000, "not a line of JSON"),
        ("1" * 10_000, "not a line of JSON"),
        ('{"moves": true}', "a question needs a 'position'"),
        ('{"position": "4", "moves": "no"}', "'moves' is true or false"),
        (json.dumps(list(range(10_000))), "… is not a position of openspiel"),
        ("NaN", "NaN is not a position"),
    ],
)
def test_what_cannot_be_answered_gets_an_error_and_the_talk_goes_on(table, line, words):
    assert words in ask(table, line)["error"]
    assert "error" not in ask(table, '"4"')
