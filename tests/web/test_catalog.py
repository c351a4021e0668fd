"""Games and variants in the API: refused options, the cost of a solve, titles, and positions worth looking at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from perfectplay.game.loading import load_game
from perfectplay.plan.plan import Plan, plan_solve
from perfectplay.solve.solve import solve_game
from perfectplay.web import catalog
from perfectplay.web.app import make_app
from perfectplay.web.library import Library


@pytest.fixture(scope="module")
def kalah(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The default Kalah, solved, and Connect Four, not solved."""
    directory = tmp_path_factory.mktemp("kalah")
    solve_game(load_game("kalah"), directory=directory).table.close()
    return Library(directory, [load_game("kalah"), load_game("connect4")])


@pytest.fixture
def kalah_client(kalah: Library) -> TestClient:
    return TestClient(make_app(kalah))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("connect4-width=9-height=8", "9×8 board is too large"),
        ("connect4-width=99", "from 1 to 9"),
        ("kalah-pits=12-seeds=12", "12 pits with 12 seeds are too many"),
    ],
)
def test_a_refused_variant_gives_the_reason(kalah_client: TestClient, name: str, reason: str) -> None:
    answer = kalah_client.get(f"/api/{name}/position")
    assert (answer.status_code, reason in answer.json()["error"]) == (422, True)
    page = kalah_client.get(f"/{name}")
    assert (page.status_code, reason in page.text) == (422, True)
    assert kalah_client.get("/api/chess/position").status_code == 404


@pytest.mark.parametrize("counted", ["estimate", "lower bound"])
def test_a_lower_bound_is_called_unknown(
    kalah_client: TestClient, kalah: Library, monkeypatch: pytest.MonkeyPatch, counted: str
) -> None:
    def plan(*arguments: object, **options: object) -> Plan:
        return replace(plan_solve(load_game("dots", rows=1)), counted=counted, method="memory")

    monkeypatch.setattr(catalog, "plan_solve", plan)
    served = next(each for each in kalah.games.values() if each.game.name == "connect4")
    served.estimate = None
    offer = kalah_client.get("/api/connect4/solve").json()
    if counted == "estimate":
        assert offer["fits"]
        assert "of memory" in offer["estimate"]
    else:
        assert not offer["fits"]
        assert "unknown, probably far more than" in offer["estimate"]
        assert "about" not in offer["estimate"]


def test_a_server_open_to_others_offers_no_solve(kalah: Library) -> None:
    client = TestClient(make_app(kalah, may_solve=False))
    assert client.get("/api/connect4/solve").json()["allowed"] is False


def test_visitors_do_not_rename_games(kalah_client: TestClient) -> None:
    for path in ("/api/connect4-width=7-height=6/position", "/api/kalah-pits=2/position"):
        assert kalah_client.get(path).status_code == 200
    names = {game["id"]: game["name"] for game in kalah_client.get("/uwapi/").json()}
    assert names == {"connect4": "Connect Four 4×4", "kalah": "Kalah(3, 3)"}
    variants = kalah_client.get("/uwapi/connect4/").json()["variants"]
    assert [variant["name"] for variant in variants] == ["Connect Four 4×4"]


def test_every_game_with_a_choice_has_puzzles_and_open_positions(kalah_client: TestClient, client: TestClient) -> None:
    found = [kalah_client.get(f"/api/kalah/find?kind=puzzle&seed={seed}").json() for seed in range(5)]
    assert {each["outcome"] for each in found} == {"win"}
    assert all(client.get(f"/api/tictactoe/find?seed={seed}").json()["remoteness"] > 1 for seed in range(20))
    refused = kalah_client.get("/api/kalah/find?level=hard")
    assert (refused.status_code, "only a puzzle has a level" in refused.json()["error"]) == (422, True)


def test_levels_order_puzzles_by_difficulty(client: TestClient) -> None:
    def mean_length(level: str) -> float:
        answers = [client.get(f"/api/tictactoe/find?kind=puzzle&level={level}&seed={seed}") for seed in range(8)]
        return sum(answer.json()["remoteness"] for answer in answers) / len(answers)

    assert mean_length("easy") < mean_length("hard")
