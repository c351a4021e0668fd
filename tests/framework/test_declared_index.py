"""The hook `index`: games with a declared index have the values of the same games without one."""

from __future__ import annotations

import types

import pytest

from perfectplay import Status, hookimpl, load_game, make_game, open_table, solve_game, verify_table
from perfectplay.analysis.statistics import survey
from perfectplay.authoring import Fields, Grid, Group, Index, Symmetry, dihedral, relabelings
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.engine import game_kernel
from perfectplay.plan.plan import plan_solve
from perfectplay.table.locations import table_path
from perfectplay.testing import check_game
from perfectplay.tiers.order import TierScan, tier_graph

from ..zoo import EXAMPLES
from ..zoo import module_of as module
from .seeded import TAPATAN, build_kernel, indexed_example, load_kernel

GRID = Grid(3, 3, values=3)


def play(game):
    """Yield every position that can be reached, images included."""
    reached, queue = {game.start()}, [game.start()]
    for position in queue:
        yield position
        for child in {game.apply(position, move) for move in game.moves(position)} - reached:
            reached.add(child)
            queue.append(child)


def assert_same_values(plain, indexed, positions: int, **options):
    """Compare all positions of a game with and without an index; return the table with the index, closed."""
    with solve_game(plain, save=False, **options).table as expected, solve_game(indexed, save=False).table as table:
        assert not game_kernel(plain).ranked
        assert game_kernel(indexed).ranked
        compared = 0
        for compared, position in enumerate(play(plain), 1):  # noqa: B007
            assert table.probe(position) == expected.probe(position)
        assert compared == positions
        assert verify_table(table).bad == 0
        return table


@pytest.mark.parametrize(
    ("name", "positions", "slots", "tiers"), [("tictactoe", 5478, 850, 10), ("mutorere", 1180, 46, 1)]
)
def test_examples_become_indexed_by_five_lines(name, positions, slots, tiers):
    source, added = indexed_example(name)
    assert 0 < len(added) <= 5
    plain = module((EXAMPLES / name / f"perfectplay_{name}/plugin.py").read_text())
    table = assert_same_values(make_game(plain), make_game(module(source)), positions)
    assert (sum(record.size for record in table.records.values()), len(table.records)) == (slots, tiers)


