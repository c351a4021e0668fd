"""Sharing: pictures of boards, descriptions of links, embedded boards, and answers that other sites may read."""

from __future__ import annotations

import re
import types
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from perfectplay.game.loading import load_game
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

ELSEWHERE = {"origin": "https://example.org", "sec-fetch-site": "cross-site"}


def tags_of(client: TestClient, path: str) -> dict[str, str]:
    head = client.get(path).text.partition("</head>")[0]
    return dict(re.findall(r'<meta property="([^"]+)" content="([^"]*)">', head))


# ---- pictures ----


def test_the_picture_of_a_position_is_that_of_notebooks(client: TestClient) -> None:
    game = load_game("gobblet")
    position = game.position().apply("L(1,1)")
    picture = client.get("/api/gobblet/board.svg", params={"position": str(position), "size": 300})
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert picture.text == position.svg(size=300)
    assert picture.headers["cross-origin-resource-policy"] == "cross-origin"
    by_number = client.get("/api/gobblet/board.svg", params={"id": str(int(position)), "flipped": "yes"})
    assert by_number.text == position.svg(flipped=True)


def test_a_game_without_a_board_is_drawn_from_its_text(client: TestClient) -> None:
    picture = client.get("/api/tictactoe/board.svg?position=XO.......")
    root = ElementTree.fromstring(picture.text)
    assert len(root.findall(".//{*}rect[@class='cell']")) == 9


@pytest.mark.parametrize(
    ("query", "status"), [("position=nonsense", 400), ("size=5", 422), ("size=9999", 422), ("flipped=maybe", 422)]
)
def test_a_wrong_picture_is_refused(client: TestClient, query: str, status: int) -> None:
    assert client.get(f"/api/tictactoe/board.svg?{query}").status_code == status


def test_a_game_without_rows_has_no_picture(client: TestClient) -> None:
    answer = client.get("/api/stones/board.svg")
    assert (answer.status_code, "cannot be drawn" in answer.json()["error"]) == (404, True)


# ---- links ----


def test_a_link_is_described_by_its_position(client: TestClient) -> None:
    tags = tags_of(client, "/tictactoe?moves=b2+a1&ply=1")
    assert tags["og:title"] == client.get("/api/games").json()["games"][0]["title"]
    shown = client.get("/api/tictactoe/replay?moves=b2+a1&ply=1").json()["position"]
    assert tags["og:description"] == f"{shown['headline']}."
    assert tags["og:image"] == f"http://testserver/api/tictactoe/board.svg?id={shown['id']}"
    assert client.get(tags["og:image"]).status_code == 200
    ended = tags_of(client, "/tictactoe?position=XXXOO....")
    assert ended["og:description"].startswith("Game over: ")


def test_the_description_of_a_puzzle_does_not_reveal_its_value(client: TestClient) -> None:
    found = client.get("/api/tictactoe/find?kind=puzzle&seed=1").json()
    tags = tags_of(client, f"/tictactoe?position={found['text']}&puzzle=1")
    assert re.fullmatch("Puzzle: .* to move, only one move wins.", tags["og:description"])
    assert found["verdict"] not in str(tags)


@pytest.mark.parametrize("query", ["position=nonsense", "id=x", "moves=z9", "ply=x", "fbclid=1", "ply=-3"])
def test_a_wrong_link_is_described_by_its_game(client: TestClient, query: str) -> None:
    assert tags_of(client, f"/tictactoe?{query}")["og:title"]


def test_texts_of_a_link_are_escaped(client: TestClient) -> None:
    page = client.get('/tictactoe?position="><script>').text
    assert "><script>" not in page


# ---- embedded boards ----


def test_only_named_sites_may_embed_a_board(library: Library) -> None:
    closed = TestClient(make_app(library)).get("/embed/tictactoe").headers
    assert "frame-ancestors 'none'" in closed["content-security-policy"]
    assert closed["x-frame-options"] == "DENY"
    client = TestClient(make_app(library, framers=["https://example.org"]))
    opened = client.get("/embed/tictactoe")
    assert "frame-ancestors https://example.org" in opened.headers["content-security-policy"]
    assert "x-frame-options" not in opened.headers
    assert '<body class="embed">' in opened.text
    for path in ("/tictactoe", "/api/games", "/static/main.js"):
        headers = client.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"


def test_an_embedded_variant_keeps_its_address(tmp_path: Path) -> None:
    client = TestClient(make_app(Library(tmp_path, [load_game("connect4")])), follow_redirects=False)
    answer = client.get("/embed/connect4?moves=a", headers={"sec-fetch-site": "same-origin"})
    assert answer.headers["location"].startswith("/embed/connect4-")
    assert answer.headers["location"].endswith("?moves=a")


# ---- other sites ----


def test_other_sites_may_read_but_not_change(client: TestClient) -> None:
    for path in ("games", "tictactoe/evaluate?id=0", "tictactoe/board.svg", "openapi.json"):
        assert client.get(f"/api/{path}", headers=ELSEWHERE).headers["access-control-allow-origin"] == "*", path
    for path in ("tictactoe/game", "tictactoe/history", "tictactoe/solve"):
        assert "access-control-allow-origin" not in client.get(f"/api/{path}", headers=ELSEWHERE).headers, path
    preflight = client.options("/api/tictactoe/evaluate", headers=ELSEWHERE)
    assert (preflight.status_code, preflight.headers["access-control-allow-methods"]) == (204, "GET, HEAD")
    assert client.options("/api/tictactoe/move", headers=ELSEWHERE).status_code == 405
    assert client.post("/api/tictactoe/move", json={"move": "b2"}, headers=ELSEWHERE).status_code == 403


def test_only_what_cannot_change_is_cached(client: TestClient, games: types.SimpleNamespace, tmp_path: Path) -> None:
    def caching(path: str, client: TestClient = client) -> str:
        answer = client.get(path)
        assert answer.status_code == 200
        return answer.headers["cache-control"]

    assert caching("/api/tictactoe/moves/evaluated?position=X........") == "public, max-age=3600"
    assert caching("/api/tictactoe/board.svg?position=X........") == "public, max-age=3600"
    assert caching("/api/tictactoe/position") == "no-cache"  # the session's
    assert caching("/api/games") == "no-cache"
    unsolved = TestClient(make_app(Library(tmp_path, [games.tic_tac_toe()])))
    assert caching("/api/tictactoe/position?position=X........", unsolved) == "no-cache"
