"""The JSON API: answers match their schemas, errors are one sentence, sessions are separate."""

from __future__ import annotations

import asyncio
import html
import random
import time
import types
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import numpy as np
import pytest
from starlette.testclient import TestClient

from perfectplay.game.loading import GameInfo, load_game, make_game
from perfectplay.game.match import Match
from perfectplay.solve.solve import solve_game
from perfectplay.web import library as library_module
from perfectplay.web import matches, requests
from perfectplay.web.api import OPERATIONS, ROUTES
from perfectplay.web.app import make_app
from perfectplay.web.library import Library
from perfectplay.web.operations import describe

from .. import zoo
from ..zoo import twelve
from .conftest import tic_tac_toe


def check_schema(name: str, answer: Any) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": describe(OPERATIONS)["components"]}
    jsonschema.validate(answer, schema)


GETS = {
    "position": "Position",
    "moves/evaluated": "EvaluatedMoves",
    "evaluate": "Evaluation",
    "best-move": "BestMove",
    "line": "Line",
    "choose": "Choice",
    "moves": "Moves",
    "state/export": "State",
    "game": "SessionGame",
    "history": "History",
    "solve": "Solve",
}


@pytest.mark.parametrize("path", GETS)
@pytest.mark.parametrize("game", ["tictactoe", "stones"])
def test_every_get_matches_its_schema(client: TestClient, path: str, game: str) -> None:
    response = client.get(f"/api/{game}/{path}")
    assert response.status_code == 200
    check_schema(GETS[path], response.json())


def test_routes_and_described_paths_are_the_same() -> None:
    described = {
        (path, method)
        for path, item in describe(OPERATIONS)["paths"].items()
        for method in ("get", "post", "delete")
        if method in item
    }
    routes = {
        (route.path, method.lower())
        for route in ROUTES
        for method in route.endpoint.handlers
        if method not in ("HEAD", "OPTIONS")
    }
    assert routes - {("/api/openapi.json", "get")} == described


def test_the_list_of_games_has_their_states(client: TestClient) -> None:
    answer = client.get("/api/games").json()
    check_schema("Games", answer)
    by_name = {game["name"]: game for game in answer["games"]}
    assert by_name["tictactoe"]["state"] == "ready"
    assert by_name["tictactoe"]["positions"] == 765
    assert by_name["tictactoe"]["verdict"] == "Draw in 9 plies"
    assert by_name["tictactoe"]["headline"] == "Draw with best play"
    assert by_name["gobblet"] | {"version": ""} == {
        "name": "gobblet",
        "title": by_name["gobblet"]["title"],
        "rules": by_name["gobblet"]["rules"],
        "family": "gobblet",
        "version": "",
        "kind": "C kernel",
        "start": "0",
        "players": ["Orange", "Blue"],
        "variant": {},
        "options": [],
        "state": "unsolved",
        "reason": None,
        "command": "solve gobblet",
    }


def test_moves_are_sorted_best_first_with_their_positions(client: TestClient) -> None:
    answer = client.get("/api/tictactoe/moves/evaluated", params={"position": "X.O...X.."}).json()
    assert [move["outcome"] for move in answer["moves"]] == ["loss"] * 6  # O to move cannot stop both threats
    answer = client.get("/api/tictactoe/moves/evaluated", params={"position": "X.O...X.O"}).json()
    best = answer["moves"][0]
    assert (best["move"], best["outcome"], best["remoteness"]) == ("a2", "win", 1)
    assert client.get("/api/tictactoe/position", params={"id": best["id"]}).json()["text"] == "X.OX..X.O"


def test_symmetric_moves_share_a_group(client: TestClient) -> None:
    moves = client.get("/api/tictactoe/moves/evaluated").json()["moves"]
    groups: dict[int, set[str]] = {}
    for move in moves:
        groups.setdefault(move["group"], set()).add(move["move"])
    assert sorted(map(len, groups.values())) == [1, 4, 4]


