"""The laws of a kernel in C: it agrees with its Python twin, and keeps to what it says of itself."""

from __future__ import annotations

from collections.abc import Callable

from perfectplay.errors import PluginError
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law
from perfectplay.values import Status


def kernel(subject: GameUnderTest, position: int) -> str | None:
    game, c = subject.game, subject.game.kernel
    assert c is not None
    where = subject.name(position)
    legal = game.moves(position)
    answers = [
        ("valid", game.valid(position), c.valid(position)),
        ("status", game.status(position), c.status(position)),
        ("moves", sorted(legal), sorted(c.moves(position))),
        ("canonicalize", game.canonicalize(position), c.canonicalize(position)),
        ("tier", game.tier(position), c.tier(position)),
    ]
    for move in legal:
        child = game.apply(position, move)
        answers.append((f"apply (move {move})", child, c.apply(position, move)))
        if c.has("undo"):
            answers.append((f"undo (move {move})", position, c.undo(child, move)))
    if c.has("children") and legal:
        answers.append(("children", sorted(subject.children(position)), sorted(c.children(position))))
    for question, python, native in answers:
        if python != native:
            return f"kernel and rules disagree on '{question}' in {where}: the kernel says {native}, not {python}"
    if c.tier(position) >= c.tier_count:
        return f"{where} is in tier {c.tier(position)}, but the kernel's tier_count is {c.tier_count}: raise it"
    claims_win = c.has("wins_now") and bool(legal) and c.wins_now(position)
    if claims_win and not any(game.status(game.apply(position, move)) is Status.LOST for move in legal):
        return f"the kernel's wins_now says yes in {where}, but no move ends the game with a win"
    return None


def room(subject: GameUnderTest, position: int) -> str | None:
    try:
        subject.guarded.check_room(position, where=subject.name(position))
    except PluginError as error:
        return str(error)
    return None


def alternation(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    for move in game.moves(position):
        child = game.apply(position, move)
        if game.keeps_turn(position, child):
            return (
                f"move {game.format_move(position, move)} in {subject.name(position)} keeps the turn, but the kernel "
                f"has the flag PP_TURNS_ALTERNATE: leave the flag out"
            )
    return None


def gives(*functions: str) -> Callable[[GameUnderTest], bool]:
    def applies(subject: GameUnderTest) -> bool:
        kernel = subject.game.kernel
        return kernel is not None and all(map(kernel.has, functions))

    return applies


def _says_that_turns_alternate(subject: GameUnderTest) -> bool:
    kernel = subject.game.kernel
    return kernel is not None and kernel.turns_alternate


KERNEL_LAWS = (
    Law("room", "no position has more moves or parents than the kernel says", room, gives("moves")),
    Law("kernel", "the kernel and the Python hooks agree", kernel, gives("moves")),
    Law("alternation", "with PP_TURNS_ALTERNATE every move passes the turn", alternation, _says_that_turns_alternate),
)
