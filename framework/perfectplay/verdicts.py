"""What is said of a position of a game: who its players are, and who wins, in the words of wording.py."""

from __future__ import annotations

from perfectplay import wording
from perfectplay.game import DEFAULT_PLAYERS, Game
from perfectplay.values import Outcome, Value


def sides(game: Game, mover: int | None) -> tuple[str, str]:
    """The mover and the opponent as sentences name them; `mover` is None where nobody knows."""
    if mover is None:
        return "The player to move", "The opponent"
    names = ("First player", "Second player") if game.players == DEFAULT_PLAYERS else game.players
    return names[mover], names[len(names) - 1 - mover]


def worth(game: Game, value: Value) -> str:
    """What a move or a position is worth, in a few words: a puzzle is not won, but solved, or scored."""
    if not game.is_puzzle:
        return str(value)
    if value.outcome_only:
        return "can be solved" if value.outcome is Outcome.WIN else "cannot be solved"
    if game.has_score and value.remoteness is not None:
        return f"score {wording.signed(value.score)} in {value.remoteness}"
    if value.outcome is Outcome.DRAW:
        return "never ends" if game.has_score else "never solved"
    return f"{'solved' if value.outcome is Outcome.WIN else 'dead end'} in {value.remoteness}"


def game_verdict(game: Game, value: Value, mover: int | None) -> str:
    """One sentence on a position of this game, in which `mover` is to move."""
    if game.is_puzzle:
        return wording.puzzle_verdict(value, scored=game.has_score)
    return wording.verdict(value, *sides(game, mover), alternating=game.turns_alternate)
