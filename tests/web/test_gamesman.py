"""GamesCrafters' universal web API: the JSON of its README, with our values."""

from __future__ import annotations

from urllib.parse import quote

import jsonschema
import msgspec
import pytest
from starlette.testclient import TestClient

from perfectplay import load_game, solve_game
from perfectplay.analysis.selection import random_positions
from perfectplay.web.api import OPERATIONS
from perfectplay.web.app import make_app
from perfectplay.web.gamesman import describe_position
from perfectplay.web.library import Library
from perfectplay.web.operations import describe


def test_games_variants_and_rules_are_listed(client):
    games = client.get("/uwapi/").json()
    assert {"id": "tictactoe", "name": "tictactoe", "type": "twoPlayer", "gui": "v0"} in games
    game = client.get("/uwapi/tictactoe/").json()
    assert game["variants"] == [{"id": "regular", "name": "Regular", "gui": "v0"}]
    assert (game["allowCustomVariantCreation"], game["supportsWinBy"]) == (False, False)
    variant = client.get("/uwapi/tictactoe/regular/").json()
    assert set(variant) == {"id", "name", "gui", "startPosition", "autoguiStartPosition", "imageAutoGUIData"}
    assert client.get("/uwapi/tictactoe/regular/instructions/").json()["instructions"].startswith("# tictactoe")


def test_a_position_has_its_value_and_its_moves_values(client):
    start = client.get("/uwapi/stones/regular/").json()["startPosition"]
    answer = client.get("/uwapi/stones/regular/positions/", params={"p": start})
    assert answer.headers["access-control-allow-origin"] == "*"
    found = answer.json()
    assert (found["position"], found["positionValue"], found["remoteness"]) == ("7", "win", 5)
    take_one, take_two = found["moves"]
    assert (take_one["moveValue"], take_one["position"], take_one["positionValue"]) == ("win", "6", "lose")
    assert (take_one["remoteness"], take_one["deltaRemoteness"]) == (4, 0)
    assert (take_two["moveValue"], take_two["positionValue"], take_two["deltaRemoteness"]) == ("lose", "win", 0)


def test_a_tie_is_not_a_draw(client):
    start = client.get("/uwapi/tictactoe/regular/").json()["startPosition"]
    found = client.get("/uwapi/tictactoe/regular/positions/", params={"p": start}).json()
    assert (found["positionValue"], found["remoteness"]) == ("tie", 9)
    assert found["autoguiPosition"][:2] == "1_"
    assert all(move["autoguiPosition"][:2] == "2_" for move in found["moves"])
    assert {move["moveValue"] for move in found["moves"]} == {"tie"}


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("stones/", "UwapiGame"),
        ("stones/regular/", "UwapiVariant"),
        ("stones/regular/positions/?p=7", "UwapiPosition"),
        ("gobblet/regular/positions/?p=74242", "UwapiPosition"),
        ("tictactoe/regular/instructions/", "UwapiInstructions"),
    ],
)
def test_every_answer_matches_its_schema(client, path, schema):
    answer = client.get(f"/uwapi/{path}")
    assert answer.status_code == 200
    components = describe(OPERATIONS)["components"]
    jsonschema.validate(answer.json(), {"$ref": f"#/components/schemas/{schema}", "components": components})


def test_unknown_games_variants_and_positions_are_refused(client):
    for path, status in {
        "/uwapi/chess/": 404,
        "/uwapi/tictactoe/misere/": 404,
        "/uwapi/tictactoe/regular/positions/": 400,
        "/uwapi/tictactoe/regular/positions/?p=nonsense": 400,
    }.items():
        answer = client.get(path)
        assert (answer.status_code, "error" in answer.json()) == (status, True), path


def test_an_unsolved_game_has_unsolved_values(client):
    start = client.get("/uwapi/gobblet/regular/").json()["startPosition"]
    found = client.get("/uwapi/gobblet/regular/positions/", params={"p": start}).json()
    assert found["positionValue"] == "unsolved"
    assert {move["moveValue"] for move in found["moves"]} == {"unsolved"}


def test_scores_and_extra_turns():
    game = load_game("openspiel", game="dots_and_boxes(num_rows=1,num_cols=2,utility_margin=true)")
    with solve_game(game, save=False).table as table:
        seen = set()
        stack = [game.start()]
        while stack:
            position = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            found = msgspec.to_builtins(describe_position(game, table, position))
            assert found["winby"] == table.probe(position).score
            for move in found["moves"]:
                child = game.encode(move["position"])
                stack.append(child)
                same = game.keeps_turn(position, child)
                turned = {"win": "lose", "lose": "win", "tie": "tie"}
                assert move["moveValue"] == (move["positionValue"] if same else turned[move["positionValue"]])
            if found["moves"]:
                assert found["moves"][0]["moveValue"] == found["positionValue"]
            signs = [1 if game.keeps_turn(position, game.encode(m["position"])) else -1 for m in found["moves"]]
            scores = [sign * move["winby"] for sign, move in zip(signs, found["moves"], strict=True)]
            assert scores == sorted(scores, reverse=True)  # a higher win comes first, however long it takes
        assert len(seen) == 143


def test_a_puzzles_moves_have_a_delta_remoteness():
    game = load_game("openspiel", game="cliff_walking(height=3,width=4,horizon=12)")
    with solve_game(game).table as table:
        found = msgspec.to_builtins(describe_position(game, table, game.start()))
    assert found["moves"]
    assert all(isinstance(move["deltaRemoteness"], int) for move in found["moves"])


def test_a_higher_win_comes_before_a_faster_one():
    game = load_game("kalah", pits=3, seeds=3)
    with solve_game(game, save=False).table as table:
        for position in random_positions(table, 500, seed=1).tolist():
            found = msgspec.to_builtins(describe_position(game, table, position))
            worth = []
            for move in found["moves"]:
                child = game.encode(move["position"])
                worth.append(table.probe(child).for_parent(keeps_turn=game.keeps_turn(position, child)).score)
            assert worth == sorted(worth, reverse=True)


def test_a_variant_is_found_by_its_quoted_or_unquoted_id(tmp_path):
    """An id contains quoted characters, which a path may quote again."""
    library = Library(tmp_path, [load_game("openspiel", game="nim(pile_sizes=1;2)")])
    client = TestClient(make_app(library))
    (variant,) = client.get("/uwapi/openspiel/").json()["variants"]
    assert "%3B" in variant["id"]
    for path in (variant["id"], quote(variant["id"])):
        answer = client.get(f"/uwapi/openspiel/{path}/")
        assert (answer.status_code, answer.json()["id"]) == (200, variant["id"])
    library.close()
