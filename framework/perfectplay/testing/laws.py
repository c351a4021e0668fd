"""The laws of every game, one function each.

A law takes a game and a position, and returns a message if the law is broken there, else None. The message names the
mistake, the position and the remedy. Laws call hooks through `Game`, which reports hooks that raise or
return a wrong type.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from perfectplay.errors import PLUGIN_FAULTS, PerfectPlayError, UsageError
from perfectplay.game.board import CELL_SHAPES, SHAPES, Board, board_fault, spell_board
from perfectplay.game.game import Game
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status
from perfectplay_native.limits import MAX_PYTHON_MOVES

MAX_MOVES = 8
"""How many moves of a position are formatted, parsed and drawn. Parsing may list all moves, and drawing is slow."""

MAX_WALK_POSITIONS = 4096
"""How many positions of a walk are checked. A complete walk may take hours."""

MAX_PLIES = 1 << 14
"""Number of moves after which a game without an end or a repetition counts as endless."""

MAX_SLOW_PLIES = 1 << 10
"""The same for games that take longer than `MAX_SECONDS` to get there."""

MAX_SECONDS = 4.0
PLAYOUTS = 4

NOISE = ("", "?", "0", "-1", "a1 x", "9" * 30)
"""Texts that users may type."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law, and the function that checks it in one position."""

    name: str
    promise: str
    check: Callable[[GameUnderTest, int], str | None]
    applies: Callable[[GameUnderTest], bool] = lambda subject: True


# ---- positions and moves ----


