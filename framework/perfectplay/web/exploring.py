"""The whole table at a glance, as JSON: counts, histogram, the longest wins, and positions found by chance."""

from __future__ import annotations

import secrets
from typing import Any

from perfectplay.analysis.selection import random_of_value, random_positions, random_puzzle
from perfectplay.analysis.statistics import survey
from perfectplay.game import wording
from perfectplay.table.table import Table
from perfectplay.values import NO_POSITION_CODE, Value, value_json
from perfectplay.web import answers
from perfectplay.web.library import ServedGame
from perfectplay.web.requests import Refusal

JSON = dict[str, Any]

KINDS = ("any", "win", "loss", "draw", "puzzle")


def overview(served: ServedGame, table: Table) -> JSON:
    """The table in numbers. Counted once: a table does not change while it is open."""
    if served.overview is None:
        found = survey(table)
        total = found.total
        served.overview = {
            "game": served.game.identity,
            "complete": table.complete,
            "positions": total.positions,
            "wins": total.wins,
            "losses": total.losses,
            "draws": total.draws + total.ties + total.outcome_draws,
            "ties": None if table.outcomes_only else total.ties,
            "endless": None if table.outcomes_only else total.draws,
            "values": table.info.values,
            "bytes": found.bytes,
            "moves": found.branching and round(found.branching.moves, 1),
            "histogram": [{"remoteness": plies, **counts} for plies, counts in found.by_remoteness.items()],
            "longest": [_found(served, position) for position in found.longest_wins],
        }
    return served.overview


def find(served: ServedGame, table: Table, kind: str, remoteness: int | None, seed: int | None) -> JSON:
    """A position found by chance: of any value, of this one, or a puzzle with one winning move."""
    if table.outcomes_only and remoteness is not None:
        raise Refusal(404, wording.outcomes_only(puzzle=served.game.is_puzzle))
    number = secrets.randbits(32) if seed is None else seed
    position: int | None
    if kind == "puzzle":
        position = random_puzzle(table, number)
    elif kind == "any" and remoteness is None:
        position = int(random_positions(table, 1, number)[0])
    else:
        position = _of_kind(table, kind, remoteness, number)
    if position is None:
        wanted = kind if remoteness is None else f"{kind} in {remoteness}"
        raise Refusal(404, f"{served.game.name} has no position of this kind: {wanted}")
    return _found(served, position)


def _of_kind(table: Table, kind: str, remoteness: int | None, seed: int) -> int | None:
    """A position of an outcome, or of a remoteness, or of both; distances are as likely as they are common."""
    counts = table.statistics.by_code
    fitting = {
        code: count
        for code, count in counts.items()
        if kind in ("any", Value.from_code(code).outcome.name.lower())
        and remoteness in (None, Value.from_code(code).remoteness)
    }
    if not fitting:
        return None
    place = seed % sum(fitting.values())
    for code, count in fitting.items():
        if place < count:
            return random_of_value(table, Value.from_code(code), seed)
        place -= count
    return None


def _found(served: ServedGame, position: int) -> JSON:
    value = answers.value_of(served, position)
    return {
        "id": str(position),
        "text": served.game.decode(position),
        **value_json(value, scored=served.game.has_score),
        "verdict": answers.verdict(served, position, served.game.mover(position), value),
    }


def probe_many(served: ServedGame, table: Table, positions: list[int]) -> JSON:
    """The values of many positions, in their order: lists, which take half the room of a list of objects."""
    codes: list[int] = table.probe_many(positions).tolist() if positions else []
    answer = {
        code: value_json(None if code == NO_POSITION_CODE else Value.from_code(code), scored=served.game.has_score)
        for code in set(codes)
    }
    outcomes = [answer[code]["outcome"] for code in codes]
    remoteness = [answer[code]["remoteness"] for code in codes]
    found = {"game": served.game.identity, "outcomes": outcomes, "remoteness": remoteness}
    if table.scored:
        found["scores"] = [answer[code].get("score") for code in codes]
    return found
