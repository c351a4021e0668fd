"""A table as a data set for learners: sampled positions with the features they use, in parquet, and a card beside it.

A sample depends on the seed and the positions alone: each position has a pseudo-random number, and those with the
smallest are taken, of the whole table or of each remoteness. Another such number says whether a position is for
training or for testing, so a position never stands in both, whatever the sample.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.moves import rate_each_move
from perfectplay.analysis.selection import Rows, Selection, count_selected, select, selected_tiers
from perfectplay.errors import Interrupted, PerfectPlayError, UsageError
from perfectplay.files import atomic_write
from perfectplay.game.wording import outcomes_only
from perfectplay.progress import Progress
from perfectplay.values import Value
from perfectplay_native.positions import canonicalize_many

if TYPE_CHECKING:
    from perfectplay.game.board import Board, Piece
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

BATCH = 4096
"""Positions written at a time."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which positions of a table are taken."""

    limit: int | None = None
    """So many at most; all by default."""
    by_remoteness: bool = False
    """As many of each outcome and remoteness, as far as there are so many; otherwise each position is as likely."""
    test_share: float = 0.0
    """The share of positions kept apart for testing."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.test_share < 1:
            raise UsageError(f"the share for testing is from 0 up to, but not including, 1, not {self.test_share}")


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """A finished data set: its files, and how many positions are in each."""

    files: dict[Path, int]
    card: Path


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the places in the lists of features stand for."""

    moves: list[int]
    cells: list[str]
    pieces: list[str]
    trays: list[str]


