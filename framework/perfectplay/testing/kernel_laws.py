"""The laws of a kernel in C: it agrees with its Python twin and with itself, and its index is perfect."""

from __future__ import annotations

from collections import Counter
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


def rank(subject: GameUnderTest, position: int) -> str | None:
    game, c = subject.game, subject.game.kernel
    assert c is not None
    where = subject.name(position)
    tier, index = c.rank(position)
    if tier != c.tier(position) or index >= c.tier_size(tier):
        return (
            f"'rank' of {where} is slot {index} of tier {tier}: that must be its own tier, {c.tier(position)}, and the "
            f"slot be below tier_size({tier}), {c.tier_size(tier)}"
        )
    if c.rank(game.canonicalize(position)) != (tier, index):
        return f"'rank' of {where} is not that of its canonical image: images share a slot"
    back = c.unrank(tier, index)
    if back is None or c.rank(back) != (tier, index):
        found = "no position" if back is None else subject.name(back)
        return f"'rank' of {where} is slot {index} of tier {tier}, but 'unrank' gives {found} there"
    if subject.is_over(position) or not c.has("expand"):
        return None
    children = {c.rank(game.apply(position, move)) for move in game.moves(position)}
    listed = set(c.expand(position))
    if listed != children:
        odd = "leaves out" if children - listed else "lists"
        slot = min(children - listed or listed - children)
        return (
            f"the kernel's expand in {where} {odd} slot {slot[1]} of tier {slot[0]}: it must list the slots of all "
            f"children, and no others"
        )
    return None


def retract(subject: GameUnderTest, position: int) -> str | None:
    """Asked of open positions only; and only edges between tiers that play can return to are told apart."""
    c = subject.game.kernel
    assert c is not None
    if not subject.is_open(position):
        return None
    mine = c.rank(position)
    for slot, times in Counter(c.expand(position)).items():
        child = c.unrank(*slot)
        if child is None or not subject.is_open(child) or mine[0] not in subject.sister_tiers[slot[0]]:
            continue
        back = c.retract(child).count(mine)
        if back != times:
            return _counted_differently(subject, position, child, times, back)
    for slot, back in Counter(c.retract(position)).items():
        parent = c.unrank(*slot)
        if parent is None:
            return f"the kernel's retract in {subject.name(position)} lists slot {slot}, which holds no position"
        if not subject.is_open(parent) or slot[0] not in subject.sister_tiers[mine[0]]:
            continue
        times = c.expand(parent).count(mine)
        if back != times:
            return _counted_differently(subject, parent, position, times, back)
    return None


def _counted_differently(subject: GameUnderTest, parent: int, child: int, times: int, back: int) -> str:
    return (
        f"{subject.name(child)} stands {times} times in expand of {subject.name(parent)}, but that stands {back} times "
        f"in retract of the former: both must count alike"
    )


def _has(*functions: str) -> Callable[[GameUnderTest], bool]:
    def applies(subject: GameUnderTest) -> bool:
        kernel = subject.game.kernel
        return kernel is not None and all(map(kernel.has, functions))

    return applies


KERNEL_LAWS = (
    Law("room", "no position has more moves or parents than the kernel says", room, _has("moves")),
    Law("kernel", "the kernel and the Python hooks agree", kernel, _has("moves")),
    Law("rank", "'rank' and 'unrank' are inverse, and 'expand' lists the children's slots", rank, _has("rank")),
    Law("retract", "'retract' is the converse of 'expand'", retract, _has("rank", "expand", "retract")),
)
