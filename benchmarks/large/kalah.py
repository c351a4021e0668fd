"""Kalah with empty capture, ended by either row: what is published, and the largest boards that were solved here."""

from large.facts import Facts

PUBLISHED = "Irving, Donkers & Uiterwijk 2000, as others quote their table 9"
OWN = "our own first solve; no source"


def board(pits: int, seeds: int, expected: dict[str, object], source: str = OWN) -> Facts:
    rules = ("--empty-capture", "--either-row")
    return Facts(("kalah", "--pits", str(pits), "--seeds", str(seeds), *rules), expected, source)


FACTS = (
    board(6, 1, {"score": 2}, PUBLISHED),
    board(3, 6, {"score": -10, "positions": 1_566_281}),
    board(5, 2, {"score": 0, "positions": 12_706_262}),
    board(4, 4, {"score": 2, "positions": 36_950_397}),
)