def export_dataset(
    table: Table,
    path: Path | str,
    wanted: Selection | None = None,
    sampling: Sampling | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> DatasetReport:
    """Write a sample of a finished table with features to a parquet file, and a card of the same name in Markdown.

    With a share for testing there are two files, `NAME-train.parquet` and `NAME-test.parquet`. Raises UsageError where
    nothing is selected or the card would replace another file, TableError for an unfinished table, Interrupted when
    `stop` is set.
    """
    wanted, sampling, path = wanted or Selection(), sampling or Sampling(), Path(path)
    card = path.with_suffix(".md")
    _require_pyarrow()
    _require_card(card, path)
    table.require_complete()
    rows = sample(table, wanted, sampling)
    parts = {path: rows}
    if sampling.test_share:
        for_test = is_for_test(table, rows["position"], sampling)
        names = [path.with_name(f"{path.stem}-{part}{path.suffix}") for part in ("train", "test")]
        parts = dict(zip(names, (rows[~for_test], rows[for_test]), strict=True))
    known = _vocabulary(table.game, rows["position"], stop)
    done = 0
    with ExitStack() as files:
        for name, part in parts.items():
            for count in _write(files.enter_context(atomic_write(name)), table, part, known, stop):
                done += count
                if progress is not None:
                    progress(Progress(phase="writing", positions=done, total=len(rows), seconds=0.0))
        files.enter_context(atomic_write(card)).write_text(_card(table, parts, sampling, known), encoding="utf-8")
    return DatasetReport({name: len(part) for name, part in parts.items()}, card)


def _require_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise PerfectPlayError("parquet needs pyarrow: pip install 'perfectplay[parquet]'")


def _require_card(card: Path, path: Path) -> None:
    """Nobody expects a Markdown file of the same name to be replaced, unless it is the card of an earlier data set."""
    if card == path:
        raise UsageError(f"{path.name} is the name of its card: the data set needs another name, such as .parquet")
    if card.is_file():
        with card.open("rb") as file:
            if file.read(len(_CARD_BEGINS)) != _CARD_BEGINS.encode():
                raise UsageError(f"{card} is not a data set's card, and is not replaced by one: choose another name")


# ---- sampling ----


def sample(table: Table, wanted: Selection, sampling: Sampling) -> Rows:
    """The sampled rows, shuffled."""
    everything = replace(wanted, limit=None)
    if table.outcomes_only and sampling.by_remoteness:
        raise UsageError(f"a sample by remoteness cannot be drawn: {outcomes_only(puzzle=table.game.is_puzzle)}")
    quota = {} if sampling.limit is None else _quotas(table, everything, sampling.limit, sampling.by_remoteness)
    held: dict[int, list[Rows]] = {}
    for rows in select(table, everything):
        strata = rows["code"] if sampling.by_remoteness else np.zeros(len(rows), dtype=np.uint8)
        for stratum in np.unique(strata).tolist():
            kept = held.setdefault(stratum, [])
            kept.append(rows[strata == stratum])
            if sampling.limit is not None:
                kept[:] = [_smallest(np.concatenate(kept), quota[stratum], sampling.seed)]
    if not held:
        raise UsageError(f"no position of {table.game.name} is selected")
    chosen = np.concatenate([rows for kept in held.values() for rows in kept])
    return chosen[np.argsort(_numbers(chosen["position"], sampling.seed), kind="stable")]


def is_for_test(table: Table, positions: npt.NDArray[np.uint64], sampling: Sampling) -> npt.NDArray[np.bool_]:
    """Which positions are for testing: of two that share a slot, which are one to a learner, both or none."""
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.minimum(positions, canonicalize_many(table.kernel, swapped))
    return np.asarray(_numbers(positions, sampling.seed + 1) / 2.0**64 < sampling.test_share)


def _quotas(table: Table, wanted: Selection, limit: int, by_remoteness: bool) -> dict[int, int]:
    """How many positions to take of each value code; of all together where strata are not wanted."""
    if not by_remoteness:
        return {0: limit}
    there: dict[int, int] = {}
    twins = 1 if table.game.colour_swapped(np.array([table.game.start()], dtype=np.uint64)) is None else 2
    for record, codes in selected_tiers(table, wanted):
        for code in codes:
            there[code] = there.get(code, 0) + twins * record.counts[code]
    quota, left = {}, limit
    for place, (code, count) in enumerate(sorted(there.items(), key=lambda each: each[1])):
        quota[code] = min(count, left // (len(there) - place))  # what small strata leave goes to the larger ones
        left -= quota[code]
    return quota


def _smallest(rows: Rows, count: int, seed: int) -> Rows:
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(_numbers(rows["position"], seed), count)[:count]]


def _numbers(positions: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """A pseudo-random number for each position (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = positions.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ mixed >> np.uint64(31))


# ---- features ----


def _vocabulary(game: Game, positions: npt.NDArray[np.uint64], stop: threading.Event | None) -> Vocabulary:
    """Every move, cell and piece that occurs in the sample, in a fixed order."""
    moves: set[int] = set()
    cells: dict[str, None] = {}
    pieces: set[str] = set()
    trays: dict[str, None] = {}
    for position in positions.tolist():
        _check(stop)
        moves.update(game.moves(position))
        if (board := game.board(position)) is not None:
            cells.update(dict.fromkeys(cell.id for cell in board.cells))
            pieces.update(_name(piece) for cell in board.cells for piece in cell.stack)
            trays.update(dict.fromkeys(tray.id for tray in board.trays))
    return Vocabulary(sorted(moves), list(cells), sorted(pieces), list(trays))


def _name(piece: Piece) -> str:
    return piece.label if piece.owner is None else f"{piece.owner}:{piece.label}"


def _write(path: Path, table: Table, rows: Rows, known: Vocabulary, stop: threading.Event | None) -> Iterator[int]:
    """Write the rows batch by batch, and yield how many each had."""
    import pyarrow as arrow
    from pyarrow import parquet

    columns: dict[str, Any] = {
        "position": arrow.uint64(),
        "text": arrow.string(),
        "to_move": arrow.int8(),
        "outcome": arrow.int8(),
        "remoteness": arrow.int32(),
    }
    if table.scored:
        columns["score"] = arrow.int32()
    if known.cells:
        columns["planes"] = arrow.list_(arrow.uint8(), len(known.pieces) * len(known.cells))
    if known.trays:
        columns["trays"] = arrow.list_(arrow.uint8(), len(known.trays))
    columns["legal"] = arrow.list_(arrow.bool_(), len(known.moves))
    columns["best"] = arrow.list_(arrow.bool_(), len(known.moves))
    metadata = {
        "game": table.game.identity,
        "table_hash": table.info.hash or "",
        "vocabulary": json.dumps(_words(known)),
    }
    schema = arrow.schema(list(columns.items()), metadata=metadata)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, len(rows), BATCH):
            _check(stop)
            part = rows[first : first + BATCH]
            features = [_features(table, position, code, known) for position, code in part.tolist()]
            data = [arrow.array([each[name] for each in features], kind) for name, kind in columns.items()]
            writer.write_batch(arrow.record_batch(data, schema=schema))
            yield len(part)


def _features(table: Table, position: int, code: int, known: Vocabulary) -> dict[str, Any]:
    game, value = table.game, Value.from_code(code)
    rated = rate_each_move(game, table, position)
    legal = {each.move for each in rated}
    best = {each.move for each in rated if each.value == rated[0].value}
    mover, board = game.mover(position), game.board(position)
    return {
        "position": position,
        "text": game.decode(position),
        "to_move": None if mover is None else mover + 1,
        "outcome": int(value.outcome),
        "remoteness": value.remoteness,
        "score": value.score,
        "planes": None if board is None else _planes(board, known),
        "trays": None if board is None else _counts(board, known),
        "legal": [move in legal for move in known.moves],
        "best": [move in best for move in known.moves],
    }


def _planes(board: Board, known: Vocabulary) -> list[int]:
    stacks = {cell.id: {_name(piece) for piece in cell.stack} for cell in board.cells}
    return [int(piece in stacks.get(cell, ())) for piece in known.pieces for cell in known.cells]


def _counts(board: Board, known: Vocabulary) -> list[int]:
    counts = {tray.id: tray.count for tray in board.trays}
    return [counts.get(tray, 0) for tray in known.trays]


def _check(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Interrupted("interrupted")


# ---- the card ----

_CARD_BEGINS = "---\nconfigs:"


def _words(known: Vocabulary) -> dict[str, list[Any]]:
    return {"moves": known.moves, "cells": known.cells, "pieces": known.pieces, "trays": known.trays}


def _card(table: Table, parts: dict[Path, Rows], sampling: Sampling, known: Vocabulary) -> str:
    """What Hugging Face calls a dataset card: where the data comes from, and what its columns are."""
    game, total = table.game, count_selected(table, Selection())
    rows = np.concatenate(list(parts.values()))
    outcomes = [int(Value.from_code(code).outcome) for code in rows["code"].tolist()]
    most = max(Value.from_code(code).remoteness or 0 for code in np.unique(rows["code"]).tolist())
    longest = "how many plies that takes is not known" if table.outcomes_only else f"the longest takes {most} plies"
    splits = "\n".join(
        f"    - split: {'test' if len(parts) > 1 and path.stem.endswith('-test') else 'train'}\n      path: {path.name}"
        for path in parts
    )
    files = "\n".join(f"- `{path.name}`: {len(part):,} positions" for path, part in parts.items())
    way = (
        "as many of each outcome and remoteness as far as there are"
        if sampling.by_remoteness
        else "each position as likely"
    )
    size = "all of them" if sampling.limit is None else f"at most {sampling.limit:,}, {way}, seed {sampling.seed}"
    columns = [
        "- `position`: the canonical position as a number; `text`: the same as people write it",
        "- `to_move`: 1 for the player who begins, 2 for the other, null where the game does not tell",
        "- `outcome`: under best play, for the side to move: 1 win, 0 draw, -1 loss",
        "- `remoteness`: plies to the end, the winner hurrying and the loser resisting; null for an endless draw"
        + (", and here everywhere: the table knows outcomes alone" if table.outcomes_only else ""),
    ]
    columns += ["- `score`: by how much the side to move wins"] if table.scored else []
    if known.cells:
        columns.append(
            f"- `planes`: {len(known.pieces)} × {len(known.cells)} bits: for each piece ({', '.join(known.pieces)}; "
            f"0: is of the player who begins) and each cell ({', '.join(known.cells)}) whether it is there"
        )
    columns += [f"- `trays`: pieces in reserve: {', '.join(known.trays)}"] if known.trays else []
    columns.append(
        f"- `legal`, `best`: for each of {len(known.moves)} moves whether it is legal, and whether none is better; "
        "their numbers are in the file's metadata under `vocabulary`"
    )
    return f"""{_CARD_BEGINS}
- config_name: default
  data_files:
{splits}
---
# {game.about.title}: positions and their exact values

Sampled from the complete table of `{game.identity}` ({total:,} positions, hash {table.info.hash}), made by perfectplay.
Every value is exact. The sample: {size}.

{files}

{outcomes.count(1):,} won, {outcomes.count(0):,} drawn and {outcomes.count(-1):,} lost for the side to move;
{longest}. A position is in one file only.

{chr(10).join(columns)}
"""
