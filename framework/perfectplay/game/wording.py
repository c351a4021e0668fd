"""Phrases for values, verdicts and quantities, used by the terminal, the web page and all other output.

`game_verdict` and `worth` phrase a value of a game. A verdict names the winner and counts plies and the winner's moves,
because players think of "mate in 7".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from perfectplay.game.game import DEFAULT_PLAYERS, Game
from perfectplay.values import Outcome, Value

_PUZZLE_KINDS = {
    "wins": "solvable",
    "losses": "dead ends",
    "endless_draws": "unsolvable",
    "ties": "unsolvable, ending",
    "draws": "unsolvable",
}
_SCORED_PUZZLE_KINDS = {
    "wins": "above zero",
    "losses": "below zero",
    "endless_draws": "endless",
    "ties": "zero",
    "draws": "zero, or endless",
}


def sides(game: Game, mover: int | None) -> tuple[str, str]:
    """Return the names of the mover and the opponent for use in sentences; `mover` is None if unknown."""
    if mover is None:
        return "The player to move", "The opponent"
    names = ("First player", "Second player") if game.players == DEFAULT_PLAYERS else game.players
    return names[mover], names[len(names) - 1 - mover]


def worth(game: Game, value: Value) -> str:
    """Return a value in a few words. A puzzle is not won but solved, or has a score."""
    if not game.is_puzzle:
        return str(value)
    if value.outcome_only:
        return "can be solved" if value.outcome is Outcome.WIN else "cannot be solved"
    if game.has_score and value.remoteness is not None:
        return f"score {signed(value.score)} in {value.remoteness}"
    if value.outcome is Outcome.DRAW:
        return "never ends" if game.has_score else "never solved"
    return f"{'solved' if value.outcome is Outcome.WIN else 'dead end'} in {value.remoteness}"


def game_verdict(game: Game, value: Value, mover: int | None) -> str:
    """Return a sentence on a position of this game, in which `mover` is to move."""
    if game.is_puzzle:
        return puzzle_verdict(value, scored=game.has_score)
    return verdict(value, *sides(game, mover), alternating=game.turns_alternate)


def verdict(
    value: Value, mover: str = "The player to move", opponent: str = "The opponent", *, alternating: bool = True
) -> str:
    """Return a sentence on a solved position. It counts the winner's moves only if turns alternate.

    >>> verdict(Value(Outcome.WIN, 13), "First player", "Second player")
    'First player wins in 13 plies (7 of its moves)'
    >>> verdict(Value(Outcome.LOSS, 2), "First player", "Second player")
    'Second player wins in 2 plies (1 of its moves)'
    >>> verdict(Value(Outcome.WIN, 34, score=10), "Orange", "Blue", alternating=False)
    'Orange wins by 10 in 34 plies'
    >>> verdict(Value(Outcome.DRAW, None))
    'Draw: neither player can force a win, and play need never end'
    >>> verdict(Value(Outcome.WIN, None, outcome_only=True), "First player", "Second player")
    'First player wins'
    """
    if value.outcome_only:
        return proven(value.outcome, mover, opponent)
    plies_left = value.remoteness
    if value.outcome is Outcome.DRAW:
        if plies_left is None:
            return "Draw: neither player can force a win, and play need never end"
        return "Game over: a draw" if plies_left == 0 else f"Draw in {plies(plies_left)}"
    assert plies_left is not None
    wins = value.outcome is Outcome.WIN
    winner = mover if wins else opponent
    by = f" by {abs(value.score):,}" if value.score else ""
    if plies_left == 0:
        return f"Game over: {_inside(winner)} has won{by}"
    own = (plies_left + 1) // 2 if wins else plies_left // 2  # the mover plays plies 1, 3, 5, …
    return f"{winner} wins{by} in {plies(plies_left)}" + (f" ({own:,} of its moves)" if alternating else "")


def headline(game: Game, value: Value, mover: int | None) -> str:
    """Return a short sentence on a position, which counts the winner's own moves and no plies."""
    left, wins = value.remoteness, value.outcome is Outcome.WIN
    if game.is_puzzle or value.outcome_only or not left:
        return game_verdict(game, value, mover)
    if value.outcome is Outcome.DRAW:
        return "Draw with best play"
    own, other = sides(game, mover)
    by = f" by {abs(value.score):,}" if value.score else ""
    length = f" in {counted((left + 1) // 2, 'move')}" if game.turns_alternate else ""
    return f"{own if wins else other} wins{by}{length}"


def puzzle_verdict(value: Value, *, scored: bool = False) -> str:
    """Return a sentence on a position of a puzzle. In a `scored` puzzle a draw that ends is a score of 0.

    >>> puzzle_verdict(Value(Outcome.WIN, 31)), puzzle_verdict(Value(Outcome.WIN, 0))
    ('Solved in 31 moves', 'Game over: solved')
    >>> puzzle_verdict(Value(Outcome.LOSS, 0)), puzzle_verdict(Value(Outcome.LOSS, 4))
    ('Game over: a dead end', 'Cannot be solved: a dead end in 4 moves')
    >>> puzzle_verdict(Value(Outcome.LOSS, 0, score=-5)), puzzle_verdict(Value(Outcome.LOSS, 5, score=-5))
    ('Game over with a score of −5', 'The best score is −5, in 5 moves')
    >>> puzzle_verdict(Value(Outcome.DRAW, None)), puzzle_verdict(Value(Outcome.DRAW, 2), scored=True)
    ('Cannot be solved', 'The best score is 0, in 2 moves')
    >>> puzzle_verdict(Value(Outcome.WIN, None, outcome_only=True))
    'Can be solved'
    """
    if value.outcome_only:
        return "Can be solved" if value.outcome is Outcome.WIN else "Cannot be solved"
    has_score = value.score != 0 or (scored and value.remoteness is not None)
    left, by = value.remoteness, f" with a score of {signed(value.score)}" if has_score else ""
    if value.outcome is Outcome.WIN:
        return f"Solved in {counted(left or 0, 'move')}{by}" if left else f"Game over: solved{by}"
    if has_score:
        return f"The best score is {signed(value.score)}, in {counted(left, 'move')}" if left else f"Game over{by}"
    if left == 0:
        return "Game over: a dead end"
    if value.outcome is Outcome.DRAW or left is None:
        return "Cannot be solved"
    return f"Cannot be solved: a dead end in {counted(left, 'move')}"


