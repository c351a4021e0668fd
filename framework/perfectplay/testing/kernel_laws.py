"""The laws of a kernel in C: it agrees with its Python twin, and keeps to what it says of itself."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from perfectplay_native._engine import lib

from perfectplay.errors import PluginError
from perfectplay.testing.laws import Law
from perfectplay.testing.subject import MOST_SURVEYED, GameUnderTest
from perfectplay_native.kernel import Edge, Kernel
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.positions import DIGEST_FUNCTIONS, kernel_digests


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


# The laws of a perfect index in C: slots and positions are one to one, and edges are listed alike from both ends.
#
# The engine solves every slot, also those that play never comes to. So slots of every tier are looked at, the first and
# the last among them, and positions found there are tried with all laws.

SLOTS = 400
"""How many slots are tried, over all tiers; at least three of each."""

TIERS = 100
RUN = 8
"""Slots are unranked several at a time, as the engine does."""

SURVEYED = 4
"""Of a run of slots, how many a survey is asked about besides the one of interest."""


def slot_positions(subject: GameUnderTest) -> Iterator[tuple[int, str | None]]:
    """Positions of slots all over the index, each with what is wrong about it."""
    kernel = subject.game.kernel
    assert kernel is not None
    dice = random.Random(1)
    count = kernel.tier_count
    tiers = sorted({0, count - 1, *dice.sample(range(count), min(count, TIERS))})
    for tier in tiers:
        size = kernel.tier_size(tier)
        firsts = {0, max(0, size - RUN)} | {dice.randrange(size) for _ in range(SLOTS // RUN // len(tiers)) if size}
        for first in sorted(firsts):
            yield from _run(subject, tier, first, min(RUN, size - first))


def _run(subject: GameUnderTest, tier: int, first: int, count: int) -> Iterator[tuple[int, str | None]]:
    if count <= 0:
        return
    for index, position in enumerate(subject.guarded.unrank(tier, first, count), first):
        slot = f"slot {index} of tier {tier}"
        if position is None:
            yield 0, f"'unrank' writes nothing for {slot}: write PP_NO_POSITION where a slot holds no position"
        elif position != NO_POSITION:
            yield position, _wrong_position(subject, position, tier, index, slot)


def _wrong_position(subject: GameUnderTest, position: int, tier: int, index: int, slot: str) -> str | None:
    kernel = subject.game.kernel
    assert kernel is not None
    if not subject.game.valid(position):
        return (
            f"'unrank' of {slot} gives {position}, which 'valid' refuses: write PP_NO_POSITION where a slot holds no "
            f"position, and let tier_size({tier}) be no larger than it must"
        )
    back = kernel.rank(position)
    if back != (tier, index):
        return f"'unrank' of {slot} gives {subject.name(position)}, but its 'rank' is slot {back[1]} of tier {back[0]}"
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
    return _wrong_edges(subject, position)


def _wrong_edges(subject: GameUnderTest, position: int) -> str | None:
    """What is wrong with `expand`: a child left out, one too many, or a turn that stays and is not marked."""
    game, c = subject.game, subject.game.kernel
    assert c is not None
    after = [game.apply(position, move) for move in game.moves(position)]
    children = {Edge(c.rank(child), not game.is_puzzle and game.keeps_turn(position, child)) for child in after}
    listed = {Edge(edge.slot, edge.keeps_turn and not game.is_puzzle) for edge in c.expand(position)}
    if listed == children:
        return None
    odd = min(children - listed or listed - children)
    slot = f"slot {odd.slot[1]} of tier {odd.slot[0]}"
    if Edge(odd.slot, not odd.keeps_turn) in listed ^ children:
        must = "must" if odd.keeps_turn and odd in children else "must not"
        return (
            f"the kernel's expand in {subject.name(position)} {must} have PP_KEEPS_TURN on {slot}: it marks a move "
            f"after which the same player is to move"
        )
    does = "leaves out" if odd in children else "lists"
    return (
        f"the kernel's expand in {subject.name(position)} {does} {slot}: it must list the slots of all children, and "
        f"no others"
    )


def retract(subject: GameUnderTest, position: int) -> str | None:
    """Asked of open positions only; and only edges between tiers that play can return to are told apart."""
    c = subject.game.kernel
    assert c is not None
    if not subject.is_open(position):
        return None
    mine = c.rank(position)
    for edge, times in _counted(c, c.expand(position)).items():
        child = c.unrank(*edge.slot)
        if child is None or not subject.is_open(child) or mine[0] not in subject.sisters(edge.slot[0]):
            continue
        back = _counted(c, c.retract(child))[Edge(mine, edge.keeps_turn)]
        if back != times:
            return _counted_differently(subject, position, child, times, back)
    for edge, back in _counted(c, c.retract(position)).items():
        tier, index = edge.slot
        if tier >= c.tier_count or index >= c.tier_size(tier):
            return f"the kernel's retract in {subject.name(position)} lists slot {index} of tier {tier}: there is none"
        parent = c.unrank(tier, index)  # none, where the slot is empty: the engine ignores those
        if parent is None or not subject.is_open(parent) or tier not in subject.sisters(mine[0]):
            continue
        times = _counted(c, c.expand(parent))[Edge(mine, edge.keeps_turn)]
        if back != times:
            return _counted_differently(subject, parent, position, times, back)
    return None


def _counted(kernel: Kernel, edges: list[Edge]) -> Counter[Edge]:
    """How often each edge is listed; where the engine itself makes them distinct, once."""
    return Counter(set(edges) if kernel.c.flags & lib.PP_ONCE_PER_MOVE else edges)


def _counted_differently(subject: GameUnderTest, parent: int, child: int, times: int, back: int) -> str:
    return (
        f"{subject.name(child)} stands {times} times in expand of {subject.name(parent)}, but that stands {back} times "
        f"in retract of the former, turns that stay apart from others: both must count alike"
    )


def survey(subject: GameUnderTest, position: int) -> str | None:
    """One call about a run of slots, of which some are wanted, must say what the calls about each of them say."""
    c = subject.game.kernel
    assert c is not None
    tier, index = c.rank(position)
    dice = random.Random(position)
    first = max(0, index - dice.randrange(MOST_SURVEYED))
    count = min(MOST_SURVEYED, c.tier_size(tier) - first)
    wanted = sorted({index, *(first + dice.randrange(count) for _ in range(SURVEYED))})
    there = {each: _standing(c, tier, each) for each in wanted}
    answers = subject.guarded.survey(tier, first, wanted)
    for each, (code, edges) in answers.items():
        stands, children = there[each]
        where = f"slot {each} of tier {tier}, surveyed with {len(wanted)} slots from {first} on"
        if code != stands and not (code == lib.PP_WINS_NOW and _wins_unasked(subject, tier, each)):
            return f"the kernel's survey answers code {code} for {where}, but status and wins_now say {stands}"
        if code == lib.PP_ONGOING and sorted(edges) != sorted(children):
            return f"the kernel's survey lists other children of {where}, than expand does"
    open_ones = [each for each, (code, _) in answers.items() if code == lib.PP_ONGOING]
    if subject.guarded.survey_open(tier, first, open_ones) != [answers[each][1] for each in open_ones]:
        return (
            f"the kernel's survey lists other children of slots from {first} of tier {tier} on, if codes is NULL: all "
            f"that are wanted are open then"
        )
    return None


def _wins_unasked(subject: GameUnderTest, tier: int, index: int) -> bool:
    """Whether a survey may say that a slot is won at once, as the kernel has no wins_now that would know."""
    c = subject.game.kernel
    assert c is not None
    position = None if c.has("wins_now") else c.unrank(tier, index)
    return position is not None and subject.can_win_at_once(position)


def _standing(kernel: Kernel, tier: int, index: int) -> tuple[int, list[Edge]]:
    """What a survey must say of a slot: its code, and the children if it is open."""
    position = kernel.unrank(tier, index)
    if position is None:
        return int(lib.PP_EMPTY_SLOT), []
    stands = kernel.status(position)
    if stands != lib.PP_ONGOING:
        return stands, []
    if kernel.has("wins_now") and kernel.wins_now(position):
        return int(lib.PP_WINS_NOW), []
    return stands, kernel.expand(position)


INDEX_LAWS = (
    Law("rank", "'rank' and 'unrank' are inverse, and 'expand' lists the children's slots", rank, gives("rank")),
    Law("retract", "'retract' is the converse of 'expand'", retract, gives("rank", "expand", "retract")),
    Law("survey", "'survey' says what 'status', 'wins_now' and 'expand' say", survey, gives("survey")),
)


# Does a kernel in C answer the same when several threads ask at once? One with a static buffer does not.

THREADS = 4
SECONDS = 0.3
"""How long they ask: a race that is there shows itself within some thousand questions."""


def contradiction(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """What is wrong, if a thread was told something else than who asks alone."""
    kernel = subject.game.kernel
    if kernel is None or not positions:
        return None
    alone = np.array(list(positions), dtype=np.uint64)
    expected = kernel_digests(kernel, alone)
    deadline = time.monotonic() + SECONDS

    def ask(number: int) -> tuple[int, int] | None:
        """Ask in an order of its own until time is up; the position and the function that were answered otherwise."""
        order = np.random.default_rng(number).permutation(alone.size)
        while time.monotonic() < deadline:
            different = np.argwhere(kernel_digests(kernel, alone[order]) != expected[order])
            if different.size:
                place, function = different[0]
                return int(alone[order[place]]), int(function)
        return None

    with ThreadPoolExecutor(THREADS) as pool:
        found = next(filter(None, pool.map(ask, range(THREADS))), None)
    if found is None:
        return None
    position, function = found
    return (
        f"when several threads ask at once, the kernel's {DIGEST_FUNCTIONS[function]} answers differently in "
        f"{subject.name(position)}: a function must keep nothing between calls, not even in a static variable"
    )
