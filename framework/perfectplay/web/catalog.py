"""Answers about games: the list of all games with their variants, and the progress or the cost of a solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from perfectplay.errors import PerfectPlayError
from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.game.options import Option
from perfectplay.plan.plan import Plan, plan_solve
from perfectplay.web.answers import Answer, Count, Id, Players, TableValues, find_value, verdict
from perfectplay.web.library import Library, ServedGame

PLAN_SECONDS = 0.5
"""Time limit for planning a solve, because the page waits for the plan."""


class GameOption(Answer):
    """An option of a game."""

    name: str
    default: int | bool | str
    help: str
    minimum: int | None
    maximum: int | None
    choices: list[str]


class ListedGame(Answer, kw_only=True):
    """A game, or only its name and the reason if it is broken."""

    name: str
    state: Literal["ready", "unfinished", "unsolved", "solving", "damaged", "broken"]
    reason: str | None
    title: str | UnsetType = UNSET
    rules: str | UnsetType = UNSET
    family: Annotated[str, Meta(description="The game's name without its options.")] | UnsetType = UNSET
    version: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    start: Id | UnsetType = UNSET
    players: Players | UnsetType = UNSET
    variant: Annotated[dict[str, int | bool | str], Meta(description="The value of every option.")] | UnsetType = UNSET
    options: list[GameOption] | UnsetType = UNSET
    command: str | UnsetType = UNSET
    positions: Count | UnsetType = UNSET
    values: TableValues | UnsetType = UNSET
    verdict: str | UnsetType = UNSET
    headline: Annotated[str, Meta(description="The verdict in a few words, without plies.")] | UnsetType = UNSET


class Games(Answer):
    """All games."""

    games: list[ListedGame]


class Solve(Answer, kw_only=True):
    """The state of a solve."""

    state: Literal["unsolved", "solving", "done", "failed", "damaged"]
    command: str | UnsetType = UNSET
    estimate: Annotated[str | None, Meta(description="The cost of a solve.")] | UnsetType = UNSET
    fits: Annotated[bool, Meta(description="Whether the cost is known and this machine can bear it.")] = False
    allowed: Annotated[bool, Meta(description="Whether this server lets the page start a solve.")] = True
    phase: str | UnsetType = UNSET
    fraction: Annotated[float, Meta(ge=0, le=1)] | UnsetType | None = UNSET
    text: str | UnsetType = UNSET
    error: str | UnsetType | None = UNSET


def title_of(game: Game) -> str:
    """Return a game's title as the page shows it."""
    return game.about.title if game.about.title != game.name else game.name.capitalize()


def list_games(library: Library, requested: Sequence[ServedGame] = ()) -> Games:
    """List the games of the library, and the variants without a table that this client has requested."""
    served = [_list_game(served) for served in [*library.games.values(), *requested]]
    broken = [ListedGame(name=name, state="broken", reason=reason) for name, reason in library.broken.items()]
    return Games([*served, *broken])


def _list_game(served: ServedGame) -> ListedGame:
    table, game = served.find_table(), served.game
    listed = ListedGame(
        name=game.identity,
        state="solving" if served.solving else "damaged" if served.problem else "unsolved",
        reason=served.problem,
        title=title_of(game),
        rules=game.about.rules,
        family=game.name,
        version=game.version,
        kind=game.kind,
        start=str(served.start),
        players=list(game.players),
        # A value may be a member of a plugin's own string type.
        variant={name: str(value) if isinstance(value, str) else value for name, value in game.options.items()},
        options=[_describe_option(option) for option in game.declared_options],
        command=game.command_line(),
    )
    if table is not None:
        listed.state = "ready" if table.complete else "unfinished"
        listed.reason = None
        listed.positions = table.statistics.positions
        listed.values = "outcome" if table.outcomes_only else "full"
        value = find_value(served, served.start)
        mover = game.mover(served.start)
        listed.verdict = verdict(served, served.start, mover, value)
        listed.headline = listed.verdict if value is None else wording.headline(game, value, mover)
    return listed


def _describe_option(option: Option) -> GameOption:
    return GameOption(
        option.name, option.default, option.help, option.minimum, option.maximum, list(map(str, option.choices))
    )


def describe_solve(served: ServedGame, *, allowed: bool = False) -> Solve:
    """Return the progress of a solve; before it starts, its cost, unless a solve is not `allowed` here."""
    job = served.job
    if job is None or (served.table is not None and not served.solving):
        state: Literal["done", "damaged", "unsolved"]
        state = "done" if served.table is not None else "damaged" if served.problem else "unsolved"
        cost, fits = _estimate(served) if allowed and state == "unsolved" else (None, False)
        return Solve(
            state=state,
            command=served.game.command_line(),
            estimate=cost,
            fits=fits,
            allowed=allowed,
            error=served.problem,
        )
    if not job.running:
        return Solve(state="failed" if job.error else "done", error=job.error)
    phase = "starting" if job.progress is None else job.progress.phase
    return Solve(state="solving", phase=phase, fraction=job.fraction, text=job.describe_progress())


def _estimate(served: ServedGame) -> tuple[str | None, bool]:
    """Return the cost of a solve, and whether it is known and fits this machine.

    The cost is None where the rules fail, because the solve itself reports that.
    """
    if served.estimate is None:
        try:
            plan = plan_solve(served.game, directory=served.path.parent, seconds=PLAN_SECONDS)
        except PerfectPlayError:
            return None, True
        served.estimate = _describe_plan(plan), plan.counted != "lower bound" and plan.method == "memory"
    return served.estimate


def _describe_plan(plan: Plan) -> str:
    shape = plan.shape
    if plan.counted == "lower bound":
        return (
            f"The number of positions is unknown, probably far more than the {shape.positions:,} seen in a first look, "
            "so the time and memory of a solve are unknown too. A solve may not finish. Stopping it keeps nothing."
        )
    exact = plan.counted == "exact" and shape.positions == shape.slots
    shortage = "" if plan.method == "memory" else " This machine has too little memory or disk space for it."
    return (
        f"{'' if exact else 'About '}{shape.positions:,} positions: about {wording.seconds(max(1.0, plan.seconds))}, "
        f"{wording.size(shape.memory_backend)} of memory, {wording.size(shape.table_bytes)} on disk. "
        f"You can stop it at any time, but then nothing is kept.{shortage}"
    )
