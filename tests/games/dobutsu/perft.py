"""Reads tests/perft/dobutsu.txt."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parents[2] / "perft" / "dobutsu.txt"


def perft_counts() -> list[tuple[str, list[int]]]:
    """Return each listed position with its counts for 1, 2, 3, … plies."""
    lines = (line.split(":") for line in _FILE.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#"))
    return [(text.strip(), [int(count) for count in counts.split()]) for text, counts in lines]
