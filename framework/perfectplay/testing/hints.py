"""Hints about rules that are legal but unusual. Each describes the observation, and the change if it is a mistake."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from perfectplay.errors import PerfectPlayError
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status

PARITY_POSITIONS = 2000
"""How many positions are searched for one that occurs after both an even and an odd number of moves."""

MIN_SAMPLE = 20
"""Fewer moves or results than this do not establish a pattern."""

PLAYOUTS, PLAYOUT_PLIES = 40, 200


def find_hints(subject: GameUnderTest, positions: Collection[int]) -> dict[str, str]:
    """Return the hints by the law they belong to. `positions` are those in which the laws were checked."""
    hints = {}
    for law, find_hint in HINTS.items():
        subject.log_check(law)
        try:
            hint = find_hint(subject, positions)
        except PerfectPlayError:
            continue  # an error is more important, and reported elsewhere
        if hint is not None:
            hints[law] = hint
    return hints


def hint_at_turns(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    game = subject.game
    if game.is_puzzle:
        return None
    if _moves_are_reversible(subject, positions):
        return (
            "every move can be undone by the next one, as in a puzzle for one player; if it is one, return one name "
            "from 'players', otherwise every second move is assumed to be the opponent's"
        )
    if game.has_mover:
        if len(positions) < MIN_SAMPLE or any(map(game.mover, positions)):
            return None
        return "'mover' returns 0 in every position; if one player plays alone, return one name from 'players' instead"
    if subject.has_board:
        return None
    both = _position_at_both_parities(subject)
    if both is None:
        return None
    return (
        f"no hook gives the player to move, so every move is assumed to pass the turn, but {subject.name(both)} occurs "
        f"after an even and an odd number of moves; if a player may move again, add 'mover'; if one player plays "
        f"alone, return one name from 'players'"
    )


def _moves_are_reversible(subject: GameUnderTest, positions: Collection[int]) -> bool:
    game, moves = subject.game, 0
    for position in list(positions)[:MIN_SAMPLE]:
        for _, child in game.follow(position):
            if not subject.is_over(child):
                moves += 1
                if position not in {after for _, after in game.follow(child)}:
                    return False
    return moves >= MIN_SAMPLE


def _position_at_both_parities(subject: GameUnderTest) -> int | None:
    game = subject.game
    parity = {game.start(): 0}
    queue = list(parity)
    for position in queue:
        for _, child in game.follow(position):
            if child not in parity:
                parity[child] = 1 - parity[position]
                if len(queue) < PARITY_POSITIONS:
                    queue.append(child)
            elif parity[child] == parity[position]:
                return child
    return None


def hint_at_status(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """In most games the player who has just moved wins, so the player to move has LOST."""
    final = {subject.game.status(position) for position in positions} - {Status.ONGOING}
    if subject.game.is_puzzle:
        if final and Status.WON not in final:
            return "no final position found is WON; return WON for a solved puzzle, and LOST only for a dead end"
        return None
    results = final - {Status.DRAWN}
    if results == {Status.LOST, Status.WON}:
        return _hint_at_winner(subject)
    if results != {Status.WON} or subject.game.has_mover:  # with 'mover', the last player may still be to move
        return None
    return (
        "every decisive final position found is WON, a win for the player who would move next; if the player who has "
        "just moved wins, return LOST; if one player plays alone, keep WON and return one name from 'players'"
    )


def _hint_at_winner(subject: GameUnderTest) -> str | None:
    """If the same player wins every game, WON and LOST were probably meant from that player's view."""
    winners = list(_winners(subject))
    if len(winners) < MIN_SAMPLE or len(set(winners)) > 1:
        return None
    return (
        f"some final positions are WON and some LOST, but {subject.game.players[winners[0]]} wins in all that were "
        f"found; return the status for the player who would move next, not always for the same player"
    )


def _winners(subject: GameUnderTest) -> Iterator[int]:
    """Yield the winners of random games: 0 is the player who begins."""
    game = subject.game
    for seed in range(PLAYOUTS):
        positions = list(subject.playout(PLAYOUT_PLIES, seed))
        turn = sum(not game.keeps_turn(before, after) for before, after in pairwise(positions)) % 2
        status = game.status(positions[-1])
        if status in (Status.LOST, Status.WON):
            yield turn if status is Status.WON else 1 - turn


def hint_at_moves(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """In a game for two, a move without effect is probably a pass."""
    game = subject.game
    for position in () if game.is_puzzle else positions:
        for move, child in game.follow(position):
            if child == position:
                return (
                    f"move {game.format_move(position, move)} in {subject.name(position)} does not change the "
                    f"position; if it passes the turn, the player to move must be part of the position"
                )
    return None


def hint_at_hooks(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    if not subject.game.unmarked_hooks:
        return None
    name = subject.game.unmarked_hooks[0]
    return f"'{name}' has the name of a hook, but is not used because it lacks @hookimpl; add that, or rename it"


HINTS = {"hooks": hint_at_hooks, "moves": hint_at_moves, "turns": hint_at_turns, "status": hint_at_status}
"""The function that looks for a hint, by the law that the hint belongs to."""
