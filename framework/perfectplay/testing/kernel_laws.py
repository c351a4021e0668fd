"""The laws of a kernel in C: it agrees with its Python twin and with itself, and its index is perfect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law
from perfectplay.values import Status
from perfectplay_native.kernel import Edge


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
    if len(legal) > c.max_moves:
        return f"{where} has {len(legal)} moves, more than the kernel's max_moves, {c.max_moves}: raise it"
    if c.tier(position) >= c.tier_count:
        return f"{where} is in tier {c.tier(position)}, but the kernel's tier_count is {c.tier_count}: raise it"
    claims_win = c.has("wins_now") and bool(legal) and c.wins_now(position)
    if claims_win and not any(game.status(game.apply(position, move)) is Status.LOST for move in legal):
        return f"the kernel's wins_now says yes in {where}, but no move ends the game with a win"
    return None


def rank(subject: GameUnderTest, position: int) -> str | None:
    game, c = subject.game, subject.game.kernel
    assert c is not None
    where = subject.name(position)
    tier, index = c.rank(position)
    if tier != c.tier(position) or index >= c.tier_size(tier):
        return f"rank of {where} is tier {tier}, index {index}: that must be in its tier, below tier_size"
    if c.rank(game.canonicalize(position)) != (tier, index):
        return f"rank of {where} is not that of its canonical image: images share a slot"
    back = c.unrank(tier, index)
    if back is None or c.rank(back) != (tier, index):
        return f"rank of {where} is tier {tier}, index {index}, but unrank gives {back} there, of another rank"
    slots = {c.rank(game.apply(position, move)) for move in game.moves(position)}
    if (
        c.has("expand")
        and game.status(position) is Status.ONGOING
        and {edge.slot for edge in c.expand(position)} != slots
    ):
        return f"the kernel's expand in {where} must list the slots of all its children, and no others"
    return None


def retract(subject: GameUnderTest, position: int) -> str | None:
    c = subject.game.kernel
    assert c is not None
    if subject.game.status(position) is not Status.ONGOING:
        return None
    mine = c.rank(position)
    for (slot, keeps_turn), times in Counter(c.expand(position)).items():
        child = c.unrank(*slot)
        if child is None or mine[0] not in subject.sister_tiers[slot[0]]:
            continue  # values travel back only among tiers that play can return to
        back = c.retract(child).count(Edge(mine, keeps_turn))
        if back != times:
            return (
                f"{subject.name(child)} stands {times} times in expand of {subject.name(position)}, but that stands "
                f"{back} times in retract of the former: both must count alike"
            )
    return None


def _has(*functions: str) -> Callable[[GameUnderTest], bool]:
    def applies(subject: GameUnderTest) -> bool:
        kernel = subject.game.kernel
        return kernel is not None and all(map(kernel.has, functions))

    return applies


KERNEL_LAWS = (
    Law("kernel", "the kernel and the Python hooks agree", kernel, lambda subject: subject.game.kernel is not None),
    Law("rank", "'rank' and 'unrank' are inverse, and 'expand' lists the children's slots", rank, _has("rank")),
    Law("retract", "'retract' is the converse of 'expand'", retract, _has("rank", "expand", "retract")),
)
