"""The laws of a kernel in C: it agrees with its Python twin, and keeps to what it says of itself."""

from __future__ import annotations

from collections.abc import Callable

from perfectplay.errors import PluginError
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law


def kernel(subject: GameUnderTest, position: int) -> str | None:
    game, c = subject.game, subject.game.kernel
    assert c is not None
    where = subject.name(position)
    legal = game.moves(position)
    answers = [
        ("start", game.start(), c.start()),
        ("valid", game.valid(position), c.valid(position)),
        ("status", game.status(position), c.status(position)),
        ("moves", sorted(legal), sorted(c.moves(position))),
        ("canonicalize", game.canonicalize(position), c.canonicalize(position)),
        ("tier", game.tier(position), c.tier(position)),
    ]
    if c.has("mover") and game.has_mover:
        answers.append(("mover", game.mover(position), c.mover(position)))
    if game.has_score and subject.is_over(position):
        answers.append(("score", game.score(position), c.score(position) if c.scored else None))
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
    if claims_win and not subject.can_win_at_once(position):
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
                f"{_why_turns_alternate(subject)}"
            )
    return None


def gives(*functions: str) -> Callable[[GameUnderTest], bool]:
    def applies(subject: GameUnderTest) -> bool:
        kernel = subject.game.kernel
        return kernel is not None and all(map(kernel.has, functions))

    return applies


def _says_that_turns_alternate(subject: GameUnderTest) -> bool:
    kernel = subject.game.kernel
    if kernel is None or subject.game.is_puzzle or not subject.game.has_mover:
        return False
    return kernel.turns_alternate or not kernel.has("mover")


def _why_turns_alternate(subject: GameUnderTest) -> str:
    kernel = subject.game.kernel
    if kernel is not None and kernel.turns_alternate:
        return "has the flag PP_TURNS_ALTERNATE: leave the flag out"
    return "has no 'mover', which says that every move passes the turn: give it one"


KERNEL_LAWS = (
    Law("room", "no position has more moves or parents than the kernel says", room, gives("moves")),
    Law("kernel", "the kernel and the Python hooks agree", kernel, gives("moves")),
    Law("alternation", "every move passes the turn, if the kernel says so", alternation, _says_that_turns_alternate),
)
