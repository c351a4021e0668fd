"""Tiers that several workers solve together, against brute force: every kind of game, with every kind of kernel.

The workers run in this process. tests/framework/test_ray.py tests them as Ray actors, and the loss of actors.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from perfectplay.cluster import driver
from perfectplay.cluster.messages import DamagedMessage, dealt, pack, unpack
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.solve.solve import solve_game
from perfectplay.table.records import checksum
from perfectplay.values import Status
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.share import Layout

from .compiled_graphs import ENUMERATED_VARIANTS, RANKED_VARIANTS, compiled_game
from .graphs import TURNS, TieredGraphPlugin, any_game, python_plugin, union
from .local_pool import LocalPool, solve_locally

VARIANTS = ENUMERATED_VARIANTS | RANKED_VARIANTS


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share components of any size, in the smallest units."""
    monkeypatch.setattr(driver, "SHARED_SLOTS", 1)
    monkeypatch.setattr(driver, "WORTH_SHARING", 1)
    monkeypatch.setattr(driver, "WORTH_SHARING_PYTHON", 1)


@pytest.mark.parametrize("scored", [False, True], ids=["", "scored"])
@pytest.mark.parametrize("turns", TURNS)
def test_workers_produce_the_same_table(turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path):
    rng = Random(f"{turns} {scored}")
    for name, functions in VARIANTS.items():
        ranked = name in RANKED_VARIANTS
        if turns == "twins" and not ranked:
            continue
        graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(40))
        game = compiled_game(graph_module, graph, functions)
        right = solve_game(game, save=False, threads=1).hash  # tested by test_engine.py and test_turns_and_scores.py
        for workers in (2, 3):
            table_hash, solve = solve_locally(game, tmp_path / f"{name} {workers}", workers)
            assert table_hash == right, (name, workers)
            assert (solve.exchanged or 0) > sum(solve.sizes.values())


def test_workers_share_a_python_game(tmp_path: Path):
    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = make_game(python_plugin(graph, TieredGraphPlugin), name="graph")
    right = solve_game(game, save=False).hash
    assert solve_locally(game, tmp_path / "table", 2)[0] == right


class Countdown:
    """Players take one of 150 counters at a time, and the player who takes the last one wins."""

    @hookimpl
    def start(self) -> int:
        return 150

    @hookimpl
    def moves(self, position: int) -> list[int]:
        return [1] if position else []

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        return position - move

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.ONGOING if position else Status.LOST


class TieredCountdown(Countdown):
    @hookimpl
    def tier(self, position: int) -> int:
        return 150 - position


@pytest.mark.parametrize("plugin", [Countdown, TieredCountdown])
def test_remoteness_beyond_one_byte_widens_all_units_of_a_tier(plugin: type[Countdown], tmp_path: Path):
    game = make_game(plugin(), name="countdown")
    right = solve_game(game, save=False).hash
    table_hash, solve = solve_locally(game, tmp_path / "table", 2)
    assert table_hash == right
    assert {record.width for record in solve.records.values()} == ({2} if plugin is Countdown else {1, 2})


def test_units_are_dealt_out_in_turn():
    layout = Layout((4, 7), (150, 70), unit_bits=6, workers=2)
    assert layout.units(0) == [(4, 0, 64), (4, 128, 22), (7, 64, 6)]
    assert layout.units(1) == [(4, 64, 64), (7, 0, 64)]
    assert not layout.whole_blocks
    units = [np.array([number]) for number in range(5)]
    assert [int(unit[0]) for unit in dealt([units[1::2], units[0::2]], 1)] == [0, 1, 2, 3, 4]


class FaultyPool(LocalPool):
    """The first finished unit has a wrong value, produced by a worker or during transport."""

    def __init__(self, game: Game, workers: int, *, in_transport: bool) -> None:
        self.in_transport = in_transport
        self.faults = 0
        super().__init__(game, workers)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        answer = super().call(worker, method, *arguments, returns=returns)
        if method == "store" and not self.faults:
            self.faults += 1
            state, first_tier = answer[0].value, answer[1].value
            first_tier[0][0] ^= 4  # one ply more or less
            if not self.in_transport:
                sums = [checksum(unit) for tier in answer[1:] for unit in tier.value]
                answer[0].value = replace(state, checksums=tuple(sums))
        return answer


@pytest.mark.parametrize("in_transport", [True, False], ids=["in transport", "by a worker"])
def test_a_wrong_value_is_detected_and_solved_again(in_transport: bool, graph_module: ModuleType, tmp_path: Path):
    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = compiled_game(graph_module, graph, VARIANTS["survey"])
    right = solve_game(game, save=False).hash
    pool = FaultyPool(game, 2, in_transport=in_transport)
    table_hash, solve = solve_locally(game, tmp_path / "audited", 2, pool=pool, audit=0 if in_transport else 1)
    assert pool.faults == 1
    assert table_hash == right
    assert solve.audited == (0 if in_transport else sum(-(-size // BLOCK_SLOTS) for size in solve.sizes.values()))
    if not in_transport:  # only the audit can detect it
        unaudited, _ = solve_locally(game, tmp_path / "not", 2, pool=FaultyPool(game, 2, in_transport=False))
        assert unaudited != right


def test_the_auditor_is_another_worker(graph_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(driver, "SHARED_SLOTS", 1 << 30)
    monkeypatch.setattr(driver, "WORTH_SHARING", 1 << 30)
    makers: dict[int, int] = {}
    auditors: dict[int, int] = {}

    class Watched(LocalPool):
        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if method == "solve":
                makers.update(dict.fromkeys(arguments[3], worker))
            if method == "audit":
                auditors[arguments[3]] = worker
            return super().call(worker, method, *arguments, returns=returns)

    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = compiled_game(graph_module, graph, VARIANTS["survey"])
    solve_locally(game, tmp_path / "table", 3, pool=Watched(game, 3), audit=1)
    assert len(makers) > 3
    assert auditors.keys() == makers.keys()
    assert all(auditors[tier] != makers[tier] for tier in makers)


@pytest.mark.parametrize("in_reply", [False, True], ids=["request", "reply"])
def test_a_position_changed_in_transport_is_detected(in_reply: bool, tmp_path: Path):
    class Flipping(LocalPool):
        flipped = 0

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            first = method == "children" and not self.flipped
            if first and not in_reply:
                self.flipped += 1
                arguments = (arguments[0] ^ np.uint64(1), *arguments[1:])
            answer = super().call(worker, method, *arguments, returns=returns)
            if first and in_reply:
                self.flipped += 1
                answer.value[1][0][1][0] ^= np.uint64(1)
            return answer

    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = make_game(python_plugin(graph, TieredGraphPlugin), name="graph")
    pool = Flipping(game, 2)
    assert solve_locally(game, tmp_path / "table", 2, pool=pool)[0] == solve_game(game, save=False).hash
    assert pool.flipped == 1


def test_a_flipped_byte_is_detected():
    message = pack([np.array([1, 2, 3], dtype=np.uint32), np.array([4], dtype=np.uint32)])
    assert message is not None
    assert [each.tolist() for each in unpack(message, empty=2)] == [[1, 2, 3], [4]]
    message[1][2] ^= 1
    with pytest.raises(DamagedMessage):
        unpack(message, empty=2)
    assert pack([np.empty(0, dtype=np.uint32)]) is None
    assert [len(each) for each in unpack(None, empty=2)] == [0, 0]
