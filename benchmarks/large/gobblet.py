"""Gobblet Gobblers: who wins, how many positions there are, and the table itself."""

from large.facts import Facts

FACTS = (
    Facts(
        ("gobblet",),
        {"outcome": "win", "remoteness": 13, "positions": 266_238_323, "hash": "df622b445fd507bc"},
        "our own; the first player's win is known, and the table is proven by `solve verify gobblet`",
        max_cpu=34,
    ),
)
