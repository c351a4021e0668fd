"""The built-in export formats csv, gbl2, parquet and sqlite, registered in the same way as third-party formats."""

from __future__ import annotations

import csv
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perfectplay.analysis.export import Source, winners
from perfectplay.analysis.selection import Rows, merge_small_parts, value_columns
from perfectplay.errors import PerfectPlayError, needs_extra
from perfectplay.game.spec import hookimpl
from perfectplay.table.gbl2 import Entries, entries, read_gbl2, read_header, write_parts
from perfectplay.threads import Progress, check_stop
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.positions import canonicalize_many

if TYPE_CHECKING:
    from perfectplay.table.table import Table

ROW_GROUP = 1 << 20
"""Rows that are compressed together in parquet."""


@hookimpl
def register_exporters(register: Callable[[str, Any], None]) -> None:
    register("csv", write_csv)
    register("gbl2", write_gbl2)
    register("parquet", write_parquet)
    register("sqlite", write_sqlite)


def write_gbl2(path: Path, source: Source) -> None:
    """Write sorted positions and winners, 9 bytes each (docs/formats.md)."""
    with path.open("wb") as file:
        write_parts(file, (entries(rows["position"], source.outcomes(rows)) for rows in source.ordered_rows()))


def write_csv(path: Path, source: Source) -> None:
    """Write one line per position. Values are for the side to move."""
    decode, scored = source.game.decode, source.table.scored
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["position", "text", "to_move", "outcome", "remoteness", *(["score"] if scored else [])])
        for rows in source.rows():
            movers = source.game.movers(rows["position"], source.table.kernel)
            turns = [""] * len(rows) if movers is None else (movers + 1).tolist()
            for (position, code), turn in zip(rows.tolist(), turns, strict=True):
                value = Value.from_code(code)
                plies = "" if value.remoteness is None else value.remoteness
                score = [value.score] if scored else []
                writer.writerow([position, decode(position), turn, value.outcome.name.lower(), plies, *score])


def write_sqlite(path: Path, source: Source) -> None:
    """Write a database with the tables `solutions`, by canonical position, and `metadata`."""
    source.table.attach_all()
    try:
        _write_database(path, source)
    except sqlite3.Error as error:  # usually a full disk, for which sqlite does not raise OSError
        raise PerfectPlayError(f"cannot write the database: {error}") from None


def _write_database(path: Path, source: Source) -> None:
    columns = ["canonical INTEGER PRIMARY KEY", "outcome INTEGER", "depth INTEGER", "best_move TEXT"]
    columns += ["score INTEGER"] if source.table.scored else []
    insertion = f"INSERT INTO solutions VALUES ({', '.join('?' * len(columns))})"
    with closing(sqlite3.connect(path)) as database:
        # An unfinished file is deleted, so the database needs no journal.
        database.executescript(
            f"""
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT);
            CREATE TABLE solutions ({", ".join(columns)});
            """
        )
        database.executemany("INSERT INTO metadata VALUES (?, ?)", _metadata(source).items())
        for rows in source.ordered_rows():
            database.executemany(insertion, _solutions(rows, source))
        database.commit()


def _solutions(rows: Rows, source: Source) -> Any:
    positions, columns = rows["position"], value_columns(rows["code"])
    signed = positions.astype(np.int64).tolist()  # SQLite has no unsigned integers
    depths, winners = columns["remoteness"].tolist(), source.outcomes(rows)
    best = source.table.engine.best_moves(positions)
    texts = [
        None if move < 0 else source.game.format_move(position, move)
        for position, move in zip(positions.tolist(), best.tolist(), strict=True)
    ]
    scores = [(winners * np.abs(columns["score"].data)).tolist()] if source.table.scored else []
    return zip(signed, winners.tolist(), depths, texts, *scores, strict=True)


def _metadata(source: Source) -> dict[str, str]:
    info = source.table.info
    return {
        "game": info.game,
        "options": json.dumps(info.options),
        "rules_version": str(info.rules_version),
        "solver_version": f"perfectplay {info.host_version}",
        "table_hash": info.hash or "",
        "positions": str(source.count),
    }


def write_parquet(path: Path, source: Source) -> None:
    """Write columns for pandas, duckdb and similar tools. Values are for the side to move."""
    with needs_extra("parquet", "parquet"):
        import pyarrow as arrow
        from pyarrow import parquet
    types = {
        "position": arrow.uint64(),
        "to_move": arrow.int8(),
        "outcome": arrow.int8(),
        "remoteness": arrow.uint16(),
    }
    if source.table.scored:
        types["score"] = arrow.int16()
    schema = arrow.schema(list(types.items()), metadata=_metadata(source))
    # Arrow itself cannot open a file whose name is not valid UTF-8.
    with path.open("wb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in merge_small_parts(source.rows(), ROW_GROUP):
            movers = source.game.movers(rows["position"], source.table.kernel)
            data = [
                arrow.array(rows["position"], arrow.uint64()),
                arrow.nulls(len(rows), arrow.int8()) if movers is None else arrow.array(movers + 1, arrow.int8()),
            ]
            for name, column in value_columns(rows["code"]).items():
                data.append(arrow.array(column.data, mask=np.ma.getmaskarray(column)).cast(types[name]))
            writer.write_batch(arrow.record_batch(data, schema=schema))


# ---- comparing a GBL2 file with a table ----

EXAMPLES = 10
"""Number of differing entries that are listed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An entry that contradicts the table. Winners: 1 the first player, -1 the second player, 0 for a draw."""

    position: int
    file: int
    table: int


@dataclass(slots=True)
class Comparison:
    """The result of a comparison."""

    entries: int = 0
    agree: int = 0
    differ: int = 0
    not_canonical: int = 0
    """Positions that are not in canonical form. They are compared nevertheless."""
    unknown: int = 0
    """Numbers that are not positions of the table."""
    differences: list[Difference] = field(default_factory=list)
    unknown_examples: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether the whole file agrees with the table."""
        return self.agree == self.entries and not self.not_canonical


def compare_gbl2(
    table: Table,
    path: Path | str,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Comparison:
    """Check the length, order and checksum of a GBL2 file, and compare every entry with a finished table.

    Raises PerfectPlayError if the file is damaged, or if the game does not define which player is to move.
    """
    table.require_complete()
    path, started, result = Path(path), time.monotonic(), Comparison()
    total = read_header(path).count
    for part in read_gbl2(path):
        check_stop(stop)
        _compare(table, part, result)
        if progress is not None:
            progress(
                Progress(phase="comparing", positions=result.entries, total=total, seconds=time.monotonic() - started)
            )
    result.seconds = time.monotonic() - started
    return result


def _compare(table: Table, part: Entries, result: Comparison) -> None:
    """Compare some entries, and add the counts to the result."""
    codes = table.probe_many(part["position"])
    in_table = codes != NO_POSITION_CODE
    unknown = part["position"][~in_table].tolist()
    result.entries += len(part)
    result.unknown += len(unknown)
    result.unknown_examples += unknown[: EXAMPLES - len(result.unknown_examples)]
    positions, outcomes = part["position"][in_table], part["outcome"][in_table]
    canonical = canonicalize_many(table.kernel, positions)
    result.not_canonical += int(np.count_nonzero(canonical != positions))
    expected = winners(table, positions, codes[in_table])
    different = np.flatnonzero(expected != outcomes)
    result.agree += len(positions) - len(different)
    result.differ += len(different)
    for index in different[: EXAMPLES - len(result.differences)]:
        result.differences.append(Difference(int(positions[index]), int(outcomes[index]), int(expected[index])))
