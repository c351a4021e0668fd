"""The laws of every game, one small function each: given a position, what is broken there, or None.

A message says what is wrong, where, and what to do about it. Laws ask through `Game`, so that a hook that raises, or
answers what it must not, speaks for itself.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, UsageError
from perfectplay.game.board import Board, board_fault
from perfectplay.game.game import Game
from perfectplay.testing.subject import GameUnderTest
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


# A board can be drawn and clicked: every move has its click, and every piece a shape that exists.

SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "cross", "star", "block", "text")


def board(subject: GameUnderTest, position: int) -> str | None:
    drawn = subject.game.board(position)
    assert drawn is not None
    where = f"'board' of {subject.name(position)}"
    if fault := board_fault(drawn):
        return f"{where} cannot be drawn: {fault}"
    found = _wrong_clicks(drawn, subject.game.moves(position)) or _wrong_shape(drawn)
    return found and f"{where} {found}"


def _wrong_clicks(drawn: Board, legal: list[int]) -> str | None:
    clicked = sorted(click.move for click in drawn.clicks)
    if legal and not clicked:
        return f"has no clicks, but there are {len(legal)} moves: give a Click for each, so that it can be played"
    if clicked != sorted(legal):
        return "must have one click for each legal move, and no other"
    return None


def _wrong_shape(drawn: Board) -> str | None:
    for piece in [piece for cell in drawn.cells for piece in cell.stack] + [tray.piece for tray in drawn.trays]:
        if piece.shape not in SHAPES:
            return f"has a piece {piece.label!r} of shape {piece.shape!r}: shapes are {', '.join(SHAPES)}"
    return None


BOARD_LAWS = (
    Law(
        "board", "a board has a click for each move, and pieces that can be drawn", board, lambda subject: subject.draws
    ),
)


# Whose turn it is, and how much is won: the laws of `mover`, `players`, `score` and of what `board` shows of them.

MOVES_TRIED = 8
"""Of a position's moves, after how many it is asked whose turn it is: drawing a board may be slow."""


def turns(subject: GameUnderTest, position: int) -> str | None:
    game, where = subject.game, subject.name(position)
    said = subject.mover_hook(position)
    drawn = game.board(position)
    shown = None if drawn is None else drawn.to_move
    for hook, player in (("mover", said), ("board", shown)):
        if player is not None and player != 0 and position == game.start():
            return f"'{hook}' says that player {player} is to move at the start: 0 is the player who begins"
        if player is not None and player != 0 and game.is_puzzle:
            return f"'{hook}' says that player {player} is to move in {where}, but 'players' names one player: say 0"
    if said is not None and shown is not None and said != shown:
        return f"'mover' says {said} in {where}, but 'board' shows to_move {shown}: both must name the player to move"
    if shown is None or said is not None or game.is_puzzle:
        return None
    return _turn_that_stays(subject, position, shown)


def _turn_that_stays(subject: GameUnderTest, position: int, shown: int) -> str | None:
    """Without `mover` every move passes the turn; a board can tell whether that is so."""
    game = subject.game
    legal = game.moves(position)
    for move in legal[:: max(1, len(legal) // MOVES_TRIED)]:
        child = game.apply(position, move)
        after = game.board(child)
        if after is not None and after.to_move == shown:
            return (
                f"move {game.format_move(position, move)} in {subject.name(position)} leads to {subject.name(child)}, "
                f"where 'board' shows the same player to move again; without 'mover' every move passes the turn. "
                f"Where a player may move again, give 'mover'; where there is one player, return one name from "
                f"'players'; else to_move of one of the boards is wrong"
            )
    return None


def score(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    stands = game.status(position)
    if stands is Status.ONGOING:
        return None
    won = game.score(position)
    sign = {Status.LOST: -1, Status.DRAWN: 0, Status.WON: 1}[stands]
    if (won > 0) - (won < 0) != sign:
        wanted = {-1: "below 0", 0: "0", 1: "above 0"}[sign]
        return (
            f"'status' says {stands.name} in {subject.name(position)}, but 'score' says {won}: both speak of the "
            f"player to move, so the score must be {wanted} there"
        )
    return None


def _tells_turns(subject: GameUnderTest) -> bool:
    return subject.game.has_mover or subject.draws


TURN_LAWS = (
    Law("turns", "'mover' and 'board' agree on whose turn it is, and so do the moves", turns, _tells_turns),
    Law("score", "'score' agrees with 'status'", score, lambda subject: subject.game.has_score),
)


# The law of the hook `walk`: what it says of many positions at once is what the other hooks say of each.

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
    from perfectplay_native.memo import check_batch

    game = subject.game
    assert game.rules.walk is not None
    movers = game.has_mover and not game.is_puzzle
    walking = iter(game.rules.walk())
    while (studied := subject.ask("walk", next, walking, _END)) is not _END:
        heard = check_batch(studied, movers=movers, scores=game.has_score)
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


# Does play end, or come back to where it was? A position with a count of moves in it does neither.
#
# Players who take any move soon end most games, and hide such a count. So here they avoid the end, and it is enough that
# some move leads back to a position that was there before: a game that can repeat shows that within a few moves.

MOST_PLIES = 1 << 14
"""So many moves without an end or a repetition are too many for certain: a solve would give up there."""

ENOUGH_PLIES = 1 << 10
"""And so many if they took longer than `SECONDS`."""

SECONDS = 4.0
PLAYOUTS = 4


def endless(subject: GameUnderTest) -> str | None:
    """What is wrong, if play was found to go on for ever."""
    for seed in range(PLAYOUTS):
        try:
            found = _long_playout(subject.game, random.Random(seed))
        except PerfectPlayError:
            return None  # another law's business
        if found is not None:
            plies, position = found
            return (
                f"after {plies:,} moves play had neither ended nor come back to a position it had been in (it stood at "
                f"{subject.name(position)}): does something in a position only ever grow, like a count of moves? "
                f"Leave out whatever the rest of the game does not depend on"
            )
    return None


def _long_playout(game: Game, dice: random.Random) -> tuple[int, int] | None:
    """The length and the last position of a playout that was too long; None if it ended, or could repeat."""
    deadline = time.monotonic() + SECONDS
    position = game.start()
    seen = {game.canonicalize(position)}
    for plies in range(MOST_PLIES):
        if plies >= ENOUGH_PLIES and time.monotonic() > deadline:
            return plies, position
        children = [game.apply(position, move) for move in game.moves(position)]
        if any(game.canonicalize(child) in seen for child in children):
            return None
        going_on = [child for child in children if game.status(child) is Status.ONGOING]
        if not going_on:
            return None
        position = dice.choice(going_on)
        seen.add(game.canonicalize(position))
    return MOST_PLIES, position
