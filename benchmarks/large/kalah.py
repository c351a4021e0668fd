"""Kalah with empty capture, ended by either row: results of Irving, Donkers & Uiterwijk (2000), as quoted by others.

Their table 9 has the margins of boards with four pits and more, table 10 who wins. Positions are our own count.
"""

from large.facts import Facts

SOURCE = "Irving, Donkers & Uiterwijk 2000, tables 9 and 10, as quoted by others; positions: our own first solve"
RULES = ("--empty-capture", "--either-row")


def board(pits: int, seeds: int, expected: dict[str, object], *command: str) -> Facts:
    return Facts((*command, "kalah", "--pits", str(pits), "--seeds", str(seeds), *RULES), expected, SOURCE)


def proven(pits: int, seeds: int, outcome: str) -> Facts:
    """A board too large for a table; a search proves who wins."""
    return board(pits, seeds, {"outcome": outcome}, "prove")


FACTS = (
    board(6, 1, {"score": 2, "positions": 168_562}),
    board(3, 6, {"outcome": "loss", "positions": 1_566_281}),
    board(4, 3, {"score": 8, "positions": 4_582_462}),
    board(5, 2, {"score": 0, "positions": 12_706_262}),
    board(4, 4, {"score": 2, "positions": 36_950_397}),
    proven(6, 2, "win"),
    proven(5, 3, "win"),
    proven(4, 5, "win"),
)