class Capture:
    """Three men each on 2×4 cells: a player places a man from hand, or captures a neighbour, which returns to its hand.

    Three men on the board win. Tiers lead back and forth, because men leave the hand and return to it.
    """

    fields = Fields(cells=(8, 3), hand=(2, 4), to_move=2)
    grid = Grid(2, 4, values=3)

    def unpack(self, position):
        cells, hand, to_move = self.fields.unpack(position)
        return list(cells), list(hand), to_move

    @hookimpl
    def start(self):
        return self.fields.pack(cells=[0] * 8, hand=[3, 3], to_move=0)

    @hookimpl
    def valid(self, position):
        if not self.fields.fits(position):
            return False
        cells, hand, to_move = self.unpack(position)
        return all(cells.count(man) + hand[man - 1] == 3 for man in (1, 2)) and hand[to_move] > 0

    @hookimpl
    def moves(self, position):
        cells, hand, to_move = self.unpack(position)
        if hand[1 - to_move] == 0:
            return []
        moves = [cell for cell in range(8) if not cells[cell]]
        for source, target in ((s, t) for s in range(8) for t in range(8)):
            near = abs(source // 4 - target // 4) + abs(source % 4 - target % 4) == 1
            if near and cells[source] == to_move + 1 and cells[target] == 2 - to_move:
                moves.append(8 + 8 * source + target)
        return moves

    @hookimpl
    def apply(self, position, move):
        cells, hand, to_move = self.unpack(position)
        if move < 8:
            hand[to_move] -= 1
            cells[move] = to_move + 1
        else:
            source, target = divmod(move - 8, 8)
            hand[1 - to_move] += 1
            cells[source], cells[target] = 0, to_move + 1
        return self.fields.pack(cells=cells, hand=hand, to_move=1 - to_move)

    @hookimpl
    def status(self, position):
        return Status.ONGOING if self.moves(position) else Status.LOST


class IndexedCapture(Capture):
    def parts(self):
        bits = self.fields.bits_of
        return {
            "cells": bits("cells"),
            "kinds": {1: (0, 3), 2: (0, 3)},
            "group": self.grid.d2(),
            "hands": dict(zip((1, 2), bits("hand"), strict=True)),
            "turn": bits("to_move")[0],
        }

    @hookimpl
    def index(self):
        return Index(**self.parts(), swap={1: 2})


class NumberedCapture(IndexedCapture):
    """The same with separate slots for both players and the hands as other numbers."""

    @hookimpl
    def index(self):
        parts = self.parts()
        return Index(**{**parts, "hands": {}, "numbers": self.fields.bits_of("hand")})


@pytest.mark.parametrize("source", [IndexedCapture(), NumberedCapture()], ids=["swap", "numbers"])
def test_tiers_are_ordered_where_pieces_return_to_the_hand(source):
    game = make_game(source, name="capture")
    table = assert_same_values(make_game(Capture()), game, 1213)
    graph = tier_graph(table.kernel, {})
    assert len(graph) == len(table.records) == 6
    assert any(child < tier for tier, children in graph.items() for child in children)
    assert tier_graph(table.kernel, {}, TierScan(samples=1 << 20)) == graph
    check_game(game)


def test_hashes_do_not_depend_on_backend_threads_or_symmetric_storage(tmp_path):
    game = make_game(IndexedCapture(), name="capture")
    solutions = [
        solve_game(game, save=False),
        solve_game(game, backend="lmdb", directory=tmp_path),
        solve_game(game, save=False, memory=200 << 20, threads=2),
    ]
    assert len({solution.hash for solution in solutions}) == 1
    with solutions[1].table as table:
        slots = {table.slot(position) for position in play(game)}
        assert survey(table, reachable=True).total.positions == len(slots) <= table.statistics.positions
    outcomes = solve_game(game, backend="lmdb", directory=tmp_path / "outcomes", values="outcome")
    with outcomes.table as table:
        assert verify_table(table).bad == 0
    for solution in (solutions[0], solutions[2]):
        solution.table.close()


def test_the_numbers_of_slots_never_change():
    """Tables depend on them: raise ORDER_VERSION in game/index.py if index.h must number slots in another order."""
    for name, expected in {"tictactoe": "67de9d68c1447d6a", "mutorere": "c9bd66221e7c6655"}.items():
        solution = solve_game(make_game(module(indexed_example(name)[0])), save=False)
        solution.table.close()
        assert solution.hash == expected


@pytest.fixture(scope="module")
def tapatan(tmp_path_factory):
    """The rules and the kernel of tapatan, without its index."""
    library = build_kernel((TAPATAN / "kernel.c").read_text(), tmp_path_factory.mktemp("tapatan"))
    rules = module((TAPATAN / "rules.py").read_text())
    own = ("tier", "tier_children", "tier_size", "rank", "unrank", "expand", "retract", "survey")

    def make(*, index: bool, keep_own: bool = False):
        kernel = load_kernel(library)
        if not keep_own:
            ffi, pointer, _ = kernel._keep
            kernel = type(kernel)(ffi, pointer, tier_count=1, **dict.fromkeys(own, ffi.NULL))
        plugin = types.ModuleType("tapatan")
        hooks = {
            name: getattr(rules, name) for name in ("start", "moves", "apply", "status", "valid", "encode", "decode")
        }
        vars(plugin).update(hooks, kernel=hookimpl(lambda: kernel))
        if index:
            cells = [(cell, 9 + cell) for cell in range(9)]
            plugin.index = hookimpl(lambda: Index(cells, {1: (0, 3), 2: (0, 3)}, GRID.d4()))
        return make_game(plugin, name="tapatan")

    return make


def test_a_kernel_in_c_without_an_index_gets_one(tapatan):
    indexed = tapatan(index=True)
    table = assert_same_values(tapatan(index=False), indexed, 3870)
    assert len(table.records) == 7
    check_game(indexed)
    assert plan_solve(indexed, seconds=0.1).shape.slots == sum(record.size for record in table.records.values())
    with pytest.raises(PluginError, match="own index"):
        tapatan(index=True, keep_own=True)


def test_another_declaration_makes_a_table_outdated(tmp_path):
    class Wider(IndexedCapture):
        @hookimpl
        def index(self):
            return Index(**{**self.parts(), "kinds": {1: (0, 4), 2: (0, 4)}}, swap={1: 2})

    class Plain(Capture):
        pass

    for each in (Capture, IndexedCapture, Wider, Plain):
        each.RULES_VERSION = 7
    games = [make_game(each(), name="capture") for each in (IndexedCapture, Wider, Plain)]
    assert len({game.rules_version for game in games}) == 3
    solve_game(games[0], directory=tmp_path).table.close()
    for game in games[1:]:
        with pytest.raises(PerfectPlayError, match="version"):
            open_table(game, table_path(games[0], tmp_path))


RING = Fields(ring=(8, 3), hand=(2, 4), to_move=2)
CELLS, HANDS, TURN = RING.bits_of("ring"), RING.bits_of("hand"), RING.bits_of("to_move")[0]
FOUR = {1: 4, 2: 4}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"cells": [], "kinds": FOUR}, "1 to 64 cells"),
        ({"cells": [[64]], "kinds": {1: 1}}, "0 to 63"),
        ({"cells": [[0], [0]], "kinds": {1: 1}}, "bit 0 belongs to two"),
        ({"cells": CELLS, "kinds": {}}, "1 to 8 kinds"),
        ({"cells": CELLS, "kinds": {0: 1}}, "kind 0"),
        ({"cells": CELLS, "kinds": {4: 1}}, "kind 4 must be from 1 to 3"),
        ({"cells": [range(9)], "kinds": {1: 1}}, "at most 8 bits"),
        ({"cells": CELLS, "kinds": {1: 9}}, "8 cells"),
        ({"cells": CELLS, "kinds": {1: (3, 2)}}, "3 to 2"),
        ({"cells": CELLS, "kinds": FOUR, "group": dihedral(9)}, "9 places"),
        ({"cells": CELLS, "kinds": FOUR, "group": relabelings(8, 3, among=(1, 2))}, "`swap`"),
        ({"cells": CELLS, "kinds": FOUR, "hands": {3: HANDS[0]}}, "kind 3"),
        ({"cells": CELLS, "kinds": FOUR, "hands": {1: [16, 18]}}, "adjacent"),
        ({"cells": CELLS, "kinds": FOUR, "swap": {1: 2}}, "needs `turn`"),
        ({"cells": CELLS, "kinds": FOUR, "turn": TURN[0]}, "`turn` must be a list"),
        ({"cells": CELLS, "kinds": {1: 4, 2: 3}, "turn": TURN, "swap": {1: 2}}, "equal counts"),
        ({"cells": CELLS, "kinds": FOUR, "hands": {1: HANDS[0]}, "turn": TURN, "swap": {1: 2}}, "hands"),
        ({"cells": CELLS, "kinds": FOUR, "numbers": [[40 + i] for i in range(9)]}, "at most 8 numbers"),
    ],
)
def test_a_contradictory_declaration_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Index(**parts)