def signed(score: int) -> str:
    """
    >>> signed(-1200), signed(7)
    ('−1,200', '7')
    """
    return f"{score:,}".replace("-", "−")


def kind_name(kind: str, *, puzzle: bool, scored: bool = False) -> str:
    """Return the label of a category in statistics; a puzzle has other labels because it has no winner.

    >>> kind_name("endless_draws", puzzle=False), kind_name("wins", puzzle=True)
    ('endless draws', 'solvable')
    >>> kind_name("losses", puzzle=True, scored=True)
    'below zero'
    """
    if not puzzle:
        return kind.replace("_", " ")
    return (_SCORED_PUZZLE_KINDS if scored else _PUZZLE_KINDS)[kind]


def length(count: int, *, puzzle: bool) -> str:
    """
    >>> length(13, puzzle=False), length(13, puzzle=True)
    ('13 plies', '13 moves')
    """
    return counted(count, "move") if puzzle else plies(count)


def proven(outcome: Outcome, mover: str = "The player to move", opponent: str = "The opponent") -> str:
    """Return a sentence on a position of which only the outcome is known.

    >>> proven(Outcome.WIN, "First player", "Second player")
    'First player wins'
    >>> proven(Outcome.DRAW)
    'Draw: neither player can force a win'
    """
    if outcome is Outcome.DRAW:
        return "Draw: neither player can force a win"
    return f"{mover if outcome is Outcome.WIN else opponent} wins"


def outcomes_only(*, puzzle: bool) -> str:
    """Return a note on a table without remoteness.

    >>> outcomes_only(puzzle=False)
    'This table stores who wins, not in how many moves (--values outcome).'
    """
    content = "what can be solved" if puzzle else "who wins"
    return f"This table stores {content}, not in how many moves (--values outcome)."


def plies(count: int) -> str:
    """
    >>> plies(1), plies(13)
    ('1 ply', '13 plies')
    """
    return "1 ply" if count == 1 else f"{count:,} plies"


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "position"), counted(5478, "position")
    ('1 position', '5,478 positions')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share(part: int, whole: int) -> str:
    """
    >>> share(1, 3), share(0, 0), share(1, 10**6)
    ('33.3 %', '0 %', '<0.1 %')
    """
    if part == 0 or whole == 0:
        return "0 %"
    percent = 100 * part / whole
    return "<0.1 %" if percent < 0.1 else f"{percent:.1f} %"


def seconds(time: float) -> str:
    """
    >>> seconds(0.0031), seconds(48.24), seconds(75), seconds(7265)
    ('0.003 s', '48.2 s', '1 min 15 s', '2 h 1 min')
    """
    if time < 1:
        return f"{time:.3f} s"
    if time < 60:
        return f"{time:.1f} s"
    minutes, rest = divmod(round(time), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def age(time: float) -> str:
    """Return a duration in one unit: seconds, minutes, hours or days.

    >>> age(20), age(60), age(7265), age(200_000)
    ('20 seconds', '1 minute', '2 hours', '2 days')
    """
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if time >= length:
            return counted(int(time // length), unit)
    return counted(max(0, int(time)), "second")


def rate(count: int, time: float) -> str:
    """
    >>> rate(340_000_000, 50), rate(5478, 0.5), rate(12, 0.5), rate(5, 0)
    ('6.8 M/s', '11.0 k/s', '24/s', '–')
    """
    if time <= 0:
        return "–"
    speed = count / time
    if speed >= 1e6:
        return f"{speed / 1e6:.1f} M/s"
    return f"{speed / 1e3:.1f} k/s" if speed >= 1e3 else f"{speed:.0f}/s"


def size(count: int) -> str:
    """
    >>> size(700), size(6_660_096), size(735_000_000), size(1_500_000_000), size(4 << 40)
    ('700 bytes', '6.4 MiB', '701 MiB', '1.4 GiB', '4.0 TiB')
    """
    if count < 1 << 10:
        return f"{count} bytes"
    if count < 1 << 20:
        return f"{count / (1 << 10):.0f} KiB"
    if count < 10 << 20:
        return f"{count / (1 << 20):.1f} MiB"
    if count < 1 << 30:
        return f"{count / (1 << 20):.0f} MiB"
    return f"{count / (1 << 30):.1f} GiB" if count < 1 << 40 else f"{count / (1 << 40):.1f} TiB"


def _inside(name: str) -> str:
    """Return a player's name for use inside a sentence; "The …" loses its capital."""
    return "t" + name[1:] if name.startswith("The ") else name


# ---- notebooks ----


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """Return a table. All texts are escaped; integers get separators and are aligned to the right."""
    head = "".join(f"<th>{escape(each)}</th>" for each in headings)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(content: object) -> str:
    if type(content) is int:
        return f'<td style="text-align: right">{content:,}</td>'
    return f'<td style="text-align: left">{escape(str(content))}</td>'
