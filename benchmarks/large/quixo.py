"""Quixo: results, plies and numbers of positions."""

from large.facts import Facts

SOURCE = (
    "GamesmanOne for who wins, and for the 21 plies; the positions are all boards up to symmetry (Burnside's lemma)"
)

FACTS = (
    Facts(
        ("quixo", "--width", "3", "--height", "3"),
        {"outcome": "win", "remoteness": 7, "positions": 2_862, "hash": "7565094ab157c1ad"},
        SOURCE,
    ),
    Facts(
        ("quixo", "--width", "4", "--height", "4"),
        {"outcome": "win", "remoteness": 21, "positions": 5_398_083, "hash": "5175b56e091b68fd"},
        SOURCE,
        max_cpu=3.4,
    ),
    Facts(
        ("quixo", "--width", "5", "--height", "4"),
        {"outcome": "win", "remoteness": 19, "positions": 871_858_485, "hash": "2ff1daaff079cddf"},
        "an independent trial kernel; the positions by Burnside's lemma",
        max_cpu=250,
    ),
)
