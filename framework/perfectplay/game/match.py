"""A game in progress: moves, undo and redo, the end by rule or by repetition, and saving.

Everything that is played anywhere is a Match: at the terminal, in a session, on the page. A table value has no
history, and an endless draw is a draw in the table. At the board such play must end: a position that comes up for the
third time, the actual position and not a mirror image of it, is a draw.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import atomic_write
from perfectplay.values import Outcome, Status

if TYPE_CHECKING:
    from perfectplay.game.game import Game

REPETITIONS = 3
"""A position that comes up this often ends the game in a draw."""

_FORMAT = "perfectplay game"
_OUTCOMES = {Status.LOST: Outcome.LOSS, Status.DRAWN: Outcome.DRAW, Status.WON: Outcome.WIN}


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended: `outcome` is for the side to move, `winner` is 0 for the player who begins, 1 for the other.

    `winner` is None for a draw, for a puzzle's dead end, and where nobody knows who was to move.
    """

    outcome: Outcome
    winner: int | None
    repetition: bool = False


@dataclass(slots=True)
class Match:
    """One game from `start`, which is the game's own start unless another position is given. Players are 0 and 1."""

    game: Game
    moves: list[int] = field(default_factory=list)
    start: int | None = None
    positions: list[int] = field(init=False)
    """Every position so far; the last is the one on the board."""
    exploring: bool = False
    """Whether play may go on after a repetition, which is then only pointed out."""
    undone: list[int] = field(init=False, default_factory=list, compare=False)
    """The moves taken back, the next to redo last."""

    def __post_init__(self) -> None:
        if self.start is None:
            self.start = self.game.start()
        self.positions = [self.start]
        moves, self.moves = self.moves, []
        for move in moves:
            self.play(move)

    def copy(self) -> Match:
        """The same game, to be played on by itself."""
        twin = Match(self.game, start=self.start, exploring=self.exploring)
        twin.moves, twin.positions, twin.undone = [*self.moves], [*self.positions], [*self.undone]
        return twin

    @property
    def position(self) -> int:
        return self.positions[-1]

    @property
    def to_move(self) -> int | None:
        """Who is to move; None where the match began elsewhere than at the start and the game does not tell."""
        mover = mover_of(self.game, self.position)
        if mover is None and (first := mover_of(self.game, self.positions[0])) is not None:
            return (first + len(self.moves)) % 2
        return mover

    @property
    def movers(self) -> list[int | None]:
        """Who is to move in each of the positions."""
        told = movers_of(self.game, self.positions)
        if None not in told or told[0] is None:
            return told
        return [(told[0] + ply) % 2 for ply in range(len(told))]

    @property
    def occurrences(self) -> int:
        """How often the position on the board has come up."""
        return self.positions.count(self.position)

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it goes on."""
        status = self.game.status(self.position)
        if status is Status.ONGOING:
            return Result(Outcome.DRAW, None, repetition=True) if self.occurrences >= REPETITIONS else None
        outcome, mover = _OUTCOMES[status], self.to_move
        lost_alone = self.game.is_puzzle and outcome is Outcome.LOSS
        if outcome is Outcome.DRAW or mover is None or lost_alone:
            return Result(outcome, None)
        return Result(outcome, mover if outcome is Outcome.WIN else 1 - mover)

    def play(self, move: int) -> None:
        """Make a legal move; UsageError if it is not, or if the game is over.

        The move that `redo` would make leaves the ones after it to be redone; any other forgets them.
        """
        result = self.result
        if result is not None and not (result.repetition and self.exploring):
            raise UsageError("the game is over")
        if move not in self.game.moves(self.position):
            raise UsageError(f"move {move} is not legal here")
        if self.undone and self.undone[-1] == move:
            self.undone.pop()
        else:
            self.undone.clear()
        self._append(move)

    def undo(self, plies: int = 1) -> None:
        """Take back the last plies; UsageError where there are not so many."""
        if plies > len(self.moves):
            raise UsageError("there is no move to take back")
        for _ in range(plies):
            self.undone.append(self.moves.pop())
            self.positions.pop()

    def redo(self) -> None:
        """Make the move again that was taken back last; UsageError where there is none."""
        if not self.undone:
            raise UsageError("there is no move to play again")
        self._append(self.undone.pop())

    def _append(self, move: int) -> None:
        self.positions.append(self.game.apply(self.position, move))
        self.moves.append(move)

    def move_names(self) -> list[str]:
        """The moves as people write them."""
        return [
            self.game.format_move(position, move)
            for position, move in zip(self.positions, self.moves, strict=False)  # the last position has no move yet
        ]

    def play_names(self, names: Iterable[str]) -> None:
        """Play moves given as people write them."""
        for name in names:
            self.play(self.game.parse_move(self.position, name))

    def json(self) -> dict[str, object]:
        """The game as it is saved. `start` is there only where the game did not begin at the start."""
        begun = self.positions[0]
        start = {} if begun == self.game.start() else {"start": self.game.decode(begun)}
        names = self.move_names()
        return {"format": _FORMAT, "game": self.game.name, "options": self.game.options, **start, "moves": names}

    def save(self, path: Path) -> None:
        """Keep the game in a file of readable JSON, which is written atomically."""
        with atomic_write(path) as part:
            part.write_text(json.dumps(self.json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def movers_of(game: Game, positions: Sequence[int]) -> list[int | None]:
    """Who is to move in each: 0 for the player who begins, 1 for the other, None where the game does not tell."""
    import numpy as np

    told = game.movers(np.array(positions, dtype=np.uint64))
    if told is not None:
        return [int(mover) for mover in told]
    start = game.start()
    return [0 if position == start else None for position in positions]


def mover_of(game: Game, position: int) -> int | None:
    """Who is to move in one position."""
    told = game.mover(position)
    return 0 if told is None and position == game.start() else told


def load_match(game: Game, path: Path) -> Match:
    """The game that `Match.save` kept; PerfectPlayError where the file is not one, or is another game's."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PerfectPlayError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise PerfectPlayError(f"{path} is not a saved game") from None
    return read_match(game, text, str(path))


def read_match(game: Game, text: str, source: str) -> Match:
    """The game that a saved text holds; `source` names it in messages."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise KeyError
        found, moves, start = (data["game"], data["options"]), list(data["moves"]), data.get("start")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PerfectPlayError(f"{source} is not a saved game") from None
    if found != (game.name, game.options):
        raise PerfectPlayError(f"{source} is a game of {found[0]} with options {found[1]}, not of {game.identity}")
    match = Match(game, start=None if start is None else game.encode(str(start)))
    match.play_names(map(str, moves))
    return match
