"""What is said about games, as JSON: which there are, their variants, and what solving one takes."""

from __future__ import annotations

from typing import Any

from perfectplay.errors import PerfectPlayError
from perfectplay.game import wording
from perfectplay.game.options import Option
from perfectplay.plan.plan import Plan, plan_solve
from perfectplay.web import answers
from perfectplay.web.library import Library, ServedGame

JSON = dict[str, Any]

PLAN_SECONDS = 0.5
"""What planning a solve may take: people are waiting for the page."""


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
        "command": served.game.command_line(),
    }
    if table is None:
        state = "solving" if served.solving else "damaged" if served.problem else "unsolved"
        return about | {"state": state, "reason": served.problem}
    value = answers.value_of(served, served.start)
    return about | {
        "state": "ready" if table.complete else "unfinished",
        "reason": None,
        "positions": table.statistics.positions,
        "values": table.info.values,
        "verdict": answers.verdict(served, served.start, game.mover(served.start), value),
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


def solve_json(served: ServedGame, *, plans: bool = False) -> JSON:
    """How far a solve is; before it is begun, with `plans`, what it takes."""
    if served.job is None or (served.table is not None and not served.solving):
        state = "done" if served.table else "damaged" if served.problem else "unsolved"
        estimate = _estimate(served) if plans and state == "unsolved" else None
        return {"state": state, "command": served.game.command_line(), "estimate": estimate, "error": served.problem}
    return served.job.report()


def _estimate(served: ServedGame) -> str | None:
    """What a solve takes, as far as a moment tells; None where the rules fail, which the solve will say itself."""
    if served.estimate is None:
        try:
            plan = plan_solve(served.game, directory=served.path.parent, seconds=PLAN_SECONDS)
        except PerfectPlayError:
            return None
        served.estimate = _estimate_text(plan)
    return served.estimate


def _estimate_text(plan: Plan) -> str:
    shape = plan.shape
    certain = plan.counted == "exact" and shape.positions == shape.slots
    about = "" if certain else "At least " if plan.counted == "lower bound" else "About "
    fits = "" if plan.method == "memory" else " This machine has too little memory or disk for it."
    return (
        f"{about}{shape.positions:,} positions: some {wording.seconds(max(1.0, plan.seconds))}, "
        f"{wording.size(shape.memory_backend)} of memory, {wording.size(shape.table_bytes)} on disk. "
        f"It can be stopped at any time.{fits}"
    )
