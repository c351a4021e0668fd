"""Solves the sub-spaces of nine men's morris with flying, counts their positions, verifies them and proves the start.

    python benchmarks/large/morris.py --dir DIR --men 18 --memory 6144 --prove

A sub-space a–b has a men of one player against b of the other on the board, and none in hand. All sub-spaces with at
most `--men` men are solved, fewest first, into an unfinished table that `solve morris --men nine --flying` with LMDB
can resume. Running the script again resumes it too. Then

- every value of the sub-spaces with at most `--verify-men` men is derived again from the rules, and their positions are
  also counted by Burnside's lemma;
- a random sample of `--sample` slots of the others is derived again in the same way;
- with `--prove`, the start is proven by a search of the opening over the solved sub-spaces.

    python benchmarks/large/morris.py --dir DIR --report

prints the counts of all sub-spaces solved so far, also while another process solves more, and nothing else.
`--no-solve` verifies or proves without solving first. `--board six` does the same for six men's morris.

    python benchmarks/large/morris.py --count

counts all 28 sub-spaces, as in the index and in the way closest to Gasser's total, and the slots of the index by the
number of men in hand. It solves nothing.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perfectplay import (
    Game,
    Outcome,
    PerfectPlayError,
    ProofOptions,
    Table,
    load_game,
    open_table,
    prove_position,
    solve_game,
)
from perfectplay.threads import Progress
from perfectplay.values import NO_POSITION_CODE
from perfectplay_morris.geometry import GEOMETRIES, Geometry
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel

GASSER = 7_673_759_269
POINTS = 24
"""Bits of a position for the men of a player, on every board."""

SAMPLED_SLOTS = 1 << 12
"""Consecutive slots in each part of the sample."""


# ---- counting ----


class Census:
    """Counts positions up to symmetry. Each of a player's disjoint mills has cost the opponent a man.

    `max_mills` limits the mills that are counted: one, as in the kernel, or three, the largest possible number.
    """

    def __init__(self, board: Geometry, max_mills: int) -> None:
        self.men, points = board.men, len(board.places)
        self.captures = np.zeros(1 << points, dtype=np.uint8)
        masks = np.arange(1 << points, dtype=np.uint32)
        for count in range(1, max_mills + 1):
            for mills in itertools.combinations(board.mills, count):
                union = sum(mills)
                if union.bit_count() == 3 * count:
                    self.captures[masks & union == union] = count

    def positions(self, mover: int, other: int, symmetries: list[tuple[int, ...]]) -> int:
        """Positions with these men on the board: the mean number of positions that a symmetry fixes (Burnside)."""
        total = sum(self._fixed(mover, other, symmetry) for symmetry in symmetries)
        assert total % len(symmetries) == 0
        return total // len(symmetries)

    def _fixed(self, mover: int, other: int, symmetry: tuple[int, ...]) -> int:
        """The number of pairs of point sets that both consist of whole cycles of the symmetry."""
        cycles = _cycles(symmetry)
        masks = np.zeros(1, dtype=np.uint32)
        for cycle in cycles:
            masks = np.concatenate([masks, masks | np.uint32(cycle)])
        men, captures = np.bitwise_count(masks), self.captures[masks]
        inside = ((men == other) & (captures <= self.men - mover)).astype(np.int64)
        for bit in range(len(cycles)):  # from the sets themselves to their subsets
            pairs = inside.reshape(-1, 2, 1 << bit)
            pairs[:, 1] += pairs[:, 0]
        return int(inside[::-1][(men == mover) & (captures <= self.men - other)].sum())


def _cycles(symmetry: tuple[int, ...]) -> list[int]:
    """The cycles of a symmetry as masks of points."""
    cycles: set[int] = set()
    for point in range(len(symmetry)):
        cycle, at = 1 << point, symmetry[point]
        while at != point:
            cycle, at = cycle | 1 << at, symmetry[at]
        cycles.add(cycle)
    return sorted(cycles)


def board_symmetries(board: Geometry) -> list[tuple[int, ...]]:
    return [symmetry.places for symmetry in board.symmetries]


def mill_symmetries(board: Geometry) -> list[tuple[int, ...]]:
    """The 48 symmetries of the mills of three squares, in any order. They apply where both players fly."""
    rings = [max(map(abs, place)) for place in board.places]
    symmetries = []
    for order in itertools.permutations((1, 2, 3)):
        targets = [
            (row // ring * order[ring - 1], column // ring * order[ring - 1])
            for ring, (row, column) in zip(rings, board.places, strict=True)
        ]
        exchange = [board.places.index(target) for target in targets]
        symmetries += [tuple(exchange[point] for point in turn) for turn in board_symmetries(board)]
    return sorted(set(symmetries))


def count_all(board: Geometry) -> int:
    for title, max_mills in (("in the index", 1), ("with every mill counted, closest to Gasser", 3)):
        census, total = Census(board, max_mills), 0
        print(f"{title}:")
        for fewer, more in itertools.combinations_with_replacement(range(3, 10), 2):
            both_fly = max_mills == 3 and more == 3
            symmetries = mill_symmetries(board) if both_fly else board_symmetries(board)
            positions = census.positions(more, fewer, symmetries) * (1 if more == fewer else 2)
            print(f"  {more}–{fewer} {positions:15,}", flush=True)
            total += positions
        print(f"  all {total:15,}")
    print(f"difference to Gasser's {GASSER:,}: {GASSER - total:+,}")
    print("slots by men in hand:")
    kernel = load_game("morris", men="nine", flying=True).kernel
    assert kernel is not None
    slots: Counter[int] = Counter()
    for tier in range(1, kernel.tier_count):
        slots[_men_in_hand(_any_position(kernel, tier))] += kernel.tier_size(tier)
    for in_hand, count in sorted(slots.items()):
        print(f"  {in_hand:3} {count:15,}")
    print(f"  all {slots.total():15,}")
    return 0


# ---- solving ----


@dataclass(frozen=True)
class SubSpace:
    """The positions in which a player with `mover` men on the board moves against `other` men."""

    tier: int
    mover: int
    other: int

    @property
    def men(self) -> int:
        return self.mover + self.other


def _any_position(kernel: Kernel, tier: int) -> int:
    slots = range(kernel.tier_size(tier))
    return next(position for position in (kernel.unrank(tier, slot) for slot in slots) if position is not None)


def _men_in_hand(position: int) -> int:
    return position >> 2 * POINTS & 31


def find_sub_spaces(game: Game, board: Geometry, men: int) -> list[SubSpace]:
    """Return the sub-spaces with at most `men` men on the board, in solving order. Tier 0 has all finished games."""
    kernel, points = game.kernel, len(board.places)
    assert kernel is not None
    spaces = []
    for tier in range(1, kernel.tier_count):
        position = _any_position(kernel, tier)
        counts = [(position >> first & (1 << points) - 1).bit_count() for first in (0, POINTS)]
        if _men_in_hand(position) or sum(counts) > men:
            break
        side = position >> 53
        spaces.append(SubSpace(tier, counts[side], counts[1 - side]))
    return spaces


def solve(game: Game, directory: Path, tiers: int, memory: int) -> None:
    """Solve this many tiers, then stop in the next one."""
    stop = threading.Event()

    def progress(state: Progress) -> None:
        if state.tiers_done >= tiers:
            stop.set()

    try:
        solution = solve_game(game, backend="lmdb", directory=directory, memory=memory, progress=progress, stop=stop)
        solution.table.close()
    except PerfectPlayError:
        if not stop.is_set():
            raise


# ---- counts and verification ----


def report(table: Table, spaces: list[SubSpace]) -> None:
    """Print the counts of each solved sub-space, from the records of the table."""
    print(f"{'to move':>7} {'against':>7} {'positions':>15} {'won':>15} {'lost':>15} {'drawn':>15} {'longest':>7}")
    total: Counter[int] = Counter()
    solved = [space for space in spaces if space.tier in table.records]
    for space in solved:
        counts = Counter(table.records[space.tier].counts)
        total += counts
        print(_row(f"{space.mover:7} {space.other:7}", counts), flush=True)
    print(_row(f"{'all':>15}", total))
    print(f"{len(solved)} of {len(spaces)} kinds of positions, {table.size_on_disk / 2**30:.1f} GiB", flush=True)


def _row(name: str, counts: Counter[int]) -> str:
    codes = {code: count for code, count in counts.items() if code != NO_POSITION_CODE}
    won, lost, drawn = (
        sum(n for code, n in codes.items() if code & 3 in kinds)
        for kinds in ((Outcome.WIN + 2,), (Outcome.LOSS + 2,), (0, Outcome.DRAW + 2))
    )
    longest = max((code >> 2 for code in codes), default=0)
    return f"{name} {won + lost + drawn:15,} {won:15,} {lost:15,} {drawn:15,} {longest:7}"


def verify(table: Table, board: Geometry, spaces: list[SubSpace], verify_men: int, sample: int) -> int:
    """Derive values again from the rules: all with at most `verify_men` men, and a sample of the others.

    Returns the number of wrong values and counts.
    """
    census, symmetries, wrong = Census(board, 1), board_symmetries(board), 0
    engine = Engine(table.kernel, tiers=table.kernel.tier_count, threads=2)
    try:
        for tier in (0, *(space.tier for space in spaces)):
            record = table.records[tier]
            engine.define(tier, record.size)
            engine.attach(tier, record.width, table.store.value_blocks(record))
        for space in (space for space in spaces if space.men <= verify_men):
            record = table.records[space.tier]
            bad, _ = engine.verify(space.tier)
            positions = record.size - record.counts.get(NO_POSITION_CODE, 0)
            agrees = positions == census.positions(space.mover, space.other, symmetries)
            print(
                f"{space.mover} to move against {space.other}: all {record.size:,} slots verified, {bad} bad; "
                f"{positions:,} positions, {'as' if agrees else 'NOT as'} counted",
                flush=True,
            )
            wrong += bad + (not agrees)
        rest = [space for space in spaces if space.men > verify_men]
        slots = sum(table.records[space.tier].size for space in rest)
        for space in rest:
            size = table.records[space.tier].size
            bad, checked = verify_sample(engine, space.tier, size, sample * size // slots)
            print(
                f"{space.mover} to move against {space.other}: a sample of {checked:,} of {size:,} slots verified, "
                f"{bad} bad",
                flush=True,
            )
            wrong += bad
    finally:
        engine.close()
    return wrong


def verify_sample(engine: Engine, tier: int, size: int, count: int) -> tuple[int, int]:
    """Verify about `count` slots of a tier in random places. Returns the numbers of bad ones and of all."""
    parts = -(-size // SAMPLED_SLOTS)
    chosen = np.random.default_rng(tier).choice(parts, min(parts, -(-count // SAMPLED_SLOTS)), replace=False)
    bad = checked = 0
    for part in sorted(chosen.tolist()):
        slots = min(SAMPLED_SLOTS, size - part * SAMPLED_SLOTS)
        bad += engine.verify_slots(tier, part * SAMPLED_SLOTS, slots, examples=0)[0]
        checked += slots
    return bad, checked


def prove_start(game: Game, directory: Path) -> int:
    """Search the opening with the solved sub-spaces as leaves. Returns 1 unless the start is a draw."""
    proof = prove_position(
        game, options=ProofOptions(directory=directory, save=False, use_table=True, null_window=True)
    )
    counts = proof.counts
    print(
        f"start: {proof.outcome.name.lower()}, proven with {counts.evaluated:,} positions evaluated and "
        f"{counts.below:,} values from the table; CPU {proof.cpu_seconds:.0f} s",
        flush=True,
    )
    return proof.outcome is not Outcome.DRAW


def run(arguments: argparse.Namespace) -> int:
    board = GEOMETRIES[arguments.board]
    game = load_game("morris", men=arguments.board, flying=True)
    spaces = find_sub_spaces(game, board, min(arguments.men, 2 * board.men))
    if not (arguments.no_solve or arguments.report):
        with timed("solved"):
            solve(game, arguments.dir, 1 + len(spaces), arguments.memory << 20)
    with open_table(game, arguments.dir / game.identity) as table:
        report(table, spaces)
        if arguments.report:
            return 0
        with timed("verified"):
            wrong = verify(table, board, spaces, arguments.verify_men, arguments.sample)
    print(f"{wrong} wrong" if wrong else "all correct", flush=True)
    if arguments.prove:
        wrong += prove_start(game, arguments.dir)
    return wrong > 0


@contextmanager
def timed(what: str) -> Iterator[None]:
    started, cpu_started = time.monotonic(), time.process_time()
    yield
    print(f"{what}: {time.monotonic() - started:.0f} s, CPU {time.process_time() - cpu_started:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, help="directory of the table")
    parser.add_argument("--board", choices=["six", "nine"], default="nine", help="men of each player")
    parser.add_argument("--men", type=int, default=9, help="maximum number of men on the board")
    parser.add_argument("--memory", type=int, default=2048, help="for solving, in MiB")
    parser.add_argument("--verify-men", type=int, default=12, help="verify all values with at most this many men")
    parser.add_argument("--sample", type=int, default=10**8, help="slots with more men to verify")
    parser.add_argument("--prove", action="store_true", help="prove the start by search over the sub-spaces")
    parser.add_argument("--no-solve", action="store_true", help="only verify and prove")
    parser.add_argument("--report", action="store_true", help="only print the counts of the solved sub-spaces")
    parser.add_argument("--count", action="store_true", help="count all sub-spaces, and solve nothing")
    arguments = parser.parse_args()
    if arguments.count:
        return count_all(GEOMETRIES["nine"])
    if arguments.dir is None:
        parser.error("--dir is required")
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
