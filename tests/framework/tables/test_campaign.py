"""Short runs of the fault-injection campaigns in tools/campaigns; docs/reliability.md has the results of long runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.campaigns import campaign

ROOT = Path(__file__).parents[3]


def run_campaign(name: str, *options: str) -> list[str]:
    command = [sys.executable, "-m", f"tools.campaigns.{name}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def faults():
    with campaign.campaign(seed=7) as prepared:
        yield prepared


def test_flipped_bit_is_reported_and_never_gives_a_wrong_answer(faults):
    counts = faults.flips(60)
    assert {result.split(": ")[1] for result in counts} <= {"reported", "right"}
    assert sum(count for result, count in counts.items() if result.endswith("reported")) >= 50


def test_work_killed_at_any_moment_leaves_no_wrong_files_and_can_be_finished(faults):
    counts = faults.kills(21)
    assert "WRONG" not in counts
    works = ("solve", "enumerate", "save", "compact", "export csv", "export parquet", "prove")
    assert {result: count for result, count in counts.items() if result.endswith("killed")} == {
        f"{work}: killed": 3 for work in works
    }
    assert counts["enumerate: of these, resumed from written tiers"] >= 1


def test_disk_that_is_full_at_any_point_is_reported_and_the_solve_resumes(faults):
    assert set(faults.full_disks(8)) == {"reported"}


def test_failed_allocation_anywhere_is_reported_and_loses_nothing(program):
    program("gcc")
    lines = run_campaign("memory_campaign", "--every", "199")
    assert len(lines) == 7
    assert sum("reported" in line for line in lines) >= 7


def test_full_disk_is_reported_in_one_line_and_loses_nothing(program):
    space = [program("unshare"), "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*space, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root or unprivileged namespaces")
    lines = run_campaign("disk_campaign", "--width", "3", "--height", "3", "--kibibytes", "12")
    assert len(lines) == 10
    assert sum("reported" in line for line in lines) >= 6


def test_absurd_arguments_from_python_are_refused():
    assert [line.split() for line in run_campaign("call_campaign", "--calls", "1000")] == [["1000", "calls"]]


def test_hostile_requests_get_no_internal_error_and_no_wrong_value():
    counts = {words[1]: int(words[0]) for words in map(str.split, run_campaign("server_campaign", "--requests", "60"))}
    assert counts.keys().isdisjoint({"500", "WRONG"})
    assert counts["right"] == 5
