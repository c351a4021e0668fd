"""Full disks: work on a disk of one mebibyte, then two, and so on until the disk is large enough.

    python -m tools.campaigns.disk_campaign [--kibibytes 1024] [--width 5] [--height 4]

Each time there must be a one-line error and no incomplete file under a final name, and the same work must succeed on a
larger disk. The disks are real (tmpfs, in a separate mount namespace), so this needs Linux and either root or
unprivileged namespaces.
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from perfectplay import ProofOptions, load_game, open_table, prove_position, solve_game
from perfectplay.analysis.export import export_table
from perfectplay.errors import PerfectPlayError
from perfectplay.prove import proof_path, read_proof
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import DATA_FILE

from .campaign import BROKEN, REPORTED, RIGHT, WRONG, in_child

LARGE = "size=1g"


class DiskCampaign:
    """Work on Connect Four on a small board, which is enumerated."""

    def __init__(self, directory: Path, width: int, height: int) -> None:
        self.game = load_game("connect4", width=width, height=height)
        self.disk = directory / "disk"
        self.disk.mkdir()
        solution = solve_game(self.game, backend="lmdb", directory=directory / "whole")
        with solution.table as table:
            self.hash = solution.hash
            self.source = table.store.path
            self.sample = np.concatenate([table.positions(tier, 0, min(50, r.size)) for tier, r in table.keys.items()])
            self.codes = table.probe_many(self.sample).tolist()
            compact = compact_table(table, directory / "compact")
            self.compact_size = (compact / DATA_FILE).stat().st_size
            self.exports = {}
            for kind in ("csv", "gbl2", "sqlite", "parquet"):
                export_table(table, kind, directory / kind)
                self.exports[kind] = (directory / kind).stat().st_size

    def run(self, step: int) -> dict[str, collections.Counter[str]]:
        """Return the counts of results for each kind of work. Disks grow by `step`, or by 1/8 of a known output."""
        whole = (self.source / DATA_FILE).stat().st_size
        works: dict[str, tuple[Callable[[], int], int]] = {
            "solve": (lambda: self._solve("lmdb"), 0),
            "solve in little memory": (lambda: self._solve("lmdb", memory=64 << 20), whole),
            "solve in memory and save": (lambda: self._solve("memory"), whole),
            "compact": (lambda: self._compact(self.disk / "compact"), self.compact_size),
            "compact in place": (lambda: self._compact(None), self.compact_size),
            "prove": (self._prove, 0),
        }
        for kind, size in self.exports.items():
            works[f"export {kind}"] = (lambda kind=kind: self._export(kind), size)
        return {
            name: self._fill(name, work, max(4096, size // 8) if size else step) for name, (work, size) in works.items()
        }

    def _fill(self, name: str, work: Callable[[], int], step: int) -> collections.Counter[str]:
        counts: collections.Counter[str] = collections.Counter()
        space = 0
        while not counts["had space"]:
            space += step
            taken = (self.source / DATA_FILE).stat().st_size + 8192 if name == "compact in place" else 0
            _mount(self.disk, f"size={space + taken}")
            try:
                if taken:
                    shutil.copytree(self.source, self.disk / self.game.identity)
                code = in_child(lambda: _run_reported(work))
                files = in_child(self._check_files)
                subprocess.run(["mount", "-o", f"remount,{LARGE}", str(self.disk)], check=True)
                again = in_child(work)
                left = [each.name for each in self.disk.rglob("*") if each.suffix in (".part", ".new")]
            finally:
                subprocess.run(["umount", str(self.disk)], check=True)
            good = code in (RIGHT, REPORTED) and files == again == RIGHT and not left
            counts["WRONG" if not good else "had space" if code == RIGHT else "reported"] += 1
            if not good:
                print(f"{name}, {space >> 10} KiB: {code}, files {files}, again {again}, left {left}", file=sys.stderr)
        print(f"{name}: {', '.join(f'{often} {what}' for what, often in sorted(counts.items()) if often)}", flush=True)
        return counts

    # ---- work ----

    def _solve(self, backend: str, memory: int | None = None) -> int:
        solution = solve_game(self.game, backend=backend, directory=self.disk, memory=memory)
        solution.table.close()
        return RIGHT if solution.hash == self.hash else WRONG

    def _compact(self, output: Path | None) -> int:
        with open_table(self.game, self.source if output else self.disk / self.game.identity) as table:
            if not table.info.compact and not (output and (output / DATA_FILE).exists()):
                compact_table(table, output)
        return RIGHT

    def _prove(self) -> int:
        prove_position(self.game, options=ProofOptions(directory=self.disk, checkpoint=0.05))
        return RIGHT

    def _export(self, kind: str) -> int:
        with open_table(self.game, self.source) as table:
            export_table(table, kind, self.disk / "out")
        return RIGHT

    # ---- checks ----

    def _check_files(self) -> int:
        """Check that every file under its final name is right, and that tables marked as complete are."""
        for place in (self.disk / self.game.identity, self.disk / "compact"):
            if (place / DATA_FILE).exists():
                with open_table(self.game, place) as table:
                    found = table.probe_many(self.sample).tolist()
                    if any(code not in (4, right) for code, right in zip(found, self.codes, strict=True)):
                        return WRONG
                    if table.complete and (found != self.codes or table.info.hash != self.hash):
                        return WRONG
        if proof_path(self.game, self.disk).exists():
            read_proof(proof_path(self.game, self.disk), self.game)
        out = self.disk / "out"
        return RIGHT if not out.exists() or out.stat().st_size in self.exports.values() else WRONG


def _run_reported(work: Callable[[], int]) -> int:
    """Do the work. BROKEN means that the error does not name the full disk in one line."""
    try:
        return work()
    except PerfectPlayError as error:
        if "disk is full" in str(error) and "\n" not in str(error):
            return REPORTED
        print(f"unexpected error: {error}", file=sys.stderr)
        return BROKEN


def _mount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("kibibytes", 1024), ("width", 5), ("height", 4)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    if "DISK_CAMPAIGN" not in os.environ:
        command = [sys.executable, "-m", f"{__package__}.disk_campaign", *sys.argv[1:]]
        namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        sys.exit(subprocess.run([*namespace, *command], env={**os.environ, "DISK_CAMPAIGN": "1"}).returncode)
    with tempfile.TemporaryDirectory(prefix="full-") as directory:
        results = DiskCampaign(Path(directory), given.width, given.height).run(given.kibibytes << 10)
    sys.exit(any("WRONG" in counts for counts in results.values()))


if __name__ == "__main__":
    main()
