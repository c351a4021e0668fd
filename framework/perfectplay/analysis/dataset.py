"""Exports a sample of a table as a data set for machine learning: features in parquet, and a dataset card.

A sample depends only on the seed and the positions. Each position has a pseudo-random number, and the positions with
the smallest numbers are taken, from the whole table or for each remoteness. A second number decides whether a position
is for training or for testing, so no position is in both files, whatever the sample.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.moves import best_of, rate_each_move
from perfectplay.analysis.selection import (
    Rows,
    Selection,
    count_selected,
    positions_per_slot,
    select,
    selected_tiers,
)
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import atomic_write
from perfectplay.game.wording import outcomes_only
from perfectplay.threads import Progress, check_stop
from perfectplay.values import Value
from perfectplay_native.positions import canonicalize_many

if TYPE_CHECKING:
    from perfectplay.game.board import Board, Piece
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

BATCH = 4096
"""Positions written at a time."""

_CARD_START = "---\nconfigs:"
"""The first bytes of every card, by which an existing card is recognised."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How positions are sampled."""

    limit: int | None = None
    """Maximum number of positions; by default all are taken."""
    by_remoteness: bool = False
    """Take the same number for each outcome and remoteness, as far as they exist. By default all are equally likely."""
    test_share: float = 0.0
    """Share of the positions that go to a separate file for testing."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.test_share < 1:
            raise UsageError(f"the share for testing must be at least 0 and less than 1, not {self.test_share}")


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """The files of a data set with their numbers of positions, and its card."""

    files: dict[Path, int]
    card: Path


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The meaning of the entries of the feature lists."""

    moves: list[int]
    cells: list[str]
    pieces: list[str]
    trays: list[str]


