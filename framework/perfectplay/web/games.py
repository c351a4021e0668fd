"""What is said about games, as JSON: which there are, their variants, and what solving one takes."""

from __future__ import annotations

from typing import Any

from perfectplay import wording
from perfectplay.kernels import game_kernel
from perfectplay.match import mover_of
from perfectplay.options import Option
from perfectplay.web import answers
from perfectplay.web.library import Library, ServedGame

JSON = dict[str, Any]

POSITIONS_A_SECOND = 4_000_000
"""What a C kernel manages on two ordinary cores: only for a first idea of how long a solve takes."""


def games_json(library: Library) -> JSON:
    found = [_game_json(served) for served in list(library.games.values())]
    broken = [{"name": name, "state": "broken", "reason": reason} for name, reason in library.broken.items()]
    return {"games": [*found, *broken]}


def _game_json(served: ServedGame) -> JSON:
    table, game = served.find_table(), served.game
    about: JSON = {
        "name": game.identity,
        "title": game.about.title if game.about.title != game.name else game.name.capitalize(),
        "rules": game.about.rules,
        "family": game.name,
        "version": game.version,
        "kind": game.kind,
        "start": str(served.start),
        "players": list(game.players),
        "variant": {name: str(value) if isinstance(value, str) else value for name, value in game.options.items()},
        "options": [_option_json(option) for option in game.declared_options],
        "command": served.game.solve_command(),
    }
    if table is None:
        state = "solving" if served.solving else "damaged" if served.problem else "unsolved"
        return about | {"state": state, "reason": served.problem}
    value = answers.value_of(served, served.start)
    return about | {
        "state": "ready" if table.complete else "unfinished",
        "reason": None,
        "positions": table.statistics.positions,
        "verdict": answers.verdict(served, served.start, mover_of(game, served.start), value),
    }


def _option_json(option: Option) -> JSON:
    return {
        "name": option.name,
        "default": option.default,
        "help": option.help,
        "minimum": option.minimum,
        "maximum": option.maximum,
        "choices": list(option.choices),
    }


def solve_json(served: ServedGame) -> JSON:
    """How far a solve is; before it is begun, what it takes."""
    if served.job is None or (served.table is not None and not served.solving):
        state = "done" if served.table else "damaged" if served.problem else "unsolved"
        estimate = _estimate(served) if state == "unsolved" else None
        return {"state": state, "command": served.game.solve_command(), "estimate": estimate, "error": served.problem}
    return served.job.report()


def _estimate(served: ServedGame) -> str:
    """What a solve takes, as far as it can be known before."""
    kernel = game_kernel(served.game)
    if not kernel.ranked:
        speed = "a few thousand" if served.game.kernel is None else "a few million"
        return (
            f"How many positions there are shows only while it is being solved: {speed} a second, "
            "some 10 to 30 bytes of memory each, 10 bytes on disk. It can be stopped at any time."
        )
    sizes = [kernel.tier_size(tier) for tier in range(kernel.tier_count)]
    slots, largest = sum(sizes), max(sizes)
    return (
        f"{slots:,} slots: about {wording.seconds(max(1.0, slots / POSITIONS_A_SECOND))}, "
        f"{wording.size(slots + 8 * largest)} of memory at most, {wording.size(slots)} on disk. "
        "It can be stopped at any time."
    )
