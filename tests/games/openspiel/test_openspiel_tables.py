"""Tables of OpenSpiel's games, opened by processes that did not make them: commands, the web page and the APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from perfectplay.web.app import make_app
from perfectplay.web.library import Library

DOTS = "dots_and_boxes(num_cols=2,num_rows=1,utility_margin=true)"
"""A game with extra turns, scores, and a text that does not show the side to move."""

WALK = "cliff_walking(height=3,horizon=12,width=4)"
"""A one-player game with a cost per step."""


def test_every_command_works_with_a_table_of_another_process(tmp_path, run):
    chosen = ("openspiel", "--game", DOTS)
    run(*chosen, "--backend", "lmdb")
    summary = json.loads(run("show", *chosen, "--json"))
    assert summary["outcome"] == "draw"
    assert "P1(v,0,1)" in run("line", *chosen)
    assert "0 1" in run("show", *chosen, "0 1", "--json")
    assert "proven" in run("verify", *chosen)
    run("export", *chosen, "csv", str(tmp_path / "all.csv"))
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 144
    assert "Dots and Boxes (OpenSpiel)" in run("rules", *chosen)
    (answer,) = map(json.loads, run("talk", *chosen, typed='{"position": "0"}\n').splitlines())
    assert answer["outcome"] == "win"


def test_a_game_is_played_to_its_end_against_the_table(run):
    chosen = ("openspiel", "--game", "tic_tac_toe")
    run(*chosen)
    output = run("play", *chosen, "--side", "first", typed="x(1,1)\nhint\nquit\n")
    assert "o(" in output  # the table's reply
    assert "draw in 7" in output
    for first in ("x(0,0)", "0"):
        assert "x../" in run("play", *chosen, "--side", "first", typed=f"{first}\nquit\n")


def test_a_one_player_game_is_played_for_its_score(run):
    chosen = ("openspiel", "--game", WALK)
    assert "The best score is −5, in 5 moves" in run(*chosen)
    output = run("show", *chosen)
    assert "score −5 in 5    UP" in output
    assert "score −100 in 1  RIGHT" in output
    assert "dead end" not in output + run("stats", *chosen) + run("line", *chosen)
    assert run("play", *chosen, typed="UP\nRIGHT\nRIGHT\nRIGHT\nDOWN\n").rstrip().endswith("A score of −5.")


@pytest.fixture
def client(tmp_path: Path, run) -> Iterator[TestClient]:
    for name in (DOTS, WALK, "tic_tac_toe"):
        run("openspiel", "--game", name)
    library = Library(tmp_path)
    yield TestClient(make_app(library))
    library.close()


def test_the_web_page_and_its_api_serve_the_tables(client):
    listed = {game["name"]: game for game in client.get("/api/games").json()["games"]}
    assert listed["openspiel-game=tic_tac_toe"]["verdict"] == "Draw in 9 plies"
    assert listed[f"openspiel-game={WALK}"]["verdict"] == "The best score is −5, in 5 moves"
    page = client.get("/" + quote(f"openspiel-game={DOTS}"))
    assert page.status_code == 200
    assert "html" in page.headers["content-type"]
    place = "/api/" + quote(f"openspiel-game={DOTS}")
    reply = client.get(place + "/position", params={"position": "0"}).json()
    assert (reply["solved"], reply["outcome"], reply["score"], reply["to_move"]) == (True, "win", 2, 1)
    assert reply["notations"]["actions"] == "0"
    assert client.get(place + "/overview").json()["positions"] == 143


@pytest.mark.parametrize(("name", "result"), [(DOTS, 0), ("tic_tac_toe", 0), (WALK, -5)])
def test_perfect_play_through_the_api_gives_the_result_of_the_table(client, name, result):
    place = "/api/" + quote(f"openspiel-game={name}")
    game = client.get(place + "/game").json()
    while game["result"] is None:
        best = client.get(place + "/moves/evaluated", params={"id": game["id"]}).json()["moves"][0]
        game = client.post(place + "/move", json={"move": best["move"]}).json()
    assert game["ply"] == {DOTS: 7, "tic_tac_toe": 9, WALK: 5}[name]
    end = client.get(place + "/position", params={"id": game["id"]}).json()
    assert end.get("score", 0) == result


def test_the_universal_web_api_serves_the_tables(client):
    variants = client.get("/uwapi/openspiel/").json()["variants"]
    assert f"game={DOTS}" in [variant["id"] for variant in variants]
    place = "/uwapi/openspiel/" + quote("game=tic_tac_toe") + "/"
    start = client.get(place).json()["startPosition"]
    reply = client.get(place + "positions/", params={"p": start}).json()
    assert (reply["positionValue"], reply["remoteness"], len(reply["moves"])) == ("tie", 9, 9)
