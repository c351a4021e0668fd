"""Compares `solve plan` with complete solves: positions, CPU time, memory and disk.

python benchmarks/plan.py              solve small games, about a minute in all
python benchmarks/plan.py --large      solve large ones too: several minutes, 2 GiB of memory
python benchmarks/plan.py --known      solve nothing; compare large games with docs/results.md

A ratio above 1 means that the plan was too high. All should be between 0.5 and 2 on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping

SMALL = (
    ("connect4",),
    ("connect4", "--width", "5", "--no-mirror"),
    ("quixo", "--width", "3", "--height", "3"),
    ("quixo",),
    ("morris", "--men", "three"),
    ("morris",),
    ("morris", "--flying"),
    ("kalah",),
    ("kalah", "--pits", "4"),
    ("dots",),
    ("dots", "--rows", "3", "--columns", "3"),
    ("quantik",),
)

LARGE = (
    ("gobblet",),
    ("connect4", "--width", "5", "--height", "5", "--no-mirror"),
    ("connect4", "--width", "6", "--no-mirror"),
    ("dobutsu",),
    ("quixo", "--width", "5", "--height", "4"),
)

MIB = 1 << 20
KNOWN: dict[tuple[str, ...], Mapping[str, float]] = {
    ("gobblet",): {"positions": 266_238_323, "cpu": 14.2, "memory": 398 * MIB, "disk": 346 * MIB},
    ("quantik",): {"positions": 18_914_747, "cpu": 4.5, "memory": 420 * MIB, "disk": 163 * MIB},
    ("dobutsu",): {"cpu": 57, "memory": 1235 * MIB, "disk": 477 * MIB},
    ("quixo", "--width", "5", "--height", "4"): {"positions": 871_858_485, "cpu": 122, "memory": 922 * MIB},
    ("connect4", "--width", "5", "--height", "5", "--no-mirror"): {
        "positions": 69_763_700,
        "cpu": 9.2,
        "memory": 758 * MIB,
    },
    ("connect4", "--width", "6", "--no-mirror"): {"positions": 94_910_577, "cpu": 14.4, "memory": 943 * MIB},
    ("connect4", "--width", "5", "--height", "6", "--no-mirror"): {"positions": 1_044_334_437},
    ("connect4", "--width", "6", "--height", "5"): {"positions": 1_409_488_535, "cpu": 256, "disk": 12_108 * MIB},
    ("kalah", "--pits", "4", "--seeds", "4", "--empty-capture", "--either-row"): {
        "positions": 36_950_397,
        "cpu": 25.2,
        "memory": 542 * MIB,
    },
}
"""From docs/results.md, published or measured before."""

NEGLIGIBLE = {"cpu": 0.2, "memory": 0, "disk": 1 << 18, "positions": 0}
"""Ratios of smaller values are not shown."""


def run_solve(command: tuple[str, ...]) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "perfectplay", *command, "--json", "--quiet"], capture_output=True, check=True
    )
    reply: dict[str, object] = json.loads(done.stdout)
    return reply


def read_plan(game: tuple[str, ...]) -> dict[str, float]:
    plan = run_solve(("plan", *game))
    memory, disk = plan["memory"], plan["disk"]
    assert isinstance(memory, dict)
    assert isinstance(disk, dict)
    return {
        "positions": plan["positions"],  # type: ignore[dict-item]
        "cpu": plan["cpu_seconds"],  # type: ignore[dict-item]
        "memory": memory["memory"],
        "disk": disk["table"],
    }


def solve(game: tuple[str, ...]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        summary = run_solve((*game, "--dir", folder))
        bytes_on_disk = sum(
            os.stat(os.path.join(place, file)).st_blocks * 512 for place, _, files in os.walk(folder) for file in files
        )
    return {
        "positions": summary["positions"],  # type: ignore[dict-item]
        "cpu": summary["cpu_seconds"],  # type: ignore[dict-item]
        "memory": summary["peak_memory"],  # type: ignore[dict-item]
        "disk": bytes_on_disk,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="solve the large games too")
    parser.add_argument("--known", action="store_true", help="solve nothing")
    arguments = parser.parse_args()
    games = tuple(KNOWN) if arguments.known else SMALL + (LARGE if arguments.large else ())
    outside = 0
    print(f"{'game':48} {'positions':>10} {'CPU':>10} {'memory':>10} {'disk':>10}   plan ÷ solve")
    for game in games:
        plan, truth = read_plan(game), KNOWN[game] if arguments.known else solve(game)
        cells = []
        for fact, limit in (("positions", 0), *((name, NEGLIGIBLE[name]) for name in ("cpu", "memory", "disk"))):
            if fact not in truth or max(truth[fact], plan[fact]) <= limit:
                cells.append("–")
                continue
            ratio = plan[fact] / truth[fact]
            outside += not 0.5 <= ratio <= 2
            cells.append(f"{ratio:.2f}" + ("" if 0.5 <= ratio <= 2 else " !"))
        print(f"{' '.join(game):48} " + " ".join(f"{cell:>10}" for cell in cells), flush=True)
    sys.exit(f"{outside} are not within a factor of 2" if outside else 0)


if __name__ == "__main__":
    main()
