"""The API's answers: their types, which also give the OpenAPI schema, and how those about a position are filled.

Positions are sent as decimal strings (`id`), because a JavaScript number holds only 53 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from perfectplay.analysis.moves import RatedMove as TableMove
from perfectplay.analysis.moves import best_line, rate_as_tuples, rate_each_move
from perfectplay.errors import PerfectPlayError
from perfectplay.game.board import Board, Cell, Click, Spelling, Tray, board_fault, headings, player_colours
from perfectplay.game.board_text import make_text_board
from perfectplay.game.game import Game
from perfectplay.game.wording import game_verdict, headline, sides
from perfectplay.values import Status, Value, value_json
from perfectplay.web.library import ServedGame

MAX_LINE_PLIES = 200
"""A best line is cut here, because drawn play need not end."""

# ---- types ----

Id = Annotated[
    str,
    Meta(
        description="The game's 64-bit encoding of a position, in decimal.",
        extra_json_schema={"pattern": "^[0-9]{1,20}$"},
    ),
]
Count = Annotated[int, Meta(ge=0)]
Owner = Annotated[int, Meta(ge=0, le=1)]
Player = Annotated[Owner | None, Meta(description="0 is the player who begins; null where it is not known.")]
Players = Annotated[list[str], Meta(min_length=1, max_length=2)]


class OutcomeName(Enum):
    """How a game ends under perfect play."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


Outcome = Annotated[
    OutcomeName | None,
    Meta(description="For the side to move (of a move: for its player); null where it is not in the table."),
]
Remoteness = Annotated[
    Count | None,
    Meta(
        description="Plies to the end under perfect play; null for an endless draw, for an unknown value, "
        "and for every value of a table of outcomes."
    ),
]
TableValues = Annotated[Literal["full", "outcome"], Meta(description="The table's values: complete, or only who wins.")]


class Answer(Struct, forbid_unknown_fields=True):
    """Base of all answers; the schema allows no other fields."""


class Valued(Answer, kw_only=True):
    """A value, as `values.value_json` writes it."""

    outcome: Outcome
    remoteness: Remoteness
    score: (
        Annotated[int, Meta(description="By how much the game is won, in a game with scores; negative if lost.")]
        | UnsetType
    ) = UNSET


class Error(Answer):
    """A refused request."""

    error: Annotated[str, Meta(description="One sentence.")]


class RatedMove(Valued, gc=False):
    """A legal move and its value for the player who makes it."""

    move: str
    id: Annotated[Id, Meta(description="The position after the move.")]
    group: Annotated[Count, Meta(description="Equal for symmetric moves.")]


class BoardMove(RatedMove, omit_defaults=True):
    """A rated move and how it is made on the board: click the source, then the target, then the piece to capture."""

    source: str | None
    target: Annotated[str | None, Meta(description="null: a button beside the board.")]
    label: str
    capture: str | None = None
    region: Annotated[Sequence[str], Meta(description="Cells that count as the target.")] = ()
    path: Annotated[Sequence[str], Meta(description="Cells that get a seed each.")] = ()
    ends: Annotated[Sequence[str], Meta(description="Dragging from one to the other makes the move.")] = ()


class LineStep(Valued):
    """One move of a line: the value before the move, and the position after it."""

    move: str
    id: Id


class DrawnBoard(Answer):
    """Everything needed to draw a board."""

    rows: float
    columns: float
    cells: Sequence[Cell]
    to_move: Owner
    players: Sequence[str]
    colours: tuple[str, str]
    trays: Sequence[Tray]
    blocked: Annotated[dict[str, dict[str, str]], Meta(description="For a source: impossible targets, with reasons.")]
    warnings: Annotated[dict[str, str], Meta(description="For a source: what moving it would cause.")]
    edges: Sequence[Sequence[str]]
    zones: Sequence[Sequence[str]]
    highlight: Sequence[str]
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    spelling: Spelling | None
    upright: Annotated[bool, Meta(description="The board is never turned around.")]


class Result(Answer):
    """How a game has ended."""

    winner: str | None
    text: str


class Position(Valued):
    """Everything the page shows about one position."""

    game: str
    id: Id
    text: str
    notations: Annotated[dict[str, str], Meta(description="Every notation, by name.")]
    solved: bool
    verdict: str
    headline: Annotated[str, Meta(description="The verdict in a few words, without plies.")]
    alternating: Annotated[bool, Meta(description="Whether the players always take turns.")]
    result: Result | None
    mover: str
    to_move: Player
    players: Players
    board: DrawnBoard | None
    board_problem: Annotated[str | None, Meta(description="Why the plugin's board cannot be drawn.")]
    moves: list[BoardMove]


