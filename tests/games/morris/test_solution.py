"""Solved games: published results, a brute-force solution of three men's morris, and verification."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfectplay import Outcome, Table, Value, load_game, open_table, solve_game, verify_table
from perfectplay_native.engine import Engine

from ..playouts import solve_plainly
from . import reference
from .reference import VARIANTS

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "morris.md"
GOLDEN = json.loads((ROOT / "tests" / "golden" / "hashes.json").read_text())
ENDLESS = Value(Outcome.DRAW, None)
SOLVED = [("three", False), ("three", True), ("six", False), ("six", True)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def tables(directory: Path) -> Iterator[dict[tuple[str, bool], Table]]:
    games = {key: load_game("morris", men=key[0], flying=key[1]) for key in SOLVED}
    for game in games.values():
        solve_game(game, directory=directory).table.close()
    open_tables = {key: open_table(game, directory / game.identity) for key, game in games.items()}
    yield open_tables
    for table in open_tables.values():
        table.close()


@pytest.mark.parametrize(
    ("key", "start", "positions", "longest"),
    [
        (("three", False), Value(Outcome.WIN, 9), 499, 9),
        (("three", True), ENDLESS, 499, 5),
        (("six", False), ENDLESS, 2_852_060, 119),
        (("six", True), ENDLESS, 2_852_060, 131),
    ],
)
def test_the_results_are_those_of_the_docs(tables, key, start: Value, positions: int, longest: int) -> None:
    table = tables[key]
    assert table.probe(table.game.start()) == start
    assert table.statistics.positions == positions
    codes = {code for record in table.records.values() for code in record.counts}
    assert max(code >> 2 for code in codes if code & 3 == 3) == longest
    assert verify_table(table).bad == 0
    assert table.info.hash == GOLDEN[table.game.identity]


# ---- independent solutions ----


@pytest.mark.parametrize("flying", [False, True])
def test_three_mens_agrees_with_brute_force(tables, flying: bool) -> None:
    values = solve_plainly(reference, reference.start(VARIANTS["three", flying]), reference.encode)
    assert len(values) > 1000
    table = tables["three", flying]
    assert {code: table.probe(code) for code in values} == values


def follows(value: Value, after: list[Value]) -> bool:
    """Return whether the value of a position follows from the values of its children."""
    losses = [each.remoteness for each in after if each.outcome is Outcome.LOSS]
    if losses:
        return value == Value(Outcome.WIN, 1 + min(losses))
    if all(each.outcome is Outcome.WIN for each in after):
        return value == Value(Outcome.LOSS, 1 + max((each.remoteness for each in after), default=-1))
    return value == ENDLESS


@pytest.mark.parametrize("flying", [False, True])
def test_values_in_six_mens_follow_from_the_moves_of_the_reference(tables, flying: bool) -> None:
    table, variant = tables["six", flying], VARIANTS["six", flying]
    generator = random.Random(6)
    tiers = sorted(table.records)
    for _ in range(300):
        tier = generator.choice(tiers)
        code = table.kernel.unrank(tier, generator.randrange(table.records[tier].size))
        if code is not None:
            position = reference.decode(variant, code)
            after = [reference.encode(reference.apply(position, move)) for move in reference.moves(position)]
            assert follows(table.probe(code), [table.probe(child) for child in after])


def test_the_smallest_sub_spaces_of_nine_mens_are_solved_and_verified() -> None:
    """Solves 3–3 and 4–3 with flying directly in the engine; benchmarks/large/morris.py continues from there."""
    kernel = load_game("morris", men="nine", flying=True).kernel
    assert kernel is not None
    engine = Engine(kernel, tiers=kernel.tier_count, threads=2)
    results = []
    try:
        for tiers in ([0], [1], [2, 3]):
            for tier in tiers:
                engine.define(tier, kernel.tier_size(tier))
            engine.solve(tiers, cyclic=tiers != [0])
            for tier in tiers:
                codes = engine.values(tier, kernel.tier_size(tier))
                codes = codes[codes != 4]
                outcomes = [int((codes & 3 == outcome).sum()) for outcome in (3, 1, 0)]
                results.append((*outcomes, int(codes.max()) >> 2))
                assert engine.verify(tier) == (0, [])
    finally:
        engine.close()
    assert results == [  # won, lost and drawn for the mover; the largest remoteness
        (0, 1, 0, 0),
        (140_621, 28_736, 269, 26),
        (102_281, 0, 658_117, 33),
        (75_397, 3_095, 681_906, 32),
    ]


# ---- the docs ----
