"""`solve plan` and the warnings of a solve: positions are counted or estimated, sizes follow, planning is quick."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from perfectplay import load_game, solve_game
from perfectplay.compile.kernel import solving_kernel
from perfectplay.errors import PluginError
from perfectplay.files import free_disk
from perfectplay.game.engine import game_kernel
from perfectplay.game.loading import make_game
from perfectplay.memory import Available
from perfectplay.plan import plan as planning
from perfectplay.plan.estimate import count_positions, estimate_positions
from perfectplay.plan.plan import plan_solve
from perfectplay.plan.sizes import Shape
from perfectplay.table.records import TableInfo
from perfectplay.table.store import MemoryStore
from perfectplay.threads import ThreadPool
from perfectplay.tiers.enumeration import Enumeration, children_by_tier
from perfectplay.tiers.external_set import SpillBudget
from perfectplay_native.positions import union

from ..cli import solve


@pytest.fixture(autouse=True)
def tables(monkeypatch, tmp_path) -> None:
    """An empty directory for tables."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path / "tables"))


def estimate_from_start(kernel, **options):
    """Estimate the positions of a game of which only the start is known."""
    start = kernel.canonicalize(kernel.start())
    return estimate_positions(kernel, {kernel.tier(start): np.array([start], dtype=np.uint64)}, **options)


EXACT = [("connect4", {}, 80_541), ("connect4", {"mirror": False}, 161_029), ("kalah", {}, 29_269), ("dots", {}, 756)]


@pytest.mark.parametrize(("game", "options", "positions"), EXACT, ids=lambda value: str(value))
def test_small_games_are_counted(game, options, positions):
    plan = plan_solve(load_game(game, **options))
    assert (plan.shape.positions, plan.counted) == (positions, "exact")


@pytest.mark.parametrize(
    ("game", "options"), [("quixo", {}), ("morris", {}), ("morris", {"men": "three"}), ("gobblet", {}), ("dobutsu", {})]
)
def test_the_slots_of_a_ranked_game_are_exact(game, options):
    loaded = load_game(game, **options)
    kernel = game_kernel(loaded)
    shape = plan_solve(loaded, seconds=0.2).shape
    assert shape.slots == sum(kernel.tier_size(tier) for tier in range(kernel.tier_count))


# Known from complete solves (docs/results.md, docs/connect4.md).
LARGE = [
    ("quantik", {}, 18_914_747, 3_000),
    ("connect4", {"width": 5, "mirror": False}, 3_945_711, 3_000),
    ("connect4", {"width": 5, "height": 5, "mirror": False}, 69_763_700, 10_000),
    ("connect4", {"width": 6, "mirror": False}, 94_910_577, 10_000),
    ("connect4", {"width": 5, "height": 6, "mirror": False}, 1_044_334_437, 30_000),
    ("dots", {"rows": 3, "columns": 3}, 3_712_146, 3_000),
    ("kalah", {"pits": 4}, 5_251_606, 3_000),
]


@pytest.mark.parametrize(("game", "options", "positions", "sample"), LARGE, ids=lambda value: str(value))
def test_a_sample_estimates_within_a_factor_of_two(game, options, positions, sample):
    count = estimate_from_start(solving_kernel(load_game(game, **options)), sample=sample)
    assert count.kind == "estimate"
    assert positions / 2 < count.tiers.slots < positions * 2


class _Enough(Exception):
    pass


def test_an_estimate_starts_from_the_counted_positions():
    """From the start alone, a sample this small estimates less than half of Kalah's positions: some tiers are rare."""
    game = load_game("kalah", pits=5, seeds=2, empty_capture=True, either_row=True)
    kernel = solving_kernel(game)
    store = MemoryStore(TableInfo(game="kalah", options={}, rules_version=0, host_version="", indexing="enumerated"))

    def stop_after_a_million(tier: int, positions: int) -> None:
        if positions > 10**6:
            raise _Enough

    with closing(store), ThreadPool(1) as pool:
        enumeration = Enumeration(kernel, store, SpillBudget(None, None), pool, stop_after_a_million, lambda: None)
        with pytest.raises(_Enough):
            enumeration.run()
        counted = sum(record.size for record in store.key_records().values())
        rest = estimate_positions(kernel, enumeration.unfinished(), sample=300)
    assert rest.kind == "estimate"
    assert 12_706_262 / 2 < counted + rest.tiers.slots < 12_706_262 * 2
    assert estimate_from_start(kernel, sample=300).tiers.slots < 12_706_262 / 2


def test_a_tier_that_is_found_in_part_is_sampled_evenly():
    """Expanding all of a small part once made the explorers reach mostly the same positions."""
    kernel = solving_kernel(load_game("connect4", width=5, mirror=False))
    tier, counted = np.array([kernel.start()], dtype=np.uint64), 0
    for _ in range(10):
        counted += len(tier)
        ((_, children),) = children_by_tier(kernel, tier)
        tier = union([children])
    ((number, children),) = children_by_tier(kernel, tier)
    found = {number - 1: tier, number: union([children])[:100]}
    rest = estimate_positions(kernel, found, sample=2_000)
    assert 0.6 * 3_945_711 < counted + rest.tiers.slots < 1.3 * 3_945_711


def test_a_sample_of_all_positions_is_a_count():
    count = estimate_from_start(solving_kernel(load_game("connect4")), sample=10**6)
    assert (count.kind, count.tiers.slots) == ("exact", 80_541)


def test_too_small_a_sample_is_a_lower_bound():
    count = estimate_from_start(solving_kernel(load_game("connect4", width=7, height=6)), sample=300)
    assert count.kind == "lower bound"
    assert count.tiers.slots < 4_531_985_219_092


