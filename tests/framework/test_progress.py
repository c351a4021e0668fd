"""Progress: a line now and then where there is no terminal, and the facts in it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from perfectplay.cli import progress


def snapshot(**changes):
    usual = {
        "phase": "solve",
        "positions": 2_000_000,
        "total": 10_000_000,
        "tiers_done": 3,
        "tiers": 9,
        "level": 4,
    }
    return SimpleNamespace(**{**usual, "seconds": 2.0, **changes})


@pytest.fixture(autouse=True)
def known_memory(monkeypatch):
    monkeypatch.setattr(progress, "_resident_memory", lambda: 64 << 20)


def test_the_facts_are_count_tier_depth_rate_memory_and_time_left():
    assert progress.facts(snapshot()) == [
        "2,000,000 of 10,000,000 (20.0 %) positions",
        "tier 3 of 9",
        "depth 4",
        "1.0 M/s",
        "64 MiB",
        "8.0 s left",
    ]


def test_what_is_not_known_is_not_said():
    unknown = snapshot(positions=0, total=None, tiers=1, level=0, seconds=0.0)
    assert progress.facts(unknown) == ["0 positions", "64 MiB"]


def test_plain_lines_come_seldom_and_go_to_stderr(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.ProgressDisplay("stones") as show:
        for _ in range(3):
            show(snapshot())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("stones: solve: 2,000,000 of")
