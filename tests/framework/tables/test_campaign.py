"""A short campaign of faults (campaign.py): in CI a sample; docs/reliability.md has the figures of the long one."""

from __future__ import annotations

import pytest

from . import campaign


@pytest.fixture(scope="module")
def faults():
    with campaign.campaign(seed=7) as prepared:
        yield prepared


def test_a_flipped_bit_is_reported_and_never_answered_with(faults):
    counts = faults.flips(60)
    assert {what.split(": ")[1] for what in counts} <= {"reported", "right"}
    assert sum(often for what, often in counts.items() if what.endswith("reported")) >= 50


def test_a_kill_at_any_moment_leaves_what_is_right_and_can_be_finished(faults):
    counts = faults.kills(24)
    assert {what.split(": ")[-1] for what in counts} <= {"killed", "right"}
    assert sum(often for what, often in counts.items() if what.endswith("killed")) >= 6


def test_a_disk_that_is_full_at_any_point_is_reported_and_resumed_from(faults):
    assert set(faults.full_disks(8)) == {"reported"}
