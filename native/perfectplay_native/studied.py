"""Checks what a game says of many positions at once, before the engine takes it for true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perfectplay_native.limits import MAX_PYTHON_MOVES, MAX_SCORE, NO_POSITION
from perfectplay_native.rules import Studied

if TYPE_CHECKING:
    from perfectplay_native.rules import Integers


class WrongStudyError(ValueError):
    """A game answers what cannot be; the words say what."""


class CheckedStudy(NamedTuple):
    """The arrays as the engine reads them."""

    positions: npt.NDArray[np.uint64]
    statuses: npt.NDArray[np.uint8]
    children: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.uint32]
    movers: npt.NDArray[np.uint8] | None
    scores: npt.NDArray[np.int16] | None


def checked_study(studied: Studied, *, movers: bool, scores: bool) -> CheckedStudy:
    """What a game with or without `mover` and `score` says; WrongStudyError tells what is wrong with it."""
    if not isinstance(studied, Studied):
        raise WrongStudyError(f"a Studied was expected, not {studied!r}")
    count = len(studied.positions)
    positions = _column("positions", studied.positions, count, 0, NO_POSITION - 1)
    statuses = _column("statuses", studied.statuses, count, 0, 3)
    ends = _column("ends", studied.ends, count, 0, len(studied.children))
    children = _column("children", studied.children, int(ends[-1]) if count else 0, 0, NO_POSITION - 1)
    degrees = np.diff(ends.astype(np.int64), prepend=0)
    if (degrees < 0).any():
        raise WrongStudyError("'ends' must not fall")
    if not ((degrees > 0) == (statuses == 0)).all():
        raise WrongStudyError("an ongoing position has children, and a finished one has none")
    if (degrees > MAX_PYTHON_MOVES).any():
        raise WrongStudyError(f"a position has at most {MAX_PYTHON_MOVES:,} children")
    return CheckedStudy(
        positions.astype(np.uint64),
        statuses.astype(np.uint8),
        children.astype(np.uint64),
        ends.astype(np.uint32),
        _column("movers", studied.movers, count, 0, 1).astype(np.uint8) if movers else None,
        _column("scores", studied.scores, count, -MAX_SCORE, MAX_SCORE).astype(np.int16) if scores else None,
    )


def _column(name: str, given: Any, length: int, least: int, most: int) -> Integers:
    """An array of so many integers within bounds."""
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu" or given.shape != (length,):
        raise WrongStudyError(f"{name!r} must be an array of {length:,} integers")
    if length and not least <= int(given.min()) <= int(given.max()) <= most:
        raise WrongStudyError(f"{name!r} must be from {least:,} to {most:,}")
    return given
