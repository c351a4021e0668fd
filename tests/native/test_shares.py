"""Tiers that several workers solve together: every kind of game, with every kind of kernel.

The workers are in this process. tests/framework/test_ray.py tests them as Ray actors, and what happens when one dies.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from perfectplay.cluster.driver import SharingLimits
from perfectplay.cluster.messages import (
    DamagedMessage,
    PositionBatch,
    SolveTask,
    VerifyTask,
    collect_units,
    pack,
    unpack,
)
from perfectplay.cluster.transfer import TableWriter, make_record
from perfectplay.errors import TableError
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.solve.solve import solve_game
from perfectplay.table.records import TierRecord, checksum
from perfectplay.values import Status
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.share import Layout

from .compiled_graphs import ENUMERATED_VARIANTS, RANKED_VARIANTS, compiled_game
from .graphs import TURNS, TieredGraphPlugin, any_game, python_plugin, union
from .local_pool import LocalPool, solve_locally

VARIANTS = ENUMERATED_VARIANTS | RANKED_VARIANTS


@pytest.mark.parametrize("scored", [False, True], ids=["", "scored"])
@pytest.mark.parametrize("turns", TURNS)
def test_workers_make_the_same_table(turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path):
    rng = Random(f"{turns} {scored}")
    for name, functions in VARIANTS.items():
        ranked = name in RANKED_VARIANTS
        if turns == "twins" and not ranked:
            continue
        graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(40))
        game = compiled_game(graph_module, graph, functions)
        right = solve_game(game, save=False, threads=1).hash  # proven by test_engine.py and test_turns_and_scores.py
        for workers in (2, 3):
            solution = solve_locally(game, tmp_path / f"{name} {workers}", workers)
            assert solution.hash == right, (name, workers)
            assert solution.exchanged > solution.steps.state.tiers.slots


def test_workers_share_out_a_python_game(tmp_path: Path):
    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = make_game(python_plugin(graph, TieredGraphPlugin), name="graph")
    right = solve_game(game, save=False).hash
    assert solve_locally(game, tmp_path / "table", 2).hash == right


class Countdown:
    """The player who takes the last of 150 counters wins; a move takes one counter."""

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
    solution = solve_locally(game, tmp_path / "table", 2)
    assert solution.hash == right
    assert {record.width for record in solution.steps.state.records.values()} == (
        {2} if plugin is Countdown else {1, 2}
    )


def test_units_alternate_between_workers():
    layout = Layout((4, 7), (150, 70), unit_bits=6, workers=2)
    assert layout.units(0) == [(4, 0, 64), (4, 128, 22), (7, 64, 6)]
    assert layout.units(1) == [(4, 64, 64), (7, 0, 64)]
    assert not layout.whole_blocks
    units = [np.array([number]) for number in range(5)]
    assert [int(unit[0]) for unit in collect_units([units[1::2], units[0::2]], 1)] == [0, 1, 2, 3, 4]


class WrongValuePool(LocalPool):
    """The first finished unit has a wrong value: computed wrongly by a worker, or damaged in transit."""

    def __init__(self, game: Game, workers: int, *, in_transit: bool) -> None:
        self.in_transit = in_transit
        self.wrong = 0
        super().__init__(game, workers)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        result = super().call(worker, method, *arguments, returns=returns)
        if method == "finish_units" and not self.wrong:
            self.wrong += 1
            state, first_tier = result[0].value, result[1].value
            first_tier[0][0] ^= 4  # one ply more or less
            if not self.in_transit:
                checksums = [checksum(unit) for tier in result[1:] for unit in tier.value]
                result[0].value = replace(state, checksums=tuple(checksums))
        return result


@pytest.mark.parametrize("in_transit", [True, False], ids=["in transit", "by a worker"])
def test_a_wrong_value_is_noticed_and_solved_again(in_transit: bool, graph_module: ModuleType, tmp_path: Path):
    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = compiled_game(graph_module, graph, VARIANTS["survey"])
    right = solve_game(game, save=False).hash
    pool = WrongValuePool(game, 2, in_transit=in_transit)
    solution = solve_locally(game, tmp_path / "audited", 2, pool=pool, audit=0 if in_transit else 1)
    assert pool.wrong == 1
    assert solution.hash == right
    blocks = sum(-(-size // BLOCK_SLOTS) for size in solution.steps.state.tiers.sizes.values())
    assert solution.steps.audited_blocks == (0 if in_transit else blocks)
    if not in_transit:  # without an audit the value stays wrong
        pool = WrongValuePool(game, 2, in_transit=False)
        assert solve_locally(game, tmp_path / "not", 2, pool=pool).hash != right


def test_another_worker_audits(graph_module: ModuleType, tmp_path: Path):
    makers: dict[int, int] = {}
    auditors: dict[int, int] = {}

    class WatchedPool(LocalPool):
        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if isinstance(arguments[0] if arguments else None, SolveTask):
                makers.update(dict.fromkeys(arguments[0].tiers, worker))
            if isinstance(arguments[0] if arguments else None, VerifyTask):
                auditors[arguments[0].tier] = worker
            return super().call(worker, method, *arguments, returns=returns)

    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = compiled_game(graph_module, graph, VARIANTS["survey"])
    limits = SharingLimits(min_slots=1 << 30, min_slots_cyclic=1 << 30)
    solve_locally(game, tmp_path / "table", 3, pool=WatchedPool(game, 3), limits=limits, audit=1)
    assert len(makers) > 3
    assert auditors.keys() == makers.keys()
    assert all(auditors[tier] != makers[tier] for tier in makers)


@pytest.mark.parametrize("back", [False, True], ids=["to a worker", "back"])
def test_a_position_damaged_in_transit_is_noticed(back: bool, tmp_path: Path):
    class FlippingPool(LocalPool):
        flipped = 0

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            first = method == "expand_positions" and not self.flipped
            if first and not back:
                self.flipped += 1
                batch = arguments[0]
                arguments = (PositionBatch(batch.positions ^ np.uint64(1), batch.checksum),)
            result = super().call(worker, method, *arguments, returns=returns)
            if first and back:
                self.flipped += 1
                result.value.children[0][1][0] ^= np.uint64(1)
            return result

    graph = union(any_game(Random(number), turns="kept", scored=False) for number in range(40))
    game = make_game(python_plugin(graph, TieredGraphPlugin), name="graph")
    pool = FlippingPool(game, 2)
    assert solve_locally(game, tmp_path / "table", 2, pool=pool).hash == solve_game(game, save=False).hash
    assert pool.flipped == 1


def test_a_flipped_byte_is_noticed():
    message = pack([np.array([1, 2, 3], dtype=np.uint32), np.array([4], dtype=np.uint32)])
    assert message is not None
    assert [each.tolist() for each in unpack(message, count=2)] == [[1, 2, 3], [4]]
    message[1][2] ^= 1
    with pytest.raises(DamagedMessage):
        unpack(message, count=2)
    assert pack([np.empty(0, dtype=np.uint32)]) is None
    assert [len(each) for each in unpack(None, count=2)] == [0, 0]


def test_after_a_failed_write_nothing_more_is_written():
    """Otherwise a tier could be stored without the tiers it leads to."""
    written: list[int] = []

    class FullStore:
        def write_tiers(self, tiers: list[tuple[TierRecord, Any]]) -> None:
            if any(record.tier == 1 for record, _ in tiers):
                raise TableError("the disk is full")
            written.extend(record.tier for record, _ in tiers)

    writer = TableWriter(FullStore())  # type: ignore[arg-type]
    blocks = [np.zeros(10, dtype=np.uint8)]
    writer.write(make_record(0, 10, blocks), blocks)
    writer.drain()
    writer.write(make_record(1, 10, blocks), blocks)
    for call in (writer.drain, writer.drain):
        with pytest.raises(TableError, match="full"):
            call()
    with pytest.raises(TableError, match="full"):
        writer.write(make_record(2, 10, blocks), blocks)
    writer.close()
    assert written == [0]
