"""Draws a histogram of positions by remoteness, as text, as SVG, or as PNG with matplotlib.

Counts range from a few to hundreds of millions, so the scale is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from perfectplay.errors import PerfectPlayError, UsageError, needs_extra
from perfectplay.files import atomic_write
from perfectplay.game.wording import kind_name

if TYPE_CHECKING:
    from perfectplay.analysis.statistics import Survey

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
