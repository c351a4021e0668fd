"""The laws of a kernel in C: it agrees with the Python hooks, its index is exact, and it is safe to call from threads.

The engine solves every slot of an index, including slots that play never reaches. So the checks also take slots from
every tier, among them the first and the last, and check all laws in the positions found there.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from perfectplay_native._engine import lib

from perfectplay.compile.comparison import RulesDiffer, compare_position
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.engine import describe_asymmetry, describe_misfit
from perfectplay.testing.laws import Law
from perfectplay.testing.subject import MAX_SURVEYED, GameUnderTest
from perfectplay_native.kernel import Edge, Kernel
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.positions import DIGEST_FUNCTIONS, kernel_digests

SLOTS = 400
"""How many slots are checked over all tiers; at least three per tier."""

CHECKED_TIERS = 100
"""The most tiers in which slots are checked."""

RUN_LENGTH = 8
"""How many consecutive slots are unranked in one call, as the engine does."""

SURVEYED = 4
"""How many slots are surveyed in addition to the one of the position."""

THREADS = 4
THREAD_SECONDS = 0.3
"""How long threads call the kernel. Races show up within a few thousand calls."""


def check_room(subject: GameUnderTest, position: int) -> str | None:
    try:
        subject.guarded_kernel.check_room(position, where=subject.name(position))
    except PluginError as error:
        return str(error)
    return None


def check_kernel(subject: GameUnderTest, position: int) -> str | None:
    game, kernel, where = subject.game, subject.kernel, subject.name(position)
    legal = game.moves(position)
    results = [
        ("start", game.start(), kernel.start()),
        ("valid", game.valid(position), kernel.valid(position)),
        ("status", game.status(position), kernel.status(position)),
        ("moves", sorted(legal), sorted(kernel.moves(position))),
        ("canonicalize", game.canonicalize(position), kernel.canonicalize(position)),
        ("tier", game.tier(position), kernel.tier(position)),
    ]
    if kernel.has("mover") and game.has_mover:
        results.append(("mover", game.mover(position), kernel.mover(position)))
    if game.has_score and subject.is_over(position):
        results.append(("score", game.score(position), kernel.score(position) if kernel.scored else None))
    for move, child in game.follow(position):
        results.append((f"apply (move {move})", child, kernel.apply(position, move)))
        results.append((f"status after move {move}", game.status(child), kernel.status(child)))
    for function, expected, actual in results:
        if actual != expected:
            return (
                f"kernel and Python rules disagree on '{function}' in {where}: the kernel returns {actual}, the rules "
                f"return {expected}"
            )
    return None


def check_functions(subject: GameUnderTest, position: int) -> str | None:
    game, kernel, where = subject.game, subject.kernel, subject.name(position)
    legal = game.moves(position)
    if kernel.has("children") and legal:
        expected, actual = sorted(subject.children(position)), sorted(kernel.children(position))
        if actual != expected:
            return f"the kernel's children in {where} are {actual}, but its moves lead to {expected}"
    if kernel.has("undo"):
        for move in legal:
            back = kernel.undo(kernel.apply(position, move), move)
            if back != position:
                return f"the kernel's undo of move {move} in {where} returns {back}"
    if kernel.tier(position) >= kernel.tier_count:
        return (
            f"{where} is in tier {kernel.tier(position)}, but the kernel's tier_count is {kernel.tier_count}; raise it"
        )
    claims_win = kernel.has("wins_now") and bool(legal) and kernel.wins_now(position)
    if claims_win and not subject.has_winning_move(position):
        return f"the kernel's wins_now returns true in {where}, but no move ends the game with a win"
    return None


def check_compiled(subject: GameUnderTest, position: int) -> str | None:
    assert subject.compiled is not None
    try:
        compare_position(subject.game, subject.compiled, position)
    except RulesDiffer as error:
        return str(error).removeprefix(f"{subject.game.name}: ")
    except PerfectPlayError:  # the law `hooks` reports it
        return None
    return None


def check_alternation(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    for move, child in game.follow(position):
        if game.keeps_turn(position, child):
            if game.kernel is None:
                reason = "the plugin has TURNS_ALTERNATE = True; remove it"
            elif game.turns_alternate:
                reason = "the kernel has the flag PP_TURNS_ALTERNATE; remove the flag"
            else:
                reason = "the kernel has no 'mover', so every move would pass the turn; add it"
            return f"move {game.format_move(position, move)} in {subject.name(position)} keeps the turn, but {reason}"
    return None


def _declares_alternation(subject: GameUnderTest) -> bool:
    game = subject.game
    if game.is_puzzle or not game.has_mover:
        return False
    return game.turns_alternate or (game.kernel is not None and not game.kernel.has("mover"))


# ---- the index: `rank`, `unrank` and `expand` ----


def slot_positions(subject: GameUnderTest) -> Iterator[tuple[int, str | None]]:
    """Yield positions of slots of all tiers, each with a message if `unrank` is wrong there."""
    kernel, dice = subject.kernel, random.Random(1)
    all_tiers = subject.tiers
    tiers = sorted({all_tiers[0], all_tiers[-1], *dice.sample(all_tiers, min(len(all_tiers), CHECKED_TIERS))})
    for tier in tiers:
        size = kernel.tier_size(tier)
        runs = SLOTS // RUN_LENGTH // len(tiers) if size else 0
        for first in sorted({0, max(0, size - RUN_LENGTH)} | {dice.randrange(size) for _ in range(runs)}):
            if first < size:
                yield from _unrank_run(subject, tier, first, min(RUN_LENGTH, size - first))


def _unrank_run(subject: GameUnderTest, tier: int, first: int, count: int) -> Iterator[tuple[int, str | None]]:
    empty = "write PP_NO_POSITION for a slot without a position"
    for index, position in enumerate(subject.guarded_kernel.unrank(tier, first, count), first):
        slot = f"slot {index} of tier {tier}"
        if position is None:
            yield 0, f"'unrank' writes nothing for {slot}; {empty}"
        elif position == NO_POSITION:
            continue
        elif not subject.game.valid(position):
            yield (
                position,
                f"'unrank' of {slot} gives {position}, which 'valid' rejects; {empty}, and check that "
                f"tier_size({tier}) is not too large",
            )
        elif (back := subject.kernel.rank(position)) != (tier, index):
            name = subject.name(position)
            yield position, f"'unrank' of {slot} gives {name}, but its 'rank' is slot {back[1]} of tier {back[0]}"
        else:
            yield position, None


def check_index(subject: GameUnderTest, position: int) -> str | None:
    """Positions fit the declaration, and the symmetries are those of the rules and include those of `canonicalize`."""
    game, kernel, where = subject.game, subject.kernel, subject.name(position)
    assert game.index is not None
    start, image = game.start(), game.canonicalize(position)
    if fault := game.index.fault(position, start):
        return f"'index' does not fit {where}: {fault}; correct 'index', or let 'valid' reject the position"
    if game.index.fault(image, start) or kernel.rank(image) != kernel.rank(position):
        return (
            f"'canonicalize' maps {where} to {subject.name(image)}, but no symmetry of 'index' does; its group and "
            f"swap must contain all symmetries that 'canonicalize' uses"
        )
    for _, child in game.follow(position):
        if game.index.fault(child, start):
            return describe_misfit(game, position)
    return _symmetry_fault(subject, position)


def _symmetry_fault(subject: GameUnderTest, position: int) -> str | None:
    """Compare a position with the image that the index has in its slot."""
    game, kernel = subject.game, subject.kernel
    image = subject.image(position)
    if not game.valid(image) or game.status(position) != game.status(image):
        return describe_asymmetry(game, position, image)
    slots, others = ({kernel.rank(child) for _, child in game.follow(p)} for p in (position, image))
    if slots != others:
        return describe_asymmetry(game, position, image)
    if game.has_score and subject.is_over(position) and game.score(position) != game.score(image):
        return f"a symmetry of 'index' maps {subject.name(position)} to {subject.name(image)}, which has another score"
    return None


def check_rank(subject: GameUnderTest, position: int) -> str | None:
    kernel, where = subject.kernel, subject.name(position)
    if subject.game.index is not None and subject.game.index.fault(position, subject.game.start()):
        return None  # reported by the law `index`
    tier, index = slot = kernel.rank(position)
    if tier != kernel.tier(position) or index >= kernel.tier_size(tier):
        return (
            f"'rank' of {where} is slot {index} of tier {tier}; the tier must be {kernel.tier(position)}, and the slot "
            f"must be below tier_size({tier}), which is {kernel.tier_size(tier)}"
        )
    if kernel.rank(subject.game.canonicalize(position)) != slot:
        return f"'rank' of {where} differs from that of its canonical image; images must share a slot"
    back = kernel.unrank(tier, index)
    if back is None or kernel.rank(back) != slot:
        actual = "no position" if back is None else subject.name(back)
        return f"'rank' of {where} is slot {index} of tier {tier}, but 'unrank' gives {actual} there"
    if subject.is_over(position) or not kernel.has("expand"):
        return None
    return _expand_fault(subject, position)


def _expand_fault(subject: GameUnderTest, position: int) -> str | None:
    """Find a child that `expand` omits, one too many, or a kept turn that is not marked."""
    game, kernel = subject.game, subject.kernel
    after = [child for _, child in game.follow(position)]
    compares_turns = not game.is_puzzle and (kernel.has("mover") or not game.has_mover)  # else `alternation` reports it
    expected = {Edge(kernel.rank(child), compares_turns and game.keeps_turn(position, child)) for child in after}
    actual = {Edge(edge.slot, compares_turns and edge.keeps_turn) for edge in kernel.expand(position)}
    if actual == expected:
        return None
    wrong = min(expected - actual or actual - expected)
    slot = f"slot {wrong.slot[1]} of tier {wrong.slot[0]}"
    expand = f"the kernel's expand in {subject.name(position)}"
    if Edge(wrong.slot, not wrong.keeps_turn) in actual ^ expected:
        must = "must" if wrong.keeps_turn and wrong in expected else "must not"
        return f"{expand} {must} set PP_KEEPS_TURN on {slot}; it marks moves after which the same player is to move"
    verb = "omits" if wrong in expected else "lists"
    return f"{expand} {verb} {slot}; it must list exactly the slots of all children"


def check_retract(subject: GameUnderTest, position: int) -> str | None:
    """Compare edges of open positions between tiers that play can return to; the engine ignores all others."""
    kernel = subject.kernel
    if not subject.is_open(position):
        return None
    slot = kernel.rank(position)
    for edge, count in _count_edges(kernel, kernel.expand(position)).items():
        child = kernel.unrank(*edge.slot)
        if child is None or not subject.is_open(child) or slot[0] not in subject.component(edge.slot[0]):
            continue
        back = _count_edges(kernel, kernel.retract(child))[Edge(slot, edge.keeps_turn)]
        if back != count:
            return _count_mismatch(subject, position, child, count, back)
    for edge, back in _count_edges(kernel, kernel.retract(position)).items():
        tier, index = edge.slot
        if tier >= kernel.tier_count or index >= kernel.tier_size(tier):
            return (
                f"the kernel's retract in {subject.name(position)} lists slot {index} of tier {tier}, which is missing"
            )
        parent = kernel.unrank(tier, index)
        if parent is None or not subject.is_open(parent) or tier not in subject.component(slot[0]):
            continue
        count = _count_edges(kernel, kernel.expand(parent))[Edge(slot, edge.keeps_turn)]
        if back != count:
            return _count_mismatch(subject, parent, position, count, back)
    return None


def _count_edges(kernel: Kernel, edges: list[Edge]) -> Counter[Edge]:
    """Return how often each edge is listed: once, where the engine removes duplicates."""
    return Counter(set(edges) if kernel.c.flags & lib.PP_ONCE_PER_MOVE else edges)


def _count_mismatch(subject: GameUnderTest, parent: int, child: int, count: int, back: int) -> str:
    return (
        f"expand of {subject.name(parent)} lists {subject.name(child)} {count} times, but retract of the second lists "
        f"the first {back} times; both counts must be equal, separately for moves that keep the turn"
    )


# ---- surveys: status and children of several slots in one call ----


def check_survey(subject: GameUnderTest, position: int) -> str | None:
    kernel = subject.kernel
    tier, index = kernel.rank(position)
    dice = random.Random(position)
    first = max(0, index - dice.randrange(MAX_SURVEYED))
    count = min(MAX_SURVEYED, kernel.tier_size(tier) - first)
    wanted = sorted({index, *(first + dice.randrange(count) for _ in range(SURVEYED))})
    expected = {slot: _slot_state(kernel, tier, slot) for slot in wanted}
    actual = subject.guarded_kernel.survey(tier, first, wanted)
    for slot, (code, edges) in actual.items():
        expected_code, children = expected[slot]
        where = f"slot {slot} of tier {tier} (in a survey of {len(wanted)} slots from {first})"
        if code != expected_code and not (code == lib.PP_WINS_NOW and _is_undeclared_win(subject, tier, slot)):
            return f"the kernel's survey gives code {code} for {where}, but status and wins_now give {expected_code}"
        if code == lib.PP_ONGOING and sorted(edges) != sorted(children):
            return f"the kernel's survey lists other children of {where} than expand"
    open_slots = [slot for slot, (code, _) in actual.items() if code == lib.PP_ONGOING]
    if subject.guarded_kernel.survey_open(tier, first, open_slots) != [actual[slot][1] for slot in open_slots]:
        return (
            f"the kernel's survey of tier {tier} from slot {first} lists other children if codes is NULL; all wanted "
            f"slots are open then"
        )
    return None


def _is_undeclared_win(subject: GameUnderTest, tier: int, index: int) -> bool:
    """Return whether a slot is a win in one move and the kernel has no `wins_now` to report it."""
    position = None if subject.kernel.has("wins_now") else subject.kernel.unrank(tier, index)
    return position is not None and subject.has_winning_move(position)


def _slot_state(kernel: Kernel, tier: int, index: int) -> tuple[int, list[Edge]]:
    """Return the code of a slot, and its children if it is open."""
    position = kernel.unrank(tier, index)
    if position is None:
        return int(lib.PP_EMPTY_SLOT), []
    status = kernel.status(position)
    if status != lib.PP_ONGOING:
        return status, []
    if kernel.has("wins_now") and kernel.wins_now(position):
        return int(lib.PP_WINS_NOW), []
    return status, kernel.expand(position)


def _has(*functions: str) -> Callable[[GameUnderTest], bool]:
    def applies(subject: GameUnderTest) -> bool:
        kernel = subject.ranked_kernel if "rank" in functions else subject.game.kernel
        return kernel is not None and all(map(kernel.has, functions))

    return applies


def _has_python_rules(subject: GameUnderTest) -> bool:
    """Return whether the plugin has rules in Python beside its kernel."""
    return subject.game.kernel is not None and subject.game.has_python_rules


KERNEL_LAWS = (
    Law("room", "no position has more moves or parents than the kernel declares", check_room, _has("moves")),
    Law("kernel", "the kernel and the Python hooks agree", check_kernel, _has_python_rules),
    Law(
        "compiled",
        "the compiled rules and the Python hooks agree",
        check_compiled,
        lambda subject: subject.compiled is not None,
    ),
    Law("functions", "the kernel's functions agree with each other", check_functions, _has("moves")),
    Law("alternation", "every move passes the turn, if declared", check_alternation, _declares_alternation),
    Law("index", "'index' fits the rules", check_index, lambda subject: subject.game.index is not None),
    Law("rank", "'rank' and 'unrank' are inverse, and 'expand' lists the children", check_rank, _has("rank")),
    Law("retract", "'retract' is the inverse of 'expand'", check_retract, _has("rank", "expand", "retract")),
    Law("survey", "'survey' agrees with 'status', 'wins_now' and 'expand'", check_survey, _has("survey")),
)


def check_threads(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """Compare the kernel's results in several threads with those in one. They differ if it has a static buffer."""
    kernel = subject.game.kernel
    if kernel is None or not positions:
        return None
    array = np.array(list(positions), dtype=np.uint64)
    expected = kernel_digests(kernel, array)
    deadline = time.monotonic() + THREAD_SECONDS

    def call_kernel(seed: int) -> tuple[int, int] | None:
        """Call the kernel in random order until the deadline; return the position and function that differ."""
        order = np.random.default_rng(seed).permutation(array.size)
        while time.monotonic() < deadline:
            different = np.argwhere(kernel_digests(kernel, array[order]) != expected[order])
            if different.size:
                place, function = different[0]
                return int(array[order[place]]), int(function)
        return None

    with ThreadPoolExecutor(THREADS) as pool:
        difference = next(filter(None, pool.map(call_kernel, range(THREADS))), None)
    if difference is None:
        return None
    position, function = difference
    return (
        f"the kernel's {DIGEST_FUNCTIONS[function]} returns different results in {subject.name(position)} when several "
        f"threads call it; a function must not keep anything between calls, not even in a static variable"
    )