def test_the_computers_move_depends_on_its_strength(client: TestClient) -> None:
    def chosen(**query: object) -> set[str]:
        answers = [client.get("/api/tictactoe/choose", params={**query, "seed": seed}) for seed in range(30)]
        assert {answer.status_code for answer in answers} == {200}
        return {answer.json()["move"] for answer in answers}

    assert chosen(position="XX.OO....", strength="casual") == {"c3"}, "an immediate win is easy to see"
    assert len(chosen(position="XX.OO....", strength="random")) > 1
    assert chosen(moves="a1") == {"b2"}, "only the centre holds the draw"
    assert chosen(position="XXXOO....") == {None}
    assert client.get("/api/tictactoe/choose?strength=weak").status_code == 422


def test_the_best_line_leads_to_the_end(client: TestClient) -> None:
    line = client.get("/api/stones/line").json()["line"]
    assert [step["remoteness"] for step in line] == list(range(len(line), 0, -1))
    end = client.get("/api/stones/position", params={"id": line[-1]["id"]}).json()
    assert end["result"]["text"].startswith("Game over")
    assert client.get("/api/stones/line", params={"id": line[-1]["id"]}).json()["line"] == []
    assert client.get("/api/stones/best-move", params={"id": line[-1]["id"]}).json()["best"] is None


def test_a_draw_in_a_game_with_scores_has_score_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twelve, "NUMBERS", (3, 3))
    game = make_game(twelve, name="twelve")
    solve_game(game, directory=tmp_path).table.close()
    library = Library(tmp_path, [game])
    answer = TestClient(make_app(library)).get("/api/twelve/moves/evaluated").json()
    assert [answer["score"], *(move["score"] for move in answer["moves"])] == [0, 0, 0]
    library.close()


def test_a_position_outside_the_table_is_not_a_draw(client: TestClient) -> None:
    answer = client.get("/api/stones/position", params={"position": "8"}).json()
    assert (answer["outcome"], answer["remoteness"]) == (None, None)
    assert answer["verdict"] == "Not in the table: it cannot be reached from the start"
    assert {move["move"]: move["outcome"] for move in answer["moves"]} == {"1": "loss", "2": "win"}


def test_check_explains_why_a_text_is_not_a_position(client: TestClient) -> None:
    answer = client.get("/api/tictactoe/check", params={"position": "XX"}).json()
    check_schema("Check", answer)
    assert (answer["possible"], answer["reason"]) == (False, "nine of . X O were expected")
    answer = client.get("/api/tictactoe/check", params={"position": "XX......."}).json()
    assert (answer["possible"], "not a position" in answer["reason"]) == (False, True)
    assert client.get("/api/tictactoe/check", params={"position": "X........"}).json()["possible"]


# ---- sessions ----


def test_a_session_plays_undoes_redoes_and_resets(client: TestClient) -> None:
    def post(path: str, **body: str) -> Any:
        response = client.post(f"/api/tictactoe/{path}", json=body)
        assert response.status_code == 200, response.text
        check_schema("SessionGame", response.json())
        return response.json()

    assert post("move", move="b2")["text"] == "....X...."
    assert post("move", move="a1")["text"] == "....X.O.."
    assert post("undo")["can_redo"]
    assert post("redo")["text"] == "....X.O.."
    history = client.get("/api/tictactoe/history").json()
    check_schema("History", history)
    assert [entry["move"] for entry in history["moves"]] == ["b2", "a1"]
    assert client.get("/api/tictactoe/state/export").json()["text"] == "....X.O.."
    assert post("state/import", position="XO.......")["ply"] == 0
    assert client.get("/api/tictactoe/evaluate").json()["outcome"] == "win"
    assert post("reset")["text"] == "........."


def test_history_marks_the_move_that_changed_the_outcome(client: TestClient) -> None:
    for move in ("b2", "b3", "a3"):  # an edge after the centre loses
        client.post("/api/tictactoe/move", json={"move": move})
    changed = [entry["changed_outcome"] for entry in client.get("/api/tictactoe/history").json()["moves"]]
    assert changed == [False, True, False]


