"""A short campaign of faults (campaign.py): in CI a sample; docs/reliability.md has the figures of the long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.campaigns import campaign

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def faults():
    with campaign.campaign(seed=7) as prepared:
        yield prepared


def test_a_flipped_bit_is_reported_and_never_answered_with(faults):
    counts = faults.flips(60)
    assert {what.split(": ")[1] for what in counts} <= {"reported", "right"}
    assert sum(often for what, often in counts.items() if what.endswith("reported")) >= 50


def test_a_kill_at_any_moment_leaves_what_is_right_and_can_be_finished(faults):
    counts = faults.kills(21)
    assert "WRONG" not in counts
    works = ("solve", "enumerate", "save", "compact", "export csv", "export parquet", "prove")
    assert {what: often for what, often in counts.items() if what.endswith("killed")} == {
        f"{work}: killed": 3 for work in works
    }
    assert counts["enumerate: of these, resumed from sealed tiers"] >= 1


def test_a_disk_that_is_full_at_any_point_is_reported_and_resumed_from(faults):
    assert set(faults.full_disks(8)) == {"reported"}


def test_memory_that_runs_out_anywhere_is_an_error_and_loses_nothing(program):
    program("gcc")
    command = [sys.executable, "-m", "tools.campaigns.memory_campaign", "--every", "199"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) == 7
    assert ran.stdout.count("reported") >= 7


def test_a_full_disk_is_one_line_and_loses_nothing_whatever_is_written(program):
    space = [program("unshare"), "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*space, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root, or namespaces of one's own")
    size = ["--width", "3", "--height", "3", "--kibibytes", "12"]
    command = [sys.executable, "-m", "tools.campaigns.disk_campaign", *size]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) == 10
    assert ran.stdout.count("reported") >= 6
