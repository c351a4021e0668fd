"""Data sets for machine learning: features agree with the table, and samples are reproducible."""

from __future__ import annotations

import json
from collections import Counter

import pandas
import pytest
from pyarrow import parquet

from perfectplay import Selection, UsageError, load_game, open_table, solve_game
from perfectplay.analysis.dataset import Sampling, export_dataset, is_for_test, sample
from perfectplay.table.compaction import compact_table
from perfectplay.values import Outcome, Value
from perfectplay_native.positions import canonicalize_many

from ...cli import assert_refused, solve


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tables")
    with solve_game(load_game("connect4", width=4, height=3), directory=directory).table as solved:
        yield solved


def test_features_agree_with_the_table(table, tmp_path):
    found = export_dataset(table, tmp_path / "c4.parquet", None, Sampling(limit=300, seed=2))
    assert found.files == {tmp_path / "c4.parquet": 300}
    data = parquet.read_table(tmp_path / "c4.parquet")
    words = json.loads(data.schema.metadata[b"vocabulary"])
    game = table.game
    for row in data.to_pylist():
        value = table.probe(row["position"])
        assert (row["outcome"], row["remoteness"]) == (value.outcome, value.remoteness)
        assert row["text"] == game.decode(row["position"])
        assert [move for move, legal in zip(words["moves"], row["legal"], strict=True) if legal] == sorted(
            game.moves(row["position"])
        )
        for move, best in zip(words["moves"], row["best"], strict=True):
            if best:
                child = game.apply(row["position"], move)
                worth = table.probe(child).for_parent(keeps_turn=game.keeps_turn(row["position"], child))
                assert worth == value
        board = game.board(row["position"])
        stones = sum(len(cell.stack) for cell in board.cells)
        assert sum(row["planes"]) == stones
        assert len(row["planes"]) == len(words["pieces"]) * len(words["cells"]) == 2 * 12
        first = words["pieces"].index(next(name for name in words["pieces"] if name.startswith("0:")))
        where = {cell.id for cell in board.cells if cell.stack and cell.stack[-1].owner == 0}
        plane = row["planes"][first * 12 : (first + 1) * 12]
        assert {cell for cell, bit in zip(words["cells"], plane, strict=True) if bit} == where


def test_a_sample_depends_only_on_the_seed_and_has_no_duplicates(table):
    one = sample(table, Selection(), Sampling(limit=500, seed=1))
    assert one.tolist() == sample(table, Selection(), Sampling(limit=500, seed=1)).tolist()
    assert set(one["position"].tolist()) != set(sample(table, Selection(), Sampling(limit=500))["position"].tolist())
    assert len(set(one["position"].tolist())) == 500
    everything = sample(table, Selection(), Sampling())
    assert len(everything) == table.statistics.positions


def test_each_remoteness_gets_its_share(table):
    rows = sample(table, Selection(), Sampling(limit=260, by_remoteness=True))
    taken = Counter(rows["code"].tolist())
    there = Counter(sample(table, Selection(), Sampling())["code"].tolist())
    assert len(rows) == 260
    assert set(taken) == set(there)
    full = max(taken.values())
    assert all(count in (full, full - 1) or count == there[code] for code, count in taken.items())


def test_filters_apply_and_an_empty_selection_is_refused(table):
    rows = sample(table, Selection(outcome=Outcome.WIN, max_remoteness=3), Sampling(limit=50))
    assert {Value.from_code(code).outcome for code in rows["code"].tolist()} == {Outcome.WIN}
    with pytest.raises(UsageError, match="is selected"):
        sample(table, Selection(outcome=Outcome.WIN, max_remoteness=0), Sampling(limit=5))
    with pytest.raises(UsageError, match="the share for testing"):
        Sampling(test_share=1.0)


def test_training_and_testing_never_share_a_position(table, tmp_path):
    found = export_dataset(table, tmp_path / "c4.parquet", None, Sampling(limit=1000, test_share=0.25))
    train, test = (pandas.read_parquet(path) for path in found.files)
    assert [path.name for path in found.files] == ["c4-train.parquet", "c4-test.parquet"]
    assert not set(train.position) & set(test.position)
    assert len(train) + len(test) == 1000
    assert 180 < len(test) < 320
    smaller = export_dataset(table, tmp_path / "less.parquet", None, Sampling(limit=200, test_share=0.25))
    again = pandas.read_parquet(list(smaller.files)[1])
    assert set(again.position) <= set(test.position)
    card = found.card.read_text()
    assert "split: test\n      path: c4-test.parquet" in card
    assert f"{len(train):,} positions" in card


