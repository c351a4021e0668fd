"""Statistics of a table: counts by tier, outcome and remoteness, the longest wins, branching, reachable positions."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.selection import Selection, random_positions, select
from perfectplay.errors import PerfectPlayError, UsageError, needs_extra
from perfectplay.files import atomic_write
from perfectplay.game.engine import run_in_background
from perfectplay.game.game import Position
from perfectplay.game.wording import html_table, kind_name
from perfectplay.table.records import Statistics
from perfectplay.threads import Progress
from perfectplay.tiers.order import TierScan, components, tier_graph
from perfectplay.values import Outcome, Status, Value
from perfectplay_native.engine import Engine
from perfectplay_native.values import count_codes

if TYPE_CHECKING:
    from perfectplay.table.table import Table

LONGEST_SHOWN = 5
"""Number of the longest wins that are listed."""

BRANCHING_SAMPLE = 2_000
"""Size of the sample for the branching factor."""


@dataclass(frozen=True, slots=True)
class Branching:
    """Average number of legal moves over a sample of unfinished positions."""

    sample: int
    moves: float
    distinct: float
    """The average if moves that are equivalent by symmetry count once."""
    most: int
    """The maximum in the sample."""


@dataclass(frozen=True, slots=True, repr=False)
class Survey:
    """The result of `survey`. Values are for the side to move. A slot that two positions share counts once."""

    total: Statistics
    tiers: dict[int, Statistics]
    reachable: bool
    """Whether only positions reachable from the start are counted."""
    tiers_solved: int
    tiers_known: int | None
    """The number of tiers; None if it is not known yet."""
    bytes: int
    """Size of the table on disk; 0 for a table in memory."""
    longest_wins: list[Position] = field(default_factory=list)
    """Some of the positions with the longest win."""
    branching: Branching | None = None

    def __repr__(self) -> str:
        total, kind = self.total, "reachable positions" if self.reachable else "positions"
        longest = "" if total.longest_win is None else f", longest win in {total.longest_win}"
        return (
            f"<Survey of {total.positions:,} {kind}: {total.wins:,} won, {total.losses:,} lost, "
            f"{total.draws:,} drawn{longest}>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the counts, and the positions by plies to the end."""
        rows = [(plies, *counts.values()) for plies, counts in self.by_remoteness.items()]
        plies = html_table(("plies to the end", "won", "lost", "tied"), rows)
        return self.total.html("Reachable positions" if self.reachable else "All positions") + plies

    @property
    def by_remoteness(self) -> dict[int, dict[str, int]]:
        """The numbers of wins, losses and ties for each remoteness. Endless draws have no remoteness."""
        rows: dict[int, dict[str, int]] = {}
        for code, count in self.total.by_code.items():
            value = Value.from_code(code)
            if value.remoteness is not None:
                row = rows.setdefault(value.remoteness, {"wins": 0, "losses": 0, "ties": 0})
                row[{Outcome.WIN: "wins", Outcome.LOSS: "losses", Outcome.DRAW: "ties"}[value.outcome]] += count
        return dict(sorted(rows.items()))


