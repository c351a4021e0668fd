"""Value codes as columns, for pandas, polars and the like."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay.values import NO_POSITION_CODE, Value

Column = np.ma.MaskedArray[Any, np.dtype[Any]]


def value_columns(codes: npt.ArrayLike) -> dict[str, Column]:
    """The columns `outcome` (1 win, 0 draw, -1 loss, for the side to move) and `remoteness` (plies to the end).

    Codes of a game with scores take four bytes each: then there is `score` too, by how much the side to move wins.
    `codes` are those of `Table.probe_many` and `select`. What is not known is masked: everything where there is no
    value, the remoteness of an endless draw, all remoteness of a table of outcomes.
    `pandas.DataFrame(value_columns(codes))` makes a table of it.

    >>> columns = value_columns([55, 0, 4])
    >>> columns["outcome"].tolist(), columns["remoteness"].tolist()
    ([1, 0, None], [13, None, None])
    """
    codes = np.asarray(codes)
    given, places = np.unique(codes, return_inverse=True)
    values = [None if code == NO_POSITION_CODE else Value.from_code(code) for code in given.tolist()]
    outcomes = [None if value is None else int(value.outcome) for value in values]
    plies = [None if value is None else value.remoteness for value in values]
    columns = {"outcome": _column(outcomes, np.int8)[places], "remoteness": _column(plies, np.int32)[places]}
    if codes.dtype == np.uint32:
        scores = [None if value is None else value.score for value in values]
        columns["score"] = _column(scores, np.int32)[places]
    return columns


def _column(values: list[int | None], kind: type[np.signedinteger[Any]]) -> Column:
    mask = [value is None for value in values]
    return np.ma.array([value or 0 for value in values], mask=mask, dtype=kind)
