"""Connect Four: the number of reachable positions (columns × rows), mirror images counted separately except on 6×5."""

from large.facts import Facts

SOURCE = "Tromp; Böck 2025 (markus7800/Connect4-Strong-Solver)"


def board(width: int, height: int, expected: dict[str, object], *more: str, max_cost: float | None = None) -> Facts:
    command = ("connect4", "--width", str(width), "--height", str(height), "--no-mirror", *more)
    return Facts(command, expected, SOURCE, max_cost=max_cost)


ON_DISK = ("--backend", "lmdb", "--memory")


FACTS = (
    board(4, 4, {"positions": 161_029, "outcome": "draw"}),
    board(5, 5, {"positions": 69_763_700, "outcome": "draw"}),
    board(6, 4, {"positions": 94_910_577}),
    board(5, 5, {"positions": 69_763_700, "hash": "d93a3de9879b4d2d"}, *ON_DISK, "1G"),
    board(
        5, 6, {"positions": 1_044_334_437, "outcome": "draw", "hash": "e2fd8f94b4369b09"}, *ON_DISK, "2G", max_cost=1.5
    ),
    Facts(
        ("connect4", "--width", "6", "--height", "5", *ON_DISK, "3G"),
        {"positions": 1_409_488_535, "hash": "8108040cd9bdd0df"},
        SOURCE,
        max_cost=1.5,
        max_system=0.1,
    ),
)
