"""A game in progress: moves, undo and redo, the end by rule or by repetition, and saving.

All play uses a Match: at the terminal, in sessions and on the page. Table values ignore history, so an endless draw is
a draw in the table. In a match such play must end, so a position that occurs for the third time is a draw. Only
identical positions count as repetitions, not symmetric ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import SupportsIndex

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import atomic_write, require_regular
from perfectplay.game.game import Game, Move, Position
from perfectplay.values import Outcome, Status

REPETITIONS = 3
"""The game is a draw when a position has occurred this many times."""

SAVED_FORMAT = "perfectplay game"
"""The mark of a saved game. The page reads and writes the same files, see `Match.json`."""

_OUTCOMES = {Status.LOST: Outcome.LOSS, Status.DRAWN: Outcome.DRAW, Status.WON: Outcome.WIN}


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The end of a game. `outcome` is for the side to move; `winner` is 0 for the first player, 1 for the second.

    `winner` is None for a draw, for a dead end of a puzzle, and if it is unknown who was to move.
    """

    outcome: Outcome
    winner: int | None
    repetition: bool = False


class Match:
    """One game, from the start position unless another one is given. Players are 0 and 1.

    >>> from perfectplay import load_game
    >>> match = Match(load_game("gobblet"))
    >>> match.push("L(1,1)")
    <Position of gobblet: .,.,./.,L,./.,.,.:blue>
    >>> match
    <Match of gobblet: L(1,1)>
    """

    __slots__ = ("exploring", "game", "moves", "positions", "undone")

    def __init__(
        self,
        game: Game,
        moves: Iterable[str | SupportsIndex] = (),
        start: SupportsIndex | None = None,
        *,
        exploring: bool = False,
    ) -> None:
        """Begin at `start` and make these moves. With `exploring`, play may continue after a draw by repetition."""
        self.game = game
        self.moves: list[Move] = []
        # A Position has been checked already, and the server must not call hooks in its event loop.
        self.positions = [start if isinstance(start, Position) else game.position(start)]
        """All positions so far; the last one is on the board."""
        self.exploring = exploring
        self.undone: list[Move] = []
        """The moves that were undone; the last one is the next to redo."""
        for move in moves:
            self.play(move)

    def __eq__(self, other: object) -> bool:
        """Return whether the other match has the same positions and moves."""
        if not isinstance(other, Match):
            return NotImplemented
        return (self.positions, self.moves) == (other.positions, other.moves)

    __hash__ = None  # type: ignore[assignment]  # a match changes

    def __repr__(self) -> str:
        start = "" if self.positions[0] == self.game.start() else f" from {self.positions[0]}"
        return f"<Match of {self.game.identity}{start}: {' '.join(self.move_names()) or 'no moves'}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the board with the last move marked, and the moves."""
        picture = self.position.svg(lastmove=self.moves[-1] if self.moves else None)
        shown = escape(str(self.position)) if picture is None else picture
        return f"<div>{shown}<p>{escape(' '.join(self.move_names()))}</p></div>"

    def copy(self) -> Match:
        """Return an independent copy."""
        twin = Match(self.game, start=self.positions[0], exploring=self.exploring)
        twin.moves, twin.positions, twin.undone = [*self.moves], [*self.positions], [*self.undone]
        return twin

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    @property
    def to_move(self) -> int | None:
        """Who is to move; None if it is unknown, because the match began elsewhere than at the start."""
        mover = self.game.mover(self.position)
        if mover is None and (first := self.game.mover(self.positions[0])) is not None:
            return (first + len(self.moves)) % 2  # without the hook `mover` turns alternate
        return mover

    @property
    def movers(self) -> list[int | None]:
        """Who is to move in each of the positions."""
        import numpy as np

        movers = self.game.movers(np.array(self.positions, dtype=np.uint64))
        if movers is not None:
            return [int(mover) for mover in movers]
        first = self.game.mover(self.positions[0])
        return [None if first is None else (first + ply) % 2 for ply in range(len(self.positions))]

    @property
    def occurrences(self) -> int:
        """How often the position on the board has occurred."""
        return sum(map(int(self.position).__eq__, self.positions))  # far faster than comparing Position objects

    @property
    def result(self) -> MatchResult | None:
        """The end of the game; None while it continues."""
        status = self.game.status(self.position)
        if status is Status.ONGOING:
            return MatchResult(Outcome.DRAW, None, repetition=True) if self.occurrences >= REPETITIONS else None
        outcome, mover = _OUTCOMES[status], self.to_move
        lost_alone = self.game.is_puzzle and outcome is Outcome.LOSS
        if outcome is Outcome.DRAW or mover is None or lost_alone:
            return MatchResult(outcome, None)
        return MatchResult(outcome, mover if outcome is Outcome.WIN else 1 - mover)

    def push(self, move: str | SupportsIndex) -> Position:
        """Make a move like `play`, and return the position after it."""
        self.play(move)
        return self.position

    def play(self, move: str | SupportsIndex) -> None:
        """Make a move, given by its name or number. Raises UsageError if it is illegal or the game is over.

        The move that `redo` would make keeps the later undone moves; any other move discards them.
        """
        result = self.result
        if result is not None and not (result.repetition and self.exploring):
            raise UsageError("the game is over")
        number = self.game.parse_move(self.position, move) if isinstance(move, str) else move
        self._append(number)
        if self.undone and self.undone[-1] == self.moves[-1]:
            self.undone.pop()
        else:
            self.undone.clear()

    def undo(self, plies: int = 1) -> None:
        """Undo the last plies. Raises UsageError if there are fewer."""
        if plies > len(self.moves):
            raise UsageError("there is no move to undo")
        for _ in range(plies):
            self.undone.append(self.moves.pop())
            self.positions.pop()

    def redo(self) -> None:
        """Repeat the move that was undone last. Raises UsageError if there is none."""
        if not self.undone:
            raise UsageError("there is no move to redo")
        self._append(self.undone.pop())

    def _append(self, move: SupportsIndex) -> None:
        position = self.position
        self.positions.append(position.apply(move))
        self.moves.append(Move(position, move))

    def move_names(self) -> list[str]:
        """Return the moves as texts."""
        return [move.name for move in self.moves]

    def play_names(self, names: Iterable[str]) -> None:
        """Make moves that are given as texts."""
        for name in names:
            self.play(name)

    def json(self) -> dict[str, object]:
        """Return the format in which `save` writes the game. `start` is omitted for the usual start position."""
        first = self.positions[0]
        start = {} if first == self.game.start() else {"start": self.game.decode(first)}
        names = self.move_names()
        return {"format": SAVED_FORMAT, "game": self.game.name, "options": self.game.options, **start, "moves": names}

    def save(self, path: Path) -> None:
        """Write the game to a JSON file, atomically."""
        with atomic_write(path) as part:
            part.write_text(json.dumps(self.json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load_match(game: Game, path: Path) -> Match:
    """Read a file that `Match.save` wrote. Raises PerfectPlayError for any other file, or one of another game."""
    require_regular(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PerfectPlayError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise PerfectPlayError(f"{path} is not a saved game") from None
    return read_match(game, text, str(path))


def read_match(game: Game, text: str, source: str) -> Match:
    """Read the text of a saved game; `source` is its name in error messages."""
    try:
        data = json.loads(text)
        if data["format"] != SAVED_FORMAT:
            raise KeyError
        variant, moves, start = (data["game"], data["options"]), list(data["moves"]), data.get("start")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PerfectPlayError(f"{source} is not a saved game") from None
    if variant != (game.name, game.options):
        raise PerfectPlayError(f"{source} is a game of {variant[0]} with options {variant[1]}, not of {game.identity}")
    match = Match(game, start=None if start is None else game.encode(str(start)))
    match.play_names(map(str, moves))
    return match
