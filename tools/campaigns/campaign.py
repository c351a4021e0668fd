"""Fault injection: kills, flipped bits and full disks. Run it as a program for a long campaign.

    python -m tools.campaigns.campaign --kills 300 --flips 2000 --full 40

Each fault happens in a forked child, so that a crash is noticed. Right answers and one clear error are accepted.
Failures are a wrong answer, a crash, and anything that prevents the next run from producing the same table.
docs/reliability.md has the results of a long campaign; CI runs a short one (test_campaign.py).
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
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay import Game, ProofOptions, load_game, make_game, open_table, prove_position, solve_game
from perfectplay.analysis.export import export_table
from perfectplay.errors import PerfectPlayError, TableError
from perfectplay.prove import proof_path, read_proof
from perfectplay.solve.steps import LocalSteps
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import DATA_FILE, read_snapshot
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.locations import table_path

from . import four, ladder
from .solved import BROKEN, REPORTED, RIGHT, WRONG, Solved

POSITIONS = np.arange(ladder.RING * ladder.RUNGS, dtype=np.uint64)
Counts = collections.Counter[str]


def ladder_game() -> Game:
    return make_game(ladder, name="ladder")


def in_child(work: Callable[[], int], *, kill_after: float | None = None) -> int:
    """Return the exit code of a forked child, negative if a signal ended it. Kill it after `kill_after` seconds."""
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
    """Small games, solved once, as the reference for the results after every fault.

    The ladder game, in Python, has cycles, all kinds of values and twelve tiers. Bits are also flipped in the tables of
    two games in C: one is enumerated, the other has a perfect index, so its tables have no keys.
    """

    def __init__(self, directory: Path, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.directory = directory
        self.live: dict[Path, tuple[bytes, dict[bytes, memoryview], dict[str, list[range]]]] = {}
        self.ladder = Solved(ladder_game(), directory)
        self.game, self.hash = self.ladder.game, self.ladder.hash
        with open_table(self.game, directory / "plain" / "ladder") as table:
            self.codes = table.probe_many(POSITIONS).tolist()
        self.in_c = make_game(four, name="four", width=5, height=4)

    @cached_property
    def hash_in_c(self) -> str:
        solution = solve_game(self.in_c, save=False)
        solution.table.close()
        return solution.hash

    # ---- flipped bits ----

    def flips(self, count: int) -> Counts:
        """Flip one live bit at a time, in plain and compact tables, and run all queries."""
        counts: Counts = collections.Counter()
        in_c = [make_game(four, name="four"), load_game("quixo", width=3, height=3)]
        games = [self.ladder, *(Solved(game, self.directory) for game in in_c)]
        games += [Solved(game, self.directory, values="outcome") for game in in_c]
        tables = [(solved, kind) for solved in games for kind in solved.tables]
        for number in range(count):
            solved, kind = tables[number % len(tables)]
            place, data = self._flip_live_bit(solved.tables[kind] / DATA_FILE)
            target = self.directory / "flipped"
            target.mkdir(exist_ok=True)
            (target / DATA_FILE).write_bytes(data)
            code = in_child(lambda solved=solved, target=target: solved.run_queries(target))
            what = f"{solved.game.name} {kind} {place}"
            counts[f"{what}: {_outcome(code)}"] += 1
            if code not in (RIGHT, REPORTED):
                print(f"flip in {what}: {_outcome(code)}", file=sys.stderr)
        return counts

    def _flip_live_bit(self, file: Path) -> tuple[str, bytearray]:
        """Flip one bit of a file. Returns the kind of data it belongs to, and the changed file.

        All kinds are equally likely. A bit is live if it changes the contents that are read: much of a page is padding,
        or left over from older transactions.
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

    # ---- kills ----

    def kills(self, count: int) -> Counts:
        """Kill each kind of work in turn. Afterwards all files must be right, and the work can be finished."""
        counts: Counts = collections.Counter()
        works = {
            "solve": self._solve,
            "enumerate": self._enumerate,
            "save": self._save,
            "compact": self._compact,
            **{f"export {kind}": partial(self._export, kind=kind) for kind in self.exports},
            "prove": self._prove,
        }
        names = [*works][:count]
        assert self.hash_in_c  # compute it before forking
        durations = {name: self._duration(name, works[name]) for name in names}
        for number in range(count):
            name = names[number % len(names)]
            self._kill(name, works[name], durations[name], counts)
        for name in names:
            work = self._solve_in_c if name == "enumerate" else works[name]
            place = self.directory / "killed" / name
            if in_child(lambda work=work, place=place: work(place)) != RIGHT or list(place.rglob("*.part")):
                counts["WRONG"] += 1
                print(f"{name} fails after all kills", file=sys.stderr)
        return counts

    def _kill(self, name: str, work: Callable[[Path], int], seconds: float, counts: Counts) -> None:
        """Kill a kind of work once, at a random moment. It starts again or resumes, at random."""
        place = self.directory / "killed" / name
        code = RIGHT
        while code == RIGHT:  # it finished before the kill
            if not place.exists() or self.random.random() < 0.5:
                self._prepare(name, place)
            code = in_child(lambda: work(place), kill_after=self.random.uniform(0, seconds))
            after = in_child(lambda: self._check_files(name, place))
            if code not in (RIGHT, -signal.SIGKILL) or after != RIGHT:
                counts["WRONG"] += 1
                print(f"a kill of {name}: {_outcome(code)}, afterwards {_outcome(after)}", file=sys.stderr)
                return
            counts[f"{name}: {'too late' if code == RIGHT else 'killed'}"] += 1
            if code == RIGHT:
                shutil.rmtree(place)
        if name == "enumerate":
            self._check_resumption(place, counts)

    def _check_resumption(self, place: Path, counts: Counts) -> None:
        """Check in a copy that a resumed enumeration does not enumerate the written tiers again."""
        written, copy = len(self._written_tiers(place)), place.with_name("resumed")
        if written:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            resumed = in_child(lambda: self._enumerate(copy)) == RIGHT
            counts["enumerate: of these, resumed from written tiers" if resumed else "WRONG"] += 1
            counts["enumerate: tiers written before these kills"] += written

    def _prepare(self, name: str, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if name.startswith(("compact", "export")):
            shutil.copytree(self.directory / "plain" / "ladder", place / "ladder")

    def _duration(self, name: str, work: Callable[[Path], int]) -> float:
        """Return the shortest of several times that the work takes without a fault."""
        measured = []
        for _ in range(5):
            place = self.directory / "measured" / name
            self._prepare(name, place)
            started = time.monotonic()
            assert in_child(lambda place=place: work(place)) == RIGHT, name
            measured.append(time.monotonic() - started)
        return min(measured)

    def _written_tiers(self, place: Path) -> set[int]:
        """Return the tiers that an interrupted enumeration has written."""
        path = table_path(self.in_c, place)
        if not (path / DATA_FILE).exists():
            return set()
        with open_table(self.in_c, path) as table:
            return set(table.keys)

    def _enumerate(self, place: Path) -> int:
        """Enumerate a game in C, or resume. No written tier may be enumerated again."""
        written, write = self._written_tiers(place), LmdbStore.write_key_blocks

        def write_once(store: LmdbStore, tier: int, *rest: Any) -> None:
            if tier in written:
                os._exit(WRONG)
            write(store, tier, *rest)

        LmdbStore.write_key_blocks = write_once  # in this child only
        LocalSteps.solve_components = lambda steps: os._exit(RIGHT)  # solving is another kind of work
        return self._solve_in_c(place)

    def _solve_in_c(self, place: Path) -> int:
        solution = solve_game(self.in_c, backend="lmdb", directory=place)
        solution.table.close()
        return RIGHT if solution.hash == self.hash_in_c else WRONG

    def _solve(self, place: Path) -> int:
        """Enumerate and solve, or resume."""
        solution = solve_game(self.game, backend="lmdb", directory=place)
        solution.table.close()
        return RIGHT if solution.hash == self.hash else WRONG

    def _compact(self, place: Path) -> int:
        with open_table(self.game, place / "ladder") as table:
            if table.info.compact:
                return RIGHT
            compact_table(table)
        return RIGHT

    def _save(self, place: Path) -> int:
        """Solve in memory, and save."""
        solution = solve_game(self.game, directory=place)
        solution.table.close()
        return RIGHT if solution.hash == self.hash else WRONG

    def _export(self, place: Path, kind: str = "csv") -> int:
        with open_table(self.game, place / "ladder") as table:
            export_table(table, kind, place / f"ladder.{kind}")
        return RIGHT

    @cached_property
    def exports(self) -> dict[str, bytes]:
        """The right contents of the exports."""
        with open_table(self.game, self.directory / "plain" / "ladder") as table:
            files = {kind: self.directory / f"ladder.{kind}" for kind in ("csv", "parquet")}
            for kind, file in files.items():
                export_table(table, kind, file)
        return {kind: file.read_bytes() for kind, file in files.items()}

    def _prove(self, place: Path) -> int:
        game = self._game_with_turns()
        prove_position(game, options=ProofOptions(directory=place, prune=False, checkpoint=0.01))
        return RIGHT

    def _game_with_turns(self) -> Game:
        """Return the ladder game with a `mover` hook, which a proof file needs."""
        plugin = type(
            "Turns", (), {name: staticmethod(hook) for name, hook in vars(ladder).items() if callable(hook)}
        )()
        plugin.mover = ladder.hookimpl(lambda position: 0)  # one player makes all moves
        return make_game(plugin, name="turns")

    def _check_files(self, name: str, place: Path) -> int:
        """Check that every file that a killed process left under its final name is right."""
        path = place / "ladder"
        if name in ("solve", "save", "compact") and (path / DATA_FILE).exists():
            with open_table(self.game, path) as table:
                found = table.probe_many(POSITIONS).tolist()
                if any(code not in (4, right) for code, right in zip(found, self.codes, strict=True)):
                    return WRONG
                if table.complete and (found != self.codes or table.info.hash != self.hash):
                    return WRONG
        if name == "enumerate":
            self._written_tiers(place)  # opening checks the table
        if name.startswith("export"):
            files = {kind: place / f"ladder.{kind}" for kind in self.exports}
            whole = (file.read_bytes() == self.exports[kind] for kind, file in files.items() if file.exists())
            return RIGHT if all(whole) else WRONG
        if name == "prove":
            game = self._game_with_turns()
            if proof_path(game, place).exists():
                read_proof(proof_path(game, place), game)
        return RIGHT

    # ---- full disks ----

    def full_disks(self, count: int) -> Counts:
        """Solve under limits on the file size, which act like a full disk: one error each time, then the table."""
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
    """Return the ranges of values, keys, records, frames and LMDB pages in a file."""
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