def test_threefold_repetition_ends_a_sessions_game(client: TestClient) -> None:
    round_trip = ["(0,0)->(0,1)", "(2,2)->(2,1)", "(0,1)->(0,0)", "(2,1)->(2,2)"]
    for move in ["S(0,0)", "S(2,2)", *round_trip, *round_trip]:
        answer = client.post("/api/gobblet/move", json={"move": move})
        assert answer.status_code == 200, answer.text
    assert answer.json()["result"] == {
        "winner": None,
        "text": "Game over: draw by threefold repetition",
    }
    refused = client.post("/api/gobblet/move", json={"move": "L(1,1)"})
    assert (refused.status_code, "threefold repetition" in refused.json()["error"]) == (409, True)


def test_two_hundred_concurrent_sessions_do_not_mix(library: Library, games: types.SimpleNamespace) -> None:
    """All play at the same time, and each finds exactly its own moves at the end."""
    app = make_app(library)
    game = games.tic_tac_toe()

    async def play(seed: int) -> tuple[list[str], list[str]]:
        choice = random.Random(seed)
        played = []
        position = game.start()
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as own:
            for _ in range(choice.randrange(3, 9)):
                moves = game.moves(position)
                if not moves:
                    break
                move = choice.choice(moves)
                played.append(game.format_move(position, move))
                position = game.apply(position, move)
                answer = await own.post("/api/tictactoe/move", json={"move": played[-1]})
                assert answer.json()["text"] == game.decode(position)
                await asyncio.sleep(choice.random() / 100)
            found = (await own.get("/api/tictactoe/history")).json()["moves"]
        return played, [entry["move"] for entry in found]

    async def play_all() -> list[tuple[list[str], list[str]]]:
        return await asyncio.gather(*map(play, range(200)))

    for played, found in asyncio.run(play_all()):
        assert played == found
    assert len(app.site.sessions) == 200


def test_sessions_are_limited_in_number_and_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MAX_SESSIONS", 3)
    now = [0.0]
    sessions = matches.Sessions(clock=lambda: now[0])
    match = Match(tic_tac_toe())
    tokens = [sessions.save(None, match) for _ in range(3)]
    assert sessions.find(tokens[0]) is not None  # now the second is the least recently used
    sessions.save(None, match)
    assert [sessions.find(token) is not None for token in tokens] == [True, False, True]
    now[0] += matches.MAX_IDLE_SECONDS + 1
    assert [sessions.find(token) for token in tokens] == [None] * 3
    assert len(sessions) == 0


def test_each_move_renews_the_cookie(client: TestClient) -> None:
    for _ in range(2):
        cookie = client.post("/api/tictactoe/reset").headers.get("set-cookie", "")
        assert f"Max-Age={24 * 3600}" in cookie
    assert len(client.app.site.sessions) == 1  # type: ignore[attr-defined]


def test_reading_creates_no_session(client: TestClient) -> None:
    client.get("/api/tictactoe/game")
    client.post("/api/tictactoe/undo")
    assert len(client.app.site.sessions) == 0  # type: ignore[attr-defined]


# ---- errors ----


@pytest.mark.parametrize(
    ("path", "status", "part"),
    [
        ("/api/tictacto/position", 404, "did you mean 'tictactoe'?"),
        ("/api/tictactoe/nothing", 404, "see /api"),
        ("/api/tictactoe/position?position=XX", 400, "nine of . X O were expected"),
        ("/api/tictactoe/position?id=-1", 400, "whole number"),
        ("/api/tictactoe/position?id=99999999999999999999", 400, "is not a position"),
        ("/api/tictactoe/check", 422, "position"),
        ("/api/tictactoe/position?id=0&position=.........", 422, "either `id` or `position`"),
        ("/api/tictactoe/evaluate?foo=bar", 422, "'foo'; known parameters: position, id"),
        ("/api/tictactoe/evaluate?postion=.........", 422, "did you mean 'position'?"),
        ("/api/tictactoe/evaluate?id=0&id=1", 422, "more than once"),
        ("/api/games?all=1", 422, "no parameters"),
        ("/api/tictactoe/find?kind=best", 422, "any, win, loss, draw, puzzle"),
        ("/api/tictactoe/find?kind=win&remoteness=99", 404, "no such position: win in 99"),
        ("/api/tictactoe/find?remoteness=-1", 422, "whole number"),
        ("/api/tictactoe/replay?moves=b2+b2", 400, "move 2: "),
        ("/api/tictactoe/replay?moves=b2&ply=2", 422, "at most the number of moves, 1"),
        ("/api/tictactoe/replay?ply=x", 422, "ply: expected a whole number"),
        ("/api/tictactoe/replay?moves=b2&ply=1e0", 422, "ply: expected a whole number"),
        ("/api/tictactoe/find?kind=win&remoteness=1.0", 422, "remoteness: expected a whole number"),
        ("/docs", 404, "there is no game called 'docs'"),
        ("/openapi.json", 404, "/api"),
        ("/foo", 404, "there is no game called 'foo'"),
        ("/api/gobblet/evaluate", 409, "run `solve gobblet` first"),
        ("/api/tictactoe/position?position=" + "X" * 2000, 400, "1,000 characters"),
        ("/api/tictactoe/position?position=" + "X" * 20_000, 414, "too long"),
    ],
)
def test_a_wrong_get_is_refused_with_a_sentence(client: TestClient, path: str, status: int, part: str) -> None:
    response = client.get(path)
    assert response.status_code == status
    if path.startswith("/api"):
        check_schema("Error", response.json())
    assert part.lower() in html.unescape(response.json()["error"] if path.startswith("/api") else response.text).lower()
    assert "Traceback" not in response.text


