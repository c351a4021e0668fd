"""Games that are nothing but a graph, and a solver for them that is as plain as the definition of a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random

from hypothesis import strategies as st

from perfectplay.hookspecs import hookimpl
from perfectplay.values import Status

LOSS, TIE, WIN, ENDLESS = 1, 2, 3, 0


@dataclass(frozen=True)
class Graph:
    """Node by node: the moves, each a (child, image) pair; the status; the tier."""

    moves: tuple[tuple[tuple[int, int], ...], ...]
    status: tuple[int, ...]
    tiers: tuple[int, ...]
    start: int = 0

    @cached_property
    def first_move(self) -> list[int]:
        return [0, *accumulate(map(len, self.moves))]

    @cached_property
    def all_moves(self) -> list[tuple[int, int, int]]:
        """Every move as (node, child, image), by its number."""
        return [(node, child, image) for node, moves in enumerate(self.moves) for child, image in moves]

    @cached_property
    def children(self) -> list[list[int]]:
        return [sorted({child for child, _ in moves}) for moves in self.moves]

    @cached_property
    def parents(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.moves]
        for parent, children in enumerate(self.children):
            for child in children:
                found[child].append(parent)
        return found

    @cached_property
    def reachable(self) -> set[int]:
        found, frontier = {self.start}, [self.start]
        while frontier:
            new = set(self.children[frontier.pop()]) - found
            found |= new
            frontier += new
        return found


def plain_graph(children: list[list[int]], ended: dict[int, int], tiers: list[int] | None = None) -> Graph:
    """A graph from lists of children, ONGOING but for `ended`."""
    return Graph(
        moves=tuple(tuple((child, 0) for child in each) for each in children),
        status=tuple(ended.get(node, Status.ONGOING) for node in range(len(children))),
        tiers=tuple(tiers or [0] * len(children)),
    )


def brute_force(graph: Graph) -> list[int]:
    """The code of every node: remoteness << 2 | kind, by definition, one ply after the other."""
    codes: list[int | None] = [status or None for status in graph.status]

    def spread(decide) -> None:
        """Decide for remoteness 1, 2, 3 … until a step decides nothing: the next would have nothing to stand on."""
        remoteness, decided = 0, True
        while decided:
            remoteness += 1
            decided = {}
            for node, children in enumerate(graph.children):
                if codes[node] is None and (code := decide([codes[child] for child in children], remoteness)):
                    decided[node] = code
            for node, code in decided.items():
                codes[node] = code

    def win_or_loss(children: list[int | None], remoteness: int) -> int | None:
        if (remoteness - 1) << 2 | LOSS in children:
            return remoteness << 2 | WIN
        if all(code is not None and code & 3 == WIN for code in children) and max(children) >> 2 == remoteness - 1:
            return remoteness << 2 | LOSS
        return None

    def tie(children: list[int | None], remoteness: int) -> int | None:
        return remoteness << 2 | TIE if (remoteness - 1) << 2 | TIE in children else None

    spread(win_or_loss)
    spread(tie)
    return [ENDLESS if code is None else code for code in codes]


class GraphPlugin:
    """A graph as a game in plain Python. Positions and moves are those of graph_kernel.c."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @hookimpl
    def start(self):
        return self.graph.start << 1

    @hookimpl
    def valid(self, position):
        return position >> 1 < len(self.graph.moves)

    @hookimpl
    def moves(self, position):
        return range(self.graph.first_move[position >> 1], self.graph.first_move[(position >> 1) + 1])

    @hookimpl
    def apply(self, position, move):
        _, child, image = self.graph.all_moves[move]
        return child << 1 | (image ^ position & 1)

    @hookimpl
    def undo(self, position, move):
        node, _, image = self.graph.all_moves[move]
        return node << 1 | (image ^ position & 1)

    @hookimpl
    def canonicalize(self, position):
        return position & ~1

    @hookimpl
    def status(self, position):
        return Status(self.graph.status[position >> 1])


class TieredGraphPlugin(GraphPlugin):
    @hookimpl
    def tier(self, position):
        return self.graph.tiers[position >> 1]

    @hookimpl
    def parents(self, position):
        return [parent << 1 for parent in self.graph.parents[position >> 1]]


# ---- random graphs ----

ENDS = (Status.LOST, Status.LOST, Status.DRAWN, Status.WON)


def random_graph(rng: Random, *, sisters: bool = False) -> Graph:
    """Any small graph: cycles, self-loops, moves to both images of a child, ends of every kind.

    Tiers never fall along a move; with `sisters`, moves may also go back and forth between neighbouring tiers. A chain
    at the end brings values of every remoteness into reach.
    """
    count, chain = rng.randint(1, 12), rng.randint(0, 9)
    tiers = sorted(rng.choices(range(rng.randint(1, 4)), k=count)) + [4] * chain
    moves: list[tuple[tuple[int, int], ...]] = []
    for node in range(count):
        lowest = tiers[node] // 2 * 2 if sisters else tiers[node]
        targets = [child for child in range(count + chain) if tiers[child] >= lowest]
        drawn = [(rng.choice(targets), rng.randint(0, 1)) for _ in range(rng.randint(0, 5) % 5)]
        moves.append(tuple(dict.fromkeys(drawn)))
    moves += [((node + 1, 0),) for node in range(count, count + chain - 1)] + [()] * (chain > 0)
    # without a move it is the end, or the player is stuck
    status = [Status.ONGOING if found else rng.choice(ENDS) for found in moves]
    return Graph(tuple(moves), tuple(status), tuple(tiers), start=rng.randrange(count))


def graphs(*, sisters: bool = False) -> st.SearchStrategy[Graph]:
    """The same for hypothesis, which shrinks what fails."""
    return st.randoms(use_true_random=False).map(lambda rng: random_graph(rng, sisters=sisters))


def union(graphs: Iterable[Graph]) -> Graph:
    """Many graphs as one, with a first node that leads to the start of each."""
    moves: list[tuple[tuple[int, int], ...]] = []
    status: list[int] = []
    tiers: list[int] = []
    starts: list[tuple[int, int]] = []
    for graph in graphs:
        first = len(moves) + 1
        starts.append((first + graph.start, 0))
        moves += [tuple((first + child, image) for child, image in each) for each in graph.moves]
        status += graph.status
        tiers += [1 + tier for tier in graph.tiers]
    return Graph((tuple(starts), *moves), (Status.ONGOING, *status), (0, *tiers))
