"""Compares the generic index of perfectplay/index.h with the one of morris, on sub-spaces of nine men's morris.

    python benchmarks/index.py

Prints the CPU time per position of ranking and unranking, and how many times as long the generic index takes, for each
sub-space and for the sum over all of them. Both are measured in turn, and the best of several rounds counts. Exits with
an error if a ratio exceeds 1.5 in any sub-space.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from types import ModuleType

from perfectplay_native._engine import ffi

from perfectplay_morris.plugin import Morris
from perfectplay_native.build import kernel_ffi

SOURCE = Path(__file__).resolve().with_name("index.c")
SUB_SPACES = [(mover, other) for mover in range(3, 10) for other in range(3, 10)]
"""Men of the mover and of the other player. With nine, morris also tests for impossible mills when it unranks."""
POSITIONS, ROUNDS = 64 * 2000, 15
MAX_RATIO = 1.5
COLUMNS = ("hand_rank", "generic_rank", "hand_unrank", "generic_unrank")


def build_module(folder: str) -> ModuleType:
    builder = kernel_ffi("index_benchmark", sources=[str(SOURCE)], header=SOURCE.with_suffix(".h"))
    spec = importlib.util.spec_from_file_location("index_benchmark", builder.compile(tmpdir=folder))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(module: ModuleType, kernel: object, mover: int, other: int) -> list[float]:
    """Return the best times of a sub-space in nanoseconds, in the order of COLUMNS."""
    times, rounds = module.ffi.new("index_times *"), []
    for _ in range(ROUNDS):
        if not module.lib.measure_index(kernel, mover, other, POSITIONS, times):
            raise SystemExit(f"error: the indexes of {mover} against {other} men disagree")
        rounds.append([getattr(times, column) for column in COLUMNS])
    return [min(column) for column in zip(*rounds, strict=True)]


def print_row(name: str, row: list[float]) -> tuple[float, float]:
    """Print the times in the order of COLUMNS; return the ratios of ranking and unranking."""
    ratios = row[1] / row[0], row[3] / row[2]
    ranks = f"{row[0]:20.1f} {row[1]:8.1f} {ratios[0]:6.2f}"
    print(f"{name:6}{ranks} {row[2]:18.1f} {row[3]:8.1f} {ratios[1]:6.2f}", flush=True)
    return ratios


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        module = build_module(folder)
    morris = Morris("nine", flying=False).kernel()
    kernel = module.ffi.cast("pp_kernel *", int(ffi.cast("uintptr_t", morris.c)))
    slow, total = [], [0.0] * len(COLUMNS)
    print("nanoseconds    rank: by hand  generic  ratio    unrank: by hand  generic  ratio")
    for mover, other in SUB_SPACES:
        row = measure(module, kernel, mover, other)
        total = [sum(times) for times in zip(total, row, strict=True)]
        if max(print_row(f"{mover}-{other}", row)) > MAX_RATIO:
            slow.append(f"{mover}-{other}")
    print_row("all", total)
    if slow:
        raise SystemExit(f"error: the generic index takes more than {MAX_RATIO} times as long for {', '.join(slow)}")


if __name__ == "__main__":
    main()
