"""The law of the hook `walk`: what it says of many positions at once is what the other hooks say of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from perfectplay.errors import PLUGIN_FAULTS
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law

ENOUGH = 4096
"""Positions of a walk that are looked at: going through all of a game may take hours."""


_END = object()  # a walk may say None by mistake


class Said(NamedTuple):
    """What was said of one position."""

    status: int
    children: list[int]
    mover: int | None
    score: int | None


def walk(subject: GameUnderTest, position: int) -> str | None:
    is_start = position == subject.game.canonicalize(subject.game.start())  # of which a walk is about all that follows
    return next(_breaches(subject), None) if is_start else None


def _breaches(subject: GameUnderTest) -> Iterator[str]:
    """What is wrong with what a walk says, beginning with its first positions."""
    said: dict[int, Said] = {}
    try:
        _listen(subject, said)
    except PLUGIN_FAULTS as error:
        yield f"'walk' cannot be used: {type(error).__name__}: {error}"
    for position, told in said.items():
        expected = _asked(subject, position)
        for name, walked, asked in zip(Said._fields, told, expected, strict=True):
            if walked != asked:
                yield f"'walk' says {name} {walked} of {subject.name(position)}, but the game itself says {asked}"


def _listen(subject: GameUnderTest, said: dict[int, Said]) -> None:
    """The last that the walk says of each position, as far as it is heard."""
    from perfectplay_native.studied import checked_study

    game = subject.game
    assert game.rules.walk is not None
    movers = game.has_mover and not game.is_puzzle
    walking = iter(game.rules.walk())
    while (studied := subject.ask("walk", next, walking, _END)) is not _END:
        heard = checked_study(studied, movers=movers, scores=game.has_score)
        begin = 0
        for i, end in enumerate(heard.ends.tolist()):
            children = sorted(set(heard.children[begin:end].tolist()))
            mover = None if heard.movers is None else int(heard.movers[i])
            score = None if heard.scores is None else int(heard.scores[i])
            said[int(heard.positions[i])] = Said(int(heard.statuses[i]), children, mover, score)
            begin = end
        if len(said) >= ENOUGH:
            return


def _asked(subject: GameUnderTest, position: int) -> Said:
    game = subject.game
    over = subject.is_over(position)
    mover = game.mover(position) if game.has_mover and not game.is_puzzle else None
    score = (game.score(position) if over else 0) if game.has_score else None
    return Said(int(game.status(position)), sorted(subject.children(position)), mover, score)


WALK_LAWS = (
    Law("walk", "'walk' says what the other hooks say", walk, lambda subject: subject.game.rules.walk is not None),
)
