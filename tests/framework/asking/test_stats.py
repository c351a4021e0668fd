"""Statistics: counts, reachable positions, histograms and plots, unfinished tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from perfectplay import Outcome, Table, TableError, UsageError, make_game, open_table, solve_game, survey
from perfectplay.analysis.statistics import find_reached, plot, text_histogram
from perfectplay.table.backends import claim_place, open_to_solve, save_table
from perfectplay.table.locations import table_path
from perfectplay.table.records import json_counts
from perfectplay.table.store import MemoryStore

from ...cli import assert_refused


def slots_of(table, positions):
    return {table.slot(position) for position in positions}


def reached_by_play(game):
    """Return all positions reachable from the start."""
    reached, queue = set(), [game.start()]
    while queue:
        position = queue.pop()
        if position not in reached:
            reached.add(position)
            queue += [game.apply(position, move) for move in game.moves(position)]
    return reached


def test_counts_equal_those_of_a_walk(table, everything):
    by_slot = {table.slot(position): table.probe(position) for position in everything(table)}
    found = survey(table)
    assert found.total.positions == len(by_slot)
    expected = Counter((value.outcome, value.remoteness) for value in by_slot.values())
    counts = json_counts(found.total, outcomes_only=False)
    assert counts["endless_draws"] == expected.pop((Outcome.DRAW, None), 0)
    kinds = {"wins": Outcome.WIN, "losses": Outcome.LOSS, "ties": Outcome.DRAW}
    counted = {
        (kinds[kind], plies): count
        for plies, row in found.by_remoteness.items()
        for kind, count in row.items()
        if count
    }
    assert counted == expected
    assert sum(tier.positions for tier in found.tiers.values()) == found.total.positions


def test_the_longest_wins_are_the_longest(table):
    found = survey(table)
    assert found.longest_wins
    for position in found.longest_wins:
        assert (table.probe(position).outcome, table.probe(position).remoteness) == (
            Outcome.WIN,
            found.total.longest_win,
        )
    assert len(slots_of(table, found.longest_wins)) == len(found.longest_wins)


@pytest.mark.parametrize("threads", [1, 3])
def test_reachable_positions_equal_those_of_a_walk(table, threads):
    slots = slots_of(table, reached_by_play(table.game))
    reached = find_reached(table, threads=threads)
    found = survey(table, reachable=True, threads=threads)
    assert found.total.positions == len(slots)
    if table.kernel.ranked:
        assert len(slots) < survey(table).total.positions
        for position in filter(table.game.valid, range(128)):
            assert (position in reached) == (table.slot(position) in slots)


def test_branching_is_the_average_of_legal_moves(tables):
    branching = survey(tables.subtraction).branching
    assert branching is not None
    assert branching.moves == pytest.approx((6 * 2 + 1) / 7)
    assert (branching.sample, branching.most) == (7, 2)


def test_a_histogram_has_a_bar_for_each_count(table):
    found = survey(table)
    lines = text_histogram(found)
    assert len(lines) == sum(1 for row in found.by_remoteness.values() for count in row.values() if count)
    assert all("█" in line for line in lines)


def test_plots_are_svg_or_png_files(tables, tmp_path):
    pytest.importorskip("matplotlib")
    svg, png = tmp_path / "plot.svg", tmp_path / "plot.png"
    for table in (tables.race, tables.tictactoe, tables.subtraction):
        plot(survey(table), svg, "a <title>")
        root = ElementTree.parse(svg).getroot()
        assert root.tag.endswith("svg")
        assert "a <title>" in "".join(root.itertext())
    plot(survey(tables.tictactoe), png, "title")
    assert png.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"\.svg .*\.png"):
        plot(survey(tables.race), tmp_path / "plot.gif", "title")


# ---- unfinished tables ----


@pytest.fixture
def unfinished(codes, tmp_path) -> Table:
    """A table with two tiers, of which only the last is solved."""
    tiers = "\n@hookimpl\ndef tier(position): return int(position < 4)\n"
    game = make_game(codes.module_of(codes.subtraction + tiers), name="subtraction")
    with solve_game(game, save=False).table as whole:
        source = whole.store
        part = MemoryStore(replace(source.info, status="solving", hash=None))
        for record in source.key_records().values():
            part.write_keys(record, np.concatenate(source._keys[record.tier][1]))
        part.write_values(*source._tiers[1])
        with claim_place(game, table_path(game, tmp_path), None) as place:
            save_table(part, place)
    return open_table(game, table_path(game, tmp_path))


def test_the_solved_tiers_of_an_unfinished_table_are_counted(unfinished):
    with unfinished as table:
        found = survey(table)
        assert (found.total.positions, found.tiers_solved, found.tiers_known) == (4, 1, 2)
        with pytest.raises(TableError, match="not finished"):
            find_reached(table)


def test_stats_shows_the_solved_tiers_of_an_unfinished_table(unfinished, solve):
    directory = unfinished.store.path.parent
    unfinished.close()
    result = solve("stats", "subtraction", "--dir", directory)
    assert result.exit_code == 0, result.output
    assert "solving: 1 of 2 tiers solved" in result.stdout


def test_a_table_without_solved_tiers_has_statistics(tmp_path, subtraction):
    with solve_game(subtraction, save=False).table as whole:
        info = replace(whole.info, status="enumerating", hash=None)
    open_to_solve(subtraction, tmp_path / "table", info).close()
    with open_table(subtraction, tmp_path / "table") as table:
        found = survey(table)
        assert (found.total.positions, found.tiers_known, found.branching) == (0, None, None)


# ---- on the command line ----


def test_stats_on_the_command_line(solve, tmp_path):
    result = solve("stats", "tictactoe", "--plot", tmp_path / "plot.svg")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("tictactoe: 765 positions\n")
    assert "longest win" in result.stdout
    assert (tmp_path / "plot.svg").exists()
    data = json.loads(solve("stats", "race", "--reachable", "--json").stdout)
    assert data["reachable"] is True
    assert data["status"] == "complete"
    whole = json.loads(solve("stats", "race", "--json").stdout)
    assert data["positions"] < whole["positions"] == whole["tiers"][0]["positions"]
    ended = sum(row[kind] for row in whole["by_remoteness"] for kind in ("wins", "losses", "ties"))
    assert ended + whole["endless_draws"] == whole["positions"]


def test_a_missing_table_is_a_one_line_error(solve, tmp_path):
    for command in (["stats", "race"], ["line", "race"], ["play", "race"], ["random", "race", "3"]):
        assert_refused(solve(*command, "--dir", tmp_path), 1, f"`solve race --dir {tmp_path}`")


def test_a_table_counts_its_positions_once(tables):
    table = tables.tictactoe
    assert table.statistics is table.statistics
    assert len(table) == table.statistics.positions
