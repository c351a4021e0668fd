"""Connect Four: how many positions play can reach, mirror images counted apart (columns × rows)."""

from large.facts import Facts

SOURCE = "Tromp; Böck 2025 (markus7800/Connect4-Strong-Solver)"


def board(width: int, height: int, expected: dict[str, object], *more: str) -> Facts:
    return Facts(("connect4", "--width", str(width), "--height", str(height), "--no-mirror", *more), expected, SOURCE)


FACTS = (
    board(4, 4, {"positions": 161_029, "outcome": "draw"}),
    board(5, 5, {"positions": 69_763_700, "outcome": "draw"}),
    board(6, 4, {"positions": 94_910_577}),
    board(5, 6, {"positions": 1_044_334_437}, "--backend", "lmdb", "--memory", "1G"),
)
