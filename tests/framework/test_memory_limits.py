"""The memory available to a solve: of the machine, by process limits, and by control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfectplay import memory, solve_game
from perfectplay.errors import PerfectPlayError
from perfectplay.memory import Available, available_memory
from perfectplay.solve import options as budget
from perfectplay.solve import steps
from perfectplay.tiers.external_set import SpillBudget
from perfectplay.tiers.order import TierSizes


@pytest.fixture
def control_groups(tmp_path, monkeypatch):
    """A tree of control groups (version 2) with this process in /outer/inner."""
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    text = Path.read_text
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(
        Path, "read_text", lambda path: "0::/outer/inner\n" if str(path) == "/proc/self/cgroup" else text(path)
    )
    return tmp_path


def limit(group: Path, maximum: str, used: int, cached: int) -> None:
    (group / "memory.max").write_text(f"{maximum}\n")
    (group / "memory.current").write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")


def test_used_but_not_cached_memory_counts_against_a_control_groups_limit(control_groups):
    limit(control_groups / "outer" / "inner", str(100 << 20), 70 << 20, 30 << 20)
    assert available_memory() == Available(60 << 20, "the control group's limit, 100M")


def test_limits_of_parent_groups_apply(control_groups):
    limit(control_groups / "outer" / "inner", "max", 70 << 20, 0)
    limit(control_groups / "outer", str(80 << 20), 70 << 20, 0)
    assert available_memory() == Available(10 << 20, "the control group's limit, 80M")


def test_a_group_without_a_limit_is_ignored(control_groups):
    limit(control_groups / "outer" / "inner", "max", 70 << 20, 0)
    assert available_memory().limit != "the control group's limit, 0M"


@pytest.mark.parametrize(
    ("left", "advice"),
    [
        (200 << 20, "leaves 200M; use `--backend lmdb --memory 100M`, which needs less"),
        (70 << 20, "leaves 70M; use `--backend lmdb --memory 64M`, which needs less"),
        (37 << 20, "leaves 37M; free at least 64 MiB, then use `--backend lmdb --memory 64M`"),
    ],
)
def test_too_little_memory_names_the_limit_and_a_remedy(left, advice, tic_tac_toe, monkeypatch):
    monkeypatch.setattr(budget, "available_memory", lambda: Available(left, "the control group's limit, 100M"))
    monkeypatch.setattr(steps, "enumerate_positions", _with_all_memory)
    monkeypatch.setattr(TierSizes, "largest_component", 1 << 30)
    with pytest.raises(PerfectPlayError, match=f"the control group's limit, 100M {advice}"):
        solve_game(tic_tac_toe, save=False)


def test_memory_of_the_enumeration_is_free_for_the_engine(tic_tac_toe, monkeypatch):
    budgets = []
    monkeypatch.setattr(steps, "SpillBudget", lambda *limits: budgets.append(SpillBudget(*limits)) or budgets[-1])
    solve_game(tic_tac_toe, save=False).table.close()
    assert not budgets[0].pool.free
    assert budgets[0].memory_bytes == 0


def _with_all_memory(*arguments, budget, **options):
    from perfectplay.tiers.enumeration import enumerate_positions

    enumerate_positions(*arguments, budget=SpillBudget(None, None), **options)