def test_positions_that_share_a_slot_are_in_the_same_file(tables):
    """Two positions that differ only by swapped colours are equivalent for training."""
    race = tables.race
    rows = sample(race, Selection(), Sampling())
    swapped = canonicalize_many(race.kernel, race.game.colour_swapped(rows["position"]))
    for_test = is_for_test(race, rows["position"], Sampling(test_share=0.4))
    in_test = dict(zip(rows["position"].tolist(), for_test.tolist(), strict=True))
    assert set(in_test.values()) == {True, False}
    assert all(in_test[one] == in_test[two] for one, two in zip(in_test, swapped.tolist(), strict=True))


def test_the_card_has_the_number_of_positions_in_the_file(tables, tmp_path):
    """If two positions share a slot, there are twice as many positions as slots."""
    written = export_dataset(tables.race, tmp_path / "race.parquet")
    (rows,) = written.files.values()
    assert f"({rows:,} positions, hash {tables.race.info.hash})" in written.card.read_text()


def test_a_compact_table_gives_the_same_data_set(table, tmp_path):
    compact_table(table, tmp_path / "compact", progress=lambda done: None)
    with open_table(table.game, tmp_path / "compact") as small:
        for each, name in ((table, "a.parquet"), (small, "b.parquet")):
            export_dataset(each, tmp_path / name, None, Sampling(limit=200, by_remoteness=True))
    assert parquet.read_table(tmp_path / "a.parquet").equals(parquet.read_table(tmp_path / "b.parquet"))


def test_the_card_replaces_only_cards(table, tmp_path):
    with pytest.raises(UsageError, match=r"c4\.md .* another name"):
        export_dataset(table, tmp_path / "c4.md", None, Sampling(limit=5))
    notes = tmp_path / "notes.md"
    notes.write_text("# Shopping list\n")
    with pytest.raises(UsageError, match=r"notes\.md, which is not a card"):
        export_dataset(table, tmp_path / "notes.parquet", None, Sampling(limit=5))
    assert notes.read_text() == "# Shopping list\n"
    assert list(tmp_path.iterdir()) == [notes]
    for _ in range(2):  # a card may be replaced
        export_dataset(table, tmp_path / "c4.parquet", None, Sampling(limit=5))


def test_the_command_writes_a_data_set_and_refuses_conflicting_options(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    variant = ["connect4", "--width", "3", "--height", "3"]
    assert solve(*variant).exit_code == 0
    file = tmp_path / "c4.parquet"
    sampled = solve("export", *variant, "parquet", file, "--features", "--limit", 50, "--sample", "remoteness")
    assert sampled.exit_code == 0, sampled.output
    assert len(pandas.read_parquet(file)) == 50
    assert_refused(solve("export", *variant, "csv", file, "--features"), 2, "parquet, not csv")
    assert_refused(solve("export", *variant, "parquet", file, "--seed", 3), 2, "need --features")


def test_a_scored_game_has_a_column_of_scores(tmp_path):
    game = load_game("openspiel", game="dots_and_boxes(num_rows=1,num_cols=2,utility_margin=true)")
    with solve_game(game, save=False).table as table:
        export_dataset(table, tmp_path / "dots.parquet")
        data = pandas.read_parquet(tmp_path / "dots.parquet")
        assert len(data) == 143
        assert all(table.probe(int(row.position)).score == row.score for row in data.itertuples())
        assert "planes" not in data


def test_common_libraries_read_the_same_data(table, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    import datasets
    import duckdb
    import polars

    export_dataset(table, tmp_path / "c4.parquet", None, Sampling(limit=400, test_share=0.25))
    files = {part: str(tmp_path / f"c4-{part}.parquet") for part in ("train", "test")}
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"))
    for part, file in files.items():
        expected = [(row["position"], row["planes"], row["best"]) for row in parquet.read_table(file).to_pylist()]
        assert len(expected) > 50
        frames = (pandas.read_parquet(file), polars.read_parquet(file).to_pandas(), loaded[part].to_pandas())
        for frame in (*frames, duckdb.sql(f"FROM '{file}'").df()):
            rows = zip(frame["position"], frame["planes"], frame["best"], strict=True)
            assert [(int(position), list(planes), list(best)) for position, planes, best in rows] == expected
        assert loaded[part].features["planes"].length == len(expected[0][1])  # a fixed size
