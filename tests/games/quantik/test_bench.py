"""The benchmarks run and report rates; how high they are is for `solve bench` to say."""

from __future__ import annotations

from perfectplay_quantik.bench import benchmarks


def test_every_benchmark_reports_a_rate_and_its_unit() -> None:
    results = list(benchmarks(seconds=0.01))
    assert [unit for _, _, unit in results] == ["states/s", "states/s", "positions/s", "children/s", "nodes/s"]
    assert len({name for name, _, _ in results}) == len(results)
    assert all(rate > 0 for _, rate, _ in results)