@pytest.mark.parametrize(
    ("path", "arguments", "status", "part"),
    [
        ("move", {"json": {"move": "z9"}}, 400, "the legal moves are a3"),
        ("move", {"json": {"move": 5}}, 400, "move: expected a string"),
        ("move", {"json": {"move": "x" * 1001}}, 400, "1000"),
        ("move", {"json": {"point": "b2"}}, 400, "unknown field point"),
        ("move", {"json": {}}, 400, '{"move": …}'),
        ("move", {"json": ["b2"]}, 400, "the body must be"),
        ("move", {"content": b"{", "headers": {"content-type": "application/json"}}, 400, "not JSON"),
        ("move", {"content": b"[" * 9000, "headers": {"content-type": "application/json"}}, 400, "the body must be"),
        ("move", {"content": b"move=b2"}, 415, "application/json"),
        ("move", {"content": b" " * 20_000}, 413, "too long"),
        (
            "move",
            {"content": b'{"move": "\\ud800"}', "headers": {"content-type": "application/json"}},
            400,
            "not JSON",
        ),
        ("undo", {}, 409, "no move to undo"),
        ("redo", {}, 409, "no move to redo"),
        ("state/import", {"json": {"position": "?"}}, 400, "nine of"),
        ("move", {"json": {"move": "b2"}, "headers": {"origin": "http://evil.example"}}, 403, "own page"),
        ("move", {"json": {"move": "b2"}, "headers": {"sec-fetch-site": "cross-site"}}, 403, "own page"),
        ("solve", {}, 409, "already solved"),
    ],
)
def test_a_wrong_post_is_refused_with_a_sentence(
    client: TestClient, path: str, arguments: dict[str, Any], status: int, part: str
) -> None:
    response = client.post(f"/api/tictactoe/{path}", **arguments)
    assert (response.status_code, part in response.json()["error"]) == (status, True), response.text


