"""The progress display: its contents, and its lines where there is no terminal."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from click import unstyle

from perfectplay import load_game, solve_game
from perfectplay.cli import _terminal as progress


def snapshot(**changes):
    defaults = {
        "phase": "solve",
        "positions": 2_000_000,
        "total": 10_000_000,
        "tiers_done": 3,
        "tiers": 9,
        "level": 4,
        "done_before": 0,
        "unit": "positions",
    }
    return SimpleNamespace(**{**defaults, "seconds": 2.0, **changes})


@pytest.fixture(autouse=True)
def fixed_memory(monkeypatch):
    monkeypatch.setattr(progress, "resident_memory", lambda: 64 << 20)


def test_the_facts_are_count_tier_depth_rate_memory_and_time_left():
    assert progress.facts(snapshot()) == [
        "20.0 % of 10,000,000 positions",
        "8.0 s left",
        "1.0 M/s",
        "tier 3 of 9",
        "depth 4",
        "64 MiB",
    ]


def test_the_part_of_an_earlier_run_does_not_count_for_the_speed():
    resumed = snapshot(positions=9_000_000, done_before=8_000_000, unit="slots")
    assert progress.facts(resumed)[:3] == ["90.0 % of 10,000,000 slots", "2.0 s left", "500.0 k/s"]
    assert progress.facts(snapshot(positions=8, done_before=8, total=10))[1] == "tier 3 of 9"


def test_a_finished_phase_has_no_time_left():
    assert progress.facts(snapshot(positions=10_000_000))[:2] == ["100.0 % of 10,000,000 positions", "5.0 M/s"]


def test_a_long_title_leaves_room_for_the_share_and_the_time(capsys, monkeypatch):
    for name, value in (("COLUMNS", "80"), ("FORCE_COLOR", "1"), ("TERM", "xterm")):  # as in a terminal
        monkeypatch.setenv(name, value)
    live = progress.LiveDisplay()
    live.show("compact connect4-connect=4-height=4-mirror=yes-width=4", snapshot(phase="compressing"))
    live.stop()
    shown = unstyle(capsys.readouterr().err)
    assert "compact connect4-connect=4-heigh…: compressing" in shown
    assert re.search(r" 20% 0:00:\d\d\s", shown)


@pytest.mark.parametrize("columns", [80, 40])
def test_a_line_fits_the_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(progress, "PLAIN_INTERVAL", 0.0)
    with progress.ProgressDisplay("verify connect4-height=6-width=7") as show:
        show(snapshot(positions=123_456_789_012, total=987_654_321_098))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("verify connect4-height=6-width=7: solve: 12.5 % of 987,654,321,098 positions")
    assert len(line) <= max(
        columns, len("verify connect4-height=6-width=7: solve: 12.5 % of 987,654,321,098 positions")
    )


def test_unknown_facts_are_omitted():
    unknown = snapshot(positions=0, total=None, tiers=1, level=0, seconds=0.0)
    assert progress.facts(unknown) == ["0 positions", "64 MiB"]


def test_plain_lines_are_rare_and_go_to_stderr(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.ProgressDisplay("stones") as show:
        for _ in range(3):
            show(snapshot())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("stones: solve: 20.0 % of 10,000,000 positions, ")


def test_saving_does_not_count_more_than_its_total(tmp_path):
    reports = []
    solve_game(load_game("quixo", width=3, height=3), directory=tmp_path, progress=reports.append).table.close()
    saving = [each for each in reports if each.phase == "saving"]
    assert saving
    assert [each for each in saving if each.positions > each.total] == []
