"""Graphs as games with a compiled kernel, with every combination of functions that matters to the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from types import ModuleType
from typing import Any

from perfectplay_native._engine import lib

from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.tiers.order import components
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import ABI

from .graphs import Graph

REQUIRED = ("valid", "start", "moves", "apply", "undo", "canonicalize", "status", "tier")
RANKED = ("tier_size", "rank", "unrank")

ENUMERATED_VARIANTS: dict[str, tuple[str, ...]] = {"rules alone": (), "parents": ("children", "parents")}
MUTUAL_VARIANTS: dict[str, tuple[str, ...]] = {
    name: (*functions, "tier_children") for name, functions in ENUMERATED_VARIANTS.items()
}
"""The same for tiers that can reach each other."""
RANKED_VARIANTS: dict[str, tuple[str, ...]] = {
    "rank alone": (*RANKED, "tier_children"),
    "rank and parents": (*RANKED, "tier_children", "parents", "wins_now"),
    "expand and parents": (*RANKED, "tier_children", "expand_moves", "parents"),
    "retract alone": (*RANKED, "tier_children", "retract"),
    "expand and retract": (*RANKED, "tier_children", "wins_now", "expand", "retract"),
    "counting moves": (*RANKED, "tier_children", "expand_moves", "retract_moves"),
    "once per move": (*RANKED, "tier_children", "expand_moves", "retract_all", "ONCE_PER_MOVE"),
    "all parents": (*RANKED, "tier_children", "expand", "retract_all"),
    "survey": (*RANKED, "tier_children", "wins_now", "expand", "retract", "survey"),
    "survey, no retract": (*RANKED, "tier_children", "expand_moves", "survey"),
}
NO_NODE = 2**32 - 1


class CompiledGraph:
    """A plugin whose kernel plays a graph. It keeps the kernel's memory alive."""

    def __init__(self, module: ModuleType, graph: Graph, functions: Iterable[str]) -> None:
        self.ffi, self.keep = module.ffi, []
        functions = {*REQUIRED, *functions}
        functions |= {"mover"} if graph.movers else set()
        functions |= {"score"} if graph.scores else set()
        once_per_move = "ONCE_PER_MOVE" in functions
        names = {
            name: name.removesuffix("_moves").removesuffix("_all") for name in functions if name != "ONCE_PER_MOVE"
        }
        moves_into = Counter(child for moves in graph.moves for child, _ in moves)
        self.context = self._context(graph)
        self.struct = self.ffi.new(
            "pp_kernel *",
            {
                "abi": ABI,
                "rules_version": 1,
                "players": graph.players,
                "flags": lib.PP_ONCE_PER_MOVE if once_per_move else 0,
                "max_moves": max(map(len, graph.moves)),
                "max_parents": max(moves_into.values(), default=0),
                "tier_count": max(graph.tiers) + 1,
                "context": self.context,
                **{field: self.ffi.addressof(module.lib, f"graph_{name}") for name, field in names.items()},
            },
        )

    @hookimpl
    def kernel(self) -> Kernel:
        return Kernel(self.ffi, self.struct)

    def _context(self, graph: Graph) -> Any:
        tiers = range(max(graph.tiers) + 1)
        children_of_tier: list[set[int]] = [set() for _ in tiers]
        for node, children in enumerate(graph.children):
            children_of_tier[graph.tiers[node]] |= {graph.tiers[child] for child in children}
        component = {}
        for number, found in enumerate(components({tier: sorted(children_of_tier[tier]) for tier in tiers})):
            component |= dict.fromkeys(found.tiers, number)
        slots: list[list[int]] = [[] for _ in tiers]
        index = [0] * len(graph.moves)
        for node in reversed(range(len(graph.moves) // 2 if graph.twins else len(graph.moves))):
            nodes = slots[graph.tiers[node]]
            if node % 3 == 0:
                nodes.append(NO_NODE)  # an empty slot
            index[node] = len(nodes)
            nodes.append(node)
        if graph.twins:  # the second half has the slots of the first
            index[len(index) // 2 :] = index[: len(index) // 2]
        data: dict[str, Any] = {
            "nodes": len(graph.moves),
            "start": graph.start,
            "sources": self._array("uint32_t[]", [node for node, moves in enumerate(graph.moves) for _ in moves]),
            "status": self._array("uint8_t[]", graph.status),
            "movers": self._array("uint8_t[]", graph.movers) if graph.movers else self.ffi.NULL,
            "scores": self._array("int16_t[]", graph.scores) if graph.scores else self.ffi.NULL,
            "tier": self._array("uint32_t[]", graph.tiers),
            "component": self._array("uint32_t[]", [component[tier] for tier in tiers]),
            "index": self._array("uint32_t[]", index),
        }
        for first, flat, lists in (
            ("first_move", "targets", [[child << 1 | image for child, image in moves] for moves in graph.moves]),
            ("first_child", "children", graph.children),
            ("first_parent", "parents", graph.parents),
            ("first_tier_child", "tier_children", [sorted(children) for children in children_of_tier]),
            ("first_slot", "slot_nodes", slots),
        ):
            data[first] = self._array("uint32_t[]", [0, *accumulate(map(len, lists))])
            data[flat] = self._array("uint32_t[]", [value for each in lists for value in each])
        context = self.ffi.new("graph *", data)
        self.keep.append(context)
        return context

    def _array(self, kind: str, values: Sequence[int]) -> Any:
        array = self.ffi.new(kind, list(values))
        self.keep.append(array)
        return array


def compiled_game(module: ModuleType, graph: Graph, functions: Iterable[str]) -> Game:
    return make_game(CompiledGraph(module, graph, functions), name="graph")
