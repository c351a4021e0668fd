"""A worker: one process with one engine, which takes the steps that the driver asks for. It knows nothing of Ray."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.cluster.messages import Checked, Finished, GameSpec, State, check, dealt, pack, unpack
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.engine import cpu_seconds, game_kernel
from perfectplay.game.game import Game
from perfectplay.game.loading import load_game
from perfectplay.memory import available_memory
from perfectplay.solve.verification import lost_position
from perfectplay.table.records import blocks_of, checksum
from perfectplay.tiers.enumeration import Found, children_by_tier
from perfectplay_native.engine import Engine
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import Positions
from perfectplay_native.share import UPDATES, Array, Layout, Share
from perfectplay_native.values import count_codes

Message = list[Array] | None


class Worker:
    """Holds the finished tiers that are needed, and its share of the tiers being solved."""

    def __init__(self, game: Game | GameSpec, memory: int | None) -> None:
        self.memory = memory
        self.failure: PerfectPlayError | None = None
        try:
            self._begin(game)
        except PerfectPlayError as error:  # of an actor that cannot be made, Ray says only that it died
            self.failure = error

    def _begin(self, game: Game | GameSpec) -> None:
        self.game = game if isinstance(game, Game) else _make_game(game)
        self.kernel = game_kernel(self.game)
        memory = self.memory
        answers = available_memory().bytes // (os.cpu_count() or 1) if memory is None else memory
        self.remembering = self.kernel.memo(answers // 4)
        self.remembering.__enter__()  # until this process ends
        self.engine: Engine | None = None
        self.held: dict[int, tuple[list[Array], list[Array]]] = {}  # keys and values
        self.share: Share | None = None
        self.number = 0

    def hello(self) -> dict[str, Any]:
        """Who this is; or why it cannot work."""
        if self.failure is not None:
            raise self.failure
        return {"pid": os.getpid(), "cpu_seconds": cpu_seconds()}

    # ---- enumeration ----

    def children(self, positions: Positions, expected: int) -> tuple[list[int], Found]:
        """The children of positions: of each tier, sorted and each once, and the checksums of these."""
        check([positions], [expected])
        found = children_by_tier(self.kernel, positions)
        return [checksum(each) for _, each in found], found

    # ---- finished tiers ----

    def hold(self, tier_count: int, keep: Sequence[int], new: Sequence[Finished], pieces: Sequence[Any]) -> None:
        """Have exactly the tiers `keep` at hand, `new` being those that are not here yet."""
        if self.share is not None:
            self.share.close()
            self.share = None
        if self.engine is None:
            self.engine = Engine(self.kernel, tiers=tier_count, threads=1)
            if self.memory is not None:
                self.engine.set_memory(self.memory, tempfile.gettempdir())
        for tier in [tier for tier in self.held if tier not in keep]:
            self.engine.drop(tier)
            del self.held[tier]
        rest = iter(pieces)
        for each in new:
            keys = _blocks([next(rest) for _ in range(each.keys)], 0, each.key_checksums)
            values = _blocks([next(rest) for _ in range(each.values)], each.turn, each.checksums)
            self.engine.define(each.tier, each.size, [block.data for block in keys] if each.keys else None)
            if each.values:
                self.engine.attach(each.tier, each.width, [block.data for block in values])
            self.held[each.tier] = (keys, values)

    # ---- a component alone ----

    def solve(
        self,
        tier_count: int,
        keep: Any,
        new: Any,
        tiers: Sequence[int],
        sizes: Sequence[int],
        cyclic: bool,
        *pieces: Any,
    ) -> Any:
        """Solve tiers without help: their checksums, and the values of each."""
        self.hold(tier_count, keep, new, pieces)
        engine = self._engine
        engine.solve(tiers, cyclic=cyclic)
        values = [blocks_of(engine.values(tier, size)) for tier, size in zip(tiers, sizes, strict=True)]
        return State(checksums=_checksums(values)), *values

    def audit(self, tier_count: int, keep: Any, new: Any, tier: int, first: int, count: int, *pieces: Any) -> int:
        """How many values of a block are not what the rules and the children's values say."""
        self.hold(tier_count, keep, new, pieces)
        return self._engine.verify_slots(tier, first, count, examples=0)[0]

    def verify(
        self, tier_count: int, keep: Any, new: Any, tier: int, first: int, count: int, examples: int, *pieces: Any
    ) -> Checked:
        """Prove values of one block of a finished table."""
        self.hold(tier_count, keep, new, pieces)
        wrong, faults = self._engine.verify_slots(tier, first, count, examples=examples)
        block, place = divmod(first, BLOCK_SLOTS)
        keys, values = self.held[tier]
        counts = count_codes(values[block][place : place + count])
        lost = lost_position(self._engine, tier, first, keys[block][place : place + count]) if keys else None
        return Checked(wrong, faults, counts, lost)

    # ---- a component with others ----

    def begin(
        self, tier_count: int, keep: Any, new: Any, layout: Layout, number: int, width: int, *pieces: Any
    ) -> None:
        self.hold(tier_count, keep, new, pieces)
        self.number = number
        self.share = Share(self._engine, layout, number, width=width)

    def solve_units(self) -> State:
        self._share.solve()
        return self._state()

    def settle(self) -> tuple[State, list[Array]]:
        """What the rules say of the own units."""
        self._share.settle()
        return self.publish()

    def publish(self) -> tuple[State, list[Array]]:
        values = self._share.values()
        return self._state(checksums=tuple(map(checksum, values))), values

    def see(self, checksums: Sequence[Sequence[int]], *others: list[Array] | None) -> None:
        """What the others have published; None for the own."""
        for worker, units in enumerate(others):
            if units is not None:
                check(units, checksums[worker])
                self._share.attach_units(worker, units)

    def expand(self, threshold: int, edges: bool) -> Any:
        """The state; then, with `edges`, the reverse edges for each worker."""
        self._share.expand(threshold, edges=edges)
        if not edges:
            return self._state()
        return self._told([self._share.edges(worker) for worker in self._others_and_me])

    def learn(self, *edges: Message) -> None:
        self._share.receive_edges([(a[0], a[1].view(np.uint64)) for a in (unpack(each, empty=2) for each in edges)])

    def begin_ties(self) -> State:
        self._share.begin_ties()
        return self._state()

    def level(self, level: int, ties: bool, *inbox: Message) -> Any:
        """Take what was found at the level before, and take this one: the state, and a message to each worker."""
        self._apply(level - 1, ties, inbox)
        self._share.propagate(level, ties=ties)
        return self._told([self._share.updates(worker) for worker in self._others_and_me], level=level)

    def _apply(self, level: int, ties: bool, inbox: Sequence[Message]) -> None:
        for message in inbox:
            if message is not None:
                self._share.apply(level, unpack(message, empty=len(UPDATES)), ties=ties)

    def save(self, level: int, ties: bool, *inbox: Message) -> tuple[State, list[Array], list[Array]]:
        """Take what was found at a level; the state, and a checkpoint: values and entries of the own units."""
        self._apply(level, ties, inbox)
        values, entries = self._share.values(), self._share.entries()
        return self._state(checksums=tuple(map(checksum, (*values, *entries)))), values, entries

    def restore(self, checksums: Sequence[Sequence[int]], *values: list[Array]) -> None:
        """Begin with the values of a checkpoint: the units that each worker of that time had."""
        for units, expected in zip(values, checksums, strict=True):
            check(units, expected)
        self._share.restore_values(list(dealt(values, 0)))

    def recall(self, threshold: int, ties: bool, checksums: Sequence[Sequence[int]], *entries: list[Array]) -> State:
        """And with its entries."""
        for units, expected in zip(entries, checksums, strict=True):
            check(units, expected)
        own = list(dealt(entries, 0))[self.number :: self._share.layout.workers]
        self._share.restore_entries(threshold, own, ties=ties)
        return self._state()

    def scores(self) -> Array:
        return self._share.collect_scores()

    def store_score(self) -> tuple[State, list[Array]]:
        self._share.store_score()
        return self.publish()

    def wide(self) -> Array:
        return self._share.wide_tiers()

    def store(self, wide: Array | None) -> Any:
        """Finish the own units: their checksums, and the units of each tier. None: they are finished."""
        share = self._share
        if wide is not None:
            share.store(wide)
        units: dict[int, list[Array]] = {tier: [] for tier in share.layout.tiers}
        for (tier, _, _), values in zip(share.layout.units(self.number), share.values(), strict=True):
            units[tier].append(values)
        return State(checksums=_checksums(units.values())), *units.values()

    # ---- helpers ----

    @property
    def _engine(self) -> Engine:
        assert self.engine is not None
        return self.engine

    @property
    def _share(self) -> Share:
        assert self.share is not None
        return self.share

    @property
    def _others_and_me(self) -> range:
        return range(self._share.layout.workers)

    def _state(self, **more: Any) -> State:
        return State(last_level=self._share.last_level, has_ties=self._share.has_ties, **more)

    def _told(self, arrays: Sequence[Sequence[Array]], **more: Any) -> Any:
        messages = [pack(each) for each in arrays]
        sent = tuple(sum(array.nbytes for array in message or ()) for message in messages)
        return self._state(sent=sent, **more), *messages


def _make_game(spec: GameSpec) -> Game:
    if spec.text is None:
        game = load_game(spec.word, **spec.options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / spec.file_name
            path.write_text(spec.text, encoding="utf-8")
            game = load_game(str(path), **spec.options)
            game.command_word = spec.word  # as the user has it
    if game.rules_version != spec.rules_version:
        raise PluginError(
            f"{game.name}: a worker has rules version {game.rules_version}, and the driver {spec.rules_version}: "
            f"install the same version on all machines"
        )
    return game


def _checksums(tiers: Iterable[Sequence[Array]]) -> tuple[int, ...]:
    return tuple(checksum(unit) for units in tiers for unit in units)


def _blocks(pieces: Sequence[Sequence[Array]], turn: int, checksums: Sequence[int]) -> list[Array]:
    """The blocks of a tier, of the units in the pieces: each is one, or they are joined."""
    units = list(dealt(pieces, turn))
    if any(len(unit) < BLOCK_SLOTS for unit in units[:-1]):
        units = blocks_of(np.concatenate(units))
    check(units, checksums)
    return units