def test_an_internal_error_reveals_no_details(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("secret /etc/path")

    monkeypatch.setattr("perfectplay.web.answers.rate_each_move", fail)
    client = TestClient(make_app(library), raise_server_exceptions=False)
    response = client.get("/api/tictactoe/position")
    assert response.status_code == 500
    assert response.json() == {"error": "internal server error; see the server log"}
    assert "nosniff" in response.headers["x-content-type-options"]


@pytest.mark.parametrize("path", ["/", "/tictactoe", "/static/main.js", "/api/games", "/api/nothing/at/all"])
def test_every_answer_has_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert "unsafe" not in headers["content-security-policy"]
    assert "script-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_a_foreign_host_name_is_refused(library: Library) -> None:
    app = make_app(library, hosts={"localhost", "::1"})
    assert TestClient(app, base_url="http://localhost:8017").get("/api/games").status_code == 200
    assert TestClient(app, base_url="http://[::1]:8017").get("/api/games").status_code == 200
    refused = TestClient(app, base_url="http://rebound.example").get("/api/games")
    assert (refused.status_code, "host name" in refused.json()["error"]) == (403, True)


def test_the_rate_of_other_machines_is_limited(library: Library) -> None:
    now = [0.0]
    app = make_app(library)
    client = TestClient(
        requests.RequestGuard(app, app.site, hosts=None, clock=lambda: now[0]), client=("192.0.2.7", 1234)
    )

    def count_answered(number: int) -> int:
        return [client.get("/static/icon.svg").status_code for _ in range(number)].count(200)

    assert count_answered(int(requests.BURST) + 20) == requests.BURST
    refused = client.get("/static/icon.svg")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    now[0] += 0.1
    assert count_answered(20) == requests.RATE / 10


# ---- solving, variants ----


def test_a_game_is_solved_on_request(tmp_path: Path, games: types.SimpleNamespace) -> None:
    library = Library(tmp_path, [games.tic_tac_toe()])
    client = TestClient(make_app(library))
    before = client.get("/api/tictactoe/solve").json()
    assert before["state"] == "unsolved"
    assert before["estimate"].startswith("765 positions: about 1.0 s, ")
    assert client.get("/api/tictactoe/evaluate").status_code == 409
    started = client.post("/api/tictactoe/solve")
    assert started.status_code == 202
    check_schema("Solve", started.json())
    deadline = time.monotonic() + 30
    while (report := client.get("/api/tictactoe/solve").json())["state"] == "solving":
        check_schema("Solve", report)
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert report["state"] == "done"
    assert client.get("/api/tictactoe/evaluate").json()["verdict"] == "Draw in 9 plies"
    library.close()


def test_a_stopped_solve_leaves_no_table(tmp_path: Path, games: types.SimpleNamespace) -> None:
    library = Library(tmp_path, [load_game("gobblet"), games.tic_tac_toe()])
    client = TestClient(make_app(library))
    assert client.post("/api/gobblet/solve").status_code == 202
    assert client.post("/api/tictactoe/solve").status_code == 409  # one at a time
    stopped = client.delete("/api/gobblet/solve").json()
    assert (stopped["state"], "stopped" in stopped["error"]) == ("failed", True)
    assert client.get("/api/games").json()["games"][0]["state"] == "unsolved"
    assert client.delete("/api/gobblet/solve").status_code == 409
    library.close()


def test_a_server_open_to_others_does_not_solve(tmp_path: Path, games: types.SimpleNamespace) -> None:
    client = TestClient(make_app(Library(tmp_path, [games.tic_tac_toe()]), may_solve=False))
    assert client.post("/api/tictactoe/solve").status_code == 403
    assert client.get("/api/tictactoe/solve").json()["estimate"] is None


def test_variants_with_a_table_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, games: types.SimpleNamespace
) -> None:
    module = zoo.module_of(zoo.read("variants"))

    def load(name: str, **options: object) -> Any:
        return make_game(module, name=name, **options)

    default, short = load("take"), load("take", stones=5)
    solve_game(short, directory=tmp_path).table.close()
    monkeypatch.setattr(library_module, "load_game", load)
    infos = [
        GameInfo("take", "1", "Python", options=default.declared_options),
        GameInfo("bad", "1", "", broken="it fell"),
    ]
    monkeypatch.setattr(library_module, "installed_games", lambda: infos)
    library = Library(tmp_path)
    client = TestClient(make_app(library))
    answer = client.get("/api/games").json()
    check_schema("Games", answer)
    assert {game["name"]: game["state"] for game in answer["games"]} == {
        default.identity: "unsolved",
        short.identity: "ready",
        "bad": "broken",
    }
    assert client.get(f"/api/{short.identity}/evaluate").json()["outcome"] == "win"
    assert "broken: it fell" in client.get("/api/bad/game").json()["error"]
    library.close()


def test_texts_of_hooks_may_be_subclasses_of_str():
    """numpy.str_ is one; msgspec encodes only the built-in types without help."""
    assert requests.JSONAnswer({"move": np.str_("a1"), "value": np.float64(0.5)}).body == b'{"move":"a1","value":0.5}'
