"""Our own export formats, registered as a third party's are."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.analysis.export import Source, mover_outcomes, mover_plies, mover_scores
from perfectplay.analysis.selection import Rows, rebatched
from perfectplay.errors import PerfectPlayError, needs_extra
from perfectplay.game.spec import hookimpl
from perfectplay.table.gbl2 import entries, write_parts
from perfectplay.values import Value

ROW_GROUP = 1 << 20
"""Rows that parquet compresses together."""


@hookimpl
def register_exporters(register: Callable[[str, Any], None]) -> None:
    register("csv", write_csv)
    register("gbl2", write_gbl2)
    register("parquet", write_parquet)
    register("sqlite", write_sqlite)


def write_gbl2(path: Path, source: Source) -> None:
    """Positions and winners, sorted, 9 bytes each (docs/formats.md)."""
    with path.open("wb") as file:
        write_parts(file, (entries(rows["position"], source.outcomes(rows)) for rows in source.ordered_rows()))


def write_csv(path: Path, source: Source) -> None:
    """One line a position, for people and spreadsheets; values are for the side to move."""
    decode, scored = source.game.decode, source.table.scored
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["position", "text", "to_move", "outcome", "remoteness", *(["score"] if scored else [])])
        for rows in source.rows():
            movers = source.game.movers(rows["position"])
            turns = [""] * len(rows) if movers is None else (movers + 1).tolist()
            for (position, code), turn in zip(rows.tolist(), turns, strict=True):
                value = Value.from_code(code)
                plies = "" if value.remoteness is None else value.remoteness
                score = [value.score] if scored else []
                writer.writerow([position, decode(position), turn, value.outcome.name.lower(), plies, *score])


def write_sqlite(path: Path, source: Source) -> None:
    """The seeds' database: table `solutions` by canonical position, and `metadata`."""
    source.table.attach_all()
    try:
        _write_database(path, source)
    except sqlite3.Error as error:  # a full disk above all: sqlite does not raise OSError
        raise PerfectPlayError(f"cannot write the database: {error}") from None


def _write_database(path: Path, source: Source) -> None:
    columns = ["canonical INTEGER PRIMARY KEY", "outcome INTEGER", "depth INTEGER", "best_move TEXT"]
    columns += ["score INTEGER"] if source.table.scored else []
    insertion = f"INSERT INTO solutions VALUES ({', '.join('?' * len(columns))})"
    with closing(sqlite3.connect(path)) as database:
        # The file is thrown away unless it is finished, so nothing need be safe before that.
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
    positions, codes = rows["position"], rows["code"]
    signed = positions.astype(np.int64).tolist()  # SQLite has no unsigned integers
    depths, outcomes = mover_plies(codes).tolist(), source.outcomes(rows)
    best = source.table.engine.best_moves(positions)
    texts = [
        None if move < 0 else source.game.format_move(position, move)
        for position, move in zip(positions.tolist(), best.tolist(), strict=True)
    ]
    scores = [(outcomes * np.abs(mover_scores(codes))).tolist()] if source.table.scored else []
    return zip(signed, outcomes.tolist(), depths, texts, *scores, strict=True)


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
    """Columns for pandas, duckdb and the like; values are for the side to move."""
    with needs_extra("parquet", "parquet"):
        import pyarrow as arrow
        from pyarrow import parquet
    columns = {
        "position": arrow.uint64(),
        "to_move": arrow.int8(),
        "outcome": arrow.int8(),
        "remoteness": arrow.uint16(),
    }
    if source.table.scored:
        columns["score"] = arrow.int16()
    schema = arrow.schema(list(columns.items()), metadata=_metadata(source))
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in rebatched(source.rows(), ROW_GROUP):
            codes, movers = rows["code"], source.game.movers(rows["position"])
            plies = mover_plies(codes)
            data = [
                arrow.array(rows["position"], arrow.uint64()),
                arrow.nulls(len(rows), arrow.int8()) if movers is None else arrow.array(movers + 1, arrow.int8()),
                arrow.array(mover_outcomes(codes), arrow.int8()),
                arrow.array(plies.data, arrow.uint16(), mask=plies.mask),
            ]
            if source.table.scored:
                data.append(arrow.array(mover_scores(codes), arrow.int16()))
            writer.write_batch(arrow.record_batch(data, schema=schema))
