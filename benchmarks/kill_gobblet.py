"""Kills the complete Gobblet solve with SIGKILL at random moments and checks that the resumed solve has the same hash.

    python benchmarks/kill_gobblet.py [kills]

Takes a few minutes. The tests do the same with a small game.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "hashes.json"


def main(kills: int) -> None:
    generator = random.Random(kills)
    with tempfile.TemporaryDirectory() as directory:
        command = ["solve", "gobblet", "--backend", "lmdb", "--memory", "256M", "--dir", directory, "--json"]
        for number in range(1, kills + 1):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds = generator.uniform(0.7, 2.2)  # 20 of these add up to about one solve
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
            size = (Path(directory) / "gobblet" / "data.mdb").stat().st_size
            print(f"kill {number} of {kills} after {seconds:.1f} s: {size / 2**20:.0f} MiB on disk")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    digest, golden = json.loads(done.stdout)["hash"], json.loads(GOLDEN.read_text())["gobblet"]
    print(f"hash {digest}: {'correct' if digest == golden else f'WRONG, should be {golden}'}")
    sys.exit(digest != golden)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
