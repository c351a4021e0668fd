"""Reads tests/perft/gobblet.txt."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parents[2] / "perft" / "gobblet.txt"


def perft_counts() -> list[tuple[int, list[int]]]:
    """Return each listed position's encoding with its counts for 1, 2, 3, … plies."""
    lines = (line.split() for line in _FILE.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#"))
    return [(int(encoding), [int(count) for count in counts]) for encoding, *counts in lines]
