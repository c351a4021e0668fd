"""The laws of every game, one small function each: given a position, what is broken there, or None.

A message says what is wrong, where, and what to do about it. Laws ask through `Game`, so that a hook that raises, or
answers what it must not, speaks for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from perfectplay.errors import UsageError
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.values import Status

MOVE_TEXTS = 8
"""Of a position's moves, how many are written and read back: reading may go through all of them."""

NOISE = ("", "?", "0", "-1", "a1 x", "9" * 30)
"""Texts that people may well type."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law, and how to try it on one position."""

    name: str
    promise: str
    breach: Callable[[GameUnderTest, int], str | None]
    applies: Callable[[GameUnderTest], bool] = lambda subject: True


def encoding(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    if not game.valid(position):
        return f"play reaches position {position}, but 'valid' refuses it: it must accept every position of the game"
    for noise in (position ^ 1, position << 1 & 2**64 - 1, ~position & 2**64 - 1, 2**64 - 2):
        game.valid(noise)  # any 64 bits may be asked: raising is what would be wrong
    for move in game.moves(position):
        child = game.apply(position, move)
        if not game.valid(child):
            return (
                f"move {move} leads from {subject.name(position)} to {child}, which 'valid' refuses: list only legal "
                f"moves, and accept every position of the game"
            )
    return None


def text(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    written = game.decode(position)
    back = _read_back(subject, written)
    if back != position:
        return (
            f"{position} is written as {written!r}, but 'encode' reads that as {back}: "
            f"every position needs a text of its own, that 'encode' reads back"
        )
    for name, written in game.notations(position).items():
        back = _read_back(subject, written)
        if not isinstance(back, int):  # another position may share a coarse notation, such as a key of all images
            return f"{position} is written as {written!r} ({name}), but 'encode' reads that as {back}"
    for noise in NOISE:
        with suppress(UsageError):  # which is right: a ValueError became one; anything else speaks for itself
            game.encode(noise)
    return None


def _read_back(subject: GameUnderTest, written: str) -> int | str:
    try:
        return subject.game.encode(written)
    except UsageError as error:
        return f"nothing ({error})"


def moves(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    legal = game.moves(position)
    for move in legal:
        if legal.count(move) > 1:
            return f"'moves' lists move {move} twice in {subject.name(position)}: list each legal move once"
    for move in legal[:: max(1, len(legal) // MOVE_TEXTS)]:
        written = game.format_move(position, move)
        if game.parse_move(position, written) != move:
            return (
                f"in {subject.name(position)}, move {move} is written as {written!r}, but 'parse_move' reads that as "
                f"another move: give each move of a position a text of its own"
            )
    for noise in NOISE:
        with suppress(UsageError):
            game.parse_move(position, noise)
    return None


def undo(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    for move in game.moves(position):
        child = game.apply(position, move)
        back = game.undo(child, move)
        if back != position:
            return (
                f"undo(apply(p, m), m) must be p: from {subject.name(position)}, move {move} leads to {child}, and "
                f"'undo' takes that back to {back}; a move must say everything that taking it back needs"
            )
    return None


def status(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    stands, legal = game.status(position), game.moves(position)
    if stands is Status.ONGOING and not legal:
        return (
            f"'status' says ONGOING in {subject.name(position)}, but there is no move: "
            f"say what being stuck means, LOST, DRAWN or WON"
        )
    if stands is not Status.ONGOING and legal:
        return (
            f"'status' says {stands.name} in {subject.name(position)}, but 'moves' still lists {len(legal)} moves: "
            f"return none when the game is over"
        )
    return None


def canonical(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    chosen = game.canonicalize(position)
    if not game.valid(chosen):
        return f"'canonicalize' turns {subject.name(position)} into {chosen}, which 'valid' refuses"
    again = game.canonicalize(chosen)
    if again != chosen:
        return (
            f"'canonicalize' turns {subject.name(position)} into {chosen}, but that into {again}: it must choose one "
            f"position of each kind and then keep it, for example the smallest of all images"
        )
    return None


def symmetry(subject: GameUnderTest, position: int) -> str | None:
    """Same status, tier and moves for images; by induction over the moves that means the same value, too."""
    game = subject.game
    chosen = game.canonicalize(position)
    if chosen == position:
        return None
    same = f"'canonicalize' calls {subject.name(position)} the same as {subject.name(chosen)}"
    if game.status(position) != game.status(chosen):
        ours, theirs = game.status(position).name, game.status(chosen).name
        return f"{same}, but one is {ours} and the other {theirs}: a symmetry must keep what the rules look at"
    if game.has_mover and game.mover(position) != game.mover(chosen):
        return f"{same}, but they have different players to move: with 'mover', a symmetry must keep whose turn it is"
    if game.has_score and subject.is_over(position) and game.score(position) != game.score(chosen):
        return f"{same}, but their scores are {game.score(position)} and {game.score(chosen)}: images share a score"
    if game.tier(position) != game.tier(chosen):
        return f"{same}, but their tiers are {game.tier(position)} and {game.tier(chosen)}: images share a tier"
    only_one = subject.children(position) ^ subject.children(chosen)
    if only_one:
        return (
            f"{same}, but only one of them can move to {subject.name(min(only_one))}: either they are not the same up "
            f"to symmetry, or images of one position get different representatives (try every image, not just some)"
        )
    return None


def tiers(subject: GameUnderTest, position: int) -> str | None:
    game, kernel = subject.game, subject.game.kernel
    mine = game.tier(position)
    known = None if kernel is None else kernel.tier_children(mine)
    for move in game.moves(position):
        child = game.apply(position, move)
        theirs = game.tier(child)
        if known is None and theirs < mine:
            return (
                f"tiers must never go back: move {move} leads from {subject.name(position)} in tier {mine} to "
                f"{subject.name(child)} in tier {theirs}; number tiers so that play only goes up, or leave 'tier' out"
            )
        if known is not None and theirs not in known:
            return f"move {move} in {subject.name(position)} leads to tier {theirs}, not in tier_children({mine})"
    return None


def parents(subject: GameUnderTest, position: int) -> str | None:
    """Asked of open positions only, and of parents only those matter whose tier play can return to."""
    game, kernel = subject.game, subject.game.kernel
    ask = kernel.parents if kernel is not None and kernel.has("parents") else game.parents  # as the engine would
    chosen = game.canonicalize(position)
    tier = game.tier(chosen)
    for child in subject.children(chosen):
        wanted = subject.is_open(child) and tier in subject.sisters(game.tier(child))
        if wanted and chosen not in ask(child):
            return (
                f"a move leads from {subject.name(chosen)} to {subject.name(child)}, but 'parents' of the latter does "
                f"not list the former: it must list every canonical position with a move there"
            )
    if not subject.is_open(chosen):
        return None
    for parent in ask(chosen):
        if not game.valid(parent) or game.canonicalize(parent) != parent:
            return f"'parents' of {subject.name(chosen)} lists {parent}, which is not a canonical position"
        matters = not subject.is_over(parent) and game.tier(parent) in subject.sisters(tier)
        if matters and chosen not in subject.children(parent):
            return (
                f"'parents' of {subject.name(chosen)} lists {subject.name(parent)}, but no move leads from there to it"
            )
    return None


LAWS = (
    Law("encoding", "positions fit 64 bits, and 'valid' accepts each that play reaches", encoding),
    Law("text", "'encode' reads back what 'decode' writes", text),
    Law("moves", "moves are distinct, and so are their texts", moves),
    Law("undo", "'undo' takes back what 'apply' did", undo, lambda subject: subject.game.has_undo),
    Law("status", "a finished game has no moves, an ongoing one has some", status),
    Law("canonical", "'canonicalize' chooses one position of each kind", canonical),
    Law("symmetry", "positions called the same have the same status, mover, score, tier and moves", symmetry),
    Law("tiers", "tiers never go back", tiers, lambda subject: subject.game.has_tier),
    Law("parents", "'parents' is the converse of 'moves'", parents, lambda subject: subject.game.has_parents),
)
