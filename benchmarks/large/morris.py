"""Solves sub-spaces of nine men's morris with flying, verifies them and counts their positions.

    python benchmarks/large/morris.py --dir DIR [--men 9] [--memory 2048]

A sub-space a–b has a men of one player against b of the other on the board, and none in hand. All sub-spaces with at
most `--men` men are solved, fewest first, into an unfinished table that `solve morris --men nine --flying` with LMDB
can resume. Running the script again with more men resumes it too. Then every value is derived again from the rules, and
the positions are also counted by Burnside's lemma.

    python benchmarks/large/morris.py --count

counts all 28 sub-spaces, as in the index and in the way closest to Gasser's total, and solves nothing.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from pathlib import Path

import numpy as np

from perfectplay import Game, PerfectPlayError, Table, load_game, open_table, solve_game
from perfectplay.threads import Progress
from perfectplay_morris.geometry import GEOMETRIES
from perfectplay_native.engine import Engine

GASSER = 7_673_759_269
GEOMETRY = GEOMETRIES["nine"]
POINTS = len(GEOMETRY.places)
SPACES = [(more, fewer) for more in range(3, 10) for fewer in range(3, more + 1)]
NO_POSITION, WON, LOST, DRAWN = 4, 3, 1, 0


# ---- counting ----


class Census:
    """Counts positions up to symmetry. Each of a player's disjoint mills has cost the opponent a man.

    `max_mills` limits the mills that are counted: one, as in the kernel, or three, the largest possible number.
    """

    def __init__(self, max_mills: int) -> None:
        self.captures = np.zeros(1 << POINTS, dtype=np.uint8)
        masks = np.arange(1 << POINTS, dtype=np.uint32)
        for count in range(1, max_mills + 1):
            for mills in itertools.combinations(GEOMETRY.mills, count):
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
        inside = ((men == other) & (captures <= 9 - mover)).astype(np.int64)
        for bit in range(len(cycles)):  # from the sets themselves to their subsets
            pairs = inside.reshape(-1, 2, 1 << bit)
            pairs[:, 1] += pairs[:, 0]
        return int(inside[::-1][(men == mover) & (captures <= 9 - other)].sum())


def _cycles(symmetry: tuple[int, ...]) -> list[int]:
    """The cycles of a symmetry as masks of points."""
    cycles: set[int] = set()
    for point in range(POINTS):
        cycle, at = 1 << point, symmetry[point]
        while at != point:
            cycle, at = cycle | 1 << at, symmetry[at]
        cycles.add(cycle)
    return sorted(cycles)


def board_symmetries() -> list[tuple[int, ...]]:
    return [symmetry.places for symmetry in GEOMETRY.symmetries]


def mill_symmetries() -> list[tuple[int, ...]]:
    """The 48 symmetries of the mills: the squares in any order. They apply where both players fly."""
    rings = [max(map(abs, place)) for place in GEOMETRY.places]
    symmetries = []
    for order in itertools.permutations((1, 2, 3)):
        targets = [
            (row // ring * order[ring - 1], column // ring * order[ring - 1])
            for ring, (row, column) in zip(rings, GEOMETRY.places, strict=True)
        ]
        exchange = [GEOMETRY.places.index(target) for target in targets]
        symmetries += [tuple(exchange[point] for point in turn) for turn in board_symmetries()]
    return sorted(set(symmetries))


def count_all() -> int:
    for title, max_mills in (("in the index", 1), ("with every mill counted, closest to Gasser", 3)):
        census, total = Census(max_mills), 0
        print(f"{title}:")
        for more, fewer in SPACES:
            both_fly = max_mills == 3 and more == 3
            symmetries = mill_symmetries() if both_fly else board_symmetries()
            positions = census.positions(more, fewer, symmetries) * (1 if more == fewer else 2)
            print(f"  {more}–{fewer} {positions:15,}", flush=True)
            total += positions
        print(f"  all {total:15,}")
    print(f"difference to Gasser's {GASSER:,}: {GASSER - total:+,}")
    return 0


# ---- solving ----


def tiers_of_spaces(game: Game, men: int) -> dict[tuple[int, int], list[int]]:
    """The tiers of each sub-space with at most `men` men on the board, in solving order."""
    kernel = game.kernel
    assert kernel is not None
    spaces: dict[tuple[int, int], list[int]] = {}
    for tier in range(1, kernel.tier_count):
        position = next(p for p in (kernel.unrank(tier, i) for i in range(kernel.tier_size(tier))) if p is not None)
        white, black = ((position >> first & (1 << POINTS) - 1).bit_count() for first in (0, POINTS))
        if position >> 2 * POINTS or white + black > men:  # men in hand, or too many on the board
            break
        spaces.setdefault((max(white, black), min(white, black)), []).append(tier)
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


def check(table: Table, spaces: dict[tuple[int, int], list[int]]) -> int:
    """Print the figures of each sub-space. Returns the number of wrong ones."""
    census, symmetries = Census(1), board_symmetries()
    engine = Engine(table.kernel, tiers=table.kernel.tier_count, threads=2)
    wrong = 0
    try:
        for tier in itertools.chain([0], *spaces.values()):
            record = table.records[tier]
            engine.define(tier, record.size)
            engine.attach(tier, record.width, table.store.value_blocks(record))
        for (more, fewer), tiers in spaces.items():
            for tier, men in zip(tiers, sorted({(fewer, more), (more, fewer)}), strict=True):
                codes = {code: n for code, n in table.records[tier].counts.items() if code != NO_POSITION}
                won, lost, drawn = (sum(n for code, n in codes.items() if code & 3 == k) for k in (WON, LOST, DRAWN))
                bad, _ = engine.verify(tier)
                agrees = sum(codes.values()) == census.positions(*men, symmetries)
                print(
                    f"{men[0]} to move against {men[1]}: {won + lost + drawn:,} positions, "
                    f"{'as' if agrees else 'NOT as'} counted; won {won:,}, lost {lost:,}, drawn {drawn:,}; "
                    f"longest {max(codes) >> 2}; {bad} bad",
                    flush=True,
                )
                wrong += bad + (not agrees)
    finally:
        engine.close()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, help="directory of the table")
    parser.add_argument("--men", type=int, default=9, help="maximum number of men on the board")
    parser.add_argument("--memory", type=int, default=2048, help="for solving, in MiB")
    parser.add_argument("--count", action="store_true", help="count all sub-spaces, and solve nothing")
    arguments = parser.parse_args()
    if arguments.count:
        return count_all()
    if arguments.dir is None:
        parser.error("--dir is required")
    game = load_game("morris", men="nine", flying=True)
    spaces = tiers_of_spaces(game, arguments.men)
    tiers = 1 + sum(map(len, spaces.values()))
    started, cpu_started = time.monotonic(), time.process_time()
    solve(game, arguments.dir, tiers, arguments.memory << 20)
    print(f"solved: {time.monotonic() - started:.0f} s, CPU {time.process_time() - cpu_started:.0f} s", flush=True)
    started, cpu_started = time.monotonic(), time.process_time()
    with open_table(game, arguments.dir / game.identity) as table:
        wrong = check(table, spaces)
    print(f"verified: {time.monotonic() - started:.0f} s, CPU {time.process_time() - cpu_started:.0f} s")
    print(f"{wrong} wrong" if wrong else "all correct")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
