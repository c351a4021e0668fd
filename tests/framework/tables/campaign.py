"""Fault injection: kills, flipped bits and full disks, as many as asked for. Run it as a program for the long campaign.

    python tests/framework/tables/campaign.py --kills 300 --flips 2000 --full 40

Each fault happens in a forked child, so that a crash is seen as one. What may come out of it: the right answers, or one
clear error. What may not: a wrong answer, a crash, anything that keeps the next run from ending with the same table.
docs/reliability.md states the figures of the long campaign; CI runs a short one (test_campaign.py).
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import ladder
else:
    from . import ladder

from perfectplay import Game, make_game, open_table, prove_position, solve_game, verify_table
from perfectplay.errors import PerfectPlayError, TableError
from perfectplay.exports.export import export_table
from perfectplay.queries.moves import rate_moves
from perfectplay.queries.statistics import survey
from perfectplay.solving.weak import proof_path
from perfectplay.tables.compacting import compact_table
from perfectplay.tables.locking import DATA_FILE
from perfectplay.tables.pages import read_snapshot
from perfectplay.tables.proof_file import read_proof

POSITIONS = np.arange(ladder.RING * ladder.RUNGS, dtype=np.uint64)
RIGHT, REPORTED, WRONG, BROKEN = range(4)
"""How a child ends: all answers right; one clear error; a wrong answer; another error than one of ours."""

Counts = collections.Counter[str]


def ladder_game() -> Game:
    return make_game(ladder, name="ladder")


def in_child(work: Callable[[], int], *, kill_after: float | None = None) -> int:
    """The exit code of a forked child, negative if a signal ended it; killed after so many seconds."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = BROKEN
        try:
            code = work()
        except PerfectPlayError:
            code = REPORTED
        except BaseException as error:
            print(f"broken: {type(error).__name__}: {error}", file=sys.stderr)
        os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Campaign:
    """A small game with cycles, all kinds of values and twelve tiers, solved once; every fault is held against that."""

    def __init__(self, directory: Path, seed: int = 1) -> None:
        self.game, self.random = ladder_game(), random.Random(seed)
        self.directory = directory
        self.live: dict[Path, tuple[bytes, dict[bytes, memoryview], dict[str, list[range]]]] = {}
        solution = solve_game(self.game, backend="lmdb", directory=directory / "plain")
        with solution.table as table:
            self.hash, self.codes = solution.hash, table.probe_many(POSITIONS).tolist()
            self.statistics = table.statistics
            compact_table(table, directory / "compact" / "ladder", progress=lambda done: None)

    # ---- flipped bits ----

    def flips(self, count: int) -> Counts:
        """Flip one bit of a live byte at a time, in plain and compact tables, and ask everything."""
        counts: Counts = collections.Counter()
        for number in range(count):
            kind = ("plain", "compact")[number % 2]
            source = self.directory / kind / "ladder"
            place, data = self._flip_live_bit(source / DATA_FILE)
            target = self.directory / "flipped"
            target.mkdir(exist_ok=True)
            (target / DATA_FILE).write_bytes(data)
            code = in_child(lambda target=target: self._ask_everything(target))
            counts[f"{kind} {place}: {_outcome(code)}"] += 1
            if code not in (RIGHT, REPORTED):
                print(f"flip in {kind} {place}: {_outcome(code)}", file=sys.stderr)
        return counts

    def _flip_live_bit(self, file: Path) -> tuple[str, bytearray]:
        """The file with one bit flipped, and what that bit is of; kinds are equally likely.

        A bit is live if it changes what is read: much of a page is padding, or what is left of older transactions.
        """
        if file not in self.live:
            self.live[file] = (file.read_bytes(), read_snapshot(file).entries, _places(file))
        raw, entries, places = self.live[file]
        kind = self.random.choice(sorted(places))
        while True:
            chosen = self.random.choices(places[kind], weights=[len(each) for each in places[kind]])[0]
            data = bytearray(raw)
            data[self.random.choice(chosen)] ^= 1 << self.random.randrange(8)
            changed = self.directory / "changed.mdb"
            changed.write_bytes(data)
            try:
                if read_snapshot(changed).entries != entries:
                    return kind, data
            except TableError:
                return kind, data

    def _ask_everything(self, path: Path) -> int:
        """Every position, the proof, the statistics and the start's moves: all right, or an error."""
        with open_table(self.game, path) as table:
            right = table.complete and table.probe_many(POSITIONS).tolist() == self.codes
            right &= verify_table(table, threads=1).bad == 0
            right &= survey(table).total == self.statistics
            rate_moves(self.game, table, self.game.start())
        return RIGHT if right else WRONG

    # ---- kills ----

    def kills(self, count: int) -> Counts:
        """Kill each kind of work at moments spread over it; afterwards nothing is wrong, and the work can be done."""
        counts: Counts = collections.Counter()
        works = (self._solve, self._compact, self._export, self._prove)
        for number in range(count):
            work = works[number % len(works)]
            name = work.__name__.removeprefix("_")
            place = self.directory / "killed" / name
            if number < len(works) or self.random.random() < 0.5:  # else the next resumes where this one was killed
                shutil.rmtree(place, ignore_errors=True)
                self._prepare(name, place)
            seconds = self._duration(work, name)
            code = in_child(lambda work=work, place=place: work(place), kill_after=self.random.uniform(0, seconds))
            counts[f"{name}: {'killed' if code == -signal.SIGKILL else _outcome(code)}"] += 1
            after = in_child(lambda name=name, place=place: self._sound(name, place))
            if code not in (RIGHT, -signal.SIGKILL) or after != RIGHT:
                counts["WRONG"] += 1
                print(f"kill {number} of {name}: {_outcome(code)}, afterwards {_outcome(after)}", file=sys.stderr)
        for work in works:
            name = work.__name__.removeprefix("_")
            place = self.directory / "killed" / name
            if in_child(lambda work=work, place=place: work(place)) != RIGHT or list(place.rglob("*.part")):
                counts["WRONG"] += 1
                print(f"{name} does not end well after all kills", file=sys.stderr)
        return counts

    def _prepare(self, name: str, place: Path) -> None:
        place.mkdir(parents=True)
        if name in ("compact", "export"):
            shutil.copytree(self.directory / "plain" / "ladder", place / "ladder")

    def _duration(self, work: Callable[[Path], int], name: str) -> float:
        """How long the work takes when nobody disturbs it; measured once."""
        known: dict[str, float] = self.__dict__.setdefault("durations", {})
        if name not in known:
            place = self.directory / "measured" / name
            self._prepare(name, place)
            started = time.monotonic()
            assert in_child(lambda: work(place)) == RIGHT, name
            known[name] = 1.1 * (time.monotonic() - started)
        return known[name]

    def _solve(self, place: Path) -> int:
        """Enumerate and solve, or resume."""
        solution = solve_game(self.game, backend="lmdb", directory=place)
        solution.table.close()
        return RIGHT if solution.hash == self.hash else WRONG

    def _compact(self, place: Path) -> int:
        with open_table(self.game, place / "ladder") as table:
            if table.info.compact:
                return RIGHT
            compact_table(table, None, progress=lambda done: None)
        return RIGHT

    def _export(self, place: Path) -> int:
        with open_table(self.game, place / "ladder") as table:
            export_table(table, "csv", place / "ladder.csv")
        return RIGHT

    def _prove(self, place: Path) -> int:
        game = self._game_with_turns()
        prove_position(game, directory=place, prune=False, checkpoint=0.01)
        return RIGHT

    def _game_with_turns(self) -> Game:
        """The ladder does not say whose turn it is, and a proof file needs that."""
        plugin = type(
            "Turns", (), {name: staticmethod(hook) for name, hook in vars(ladder).items() if callable(hook)}
        )()
        plugin.mover = ladder.hookimpl(lambda position: 0)  # one player makes all moves
        return make_game(plugin, name="turns")

    def _sound(self, name: str, place: Path) -> int:
        """Whatever the killed process left: what is there under its final name is right."""
        path = place / "ladder"
        if name in ("solve", "compact") and (path / DATA_FILE).exists():
            with open_table(self.game, path) as table:
                found = table.probe_many(POSITIONS).tolist()
                if any(code not in (4, right) for code, right in zip(found, self.codes, strict=True)):
                    return WRONG
                if table.complete and (found != self.codes or table.info.hash != self.hash):
                    return WRONG
        if name == "export" and (place / "ladder.csv").exists():
            lines = (place / "ladder.csv").read_text().splitlines()
            return RIGHT if len(lines) == len(POSITIONS) + 1 else WRONG
        if name == "prove":
            game = self._game_with_turns()
            if proof_path(game, place).exists():
                read_proof(proof_path(game, place), game)
        return RIGHT

    # ---- full disks ----

    def full_disks(self, count: int) -> Counts:
        """Solve under limits on the file's size, as a full disk would set them: one error each time, then the table."""
        counts: Counts = collections.Counter()
        size = (self.directory / "plain" / "ladder" / DATA_FILE).stat().st_size
        for number in range(count):
            place = self.directory / "full"
            shutil.rmtree(place, ignore_errors=True)
            limit = 1 + size * number // count

            def work(place: Path = place, limit: int = limit) -> int:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                return self._solve(place)

            code = in_child(work)
            counts[_outcome(code)] += 1
            if code not in (RIGHT, REPORTED) or in_child(lambda place=place: self._solve(place)) != RIGHT:
                counts["WRONG"] += 1
                print(f"disk of {limit} bytes: {_outcome(code)}", file=sys.stderr)
        return counts