def check_encoding(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    if not game.valid(position):
        return f"'valid' rejects position {position}, which occurs in play; it must accept every position of the game"
    legal = game.moves(position)
    if game.kernel is None and len(legal) > MAX_PYTHON_MOVES:
        return (
            f"'moves' lists {len(legal):,} moves in {subject.name(position)}; a game in Python may have at most "
            f"{MAX_PYTHON_MOVES:,} in a position"
        )
    for noise in (position ^ 1, position << 1 & 2**64 - 1, ~position & 2**64 - 1, 2**64 - 2):
        game.valid(noise)  # must not raise for any 64 bits
    for move, child in game.follow(position):
        if not game.valid(child):
            fault = f"move {move} leads from {subject.name(position)} to {child}, which 'valid' rejects"
            return f"{fault}; list only legal moves, and accept every position of the game"
    return None


def check_text(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    text = game.decode(position)
    parsed = _parse(game, text)
    if parsed != position:
        return (
            f"'decode' writes position {position} as {text!r}, but 'encode' reads that as {parsed}; give every "
            f"position a different text that 'encode' can read"
        )
    for name, text in game.notations(position).items():
        parsed = _parse(game, text)
        if not isinstance(parsed, int):  # several positions may share a notation, such as a key of all images
            return f"'notations' writes position {position} as {text!r} ({name}), but 'encode' reads that as {parsed}"
    for noise in NOISE:
        with suppress(UsageError):  # the right reaction to a wrong text
            game.encode(noise)
    return None


def _parse(game: Game, text: str) -> int | str:
    try:
        return game.encode(text)
    except UsageError as error:
        return f"nothing ({error})"


def check_moves(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    legal = game.moves(position)
    if len(set(legal)) < len(legal):
        twice = next(move for move in legal if legal.count(move) > 1)
        return f"'moves' lists move {twice} twice in {subject.name(position)}; list each legal move once"
    for move in _sample(legal):
        text = game.format_move(position, move)
        if game.parse_move(position, text) != move:
            return (
                f"'format_move' writes move {move} in {subject.name(position)} as {text!r}, but 'parse_move' reads "
                f"that as another move; give each move of a position a different text"
            )
    for noise in NOISE:
        with suppress(UsageError):
            game.parse_move(position, noise)
    return None


def _sample(moves: list[int]) -> list[int]:
    return moves[:: max(1, len(moves) // MAX_MOVES)]


def check_undo(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    for move, restored in game.undo_moves(position):
        if restored != position:
            child = game.apply(position, move)
            return (
                f"move {move} leads from {subject.name(position)} to {child}, but 'undo' leads from there to "
                f"{restored}; undo(apply(p, m), m) must be p, so a move must contain everything needed to undo it"
            )
    return None


def check_status(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    status, legal = game.status(position), game.moves(position)
    if status is Status.ONGOING and not legal:
        return f"'status' returns ONGOING in {subject.name(position)}, but there is no move; return LOST, DRAWN or WON"
    if status is not Status.ONGOING and legal:
        fault = f"'status' returns {status.name} in {subject.name(position)}, but 'moves' lists {len(legal)} moves"
        return f"{fault}; return an empty list when the game is over"
    return None


# ---- symmetry, tiers and parents ----


def check_canonical(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    image = game.canonicalize(position)
    if not game.valid(image):
        return f"'canonicalize' maps {subject.name(position)} to {image}, which 'valid' rejects"
    again = game.canonicalize(image)
    if again != image:
        return (
            f"'canonicalize' maps {subject.name(position)} to {image}, but maps that to {again}; return the same "
            f"position for all images, for example the smallest of them"
        )
    return None


def check_symmetry(subject: GameUnderTest, position: int) -> str | None:
    """Images have the same status, tier and moves. By induction over the moves they then have the same value."""
    game = subject.game
    image = game.canonicalize(position)
    if image == position:
        return None
    mapped = f"'canonicalize' maps {subject.name(position)} to {subject.name(image)}"
    for hook, function, applies in (
        ("status", lambda position: game.status(position).name, True),
        ("mover", game.mover, game.has_mover),
        ("score", game.score, game.has_score and subject.is_over(position)),
        ("tier", game.tier, True),
    ):
        if applies and (one := function(position)) != (other := function(image)):
            return (
                f"{mapped}, but '{hook}' returns {one} for one and {other} for the other; a symmetry must preserve it"
            )
    difference = subject.children(position) ^ subject.children(image)
    if difference:
        return (
            f"{mapped}, but only one of them can move to {subject.name(min(difference))}; either they are not "
            f"symmetric, or 'canonicalize' returns different positions for images of one position (try every image)"
        )
    return None


def check_tiers(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    tier = game.tier(position)
    allowed = None if game.kernel is None else game.kernel.tier_children(tier)
    for move, child in game.follow(position):
        child_tier = game.tier(child)
        if allowed is None and child_tier < tier:
            return (
                f"move {move} leads from {subject.name(position)} in tier {tier} to {subject.name(child)} in tier "
                f"{child_tier}; number tiers so that play never goes to a lower one, or leave out 'tier'"
            )
        if allowed is not None and child_tier not in allowed:
            return f"move {move} in {subject.name(position)} leads to tier {child_tier}, not in tier_children({tier})"
    return None


def check_parents(subject: GameUnderTest, position: int) -> str | None:
    """The engine calls `parents` for open positions only, and ignores parents whose tier play cannot return to."""
    game, kernel = subject.game, subject.game.kernel
    list_parents = kernel.parents if kernel is not None and kernel.has("parents") else game.parents
    position = game.canonicalize(position)
    tier = game.tier(position)
    for child in subject.children(position):
        matters = subject.is_open(child) and tier in subject.component(game.tier(child))
        if matters and position not in list_parents(child):
            return (
                f"a move leads from {subject.name(position)} to {subject.name(child)}, but 'parents' of the second "
                f"does not list the first; it must list every canonical position with a move there"
            )
    if not subject.is_open(position):
        return None
    for parent in list_parents(position):
        if not game.valid(parent) or game.canonicalize(parent) != parent:
            return f"'parents' of {subject.name(position)} lists {parent}, which is not a canonical position"
        matters = not subject.is_over(parent) and game.tier(parent) in subject.component(tier)
        if matters and position not in subject.children(parent):
            return f"'parents' of {subject.name(position)} lists {subject.name(parent)}, but no move leads from there"
    return None


# ---- turns, scores and boards ----


def check_turns(subject: GameUnderTest, position: int) -> str | None:
    game, where = subject.game, subject.name(position)
    board = game.board(position)
    mover = game.mover(position) if game.has_mover else None
    to_move = None if board is None else board.to_move
    for source, player in (("'mover' returns", mover), ("'board' has to_move", to_move)):
        if player and position == game.start():
            return f"{source} {player} at the start; it must be 0, the player who begins"
        if player and game.is_puzzle:
            return f"{source} {player} in {where}, but 'players' names one player; it must be 0"
    if mover is not None and to_move is not None and mover != to_move:
        return f"'mover' returns {mover} in {where}, but 'board' has to_move {to_move}; both must be the player to move"
    if to_move is None or mover is not None or game.is_puzzle:
        return None
    for move in _sample(game.moves(position)):
        child = game.apply(position, move)
        board = game.board(child)
        if board is not None and board.to_move == to_move:
            return (
                f"move {game.format_move(position, move)} in {where} leads to {subject.name(child)}, where 'board' has "
                f"the same to_move, but without 'mover' every move passes the turn; if a player may move again, add "
                f"'mover'; if one player plays alone, return one name from 'players'; otherwise correct to_move"
            )
    return None


def check_score(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    status = game.status(position)
    if status is Status.ONGOING:
        return None
    score = game.score(position)
    expected = {Status.LOST: "below 0", Status.DRAWN: "0", Status.WON: "above 0"}[status]
    actual = "below 0" if score < 0 else "above 0" if score else "0"
    if actual != expected:
        return (
            f"'status' returns {status.name} in {subject.name(position)}, but 'score' returns {score}; both are for "
            f"the player to move, so the score must be {expected}"
        )
    return None


def check_board(subject: GameUnderTest, position: int) -> str | None:
    board = subject.game.board(position)
    assert board is not None
    if fault := board_fault(board):
        return f"'board' of {subject.name(position)} cannot be drawn: {fault}"
    legal = subject.game.moves(position)
    fault = _click_fault(board, legal) or _shape_fault(board) or _claim_fault(subject, position, board, legal)
    fault = fault or _spelling_fault(subject, position, board)
    return fault and f"'board' of {subject.name(position)} {fault}"


def _click_fault(board: Board, legal: list[int]) -> str | None:
    clicks = sorted(click.move for click in board.clicks)
    if legal and not clicks:
        return f"has no clicks, but there are {len(legal)} moves; add a Click for each move"
    if clicks != sorted(legal):
        return "must have exactly one click for each legal move"
    for click in board.clicks:
        if click.target is None and (click.capture or click.region or click.path or click.ends):
            return f"has a click for move {click.move} with other places but without a target"
    return None


def _spelling_fault(subject: GameUnderTest, position: int, board: Board) -> str | None:
    if board.spelling is None:
        return None
    text = spell_board(board)
    try:
        read = subject.game.encode(text)
    except UsageError as error:
        return f"has a spelling that writes {text!r}, which 'encode' refuses: {error}"
    return None if read == position else f"has a spelling that writes {text!r}, which is {subject.name(read)}"


def _shape_fault(board: Board) -> str | None:
    for piece in [piece for cell in board.cells for piece in cell.stack] + [tray.piece for tray in board.trays]:
        if piece.shape not in SHAPES:
            return f"has a piece {piece.label!r} of the unknown shape {piece.shape!r}; use one of {', '.join(SHAPES)}"
        if piece.shape == "seeds" and not piece.label.isdecimal():
            return f"has a piece of seeds with the label {piece.label!r}; expected their number"
    for cell in board.cells:
        if cell.shape not in CELL_SHAPES:
            return f"has a cell of the unknown shape {cell.shape!r}; use one of {', '.join(CELL_SHAPES)}"
    return None


def _claim_fault(subject: GameUnderTest, position: int, board: Board, legal: list[int]) -> str | None:
    """A claimed cell has an owner, so no move can make it unclaimed."""
    if not board.claims:
        return None
    for move in legal:
        after = subject.game.board(subject.game.apply(position, move))
        lost = set(board.claims) - set(after.claims if after is not None else ())
        if lost:
            return f"claims {min(lost)!r}, but not after move {subject.game.format_move(position, move)}"
    return None


# ---- the hook `walk`, which returns the results of the other hooks for many positions ----

_END = object()  # a walk may yield None by mistake


class Results(NamedTuple):
    """The results of the hooks in one position."""

    status: int
    children: list[int]
    mover: int | None
    score: int | None


def check_walk(subject: GameUnderTest, position: int) -> str | None:
    """Check the whole walk, when the position is the start."""
    if position != subject.game.canonicalize(subject.game.start()):
        return None
    try:
        walked = _walk(subject)
    except PLUGIN_FAULTS as error:
        return f"'walk' cannot be used: {type(error).__name__}: {error}"
    for each, results in walked.items():
        for name, actual, expected in zip(Results._fields, results, _call_hooks(subject, each), strict=True):
            if actual != expected:
                return f"'walk' yields {name} {actual} for {subject.name(each)}, but the other hooks give {expected}"
    return None


def _walk(subject: GameUnderTest) -> dict[int, Results]:
    """Return the last results for each position, up to `MAX_WALK_POSITIONS`."""
    from perfectplay_native.memo import check_batch

    game = subject.game
    assert game.rules.walk is not None
    movers = game.has_mover and not game.is_puzzle
    walk = iter(game.rules.walk())
    walked: dict[int, Results] = {}
    while len(walked) < MAX_WALK_POSITIONS and (step := subject.call("walk", next, walk, _END)) is not _END:
        batch = check_batch(step, movers=movers, scores=game.has_score)
        begin = 0
        for i, end in enumerate(batch.ends.tolist()):
            children = sorted(set(batch.children[begin:end].tolist()))
            mover = None if batch.movers is None else int(batch.movers[i])
            score = None if batch.scores is None else int(batch.scores[i])
            walked[int(batch.positions[i])] = Results(int(batch.statuses[i]), children, mover, score)
            begin = end
    return walked


def _call_hooks(subject: GameUnderTest, position: int) -> Results:
    game = subject.game
    mover = game.mover(position) if game.has_mover and not game.is_puzzle else None
    score = (game.score(position) if subject.is_over(position) else 0) if game.has_score else None
    return Results(int(game.status(position)), sorted(subject.children(position)), mover, score)


def _has_own_tiers(subject: GameUnderTest) -> bool:
    kernel = subject.game.kernel
    return subject.game.has_tier and (kernel is None or kernel.layout is None)


LAWS = (
    Law("encoding", "positions fit in 64 bits, and 'valid' accepts all that occur", check_encoding),
    Law("text", "'encode' reads what 'decode' writes", check_text),
    Law("moves", "moves and their texts are distinct", check_moves),
    Law("undo", "'undo' reverses 'apply'", check_undo, lambda subject: subject.game.has_undo),
    Law("status", "a finished game has no moves, an ongoing one has some", check_status),
    Law("canonical", "'canonicalize' returns one position for all images", check_canonical),
    Law("symmetry", "images have the same status, mover, score, tier and moves", check_symmetry),
    Law("tiers", "no move leads to an earlier tier", check_tiers, _has_own_tiers),
    Law("parents", "'parents' is the inverse of 'moves'", check_parents, lambda subject: subject.game.has_parents),
    Law(
        "turns",
        "'mover', 'board' and the moves agree on the player to move",
        check_turns,
        lambda subject: subject.game.has_mover or subject.has_board,
    ),
    Law("score", "'score' agrees with 'status'", check_score, lambda subject: subject.game.has_score),
    Law("board", "boards can be drawn and have a click for each move", check_board, lambda subject: subject.has_board),
    Law("walk", "'walk' agrees with the other hooks", check_walk, lambda subject: subject.game.rules.walk is not None),
)


# ---- the law `finite`, which is about whole games ----


def check_finite(subject: GameUnderTest) -> str | None:
    """Look for games that neither end nor repeat a position, for example because positions contain a count of moves.

    Random players soon end most games and would hide such a count, so these players avoid the end. A game passes as
    soon as some move leads back to an earlier position.
    """
    for seed in range(PLAYOUTS):
        try:
            playout = _endless_playout(subject.game, random.Random(seed))
        except PerfectPlayError:
            return None  # reported by another law
        if playout is not None:
            plies, position = playout
            return (
                f"after {plies:,} moves, a game has neither ended nor repeated a position (it is in "
                f"{subject.name(position)}); if positions contain something that only grows, such as a count of moves, "
                f"leave it out"
            )
    return None


def _endless_playout(game: Game, dice: random.Random) -> tuple[int, int] | None:
    """Return the length and last position of a playout that is too long, or None if it ended or could repeat."""
    deadline = time.monotonic() + MAX_SECONDS
    position = game.start()
    visited = {game.canonicalize(position)}
    for plies in range(MAX_PLIES):
        if plies >= MAX_SLOW_PLIES and time.monotonic() > deadline:
            return plies, position
        children = [child for _, child in game.follow(position)]
        if any(game.canonicalize(child) in visited for child in children):
            return None
        ongoing = [child for child in children if game.status(child) is Status.ONGOING]
        if not ongoing:
            return None
        position = dice.choice(ongoing)
        visited.add(game.canonicalize(position))
    return MAX_PLIES, position