def export_dataset(
    table: Table,
    path: Path | str,
    selection: Selection | None = None,
    sampling: Sampling | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> DatasetReport:
    """Write a sample of a finished table with features to a parquet file, and a card with the same name in Markdown.

    With a share for testing there are two parquet files, `NAME-train.parquet` and `NAME-test.parquet`.

    Raises UsageError if no position is selected or the card would replace another file, TableError for an unfinished
    table, Interrupted when `stop` is set.
    """
    selection, sampling, path = selection or Selection(), sampling or Sampling(), Path(path)
    card = path.with_suffix(".md")
    if find_spec("pyarrow") is None:
        raise PerfectPlayError("parquet needs pyarrow: pip install 'perfectplay[parquet]'")
    _protect_other_files(card, path)
    table.require_complete()
    rows = sample(table, selection, sampling)
    parts = {path: rows}
    if sampling.test_share:
        for_test = is_for_test(table, rows["position"], sampling)
        names = [path.with_name(f"{path.stem}-{part}{path.suffix}") for part in ("train", "test")]
        parts = dict(zip(names, (rows[~for_test], rows[for_test]), strict=True))
    vocabulary = _vocabulary(table.game, rows["position"], stop)
    done = 0
    with ExitStack() as files:
        for name, part in parts.items():
            for count in _write(files.enter_context(atomic_write(name)), table, part, vocabulary, stop):
                done += count
                if progress is not None:
                    progress(Progress(phase="writing", positions=done, total=len(rows), seconds=0.0))
        text = _card(table, parts, sampling, vocabulary)
        files.enter_context(atomic_write(card)).write_text(text, encoding="utf-8")
    return DatasetReport({name: len(part) for name, part in parts.items()}, card)


def _protect_other_files(card: Path, path: Path) -> None:
    """Raise UsageError if the card would replace a file that is not the card of an earlier export."""
    if card == path:
        raise UsageError(f"{path.name} would be the name of the data set's card; choose another name, such as .parquet")
    if card.is_file():
        with card.open("rb") as file:
            if file.read(len(_CARD_START)) != _CARD_START.encode():
                raise UsageError(f"the data set's card would replace {card}, which is not a card; choose another name")


# ---- sampling ----


def sample(table: Table, selection: Selection, sampling: Sampling) -> Rows:
    """Return the sampled rows in random order."""
    if table.outcomes_only and sampling.by_remoteness:
        raise UsageError(f"cannot sample by remoteness: {outcomes_only(puzzle=table.game.is_puzzle)}")
    selection = replace(selection, limit=None)  # the limit is that of the sample
    quotas = {} if sampling.limit is None else _quotas(table, selection, sampling.limit, sampling.by_remoteness)
    strata: dict[int, list[Rows]] = {}
    for rows in select(table, selection):
        keys = rows["code"] if sampling.by_remoteness else np.zeros(len(rows), dtype=np.uint8)
        for key in np.unique(keys).tolist():
            stratum = strata.setdefault(key, [])
            stratum.append(rows[keys == key])
            if sampling.limit is not None:
                stratum[:] = [_smallest(np.concatenate(stratum), quotas[key], sampling.seed)]
    if not strata:
        raise UsageError(f"no position of {table.game.name} is selected")
    sampled = np.concatenate([rows for stratum in strata.values() for rows in stratum])
    return sampled[np.argsort(_hashes(sampled["position"], sampling.seed), kind="stable")]


def is_for_test(table: Table, positions: npt.NDArray[np.uint64], sampling: Sampling) -> npt.NDArray[np.bool_]:
    """Return which positions are for testing. Positions that share a slot are equivalent, so they stay together."""
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.minimum(positions, canonicalize_many(table.kernel, swapped))
    return np.asarray(_hashes(positions, sampling.seed + 1) / 2.0**64 < sampling.test_share)


def _quotas(table: Table, selection: Selection, limit: int, by_remoteness: bool) -> dict[int, int]:
    """Return how many positions to take of each value code, or of all together under the key 0."""
    if not by_remoteness:
        return {0: limit}
    counts: Counter[int] = Counter()
    factor = positions_per_slot(table)
    for record, codes in selected_tiers(table, selection):
        counts.update({code: factor * record.counts[code] for code in codes})
    quotas, left = {}, limit
    for index, (code, count) in enumerate(sorted(counts.items(), key=lambda item: item[1])):
        quotas[code] = min(count, left // (len(counts) - index))  # larger strata get what small ones do not need
        left -= quotas[code]
    return quotas


def _smallest(rows: Rows, count: int, seed: int) -> Rows:
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(_hashes(rows["position"], seed), count)[:count]]


def _hashes(positions: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random number for each position (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = positions.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ mixed >> np.uint64(31))


# ---- features ----


def _vocabulary(game: Game, positions: npt.NDArray[np.uint64], stop: threading.Event | None) -> Vocabulary:
    """Collect all moves, cells, pieces and trays in the sample, in a fixed order."""
    moves: set[int] = set()
    cells: dict[str, None] = {}
    pieces: set[str] = set()
    trays: dict[str, None] = {}
    for position in positions.tolist():
        check_stop(stop)
        moves.update(game.moves(position))
        if (board := game.board(position)) is not None:
            cells.update(dict.fromkeys(cell.id for cell in board.cells))
            pieces.update(_piece_name(piece) for cell in board.cells for piece in cell.stack)
            trays.update(dict.fromkeys(tray.id for tray in board.trays))
    return Vocabulary(sorted(moves), list(cells), sorted(pieces), list(trays))


def _piece_name(piece: Piece) -> str:
    return piece.label if piece.owner is None else f"{piece.owner}:{piece.label}"


def _write(path: Path, table: Table, rows: Rows, vocabulary: Vocabulary, stop: threading.Event | None) -> Iterator[int]:
    """Write the rows in batches, and yield the size of each."""
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
    if vocabulary.cells:
        columns["planes"] = arrow.list_(arrow.uint8(), len(vocabulary.pieces) * len(vocabulary.cells))
    if vocabulary.trays:
        columns["trays"] = arrow.list_(arrow.uint8(), len(vocabulary.trays))
    columns["legal"] = arrow.list_(arrow.bool_(), len(vocabulary.moves))
    columns["best"] = arrow.list_(arrow.bool_(), len(vocabulary.moves))
    metadata = {
        "game": table.game.identity,
        "table_hash": table.info.hash or "",
        "vocabulary": json.dumps(asdict(vocabulary)),
    }
    schema = arrow.schema(list(columns.items()), metadata=metadata)
    with path.open("wb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for first in range(0, len(rows), BATCH):
            check_stop(stop)
            part = rows[first : first + BATCH]
            features = [_features(table, position, code, vocabulary) for position, code in part.tolist()]
            data = [arrow.array([each[name] for each in features], type) for name, type in columns.items()]
            writer.write_batch(arrow.record_batch(data, schema=schema))
            yield len(part)


def _features(table: Table, position: int, code: int, vocabulary: Vocabulary) -> dict[str, Any]:
    game, value = table.game, Value.from_code(code)
    rated = rate_each_move(game, table, position)
    legal = {each.move for each in rated}
    best = {each.move for each in best_of(rated)}
    mover, board = game.mover(position), game.board(position)
    return {
        "position": position,
        "text": game.decode(position),
        "to_move": None if mover is None else mover + 1,
        "outcome": int(value.outcome),
        "remoteness": value.remoteness,
        "score": value.score,
        "planes": None if board is None else _planes(board, vocabulary),
        "trays": None if board is None else _tray_counts(board, vocabulary),
        "legal": [move in legal for move in vocabulary.moves],
        "best": [move in best for move in vocabulary.moves],
    }


def _planes(board: Board, vocabulary: Vocabulary) -> list[int]:
    stacks = {cell.id: {_piece_name(piece) for piece in cell.stack} for cell in board.cells}
    return [int(piece in stacks.get(cell, ())) for piece in vocabulary.pieces for cell in vocabulary.cells]


def _tray_counts(board: Board, vocabulary: Vocabulary) -> list[int]:
    counts = {tray.id: tray.count for tray in board.trays}
    return [counts.get(tray, 0) for tray in vocabulary.trays]


# ---- the card ----

_CARD = """{start}
- config_name: default
  data_files:
{splits}
---
# {title}: positions and their exact values

Sampled from the complete table of `{game}` ({total:,} positions, hash {hash}), made by perfectplay.
Every value is exact. The sample contains {sample}.

{files}

{wins:,} positions are won, {draws:,} drawn and {losses:,} lost for the side to move.
{longest} Each position is in one file only.

{columns}
"""


def _card(table: Table, parts: dict[Path, Rows], sampling: Sampling, vocabulary: Vocabulary) -> str:
    """Return the text of a Hugging Face dataset card, which describes the origin of the data and its columns."""
    values = [Value.from_code(code) for rows in parts.values() for code in rows["code"].tolist()]
    outcomes = [int(value.outcome) for value in values]
    longest = max(value.remoteness or 0 for value in values)
    return _CARD.format(
        start=_CARD_START,
        splits="\n".join(_split(path, is_test=index == 1) for index, path in enumerate(parts)),
        title=table.game.about.title,
        game=table.game.identity,
        total=count_selected(table, Selection()),
        hash=table.info.hash,
        sample=_sample_description(sampling),
        files="\n".join(f"- `{path.name}`: {len(rows):,} positions" for path, rows in parts.items()),
        wins=outcomes.count(1),
        draws=outcomes.count(0),
        losses=outcomes.count(-1),
        longest="The numbers of plies are not known." if table.outcomes_only else f"The longest takes {longest} plies.",
        columns="\n".join(f"- {line}" for line in _column_descriptions(table, vocabulary)),
    )


def _split(path: Path, *, is_test: bool) -> str:
    return f"    - split: {'test' if is_test else 'train'}\n      path: {path.name}"


def _sample_description(sampling: Sampling) -> str:
    if sampling.limit is None:
        return "all of them"
    if sampling.by_remoteness:
        method = "the same number for each outcome and remoteness as far as they exist"
    else:
        method = "each equally likely"
    return f"at most {sampling.limit:,} of them, {method}, seed {sampling.seed}"


def _column_descriptions(table: Table, vocabulary: Vocabulary) -> Iterator[str]:
    yield "`position`: the canonical position as a number; `text`: the same in the game's notation"
    yield "`to_move`: 1 for the first player, 2 for the second, null if the game does not define it"
    yield "`outcome`: under best play, for the side to move: 1 win, 0 draw, -1 loss"
    if table.outcomes_only:
        yield "`remoteness`: always null, because the table stores outcomes only"
    else:
        yield "`remoteness`: plies to the end under best play; null for an endless draw"
    if table.scored:
        yield "`score`: by how much the side to move wins"
    if vocabulary.cells:
        yield (
            f"`planes`: {len(vocabulary.pieces)} × {len(vocabulary.cells)} bits: whether each piece "
            f"({', '.join(vocabulary.pieces)}; 0: belongs to the first player) is on each cell "
            f"({', '.join(vocabulary.cells)})"
        )
    if vocabulary.trays:
        yield f"`trays`: pieces in reserve: {', '.join(vocabulary.trays)}"
    yield (
        f"`legal`, `best`: for each of {len(vocabulary.moves)} moves whether it is legal, and whether it is best; "
        "their numbers are in the file's metadata under `vocabulary`"
    )