def survey(
    table: Table,
    *,
    reachable: bool = False,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Survey:
    """Count the positions of a table, or the solved tiers of an unfinished one.

    With `reachable`, only positions reachable from the start are counted. Finding them takes minutes for hundreds of
    millions of positions.

    >>> from perfectplay import load_game, open_table
    >>> with open_table(load_game("gobblet")) as table:
    ...     print(survey(table).total.endless_draws)
    104224
    """
    reached = find_reached(table, threads=threads, progress=progress, stop=stop) if reachable else Reached(table, None)
    counts = reached.counts()
    total = Statistics.of(counts.values())
    return Survey(
        total=total,
        tiers={tier: Statistics.of([tier_counts]) for tier, tier_counts in counts.items()},
        reachable=reachable,
        tiers_solved=len(table.records),
        tiers_known=_tiers_known(table),
        bytes=table.size_on_disk,
        longest_wins=_longest_wins(table, reached, total.longest_win),
        branching=_branching(table),
    )


def _tiers_known(table: Table) -> int | None:
    if table.kernel.layout is not None:
        return len(table.records) if table.complete else None
    if table.kernel.ranked:
        return table.kernel.tier_count
    return None if table.info.status == "enumerating" else len(table.keys)


def _longest_wins(table: Table, reached: Reached, longest: int | None) -> list[Position]:
    if longest is None:
        return []
    by_slot: dict[object, Position] = {}  # lists one of two positions that share a slot
    for rows in select(table, Selection(outcome=Outcome.WIN, remoteness=longest)):
        for position in filter(reached.__contains__, map(int, rows["position"])):
            by_slot.setdefault(table.slot(position), table.game.position(position))
            if len(by_slot) == LONGEST_SHOWN:
                return list(by_slot.values())
    return list(by_slot.values())


def _branching(table: Table) -> Branching | None:
    if not table.records or not table.statistics.positions:
        return None
    game = table.game
    sample = [
        game.move_classes(position)
        for position in map(int, np.unique(random_positions(table, BRANCHING_SAMPLE)))
        if game.status(position) is Status.ONGOING
    ]
    if not sample:
        return None
    moves = [sum(map(len, classes)) for classes in sample]
    return Branching(len(sample), sum(moves) / len(sample), sum(map(len, sample)) / len(sample), max(moves))


# ---- reachable positions ----
#
# Enumeration finds only reachable positions. A perfect index also has slots for boards that no game can reach. A slot
# counts as reachable if any position that it represents is reachable.

Bitmap = npt.NDArray[np.uint64]
"""One bit per slot: slot i is bit i % 64 of word i // 64."""


class Reached:
    """The positions of a table that are reachable from the start."""

    def __init__(self, table: Table, bitmaps: Sequence[Bitmap] | None) -> None:
        self._table = table
        self._bitmaps = bitmaps
        """One bitmap per tier; None if all positions are reachable."""

    def __contains__(self, position: int) -> bool:
        slot = self._table.slot(position)
        if slot is None or self._bitmaps is None:
            return slot is not None
        tier, index = slot
        return bool(int(self._bitmaps[tier][index // 64]) >> index % 64 & 1)

    def counts(self) -> dict[int, Mapping[int, int]]:
        """Return for each tier how often each value code occurs among the reachable positions."""
        records = sorted(self._table.records.items())
        if self._bitmaps is None:
            return {tier: record.counts for tier, record in records}
        return {tier: _counts(self._table, tier, self._bitmaps[tier]) for tier, _ in records}


def find_reached(
    table: Table,
    *,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Reached:
    """Find the reachable positions of a finished table. This needs one bit of memory per slot."""
    table.require_complete()
    ranked = table.kernel.ranked
    return Reached(table, _bitmaps(table, threads, progress, stop or threading.Event()) if ranked else None)


def _bitmaps(
    table: Table, threads: int | None, progress: Callable[[Progress], None] | None, stop: threading.Event
) -> list[Bitmap]:
    """Mark the reachable slots of every tier by breadth-first passes over the tiers in the order of play."""
    kernel = table.kernel
    sizes = {tier: record.size for tier, record in table.records.items()}
    graph = tier_graph(kernel, table.keys, TierScan(threads=threads))
    reached = [np.zeros(-(-sizes.get(tier, 0) // 64), dtype=np.uint64) for tier in range(kernel.tier_count)]
    engine = Engine(kernel, tiers=kernel.tier_count, threads=threads)
    started, tiers_done, positions = time.monotonic(), 0, table.statistics.positions

    def report() -> None:
        if progress is not None:
            done, seconds = engine.progress.positions, time.monotonic() - started
            progress(
                Progress(
                    phase="reaching",
                    positions=done,
                    total=positions,
                    tiers_done=tiers_done,
                    tiers=len(sizes),
                    seconds=seconds,
                )
            )

    def expand(tiers: tuple[int, ...]) -> None:
        expanded = {tier: np.zeros_like(reached[tier]) for tier in tiers}
        while sum(engine.mark_reachable(tier, reached, expanded[tier]) for tier in tiers):
            pass

    try:
        for tier, size in sizes.items():
            engine.define(tier, size)
        start = table.slot(table.game.start())
        assert start is not None
        reached[start[0]][start[1] // 64] |= np.uint64(1 << start[1] % 64)
        for component in reversed(components(graph)):
            run_in_background(
                partial(expand, component.tiers), game=table.game, stop=stop, cancel=engine.stop, report=report
            )
            tiers_done += len(component.tiers)
    finally:
        engine.close()
    return reached


def _counts(table: Table, tier: int, bitmap: Bitmap) -> dict[int, int]:
    bits = bitmap.view(np.uint8)  # little-endian words: byte b holds slots 8b to 8b + 7
    totals: Counter[int] = Counter()
    first = 0
    for block in table.values(tier):
        reached = np.unpackbits(bits[first // 8 : -(-(first + len(block)) // 8)], bitorder="little")[: len(block)]
        totals.update(count_codes(np.ascontiguousarray(block[reached.astype(bool)])))
        first += len(block)
    return dict(sorted(totals.items()))


# ---- histogram of positions by remoteness ----
#
# Counts range from a few to hundreds of millions, so the scale is logarithmic.

BAR = 40
"""Length of the longest bar in a terminal, in characters."""

_KINDS = {"wins": "#2a9d5c", "losses": "#c8553d", "ties": "#8d99ae"}
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 720, 360, 60, 50, 40


def text_histogram(survey: Survey, *, puzzle: bool = False, scored: bool = False) -> list[str]:
    """Return one line for each remoteness and kind (wins, losses or ties), with a bar on a logarithmic scale."""
    rows = [
        (plies, kind_name(kind, puzzle=puzzle, scored=scored), count)
        for plies, counts in survey.by_remoteness.items()
        for kind, count in counts.items()
        if count
    ]
    largest = max((count for *_, count in rows), default=1)
    width, kind_width = len(f"{largest:,}"), max((len(kind) for _, kind, _ in rows), default=0)
    return [
        f"{plies:>5}  {kind:<{kind_width}}  {count:>{width},}  {'█' * _steps(count, largest, BAR)}"
        for plies, kind, count in rows
    ]


def plot(survey: Survey, path: Path, title: str) -> None:
    """Write the histogram to a .svg or .png file, atomically."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"cannot plot to {path}: give the name of a .svg or .png file")
    if not survey.by_remoteness:
        raise PerfectPlayError("there is nothing to plot: no position with a finite remoteness has been solved yet")
    with atomic_write(path) as part:
        if kind == ".svg":
            part.write_text(svg(survey, title), encoding="utf-8")
        else:
            _png(survey, title, part)


def svg(survey: Survey, title: str) -> str:
    """Return the histogram as SVG."""
    rows = survey.by_remoteness
    decades = _decades(survey)
    height = _HEIGHT - _BOTTOM - _TOP
    step = (_WIDTH - _LEFT - 20) / (max(rows, default=0) + 1)
    parts = [f'<text x="{_WIDTH / 2}" y="22" text-anchor="middle" font-size="15">{escape(title)}</text>']
    for decade in range(decades + 1):
        y = _HEIGHT - _BOTTOM - height * decade / decades
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_power(decade)}</text>')
    for plies, kind, count, left, share in _bars(survey):
        bar = max(1.0, height * math.log10(count) / decades)
        box = f'x="{_LEFT + left * step:.1f}" y="{_HEIGHT - _BOTTOM - bar:.1f}" width="{share * step:.1f}"'
        hint = f"<title>{plies}: {count:,} {kind}</title>"
        parts.append(f'<rect {box} height="{bar:.1f}" fill="{_KINDS[kind]}">{hint}</rect>')
    for plies in range(0, max(rows, default=0) + 1, max(1, math.ceil(20 / step))):
        x = _LEFT + (plies + 0.5) * step
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{plies}</text>')
    x = _LEFT
    for kind in _shown_kinds(survey):
        parts.append(f'<rect x="{x}" y="{_HEIGHT - 20}" width="12" height="12" fill="{_KINDS[kind]}"/>')
        parts.append(f'<text x="{x + 17}" y="{_HEIGHT - 10}">{kind}</text>')
        x += 80
    parts.append(f'<text x="{_WIDTH - 20}" y="{_HEIGHT - 10}" text-anchor="end">plies to the end</text>')
    body = "\n".join(parts)
    frame = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame} font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _png(survey: Survey, title: str, path: Path) -> None:
    with needs_extra("plot", "a .png plot (.svg works without)"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH / 100, _HEIGHT / 100), layout="constrained")
    axes = figure.subplots()
    for kind in _shown_kinds(survey):
        bars = [(left, count, share) for _, this, count, left, share in _bars(survey) if this == kind]
        lefts, counts, shares = (list(column) for column in zip(*bars, strict=True))
        axes.bar([left - 0.5 for left in lefts], counts, shares, align="edge", color=_KINDS[kind], label=kind)
    axes.set(title=title, xlabel="plies to the end", ylabel="positions", yscale="log")
    axes.legend()
    figure.savefig(path, format="png", dpi=150)


def _bars(survey: Survey) -> Iterator[tuple[int, str, int, float, float]]:
    """Yield remoteness, kind, count, left edge and width of each bar; one ply has the width 1."""
    for plies, counts in survey.by_remoteness.items():
        bars = [(kind, count) for kind, count in counts.items() if count]
        share = 0.8 / len(bars)
        for place, (kind, count) in enumerate(bars):
            yield plies, kind, count, plies + 0.1 + place * share, share


def _shown_kinds(survey: Survey) -> list[str]:
    return [kind for kind in _KINDS if any(counts[kind] for counts in survey.by_remoteness.values())]


def _decades(survey: Survey) -> int:
    largest = max((max(counts.values()) for counts in survey.by_remoteness.values()), default=1)
    return max(1, math.ceil(math.log10(max(1, largest))))


def _steps(count: int, largest: int, steps: int) -> int:
    """Return the length of a bar of at most `steps` on a logarithmic scale; at least 1."""
    return max(1, round(steps * math.log10(count) / math.log10(largest))) if largest > 1 else 1


def _power(decade: int) -> str:
    return f"{10**decade:,}" if decade < 6 else f"{10 ** (decade - 6):,} M"
