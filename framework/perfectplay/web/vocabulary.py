"""The page's words for values, opponents and saved games, sent to it as a generated JavaScript module.

They are kept here, beside the host's own wording, so that the page has no second copy of a rule or a term.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from perfectplay.analysis.opponent import Strength
from perfectplay.game import wording
from perfectplay.game.match import SAVED_FORMAT


class ByOutcome(Struct):
    """One text for each outcome."""

    win: str
    draw: str
    loss: str


class Vocabulary(Struct, rename="camel", kw_only=True):
    """The words for the values of one kind of game. `{mover}`, `{first}` and `{second}` stand for players' names."""

    letters: ByOutcome
    """Signs on the board, beside a number. Letters would look like those of pieces."""
    names: ByOutcome
    """In lists and for screen readers, before "in 5"."""
    headings: ByOutcome
    """Above the moves with such a value."""
    endless: str
    """The name of a draw that never ends."""
    outcomes: ByOutcome
    """Names in a table of outcomes."""
    outcomes_note: str
    """A note that such a table has no distances."""
    axis: tuple[str, str, str]
    """The chart's upper half, middle and lower half."""
    question: str
    """Shown instead of the verdict while hints are off."""
    task: str
    """Shown instead of the verdict of a puzzle."""
    right: str
    wrong: str
    facts: ByOutcome
    """Beside the numbers of such positions."""
    counted: ByOutcome
    """After a number of such positions."""
    above: str
    below: str
    """The halves of the histogram."""
    longest: str
    find_puzzle: str
    unit: str


def _counted(*, puzzle: bool, scored: bool = False) -> ByOutcome:
    return ByOutcome(*(wording.kind_name(kind, puzzle=puzzle, scored=scored) for kind in ("wins", "ties", "losses")))


_GAME = Vocabulary(
    letters=ByOutcome("✓", "=", "✗"),
    names=ByOutcome("Win", "Draw", "Loss"),
    headings=ByOutcome("Winning", "Drawing", "Losing"),
    endless="Draw (endless)",
    outcomes=ByOutcome("Win", "Draw", "Loss"),
    outcomes_note=wording.outcomes_only(puzzle=False),
    axis=("{first} wins", "draw", "{second} wins"),
    question="{mover} to move",
    task="Puzzle: {mover} to move, only one move wins",
    right="is correct: it is the only winning move",
    wrong="does not win",
    facts=ByOutcome("Won by the side to move", "Drawn", "Lost"),
    counted=_counted(puzzle=False),
    above="won",
    below="lost",
    longest="Longest wins",
    find_puzzle="Puzzle: find the winning move",
    unit="plies",
)
_PUZZLE = Vocabulary(
    letters=ByOutcome("✓", "∞", "✗"),
    names=ByOutcome("Solved", "Never solved", "Dead end"),
    headings=ByOutcome("Leads to the solution", "Never ends", "Leads to a dead end"),
    endless="Never solved",
    outcomes=ByOutcome("Solvable", "Not solvable", "Not solvable"),
    outcomes_note=wording.outcomes_only(puzzle=True),
    axis=("Solvable", "∞", "Dead end"),
    question="Can you solve it?",
    task="Puzzle: only one move leads to the solution",
    right="is correct: it is the only move to the solution",
    wrong="does not lead to the solution",
    facts=ByOutcome("Solvable", "Never ends", "Dead ends"),
    counted=_counted(puzzle=True),
    above="solvable",
    below="dead ends",
    longest="Longest solutions",
    find_puzzle="Puzzle: find the only solution",
    unit="moves",
)
# A puzzle with scores is not solved or missed; it ends with a higher or a lower score.
_SCORED_PUZZLE = msgspec.structs.replace(
    _PUZZLE,
    letters=ByOutcome("+", "0", "−"),
    names=ByOutcome("Above zero", "Zero", "Below zero"),
    headings=ByOutcome("Scores above zero", "Scores zero, or never ends", "Scores below zero"),
    endless="Never ends",
    axis=("Above zero", "0", "Below zero"),
    question="How much can you score?",
    task="Puzzle: only one move leads to a score above zero",
    right="is correct: it is the only move to a score above zero",
    wrong="does not lead to a score above zero",
    facts=ByOutcome("Score above zero", "Score zero, or never ends", "Score below zero"),
    counted=_counted(puzzle=True, scored=True),
    above="end above zero",
    below="end below zero",
    longest="Longest ways to a score above zero",
    find_puzzle="Puzzle: find the only move to a score above zero",
)


class Opponent(Struct):
    """A strength at which the computer plays."""

    value: str
    label: str
    description: str


def _describe_strength(strength: Strength) -> Opponent:
    description = {
        Strength.PERFECT: "never errs, and sets problems",
        Strength.RANDOM: "only random moves",
    }.get(
        strength,
        f"at {strength.slips:.0%} of its moves looks only {wording.counted(strength.sight // 2, 'move')} ahead",
    )
    return Opponent(strength.value, strength.value.capitalize(), description)


def write_module() -> str:
    """Return the JavaScript module `vocabulary.js`."""
    exports = {
        "VOCABULARIES": {"game": _GAME, "puzzle": _PUZZLE, "scoredPuzzle": _SCORED_PUZZLE},
        "SAVED_FORMAT": SAVED_FORMAT,
        "STRENGTHS": [_describe_strength(strength) for strength in Strength],
    }
    lines = [f"export const {name} = {msgspec.json.encode(value).decode()};" for name, value in exports.items()]
    return "\n".join(["// Generated by perfectplay.web.vocabulary.", *lines, ""])
