"""Games given by an explicit graph, and a brute-force solver that follows the definition of a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from random import Random

from hypothesis import strategies as st

from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

LOSS, TIE, WIN, ENDLESS = 1, 2, 3, 0


@dataclass(frozen=True)
class Graph:
    """For each node: the moves as (child, image) pairs, the status, the tier, and optionally mover and score."""

    moves: tuple[tuple[tuple[int, int], ...], ...]
    status: tuple[int, ...]
    tiers: tuple[int, ...]
    start: int = 0
    movers: tuple[int, ...] | None = None
    """None: turns alternate, or there is one player."""
    scores: tuple[int, ...] | None = None
    players: int = 2
    twins: bool = False
    """Whether the second half of the nodes is the first half with colours swapped, and has the same slots."""

    def keeps_turn(self, parent: int, child: int) -> bool:
        if self.players == 1:
            return True
        return self.movers is not None and self.movers[parent] == self.movers[child]

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
    """A graph from lists of children. Nodes are ONGOING except those in `ended`."""
    return Graph(
        moves=tuple(tuple((child, 0) for child in each) for each in children),
        status=tuple(ended.get(node, Status.ONGOING) for node in range(len(children))),
        tiers=tuple(tiers or [0] * len(children)),
    )


def brute_force(graph: Graph) -> list[int]:
    """The code of every node: score << 16 | remoteness << 2 | kind."""
    scores = best_scores(graph)
    plies = remotenesses(graph, scores)
    codes = []
    for node, (score, remoteness) in enumerate(zip(scores, plies, strict=True)):
        if remoteness is None:
            codes.append(ENDLESS)
            continue
        kind = WIN if score > 0 else LOSS if score < 0 else TIE
        stored = score & 0xFFFF if graph.scores else 0
        codes.append(stored << 16 | remoteness << 2 | kind)
        assert graph.status[node] in (Status.ONGOING, kind)
    return codes


def final_score(graph: Graph, node: int) -> int:
    """The score of a finished node for its mover; 1, 0 or -1 in a graph without scores."""
    if graph.scores:
        return graph.scores[node]
    return {Status.LOST: -1, Status.DRAWN: 0, Status.WON: 1}[Status(graph.status[node])]


def best_scores(graph: Graph) -> list[int]:
    """The score that the mover of each node can force: the highest one that either player can force at least."""
    ends = [node for node, status in enumerate(graph.status) if status != Status.ONGOING]
    scores = [0] * len(graph.moves)
    for least in sorted({abs(final_score(graph, node)) for node in ends} - {0}):
        forced = forcing(graph, least)
        for node in range(len(graph.moves)):
            if (node, True) in forced:
                scores[node] = least
            elif (node, False) in forced:
                scores[node] = -least
    return scores


def forcing(graph: Graph, least: int) -> set[tuple[int, bool]]:
    """The pairs (node, whether I am to move) from which I can force a win by at least `least`."""
    forced = set()
    for node, status in enumerate(graph.status):
        if status != Status.ONGOING:
            forced |= {
                (node, mine) for mine in (True, False) if final_score(graph, node) * (1 if mine else -1) >= least
            }
    changed = True
    while changed:
        changed = False
        for node, children in enumerate(graph.children):
            for mine in (True, False):
                after = [(child, mine == graph.keeps_turn(node, child)) for child in children]
                if (node, mine) not in forced and after and (any if mine else all)(each in forced for each in after):
                    forced.add((node, mine))
                    changed = True
    return forced


def remotenesses(graph: Graph, scores: list[int]) -> list[int | None]:
    """The number of plies of best play, found in ascending order; None if play never ends."""
    plies: list[int | None] = [None if status == Status.ONGOING else 0 for status in graph.status]
    worth = {
        (node, child): scores[child] if graph.keeps_turn(node, child) else -scores[child]
        for node, children in enumerate(graph.children)
        for child in children
    }
    remoteness, decided = 0, {0: 0}
    while decided:
        remoteness += 1
        decided = {}
        for node, children in enumerate(graph.children):
            if plies[node] is not None:
                continue
            best = [plies[child] for child in children if worth[node, child] == scores[node]]
            quick = scores[node] >= 0  # a winner or a drawer prefers the quickest end, a loser the slowest
            if remoteness - 1 in best if quick else None not in best and max(best) == remoteness - 1:
                decided[node] = remoteness
        for node, found in decided.items():
            plies[node] = found
    return plies


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


class PuzzleHooks:
    @hookimpl
    def players(self):
        return ["Ada"]


class TurnHooks:
    @hookimpl
    def mover(self, position):
        return self.graph.movers[position >> 1]


class ScoreHooks:
    @hookimpl
    def score(self, position):
        return self.graph.scores[position >> 1]


def python_plugin(graph: Graph, base: type[GraphPlugin] = TieredGraphPlugin) -> GraphPlugin:
    """The graph as a Python plugin, with the hooks that it needs."""
    hooks = [
        *([TurnHooks] if graph.movers else []),
        *([ScoreHooks] if graph.scores else []),
        *([PuzzleHooks] if graph.players == 1 else []),
    ]
    return type("Plugin", (*hooks, base), {})(graph)


# ---- random graphs ----

ENDS = (Status.LOST, Status.LOST, Status.DRAWN, Status.WON)


def random_graph(rng: Random, *, mutual: bool = False) -> Graph:
    """A small random graph with cycles, self-loops, moves to both images of a child, and ends of every kind.

    Moves never lead to a lower tier, except that with `mutual` they may go back and forth between two neighbouring
    tiers. A chain at the end provides values of every remoteness.
    """
    count, chain = rng.randint(1, 12), rng.randint(0, 9)
    tiers = sorted(rng.choices(range(rng.randint(1, 4)), k=count)) + [4] * chain
    moves: list[tuple[tuple[int, int], ...]] = []
    for node in range(count):
        lowest = tiers[node] // 2 * 2 if mutual else tiers[node]
        targets = [child for child in range(count + chain) if tiers[child] >= lowest]
        drawn = [(rng.choice(targets), rng.randint(0, 1)) for _ in range(rng.randint(0, 5) % 5)]
        moves.append(tuple(dict.fromkeys(drawn)))
    moves += [((node + 1, 0),) for node in range(count, count + chain - 1)] + [()] * (chain > 0)
    # without a move the game is over, or the player is stuck
    status = [Status.ONGOING if found else rng.choice(ENDS) for found in moves]
    return Graph(tuple(moves), tuple(status), tuple(tiers), start=rng.randrange(count))


TURNS = ("alternate", "kept", "puzzle", "twins")


def any_game(rng: Random, *, turns: str, scored: bool, mutual: bool = False) -> Graph:
    """A random graph in which a player may move again, or with one player, or with slots that two positions have."""
    graph = random_graph(rng, mutual=mutual)
    if scored:
        graph = replace(graph, scores=tuple(random_score(rng, status) for status in graph.status))
    if turns == "puzzle":
        return replace(graph, players=1)
    if turns == "kept":
        return replace(graph, movers=tuple(rng.randint(0, 1) for _ in graph.moves))
    return with_twins(rng, graph) if turns == "twins" else graph


def random_score(rng: Random, status: int) -> int:
    margins = (1, 2, 3, 7, 32767)
    return {Status.WON: 1, Status.LOST: -1}.get(Status(status), 0) * rng.choice(margins)


def with_twins(rng: Random, graph: Graph) -> Graph:
    """Each node twice, the second time with colours swapped. A move may lead to either or both of them."""
    count = len(graph.moves)
    swaps = [[rng.choice(((0,), (1,), (0, 1))) for _ in moves] for moves in graph.moves]
    moves = [
        tuple(
            (child + count * (swap ^ twin), image)
            for (child, image), both in zip(graph.moves[node], swaps[node], strict=True)
            for swap in both
        )
        for twin in (0, 1)
        for node in range(count)
    ]
    mover = [rng.randint(0, 1) for _ in graph.moves]
    return replace(
        graph,
        moves=tuple(moves),
        status=graph.status * 2,
        tiers=graph.tiers * 2,
        scores=graph.scores and graph.scores * 2,
        movers=(*mover, *(1 - each for each in mover)),
        twins=True,
    )


def graphs(*, mutual: bool = False) -> st.SearchStrategy[Graph]:
    """Random graphs for hypothesis, which shrinks failing examples."""
    return st.randoms(use_true_random=False).map(lambda rng: random_graph(rng, mutual=mutual))


def union(graphs: Iterable[Graph]) -> Graph:
    """Several graphs of one kind, without twins, joined by a first node that leads to the start of each."""
    moves: list[tuple[tuple[int, int], ...]] = []
    status: list[int] = []
    tiers: list[int] = []
    starts: list[tuple[int, int]] = []
    movers: list[int] = [0]
    scores: list[int] = [0]
    players = 2
    for graph in graphs:
        first = len(moves) + 1
        starts.append((first + graph.start, 0))
        moves += [tuple((first + child, image) for child, image in each) for each in graph.moves]
        status += graph.status
        tiers += [1 + tier for tier in graph.tiers]
        movers += graph.movers or ()
        scores += graph.scores or ()
        players = graph.players
    return Graph(
        (tuple(starts), *moves),
        (Status.ONGOING, *status),
        (0, *tiers),
        movers=tuple(movers) if len(movers) > 1 else None,
        scores=tuple(scores) if len(scores) > 1 else None,
        players=players,
    )
