"""Figures in README and docs that no executed session shows are computed again or compared with their source.

Measured times are not checked. But where one page repeats a figure of another or a ratio of two, they must agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def page(name: str) -> str:
    return " ".join((ROOT / name).read_text().split())


def rows(name: str, first: str) -> Iterator[list[str]]:
    """The cells of table rows in a page whose first cell starts with `first`."""
    for line in (ROOT / name).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0].startswith(first):
            yield cells


def number(text: str) -> float:
    found = re.search(r"\d[\d,]*(\.\d+)?", text)
    assert found, text
    return float(found[0].replace(",", ""))


@pytest.fixture(scope="module")
def gobblet(gobblet_tables, run_solve) -> dict:
    return json.loads(run_solve("stats", "gobblet", "--json", tables=gobblet_tables).stdout)


def test_gobblets_share_of_settled_positions(gobblet):
    """Finished games and wins in one move."""
    levels = gobblet["by_remoteness"]
    settled = levels[0]["losses"] + levels[0]["wins"] + levels[1]["wins"]
    assert f"In Gobblet that is {settled / gobblet['positions']:.1%} of the".replace("%", " %") in page(
        "docs/architecture.md"
    )
    foreseen = levels[2]["losses"]  # all moves lead to settled positions
    stored = round((gobblet["positions"] - settled - foreseen) / 1e6)
    assert f"of Gobblet's {gobblet['positions'] // 10**6} million positions {stored} million values are stored" in page(
        "docs/tables.md"
    )


def test_gobblets_results(gobblet):
    won, lost = (f"{gobblet[what] / gobblet['positions']:.1%}".replace("%", " %") for what in ("wins", "losses"))
    assert (
        f"Of {gobblet['positions']:,} positions (up to symmetry and colour), {won} are won for the side to move and "
        f"{lost} lost; {gobblet['endless_draws']:,} are draws, in which neither side can force an end. The longest win "
        f"takes {gobblet['longest_win']} plies, the longest loss {gobblet['longest_loss']} plies."
    ) in page("docs/results.md")


def test_the_sizes_of_tables(gobblet_tables, quantik_tables):
    (sizes,) = (cells for cells in rows("docs/results.md", "table") if "346" in cells[1])
    for cell, folder in ((sizes[1], gobblet_tables / "gobblet"), (sizes[2], quantik_tables / "quantik")):
        assert cell == f"{(folder / 'data.mdb').stat().st_size / 2**20:.0f} MiB"


def test_readmes_table_is_that_of_the_results():
    solve, verify, table, compact = (
        next(rows("docs/results.md", first))
        for first in ("`solve GAME --no-save`", "`solve verify GAME`", "table", "`solve compact GAME`")
    )
    for column, game in enumerate(("Gobblet", "Quantik", "Dōbutsu"), 1):
        (cells,) = rows("README.md", game)
        assert cells[3:5] == [f"{row[column]} CPU-s" for row in (solve, verify)]
        assert cells[5:] == [table[column], compact[column]]


def test_rates_are_positions_by_seconds():
    """The rates in docs/solvable.md follow from the seconds in docs/results.md."""
    solve = next(rows("docs/results.md", "`solve GAME --no-save`"))
    for column, game in enumerate(("Gobblet", "Quantik"), 1):
        (cells,) = rows("docs/solvable.md", game)
        assert cells[3] == f"{number(cells[1]) / number(solve[column]) / 1e6:.1f} million"
    times = re.findall(r"takes (\S+) CPU-seconds with `--no-compile` and (\S+) with", page("docs/results.md"))[0]
    python, c = map(number, times)
    compiled, in_python = rows("docs/solvable.md", "Connect Four 4×4")
    assert compiled[3] == f"{161_029 / c / 1e6:.1f} million"
    assert in_python[3] == f"{round(161_029 / python / 1e3, -1):.0f} thousand"  # the seconds have two digits


@pytest.mark.parametrize("game", ["Gobblet", "Quantik"])
def test_the_cost_of_a_proof(run_solve, tmp_path, game):
    done = run_solve("prove", game.lower(), "--no-save", "--json", tables=tmp_path)
    answer = json.loads(done.stdout)
    (cells,) = rows("docs/weak.md", f"{game}'s start")
    assert cells[1:3] == [f"{answer['evaluated']:,}", f"{answer['proven']:,}"]
