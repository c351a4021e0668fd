"""GamesCrafters' universal web API: its JSON, as its README has it, with our values."""

from __future__ import annotations

from perfectplay import load_game, solve_game
from perfectplay.web.gamesman import position_json


def test_games_variants_and_rules_are_listed(client):
    games = client.get("/uwapi/").json()
    assert {"id": "tictactoe", "name": "tictactoe", "type": "twoPlayer", "gui": "v0"} in games
    game = client.get("/uwapi/tictactoe/").json()
    assert game["variants"] == [{"id": "regular", "name": "Regular", "gui": "v0"}]
    assert (game["allowCustomVariantCreation"], game["supportsWinBy"]) == (False, False)
    variant = client.get("/uwapi/tictactoe/regular/").json()
    assert set(variant) == {"id", "name", "gui", "startPosition", "autoguiStartPosition", "imageAutoGUIData"}
    assert client.get("/uwapi/tictactoe/regular/instructions/").json()["instructions"].startswith("# tictactoe")


def test_a_position_has_its_value_and_those_of_its_moves(client):
    start = client.get("/uwapi/stones/regular/").json()["startPosition"]
    answer = client.get("/uwapi/stones/regular/positions/", params={"p": start})
    assert answer.headers["access-control-allow-origin"] == "*"
    found = answer.json()
    assert (found["position"], found["positionValue"], found["remoteness"]) == ("7", "win", 5)
    take_one, take_two = found["moves"]
    assert (take_one["moveValue"], take_one["position"], take_one["positionValue"]) == ("win", "6", "lose")
    assert (take_one["remoteness"], take_one["deltaRemoteness"]) == (4, 0)
    assert (take_two["moveValue"], take_two["positionValue"], take_two["deltaRemoteness"]) == ("lose", "win", 0)


def test_a_tie_is_not_a_draw_and_the_best_moves_come_first(client):
    start = client.get("/uwapi/tictactoe/regular/").json()["startPosition"]
    found = client.get("/uwapi/tictactoe/regular/positions/", params={"p": start}).json()
    assert (found["positionValue"], found["remoteness"]) == ("tie", 9)
    assert found["autoguiPosition"][:2] == "1_"
    assert all(move["autoguiPosition"][:2] == "2_" for move in found["moves"])
    assert {move["moveValue"] for move in found["moves"]} == {"tie"}


def test_what_is_not_there_is_refused(client):
    for path, status in {
        "/uwapi/chess/": 404,
        "/uwapi/tictactoe/misere/": 404,
        "/uwapi/tictactoe/regular/positions/": 400,
        "/uwapi/tictactoe/regular/positions/?p=nonsense": 400,
    }.items():
        answer = client.get(path)
        assert (answer.status_code, "error" in answer.json()) == (status, True), path


def test_an_unsolved_game_says_so(client):
    start = client.get("/uwapi/gobblet/regular/").json()["startPosition"]
    found = client.get("/uwapi/gobblet/regular/positions/", params={"p": start}).json()
    assert found["positionValue"] == "unsolved"
    assert {move["moveValue"] for move in found["moves"]} == {"unsolved"}


def test_scores_and_turns_that_stay():
    game = load_game("openspiel", game="dots_and_boxes(num_rows=1,num_cols=2,utility_margin=true)")
    with solve_game(game).table as table:
        seen = set()
        stack = [game.start()]
        while stack:
            position = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            found = position_json(game, table, position)
            assert found["winby"] == table.probe(position).score
            for move in found["moves"]:
                child = game.encode(move["position"])
                stack.append(child)
                same = game.keeps_turn(position, child)
                turned = {"win": "lose", "lose": "win", "tie": "tie"}
                assert move["moveValue"] == (move["positionValue"] if same else turned[move["positionValue"]])
            if found["moves"]:
                assert found["moves"][0]["moveValue"] == found["positionValue"]
        assert len(seen) == 143


def test_a_puzzle_has_moves_that_bring_the_end_nearer():
    game = load_game("openspiel", game="cliff_walking(height=3,width=4,horizon=12)")
    with solve_game(game).table as table:
        found = position_json(game, table, game.start())
    assert found["moves"]
    assert all(isinstance(move["deltaRemoteness"], int) for move in found["moves"])
