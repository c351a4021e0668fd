"""A game being played: moves, taking back, the end by rule or by repetition, and saving.

A table value has no history, and a draw without end is a draw in the table. At the board such play must end: a position
that comes up for the third time, the actual position and not a mirror image of it, is a draw.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import whole_file
from perfectplay.values import Status

if TYPE_CHECKING:
    from perfectplay.game import Game

REPETITIONS = 3
"""A position that comes up this often ends the game in a draw."""

_FORMAT = "perfectplay game"


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended: `winner` is 0 for the player who began, 1 for the other, None for a draw."""

    winner: int | None
    repetition: bool = False


@dataclass(slots=True)
class Match:
    """One game from the start. Players are 0, who begins, and 1."""

    game: Game
    moves: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Every position so far; the last is the one on the board."""

    def __post_init__(self) -> None:
        self.positions = [self.game.start()]
        moves, self.moves = self.moves, []
        for move in moves:
            self.play(move)

    @property
    def position(self) -> int:
        return self.positions[-1]

    @property
    def to_move(self) -> int:
        return len(self.moves) % 2

    @property
    def occurrences(self) -> int:
        """How often the position on the board has come up."""
        return self.positions.count(self.position)

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it goes on."""
        status = self.game.status(self.position)
        if status is Status.ONGOING:
            return Result(None, repetition=True) if self.occurrences >= REPETITIONS else None
        if status is Status.DRAWN:
            return Result(None)
        return Result(self.to_move if status is Status.WON else 1 - self.to_move)

    def play(self, move: int) -> None:
        """Make a legal move; UsageError if it is not, or if the game is over."""
        if self.result is not None:
            raise UsageError("the game is over")
        if move not in self.game.moves(self.position):
            raise UsageError(f"move {move} is not legal here")
        self.positions.append(self.game.apply(self.position, move))
        self.moves.append(move)

    def take_back(self, plies: int = 1) -> None:
        """Undo the last plies; UsageError where there are not so many."""
        if plies > len(self.moves):
            raise UsageError("there is no move to take back")
        del self.moves[-plies:], self.positions[-plies:]

    def move_names(self) -> list[str]:
        """The moves as people write them."""
        return [
            self.game.format_move(position, move)
            for position, move in zip(self.positions, self.moves, strict=False)  # the last position has no move yet
        ]

    def save(self, path: Path) -> None:
        """Keep the game in a file of readable JSON, which is whole or absent."""
        data = {
            "format": _FORMAT,
            "game": self.game.name,
            "options": self.game.options,
            "moves": self.move_names(),
        }
        with whole_file(path) as part:
            part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load_match(game: Game, path: Path) -> Match:
    """The game that `Match.save` kept; PerfectPlayError where the file is no such game, or another game's."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            raise KeyError
        found, moves = (data["game"], data["options"]), list(data["moves"])
    except OSError as error:
        raise PerfectPlayError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise PerfectPlayError(f"{path} is no saved game") from None
    if found != (game.name, game.options):
        raise PerfectPlayError(f"{path} is a game of {found[0]} with options {found[1]}, not of {game.identity}")
    match = Match(game)
    for text in moves:
        match.play(game.parse_move(match.position, str(text)))
    return match