class EvaluatedMoves(Valued):
    """The value of a position and of its moves, best first."""

    game: str
    id: Id
    moves: list[RatedMove]


class Evaluation(Valued):
    """The value of a position."""

    game: str
    id: Id
    verdict: str


class BestMove(Evaluation):
    """The value of a position and a best move, null where the game is over or the value is not in the table."""

    best: RatedMove | None


class Line(Evaluation):
    """The value of a position and perfect play from it."""

    line: Annotated[
        list[LineStep],
        Meta(
            description="Up to the end or the first repetition. With a table of outcomes the moves keep the outcome "
            "and need not approach an end."
        ),
    ]


class LegalMove(Answer):
    """A legal move without its value."""

    move: str
    source: str | None = field(name="from")
    target: str | None = field(name="to")
    id: Id


class Moves(Answer):
    """The legal moves of a position, by name."""

    game: str
    id: Id
    moves: list[LegalMove]


class State(Answer):
    """A position in every notation."""

    game: str
    id: Id
    text: str
    notations: dict[str, str]


# ---- values and verdicts ----


def find_value(served: ServedGame, position: int) -> Value | None:
    """Return the position's value; None without a table, or where the position is not in it."""
    return None if served.table is None else served.table.get(position)


def value_fields(served: ServedGame, value: Value | None) -> dict[str, Any]:
    """Return the fields of `Valued` for a value of this game."""
    return value_json(value, scored=served.game.has_score)


def verdict(served: ServedGame, position: int, mover: int | None, value: Value | None) -> str:
    """Return one sentence about a position, also where its value is not known."""
    if value is not None:
        return game_verdict(served.game, value, mover)
    if (end := find_result(served, position, mover)) is not None:
        return end.text
    if served.problem is not None:
        return "Unknown: the table is damaged"
    if served.table is None:
        return "Not solved yet: this game has no table"
    if not served.table.complete:
        return "Not in the table: this part of the game is not solved yet"
    return "Not in the table: it cannot be reached from the start"


def find_result(served: ServedGame, position: int, mover: int | None) -> Result | None:
    """Return how the game has ended by rule; None while it continues."""
    game = served.game
    status = game.status(position)
    if status is Status.ONGOING:
        return None
    value = Value.from_code({Status.LOST: 1, Status.DRAWN: 2, Status.WON: 3}[status])
    if game.has_score:
        value = replace(value, score=game.score(position))
    own, other = sides(game, mover)
    winner = {Status.LOST: None if game.is_puzzle else other, Status.DRAWN: None, Status.WON: own}[status]
    return Result(winner, game_verdict(game, value, mover))


# ---- boards ----


def find_board(game: Game, position: int) -> tuple[Board | None, str | None]:
    """Return a position's board and None, or None and why it cannot be drawn; twice None without a `board` hook."""
    try:
        board = game.board(position)
    except PerfectPlayError as error:
        return None, str(error)
    fault = None if board is None else board_fault(board)
    return (None, f"{game.name}: the board cannot be drawn: {fault}") if fault else (board, None)


def find_drawing(game: Game, position: int, mover: int | None = None) -> Board | None:
    """Return the board that the page draws: that of the hook or, for a game without it, one made from the text."""
    board, problem = find_board(game, position)
    return make_text_board(game, position, mover) if board is None and problem is None else board


def draw_board(board: Board) -> DrawnBoard:
    rows, columns = headings(board)
    return DrawnBoard(
        rows=board.rows,
        columns=board.columns,
        cells=board.cells,
        to_move=board.to_move,
        players=board.players,
        colours=player_colours(board),
        trays=board.trays,
        blocked=board.blocked,
        warnings=board.warnings,
        edges=board.edges,
        zones=board.zones,
        highlight=board.highlight,
        row_labels=rows if any(rows) else [],
        column_labels=columns if any(columns) else [],
        spelling=board.spelling,
        upright=board.upright,
    )


# ---- answers about a position ----


def answer_position(served: ServedGame, position: int) -> Position:
    rated = rate_each_move(served.game, served.table, position)
    return describe_position(served, position, find_value(served, position), rated)


def describe_position(
    served: ServedGame,
    position: int,
    value: Value | None,
    rated: Sequence[TableMove],
    *,
    mover: int | None = None,
) -> Position:
    """Return everything about a position of this value and with these moves.

    `mover` is the player to move where the moves played so far determine it; by default the board or the game does.
    """
    game = served.game
    board, problem = find_board(game, position)
    if mover is None:
        mover = game.mover(position) if board is None else board.to_move
    if board is None and problem is None:
        board = make_text_board(game, position, mover)
    return Position(
        game=game.identity,
        id=str(int(position)),
        text=game.decode(position),
        notations=game.notations(position),
        solved=served.table is not None,
        verdict=verdict(served, position, mover, value),
        headline=verdict(served, position, mover, value) if value is None else headline(game, value, mover),
        alternating=game.turns_alternate,
        result=find_result(served, position, mover),
        mover=sides(game, mover)[0],
        to_move=mover,
        players=list(game.players),
        board=None if board is None else draw_board(board),
        board_problem=problem,
        moves=_board_moves(served, position, rated, board.clicks if board else ()),
        **value_fields(served, value),
    )