def _places(file: Path) -> dict[str, list[range]]:
    """Where values, keys, records, frames and LMDB's own pages stand in a file."""
    raw, snapshot = file.read_bytes(), read_snapshot(file)
    places: dict[str, list[range]] = collections.defaultdict(list)
    for key, value in snapshot.entries.items():
        name = {b"t": "values", b"k": "keys", b"c": "frames", b"d": "frames"}.get(key[:1], "records")
        stored, at = bytes(value), -1
        while value and (at := raw.find(stored, at + 1)) >= 0:
            places[name].append(range(at, at + len(stored)))
    size = snapshot.meta.page_size
    for number in range(snapshot.meta.last_page + 1):
        kind = int.from_bytes(raw[number * size + 10 : number * size + 12], "little")
        if kind in (1, 2, 8):  # branch, leaf, meta
            places["pages"].append(range(number * size, (number + 1) * size))
    return places


def _outcome(code: int) -> str:
    if code < 0:
        return f"CRASHED by signal {-code}"
    return ("right", "reported", "WRONG ANSWER", "BROKEN")[code]


@contextlib.contextmanager
def campaign(seed: int = 1) -> Iterator[Campaign]:
    with tempfile.TemporaryDirectory(prefix="faults-") as directory:
        yield Campaign(Path(directory), seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kills", "flips", "full", "seed"):
        parser.add_argument(f"--{name}", type=int, default=1 if name == "seed" else 0)
    given = parser.parse_args()
    with campaign(given.seed) as faults:
        for name, run, count in (
            ("flips", faults.flips, given.flips),
            ("kills", faults.kills, given.kills),
            ("full disks", faults.full_disks, given.full),
        ):
            if count:
                started = time.monotonic()
                print(f"{name}: {count}")
                for what, often in sorted(run(count).items()):
                    print(f"  {often:6}  {what}")
                print(f"  {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
