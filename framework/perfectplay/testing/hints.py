"""What is allowed, but odd: each hint says what was seen, and what to write if it was not meant so."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator

from perfectplay.errors import PerfectPlayError
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status

PARITY_POSITIONS = 2000
"""How many positions are looked at for one that comes up after an even and after an odd number of moves."""

FEW = 20
"""Fewer moves, or ends, than this say nothing about a habit."""

PLAYOUTS, PLAYOUT_PLIES = 40, 200


def whose_turn(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """For a game that nobody can ask whose turn it is, and so cannot be seen to alternate."""
    game = subject.game
    if game.is_puzzle:
        return None
    if _moves_go_straight_back(subject, positions):
        return (
            "every move can be taken back by the next one, as when one player moves alone: if so, return one name "
            "from 'players', for else the opponent is thought to make every second move"
        )
    if game.has_mover:
        return _always_the_same(subject, positions)
    if subject.draws:
        return None
    twice = _at_both_parities(subject)
    seen = "" if twice is None else f"; {subject.name(twice)} comes up after an even and an odd number of moves"
    return (
        f"nothing tells whose turn it is, so every move is taken to pass the turn{seen}: if a player may move again, "
        f"give 'mover'; if one player plays alone, return one name from 'players'"
    )


def _always_the_same(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    if len(positions) < FEW or any(subject.mover_hook(position) for position in positions):
        return None
    return "'mover' says 0 in every position: if one player plays alone, return one name from 'players' instead"


def _moves_go_straight_back(subject: GameUnderTest, positions: Collection[int]) -> bool:
    game, moves = subject.game, 0
    for position in list(positions)[:FEW]:
        for move in game.moves(position):
            child = game.apply(position, move)
            if not subject.is_over(child):
                moves += 1
                if position not in {game.apply(child, back) for back in game.moves(child)}:
                    return False
    return moves >= FEW


def _at_both_parities(subject: GameUnderTest) -> int | None:
    game = subject.game
    parity = {game.start(): 0}
    queue = list(parity)
    for position in queue:
        for move in game.moves(position):
            child = game.apply(position, move)
            if child not in parity:
                parity[child] = 1 - parity[position]
                if len(queue) < PARITY_POSITIONS:
                    queue.append(child)
            elif parity[child] == parity[position]:
                return child
    return None


def who_wins_at_the_end(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """Whoever has just moved usually wins, so that the mover has LOST."""
    ends = {subject.game.status(position) for position in positions} & {Status.LOST, Status.WON}
    if subject.game.is_puzzle:
        if ends == {Status.LOST}:
            return "no end that was met is WON, the status of a solved puzzle: is LOST, a dead end, meant for it?"
        return None
    if ends == {Status.LOST, Status.WON}:
        return _always_won_by_the_same(subject)
    if ends != {Status.WON} or subject.game.has_mover:  # where turns stay, who moved last may well be the mover
        return None
    return (
        "every decisive end that was met is WON, a win for the player who would be next to move: if the player who has "
        "just moved wins, say LOST; if one player plays alone, return one name from 'players'"
    )


def _always_won_by_the_same(subject: GameUnderTest) -> str | None:
    """WON and LOST as one player sees them are a win for the same player throughout."""
    won = list(_winners(subject))
    if len(won) < FEW or len(set(won)) > 1:
        return None
    name = subject.game.players[won[0]]
    return (
        f"some ends are WON and some LOST, but {name} wins in all that were met: both speak of the player who would be "
        f"next to move, not of always the same one"
    )


def _winners(subject: GameUnderTest) -> Iterator[int]:
    """Who wins, 0 being who begins, in games played at random, as far as somebody does."""
    game = subject.game
    for seed in range(PLAYOUTS):
        dice = random.Random(seed)
        position, turn = game.start(), 0
        for _ in range(PLAYOUT_PLIES):
            legal = game.moves(position)
            if not legal:
                break
            child = game.apply(position, dice.choice(legal))
            position, turn = child, turn if game.keeps_turn(position, child) else 1 - turn
        stands = game.status(position)
        if stands in (Status.LOST, Status.WON):
            yield turn if stands is Status.WON else 1 - turn


def without_effect(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """For two players, a pass that nothing shows."""
    game = subject.game
    for position in () if game.is_puzzle else positions:
        for move in game.moves(position):
            if game.apply(position, move) == position:
                return (
                    f"move {game.format_move(position, move)} in {subject.name(position)} leaves the position as it "
                    f"is: if it passes the turn, whose turn it is must be part of the position"
                )
    return None


def not_marked(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """For a hook that is never asked, as nobody can know that it is one."""
    if not subject.game.unmarked_hooks:
        return None
    name = subject.game.unmarked_hooks[0]
    return f"'{name}' is called like a hook, but not marked @hookimpl, so it is not used: mark it, or rename it"


HINTS = {"hooks": not_marked, "moves": without_effect, "turns": whose_turn, "status": who_wins_at_the_end}
"""What to ask about once the laws have been tried, by the law that it belongs to."""


def find_hints(subject: GameUnderTest, positions: Collection[int]) -> dict[str, str]:
    """The hints, by law; a game whose hooks fail has worse to hear."""
    found = {}
    for law, ask in HINTS.items():
        subject.tries(law)
        try:
            hint = ask(subject, positions)
        except PerfectPlayError:
            continue
        if hint is not None:
            found[law] = hint
    return found
