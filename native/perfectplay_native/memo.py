"""Batches of positions for the memo of a Python kernel (src/memo.c), checked before the engine relies on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.limits import MAX_POSITION, MAX_PYTHON_MOVES, MAX_SCORE
from perfectplay_native.python_rules import PositionBatch

if TYPE_CHECKING:
    from perfectplay_native.python_rules import Integers


class BatchError(ValueError):
    """A PositionBatch contains impossible values. The message names them."""


class CheckedBatch(NamedTuple):
    """A batch with the integer types of the engine."""

    positions: npt.NDArray[np.uint64]
    statuses: npt.NDArray[np.uint8]
    children: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.uint32]
    movers: npt.NDArray[np.uint8] | None
    scores: npt.NDArray[np.int16] | None


def check_batch(batch: PositionBatch, *, movers: bool, scores: bool) -> CheckedBatch:
    """Convert a batch of a game with or without the hooks `mover` and `score`.

    Raises BatchError if a column is missing, has the wrong length or contains an impossible value.
    """
    if not isinstance(batch, PositionBatch):
        raise BatchError(f"expected a PositionBatch, not {batch!r}")
    count = len(batch.positions)
    positions = _check_column("positions", batch.positions, count, 0, MAX_POSITION)
    statuses = _check_column("statuses", batch.statuses, count, 0, 3)
    ends = _check_column("ends", batch.ends, count, 0, len(batch.children))
    children = _check_column("children", batch.children, int(ends[-1]) if count else 0, 0, MAX_POSITION)
    degrees = np.diff(ends.astype(np.int64), prepend=0)
    if (degrees < 0).any():
        raise BatchError("'ends' must not decrease")
    if not ((degrees > 0) == (statuses == 0)).all():
        raise BatchError("an ongoing position must have children, and a finished one must have none")
    if (degrees > MAX_PYTHON_MOVES).any():
        raise BatchError(f"a position has more than {MAX_PYTHON_MOVES:,} children")
    return CheckedBatch(
        positions.astype(np.uint64),
        statuses.astype(np.uint8),
        children.astype(np.uint64),
        ends.astype(np.uint32),
        _check_column("movers", batch.movers, count, 0, 1).astype(np.uint8) if movers else None,
        _check_column("scores", batch.scores, count, -MAX_SCORE, MAX_SCORE).astype(np.int16) if scores else None,
    )


def _check_column(name: str, column: Any, length: int, least: int, most: int) -> Integers:
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "iu" or column.shape != (length,):
        raise BatchError(f"{name!r} must be an array of {length:,} integers")
    if length and not least <= int(column.min()) <= int(column.max()) <= most:
        raise BatchError(f"{name!r} must be from {least:,} to {most:,}")
    return column


def add_batch(
    memo: Any, positions: Any, statuses: Any, children: Any, ends: Any, movers: Any | None, scores: Any | None
) -> None:
    """Add checked columns, as buffers of the types in CheckedBatch, to a memo. The children may be reordered."""
    columns = {
        "statuses": ffi.from_buffer("uint8_t[]", statuses),
        "movers": ffi.NULL if movers is None else ffi.from_buffer("uint8_t[]", movers),
        "scores": ffi.NULL if scores is None else ffi.from_buffer("int16_t[]", scores),
        "children": ffi.from_buffer("pp_position[]", children),
        "ends": ffi.from_buffer("uint32_t[]", ends),
    }
    lib.pp_memo_add(memo, positions, len(statuses), ffi.new("pp_position_batch *", columns))
