"""Failed allocations: every request for memory by our code, LMDB, NumPy and cffi in a small piece of work fails once.

    python -m tools.campaigns.memory_campaign [--every 1]

The result must be the right answer or one clear error, and afterwards the same work must succeed. A preloaded library
(failing_requests.c) makes the requests fail, so this runs as a separate program. It needs gcc and glibc.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from perfectplay import open_table, verify_table
from perfectplay.analysis.moves import rate_moves

from . import campaign

HERE = Path(__file__).parent

BY_NUMPY = 9
"""Exit code of a child: NumPy returned an error without setting an exception, so Python raised SystemError."""
NAMES = {campaign.RIGHT: "right", campaign.REPORTED: "reported", BY_NUMPY: "reported as NumPy's fault"}

NOT_REACHED = 10
"""Exit code of a child: it finished before the request that should fail."""


class MemoryCampaign:
    """Pieces of work on the campaign's small game, each run once for every request for memory."""

    def __init__(self, directory: Path) -> None:
        self.faults = campaign.Campaign(directory)
        self.place = directory / "starved"
        self.library = ctypes.CDLL(None)

    def run(self, every: int) -> dict[str, collections.Counter[str]]:
        """Return the counts of results for each piece of work, with a fault in every `every`-th request."""
        faults = self.faults
        works: dict[str, Callable[[Path], int]] = {
            "solve": faults._solve,
            "save": faults._save,
            "compact": faults._compact,
            "export": faults._export,
            "prove": faults._prove,
            "query a plain table": lambda place: self._query("plain"),
            "query a compact table": lambda place: self._query("compact"),
        }
        return {name: self._starve(name, work, every) for name, work in works.items()}

    def _starve(self, name: str, work: Callable[[Path], int], every: int) -> collections.Counter[str]:
        counts: collections.Counter[str] = collections.Counter()
        number = 1
        while True:
            self.faults._prepare(name, self.place)
            code = campaign.in_child(lambda number=number: self._fail(number, work))
            if code == NOT_REACHED:
                print(f"{name}: {', '.join(f'{often} {what}' for what, often in sorted(counts.items()))}", flush=True)
                return counts
            files = campaign.in_child(lambda: self.faults._check_files(name, self.place))
            done = campaign.in_child(lambda: work(self.place))
            outcome = NAMES.get(code) or campaign._outcome(code)
            good = outcome in NAMES.values() and files == done == campaign.RIGHT
            counts[outcome if good else "WRONG"] += 1
            if not good:
                after = f"{campaign._outcome(files)}, done again {campaign._outcome(done)}"
                print(f"{name}, request {number}: {outcome}, afterwards {after}", file=sys.stderr)
            number += every

    def _fail(self, number: int, work: Callable[[Path], int]) -> int:
        self.library.fail_request(ctypes.c_ulong(number))
        try:
            code = work(self.place)
            reached = self.library.end_failing() >= number
        except MemoryError:  # the command line reports it in one line
            code, reached = campaign.REPORTED, True
        except SystemError as error:
            if "without exception set" not in str(error):
                raise
            code, reached = BY_NUMPY, True
        finally:
            self.library.end_failing()
        return code if reached else NOT_REACHED

    def _query(self, kind: str) -> int:
        faults = self.faults
        with open_table(faults.game, faults.directory / kind / "ladder") as table:
            right = table.probe_many(campaign.POSITIONS[:200]).tolist() == faults.codes[:200]
            right &= verify_table(table, threads=1).bad == 0
            rate_moves(faults.game, table, faults.game.start())
            table.engine.best_moves(campaign.POSITIONS[:10])
        return campaign.RIGHT if right else campaign.WRONG


def compile_library(directory: Path) -> str:
    """Compile the library and return its path."""
    library = directory / "failing_requests.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "failing_requests.c")]
    subprocess.run(command, check=True)
    return str(library)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="starved-") as directory:
        if "LD_PRELOAD" not in os.environ:
            environment = {**os.environ, "LD_PRELOAD": compile_library(Path(directory)), "OPENBLAS_NUM_THREADS": "1"}
            sys.exit(
                subprocess.run(
                    [sys.executable, "-m", f"{__package__}.memory_campaign", *sys.argv[1:]], env=environment
                ).returncode
            )
        results = MemoryCampaign(Path(directory)).run(given.every)
    sys.exit(any("WRONG" in counts for counts in results.values()))


if __name__ == "__main__":
    main()