def _move_fields(served: ServedGame, position: int, rated: Sequence[TableMove]) -> Iterator[dict[str, Any]]:
    """Yield the fields of `RatedMove` for each of these moves."""
    names = served.game.format_moves(position, [each.move for each in rated])
    for name, each in zip(names, rated, strict=True):
        yield {"move": name, "id": str(each.child), "group": each.group, **value_fields(served, each.value)}


def _board_moves(
    served: ServedGame, position: int, rated: Sequence[TableMove], clicks: Sequence[Click]
) -> list[BoardMove]:
    by_move = {click.move: click for click in clicks}
    moves = []
    for each, fields in zip(rated, _move_fields(served, position, rated), strict=True):
        click = by_move.get(each.move, _NO_CLICK)
        moves.append(
            BoardMove(
                source=click.source,
                target=click.target,
                label=click.label,
                capture=click.capture,
                region=click.region,
                path=click.path,
                ends=click.ends,
                **fields,
            )
        )
    return moves


_NO_CLICK = Click(0, None)


def _rated_move(name: str, child: int, value: Value | None, group: int, *, scored: bool) -> RatedMove:
    """Return a move with its value. Programs request many, so this creates no dict of the fields."""
    if value is None:
        return RatedMove(name, str(child), group, outcome=None, remoteness=None)
    outcome: Any = value.word  # written like the OutcomeName
    score = value.score if scored and not value.outcome_only else UNSET
    return RatedMove(name, str(child), group, outcome=outcome, remoteness=value.remoteness, score=score)


def answer_evaluated_moves(served: ServedGame, position: int) -> EvaluatedMoves:
    rated = rate_as_tuples(served.game, served.table, position)
    names = served.game.format_moves(position, [move for move, _, _, _ in rated])
    scored = served.game.has_score
    return EvaluatedMoves(
        game=served.game.identity,
        id=str(int(position)),
        moves=[
            _rated_move(name, child, value, group, scored=scored)
            for name, (_, child, value, group) in zip(names, rated, strict=True)
        ],
        **value_fields(served, find_value(served, position)),
    )


def answer_legal_moves(served: ServedGame, position: int) -> Moves:
    game = served.game
    board, _ = find_board(game, position)
    clicks = {click.move: click for click in board.clicks} if board else {}
    legal = rate_each_move(game, None, position)  # without a table no value is looked up
    names = game.format_moves(position, [each.move for each in legal])
    moves = []
    for name, each in zip(names, legal, strict=True):
        click = clicks.get(each.move, _NO_CLICK)
        moves.append(LegalMove(name, click.source, click.target, str(each.child)))
    return Moves(game.identity, str(int(position)), sorted(moves, key=lambda move: move.move))


def answer_state(served: ServedGame, position: int) -> State:
    game = served.game
    return State(game.identity, str(int(position)), game.decode(position), game.notations(position))


def answer_evaluation(served: ServedGame, position: int) -> Evaluation:
    return Evaluation(**_evaluation_fields(served, position, find_value(served, position)))


def _evaluation_fields(served: ServedGame, position: int, value: Value | None) -> dict[str, Any]:
    text = verdict(served, position, served.game.mover(position), value)
    return {
        "game": served.game.identity,
        "id": str(int(position)),
        "verdict": text,
        **value_fields(served, value),
    }


def answer_best_move(served: ServedGame, position: int) -> BestMove:
    game = served.game
    best = None
    for move, child, value, group in rate_as_tuples(game, served.table, position)[:1]:
        if value is not None:
            best = _rated_move(game.format_move(position, move), child, value, group, scored=game.has_score)
    return BestMove(
        best=best,
        **_evaluation_fields(served, position, find_value(served, position)),
    )


def answer_line(served: ServedGame, position: int) -> Line:
    value = find_value(served, position)
    steps = []
    if served.table is not None and value is not None:
        line = best_line(served.game, served.table, position, limit=MAX_LINE_PLIES)
        positions = [*(step.position for step in line.steps), line.end]
        for step, end in zip(line.steps, positions[1:], strict=True):
            name = served.game.format_move(step.position, step.move)
            steps.append(LineStep(move=name, id=str(int(end)), **value_fields(served, step.value)))
    return Line(line=steps, **_evaluation_fields(served, position, value))