def torus_symmetries(size: int) -> Group:
    """Return the symmetries of size × size cells whose opposite borders meet."""
    places = [divmod(cell, size) for cell in range(size * size)]
    images = (
        [((row + 1) % size, column) for row, column in places],
        [(column, row) for row, column in places],
        [(-row % size, column) for row, column in places],
    )
    return Group(Symmetry(tuple(row * size + column for row, column in image)) for image in images)


def test_an_index_of_six_kinds_on_64_cells_does_not_fit_a_position():
    cells = [range(3 * cell, 3 * cell + 3) for cell in range(64)]
    kinds = {1: (1, 2), 2: 1, 3: 1, 4: 1, 5: 1, 6: (1, 2)}
    assert len(torus_symmetries(8)) == 512
    with pytest.raises(ValueError, match="0 to 63"):
        Index(cells, kinds, torus_symmetries(8))


@pytest.mark.parametrize(
    ("cells", "kinds", "most", "group"),
    [
        (24, 2, 12, dihedral(24)),
        (32, 2, 7, dihedral(32)),
        (25, 2, 10, torus_symmetries(5)),
        (64, 1, 5, torus_symmetries(8)),
    ],
)
def test_the_rings_and_tori_of_the_docs_fit(cells, kinds, most, group):
    bits = [[cell + kind * cells for kind in range(kinds)] for cell in range(cells)]
    Index(bits, {1 + kind: (0, most) for kind in range(kinds)}, group).layout()


