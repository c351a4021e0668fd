"""Answers about whole tables: statistics, random positions, and the values of many positions at once."""

from __future__ import annotations

import secrets
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from perfectplay.analysis.selection import PuzzleLevel, random_of_value, random_positions, random_puzzle
from perfectplay.analysis.statistics import survey
from perfectplay.game import wording
from perfectplay.table.table import Table
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay.web.answers import (
    Answer,
    Count,
    Id,
    Outcome,
    Remoteness,
    TableValues,
    Valued,
    find_value,
    value_fields,
    verdict,
)
from perfectplay.web.library import ServedGame
from perfectplay.web.requests import Refusal

_TRIES = 60
"""Positions among which an interesting one is chosen."""

KINDS = ("any", "win", "loss", "draw", "puzzle")


class Found(Valued):
    """A position of the table and its value."""

    id: Id
    text: str
    verdict: str


class Bar(Answer):
    """The number of positions at one distance from the end."""

    remoteness: Count
    wins: Count
    losses: Count
    ties: Count


class Overview(Answer):
    """The statistics of a table."""

    game: str
    complete: bool
    positions: Count
    wins: Count
    losses: Count
    draws: Count
    ties: Annotated[Count | None, Meta(description="Draws that end by rule; null in a table of outcomes.")]
    endless: Annotated[Count | None, Meta(description="Draws that never end; null in a table of outcomes.")]
    values: TableValues
    bytes: Count
    moves: Annotated[float | None, Meta(description="Moves per position, on average.")]
    histogram: list[Bar]
    longest: list[Found]


class Probed(Answer):
    """The values of many positions, in the order of the request."""

    game: str
    outcomes: list[Outcome]
    remoteness: list[Remoteness]
    scores: Annotated[list[int | None], Meta(description="Only in a game with scores.")] | UnsetType = UNSET


def count_table(served: ServedGame, table: Table) -> Overview:
    """Return the table's statistics. They are counted once, because an open table does not change."""
    if isinstance(served.overview, Overview):
        return served.overview
    statistics = survey(table)
    total = statistics.total
    overview = Overview(
        game=served.game.identity,
        complete=table.complete,
        positions=total.positions,
        wins=total.wins,
        losses=total.losses,
        draws=total.draws,
        ties=None if table.outcomes_only else total.ties,
        endless=None if table.outcomes_only else total.endless_draws,
        values="outcome" if table.outcomes_only else "full",
        bytes=statistics.bytes,
        moves=None if statistics.branching is None else round(statistics.branching.moves, 1),
        histogram=[Bar(remoteness=plies, **counts) for plies, counts in statistics.by_remoteness.items()],
        longest=[_describe(served, position) for position in statistics.longest_wins],
    )
    served.overview = overview
    return overview


def find_position(
    served: ServedGame,
    table: Table,
    kind: str,
    remoteness: int | None,
    seed: int | None,
    level: PuzzleLevel | None = None,
) -> Found:
    """Return a random position: any, one of this outcome and remoteness, or a puzzle with one winning move.

    Raises Refusal if the table has no such position.
    """
    if table.outcomes_only and remoteness is not None:
        raise Refusal(404, wording.outcomes_only(puzzle=served.game.is_puzzle))
    number = secrets.randbits(32) if seed is None else seed
    position: int | None
    if kind == "puzzle":
        position = random_puzzle(table, number, level)
    elif kind == "any" and remoteness is None:
        position = _find_interesting(table, number)
    else:
        position = _find_valued(table, kind, remoteness, number)
    if position is None and kind == "puzzle":
        raise Refusal(
            404, f"{served.game.about.title} has no puzzles: no position has a single winning move among several"
        )
    if position is None:
        wanted = kind if remoteness is None else f"{kind} in {remoteness}"
        raise Refusal(404, f"{served.game.name} has no such position: {wanted}")
    return _describe(served, position)


def _find_interesting(table: Table, seed: int) -> int:
    """Return a random position whose game is not over and not won by the next move, if a few tries find one."""
    positions = [int(position) for position in random_positions(table, _TRIES, seed)]
    values = {position: table.get(position) for position in positions}
    open_positions = [position for position in positions if _is_open(values[position])]
    return (open_positions or positions)[0]


def _is_open(value: Value | None) -> bool:
    return value is not None and value.remoteness not in (0, 1)


def _find_valued(table: Table, kind: str, remoteness: int | None, seed: int) -> int | None:
    """Return a position of this outcome, this remoteness or both; values are as likely as they are frequent."""
    matching = {
        code: count
        for code, count in table.statistics.by_code.items()
        if kind in ("any", Value.from_code(code).word) and remoteness in (None, Value.from_code(code).remoteness)
    }
    if not matching:
        return None
    place = seed % sum(matching.values())
    for code, count in matching.items():
        if place < count:
            return random_of_value(table, Value.from_code(code), seed)
        place -= count
    return None


def _describe(served: ServedGame, position: int) -> Found:
    value = find_value(served, position)
    return Found(
        id=str(int(position)),
        text=served.game.decode(position),
        verdict=verdict(served, position, served.game.mover(position), value),
        **value_fields(served, value),
    )


def probe_positions(served: ServedGame, table: Table, positions: list[int]) -> Probed:
    """Return the values of many positions as parallel lists, which take half the space of a list of objects."""
    codes: list[int] = table.probe_many(positions).tolist() if positions else []
    by_code = {
        code: value_fields(served, None if code == NO_POSITION_CODE else Value.from_code(code)) for code in set(codes)
    }
    return Probed(
        served.game.identity,
        [by_code[code]["outcome"] for code in codes],
        [by_code[code]["remoteness"] for code in codes],
        [by_code[code].get("score") for code in codes] if table.scored else UNSET,
    )
