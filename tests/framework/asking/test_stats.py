"""Statistics: the counts of a survey, what play can reach, histograms and plots, and unfinished tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from perfectplay import Outcome, Table, TableError, UsageError, make_game, open_table, solve_game, survey
from perfectplay.analysis.statistics import find_reached
from perfectplay.display.histogram import plot, text_histogram
from perfectplay.table.backends import claim_place, open_to_solve, save_table
from perfectplay.table.locations import table_path
from perfectplay.table.store import MemoryStore


def slots_of(table, positions):
    return {table.slot(position) for position in positions}


def reached_by_play(game):
    """Every position that some game comes to."""
    found, waiting = set(), [game.start()]
    while waiting:
        position = waiting.pop()
        if position not in found:
            found.add(position)
            waiting += [game.apply(position, move) for move in game.moves(position)]
    return found


def test_counts_are_those_of_the_positions(table, everything):
    by_slot = {table.slot(position): table.probe(position) for position in everything(table)}
    found = survey(table)
    assert found.total.positions == len(by_slot)
    expected = Counter((value.outcome, value.remoteness) for value in by_slot.values())
    assert found.total.endless_draws == expected.pop((Outcome.DRAW, None), 0)
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
def test_reachable_counts_what_play_comes_to(table, threads):
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


def test_an_svg_plot_is_drawn_without_help(table, tmp_path):
    path = tmp_path / "plot.svg"
    plot(survey(table), path, "a <title>")
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    assert "a <title>" in "".join(root.itertext())


def test_a_png_plot_is_drawn_by_matplotlib(tables, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.png"
    plot(survey(tables.tictactoe), path, "title")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_other_plots_are_refused(tables, tmp_path):
    with pytest.raises(UsageError, match=r"a \.svg or a \.png file"):
        plot(survey(tables.race), tmp_path / "plot.gif", "title")


# ---- unfinished tables ----


@pytest.fixture
def unfinished(codes, tmp_path) -> Table:
    """A table of a game with two tiers of which the last alone is solved."""
    tiers = "\n@hookimpl\ndef tier(position): return int(position < 4)\n"
    game = make_game(codes.module_of(codes.subtraction + tiers), name="subtraction")
    with solve_game(game, save=False).table as whole:
        source = whole.store
        part = MemoryStore(replace(source.info, status="solving", hash=None))
        for record in source.key_records().values():
            part.write_keys(record, np.concatenate(source._keys[record.tier][1]))
        part.write_values(*source._tiers[1])
        with claim_place(game, table_path(game, tmp_path)) as place:
            save_table(part, place)
    return open_table(game, table_path(game, tmp_path))


def test_of_an_unfinished_table_what_is_solved_is_counted(unfinished):
    with unfinished as table:
        found = survey(table)
        assert (found.total.positions, found.tiers_solved, found.tiers_known) == (4, 1, 2)
        with pytest.raises(TableError, match="not finished"):
            find_reached(table)


def test_stats_says_how_far_an_unfinished_table_is(unfinished, install, codes, monkeypatch, solve):
    directory = unfinished.store.path.parent
    unfinished.close()
    result = solve("stats", "subtraction", "--dir", directory)
    assert result.exit_code == 0, result.output
    assert "solving: 1 of 2 tiers solved" in result.stdout


def test_a_table_of_nothing_yet_can_be_asked(codes, tmp_path, subtraction):
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


def test_stats_as_json(solve):
    data = json.loads(solve("stats", "race", "--reachable", "--json").stdout)
    assert data["reachable"] is True
    assert data["status"] == "complete"
    whole = json.loads(solve("stats", "race", "--json").stdout)
    assert data["positions"] < whole["positions"] == whole["tiers"][0]["positions"]
    kinds = ("wins", "losses", "ties")
    assert (
        sum(row[kind] for row in whole["by_remoteness"] for kind in kinds) + whole["endless_draws"]
        == (whole["positions"])
    )


def test_a_game_without_a_table_is_one_line(solve, tmp_path):
    for command in (["stats", "race"], ["line", "race"], ["play", "race"], ["random", "race", "3"]):
        result = solve(*command, "--dir", tmp_path)
        assert result.exit_code == 1
        assert f"run `solve race --dir {tmp_path}` first" in result.stderr
        assert result.stderr.count("\n") == 1