def test_tables_beyond_the_limits_are_refused():
    cells = [(cell,) for cell in range(64)]
    swaps = [Symmetry((*range(i), i + 1, i, *range(i + 2, 64))) for i in range(0, 26, 2)]
    for index, message in (
        (Index(cells, {1: 3}, Group(swaps)), "group is too large"),
        (Index(cells, {1: (0, 32)}), "too many slots"),
        (Index(cells, {1: (1, 6)}, torus_symmetries(8)), "too many patterns .* 256 MiB"),
    ):
        with pytest.raises(ValueError, match=message):
            index.layout()


def test_faults_name_the_cell_the_kind_and_the_number():
    index = Index(GRID, {1: (0, 2), 2: 1}, GRID.d4())
    assert index.fault(GRID.pack([1, 2, 0, 0, 0, 0, 0, 0, 0])) is None
    assert "cell c3 has the value 3" in (index.fault(GRID.pack([1, 2, 3, 0, 0, 0, 0, 0, 0])) or "")
    assert "3 pieces of kind 1, but the index allows 0 to 2" in (
        index.fault(GRID.pack([1, 2, 1, 1, 0, 0, 0, 0, 0])) or ""
    )
    assert "0 pieces of kind 2, but the index allows 1" in (index.fault(0) or "")
    assert "the only kind is 1" in (Index(GRID, {1: (0, 2)}).fault(GRID.pack([2, *[0] * 8])) or "")
    assert "bit 20" in (index.fault(1 << 20) or "")
    assert "bit 20" not in (index.fault(1 << 20, start=1 << 20) or "")


def test_the_start_must_fit_and_the_hook_must_return_an_index():
    class Wrong(Capture):
        kinds: object = None

        @hookimpl
        def index(self):
            return self.kinds and Index(**{**IndexedCapture().parts(), "kinds": self.kinds})

    with pytest.raises(PluginError, match="expected an Index"):
        make_game(Wrong())
    Wrong.kinds = {1: (1, 3), 2: (0, 3)}
    with pytest.raises(PluginError, match="start position: there are 0 pieces of kind 1"):
        make_game(Wrong())


def test_a_solve_names_a_move_that_does_not_fit():
    class Wrong(IndexedCapture):
        @hookimpl
        def index(self):
            return Index(**{**self.parts(), "kinds": {1: (0, 2), 2: (0, 2)}})

    with pytest.raises(PluginError, match=r"move \d+ leads .* 3 pieces of kind [12], but the index allows 0 to 2"):
        solve_game(make_game(Wrong()), save=False)


def test_a_solve_compares_every_position_of_a_small_tier_with_its_images():
    """The rules forbid one placement, and so they lack symmetries of the index."""
    source, _ = indexed_example("tictactoe")
    legal = "if owner == 0]"
    assert source.count(legal) == 1
    position = GRID.pack([1, 2, 0, 0, 0, 0, 0, 0, 0])
    source = source.replace(legal, f"if owner == 0 and (position, cell) != ({position}, 4)]")
    with pytest.raises(PluginError, match=r"a symmetry of 'index' maps position .* different moves"):
        solve_game(make_game(module(source)), save=False)


def test_built_in_kernels_have_their_own_index():
    assert load_game("gobblet").index is None