def test_the_same_seed_gives_the_same_estimate():
    kernel = game_kernel(load_game("quantik"))
    assert estimate_from_start(kernel, sample=500).tiers == estimate_from_start(kernel, sample=500).tiers
    assert estimate_from_start(kernel, sample=500).tiers != estimate_from_start(kernel, sample=500, seed=1).tiers


def test_a_game_in_python_with_cycles_is_counted(tic_tac_toe):
    count = count_positions(game_kernel(tic_tac_toe), game="tic_tac_toe", seconds=60, memory=1 << 30)
    assert (count.kind, count.tiers.slots) == ("exact", 765)


def test_the_count_is_a_lower_bound_if_a_game_is_too_slow_to_sample(tic_tac_toe):
    count = count_positions(game_kernel(tic_tac_toe), game="tic_tac_toe", seconds=0.001, memory=1 << 30)
    assert count.kind == "lower bound"
    assert 1 <= count.tiers.slots < 765


def test_a_mistake_in_the_rules_is_reported_as_by_a_solve(codes):
    stuck = codes.subtraction.replace("if position else Status.LOST", "")
    with pytest.raises(PluginError, match="hook 'moves' returned no move"):
        plan_solve(make_game(codes.module_of(stuck), name="stuck"))


SHAPE = Shape(
    slots=10**9,
    positions=10**9,
    largest_component=10**8,
    cyclic_slots=10**9,
    enumerated=False,
    scored=False,
    retracts=True,
)


def test_sizes_grow_with_the_stored_data():
    assert SHAPE.memory_backend > 10**9 > SHAPE.lmdb_backend > 10**8
    assert replace(SHAPE, enumerated=True).table_bytes == SHAPE.table_bytes + 8 * 10**9
    assert replace(SHAPE, retracts=False).component_bytes > SHAPE.component_bytes
    assert replace(SHAPE, cyclic_slots=0).component_bytes == 0
    assert replace(SHAPE, scored=True, tiers=0).table_bytes == 4 * 10**9


def test_free_space_is_found_for_a_directory_that_does_not_exist_yet(tmp_path):
    assert free_disk(tmp_path / "not" / "yet") > 0


def test_the_command_prints_sizes_and_a_recommended_command():
    done = solve("plan", "connect4", "--dir", "tables")
    assert "80,541" in done.stdout
    assert "`solve connect4 --dir tables`" in done.stdout
    assert done.stderr == "Counting and measuring …\n"


@pytest.mark.parametrize(
    "game",
    [
        ("kalah", "--pits", "6", "--seeds", "4"),
        ("connect4", "--width", "7", "--height", "6"),
        ("dots", "--rows", "4", "--columns", "4"),
    ],
)
def test_a_game_too_large_to_estimate_gets_no_time_and_no_recommendation(game):
    text = solve("plan", *game, "--seconds", "1").stdout
    assert "unknown, probably far more than" in text
    assert "time       unknown\n" in text
    assert "`" not in text
    plan = json.loads(solve("plan", *game, "--seconds", "1", "--json", "--quiet").stdout)
    assert plan["counted"] == "lower bound"
    assert {plan[key] for key in ("cpu_seconds", "seconds", "method", "values", "command")} == {None}


def test_the_opening_of_a_game_with_cycles_may_take_two_bytes_per_value():
    """Of nine men's morris, values of the opening are as remote as those of the sub-spaces that it leads to."""
    assert replace(SHAPE, cyclic_slots=1).table_bytes == SHAPE.table_bytes
    assert replace(SHAPE, cyclic_slots=0).table_bytes < SHAPE.table_bytes


def test_the_command_prints_json():
    plan = json.loads(solve("plan", "dots", "--json", "--quiet").stdout)
    assert (plan["positions"], plan["counted"], plan["method"]) == (756, "exact", "memory")
    assert plan["memory"]["available"] > plan["memory"]["memory"] > 0


def test_the_recommendation_depends_on_free_memory_and_disk_space(monkeypatch):
    game = load_game("morris", men="nine")
    monkeypatch.setattr(planning, "available_memory", lambda: Available(8 << 30, "the machine's memory"))
    monkeypatch.setattr(planning, "free_disk", lambda path: 100 << 30)
    plan = plan_solve(game, seconds=0.2)
    assert (plan.method, plan.budget) == ("lmdb", None)
    monkeypatch.setattr(planning, "available_memory", lambda: Available(1 << 30, "the machine's memory"))
    plan = plan_solve(game, seconds=0.2)
    assert (plan.method, plan.budget) == ("lmdb", 512 << 20)
    monkeypatch.setattr(planning, "free_disk", lambda path: 1 << 30)
    assert plan_solve(game, seconds=0.2).method == "prove"


def test_a_solve_warns_once_if_the_disk_is_too_small(tmp_path, monkeypatch):
    monkeypatch.setattr("perfectplay.solve.solve.free_disk", lambda path: 1000)
    warnings: list[str] = []
    solve_game(load_game("quixo", width=3, height=3), directory=tmp_path, warn=warnings.append).table.close()
    assert len(warnings) == 1
    assert re.match(
        r"the table takes about \d+ KiB on disk, but only 1000 bytes is free; see `solve plan quixo`", warnings[0]
    )


def test_a_solve_that_fits_gives_no_warning(tmp_path):
    warnings: list[str] = []
    solve_game(load_game("connect4"), directory=tmp_path, warn=warnings.append).table.close()
    assert warnings == []


def test_the_command_warns_on_stderr_except_with_quiet(monkeypatch):
    monkeypatch.setattr("perfectplay.solve.solve.free_disk", lambda path: 10)
    output = solve("dots", "--json", "--force")
    assert output.stderr.startswith("warning: the table takes about")
    assert json.loads(output.stdout)["positions"] == 756
    assert "warning" not in solve("dots", "--force", "--quiet").output
