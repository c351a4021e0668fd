"""A worker: a process with one engine that carries out the steps the driver calls. It is independent of Ray."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.cluster.messages import (
    AttachTiers,
    BlockReport,
    ChildrenReply,
    GameSource,
    LevelTask,
    PositionBatch,
    RestoreTask,
    ShareState,
    ShareTask,
    SolveTask,
    VerifyTask,
    WorkerInfo,
    check_arrays,
    collect_units,
    pack,
    unpack,
)
from perfectplay.compile.kernel import solving_kernel
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.engine import cpu_seconds
from perfectplay.game.game import Game
from perfectplay.game.loading import load_game
from perfectplay.memory import available_memory
from perfectplay.solve.verification import find_lost_position
from perfectplay.table.records import blocks_of, checksum
from perfectplay.tiers.enumeration import children_by_tier
from perfectplay_native.engine import Engine
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.share import UPDATES, Array, Share
from perfectplay_native.values import count_codes

PackedArrays = list[Array] | None


class Worker:
    """Has the finished tiers that its task needs, and its share of the tiers being solved.

    A method that returns a tuple is called with that many results: a state, and arrays that others may fetch.
    """

    def __init__(self, game: Game | GameSource, memory: int | None) -> None:
        self.memory = memory
        self.failure: PerfectPlayError | None = None
        try:
            self._start(game)
        except PerfectPlayError as error:  # Ray reports an error in a constructor only as a dead actor
            self.failure = error

    def _start(self, game: Game | GameSource) -> None:
        self.game = game if isinstance(game, Game) else _load_source(game)
        self.kernel = solving_kernel(self.game)
        memory = available_memory().bytes // (os.cpu_count() or 1) if self.memory is None else self.memory
        self.memo = self.kernel.memo(memory // 4)
        self.memo.__enter__()  # until this process ends
        self._open_engine: Engine | None = None
        self._open_share: Share | None = None
        self.keys: dict[int, list[Array]] = {}
        self.values: dict[int, list[Array]] = {}

    def describe(self) -> WorkerInfo:
        """Return the process of this worker; raise the error that prevented its start."""
        if self.failure is not None:
            raise self.failure
        return WorkerInfo(os.getpid(), cpu_seconds())

    def expand_positions(self, batch: PositionBatch) -> ChildrenReply:
        check_arrays([batch.positions], [batch.checksum])
        children = children_by_tier(self.kernel, batch.positions)
        return ChildrenReply(children, [checksum(positions) for _, positions in children])

    # ---- finished tiers ----

    def attach_tiers(self, message: AttachTiers, pieces: Sequence[Any]) -> None:
        if self._open_share is not None:
            self._open_share.close()
            self._open_share = None
        if self._open_engine is None:
            self._open_engine = Engine(self.kernel, tiers=message.tier_count, threads=1)
            if self.memory is not None:
                self._open_engine.set_memory(self.memory, tempfile.gettempdir())
        engine = self._open_engine
        for tier in [tier for tier in self.keys if tier not in message.keep]:
            engine.drop(tier)
            del self.keys[tier], self.values[tier]
        rest = iter(pieces)
        for each in message.new:
            keys = _join_units([next(rest) for _ in range(each.key_pieces)], 0, each.key_checksums)
            values = _join_units([next(rest) for _ in range(each.value_pieces)], each.turn, each.value_checksums)
            engine.define(each.tier, each.size, [block.data for block in keys] if each.key_pieces else None)
            if each.value_pieces:
                engine.attach(each.tier, each.width, [block.data for block in values])
            self.keys[each.tier], self.values[each.tier] = keys, values  # the engine does not copy them

    def solve_component(self, task: SolveTask, *pieces: Any) -> Any:
        """Solve tiers without other workers; return a state and the values of each tier."""
        self.attach_tiers(task.attach, pieces)
        self.engine.solve(task.tiers, cyclic=task.cyclic)
        values = [blocks_of(self.engine.values(tier, size)) for tier, size in zip(task.tiers, task.sizes, strict=True)]
        return ShareState(checksums=_checksums(values)), *values

    def verify_block(self, task: VerifyTask, *pieces: Any) -> BlockReport:
        """Derive values of one block again from the rules and the children's values."""
        self.attach_tiers(task.attach, pieces)
        tier, first, count = task.tier, task.first, task.count
        wrong, faults = self.engine.verify_slots(tier, first, count, examples=task.examples)
        block, place = divmod(first, BLOCK_SLOTS)
        keys = self.keys[tier]
        counts = count_codes(self.values[tier][block][place : place + count])
        lost = find_lost_position(self.engine, tier, first, keys[block][place : place + count]) if keys else None
        return BlockReport(wrong, faults, counts, lost)

    # ---- a share of a component; component.py has the order of these steps ----

    def begin_share(self, task: ShareTask, *pieces: Any) -> None:
        self.attach_tiers(task.attach, pieces)
        self._open_share = Share(self.engine, task.layout, task.worker, width=task.width)

    def solve_units(self) -> ShareState:
        """Solve the own units of an acyclic component."""
        self.share.solve()
        return self._state()

    def settle_units(self) -> tuple[ShareState, list[Array]]:
        """Determine the values of the own units that follow from the rules alone."""
        self.share.settle()
        return self._publish_values()

    def store_score(self) -> tuple[ShareState, list[Array]]:
        """Store the values found for the present score."""
        self.share.store_score()
        return self._publish_values()

    def _publish_values(self) -> tuple[ShareState, list[Array]]:
        values = self.share.values()
        return self._state(checksums=tuple(map(checksum, values))), values

    def receive_values(self, checksums: Sequence[Sequence[int]], *published: list[Array] | None) -> None:
        """Receive the values that each worker published; None for the own."""
        for worker, units in enumerate(published):
            if units is not None:
                check_arrays(units, checksums[worker])
                self.share.attach_units(worker, units)

    def expand_units(self, threshold: int) -> ShareState:
        """Count the open children of the own positions."""
        self.share.expand(threshold, edges=False)
        return self._state()

    def expand_edges(self, threshold: int) -> Any:
        """Do the same, and return the reverse edges for each worker."""
        self.share.expand(threshold, edges=True)
        return self._pack_for_workers([self.share.edges(worker) for worker in range(self.share.layout.workers)])

    def receive_edges(self, *messages: PackedArrays) -> None:
        """Receive the reverse edges from every worker."""
        edges = [unpack(message, count=2) for message in messages]
        self.share.receive_edges([(children, parents.view(np.uint64)) for children, parents in edges])

    def begin_ties(self) -> ShareState:
        self.share.begin_ties()
        return self._state()

    def run_level(self, task: LevelTask, *inbox: PackedArrays) -> Any:
        """Apply the updates of the level before and run this one; return the updates for each worker."""
        self._apply_updates(task.level - 1, task.ties, inbox)
        self.share.propagate(task.level, ties=task.ties)
        return self._pack_for_workers([self.share.updates(worker) for worker in range(self.share.layout.workers)])

    def _apply_updates(self, level: int, ties: bool, inbox: Sequence[PackedArrays]) -> None:
        for message in inbox:
            if message is not None:
                self.share.apply(level, unpack(message, count=len(UPDATES)), ties=ties)

    def save_checkpoint(self, task: LevelTask, *inbox: PackedArrays) -> tuple[ShareState, list[Array], list[Array]]:
        """Apply the updates of a finished level; return values and entries of the own units."""
        self._apply_updates(task.level, task.ties, inbox)
        values, entries = self.share.values(), self.share.entries()
        return self._state(checksums=tuple(map(checksum, (*values, *entries)))), values, entries

    def restore_values(self, checksums: Sequence[Sequence[int]], *values: list[Array]) -> None:
        """Restore the values of a checkpoint, given by the workers that saved them."""
        for units, expected in zip(values, checksums, strict=True):
            check_arrays(units, expected)
        self.share.restore_values(list(collect_units(values, 0)))

    def restore_entries(self, task: RestoreTask, *entries: list[Array]) -> ShareState:
        """Restore the entries of a checkpoint after its values."""
        for units, expected in zip(entries, task.checksums, strict=True):
            check_arrays(units, expected)
        own = list(collect_units(entries, 0))[self.share.worker :: self.share.layout.workers]
        self.share.restore_entries(task.threshold, own, ties=task.ties)
        return self._state()

    def find_scores(self) -> Array:
        """Return a bitmap of the scores that own positions can reach."""
        return self.share.collect_scores()

    def find_wide_tiers(self) -> Array:
        """Return, for each tier, whether it has a value that needs two bytes."""
        return self.share.wide_tiers()

    def finish_units(self, wide: Array | None) -> Any:
        """Store the final values; return a state and the own units of each tier.

        `wide` are the tiers with two bytes per value; None for an acyclic component, which is stored already.
        """
        share = self.share
        if wide is not None:
            share.store(wide)
        units: dict[int, list[Array]] = {tier: [] for tier in share.layout.tiers}
        for (tier, _, _), values in zip(share.layout.units(share.worker), share.values(), strict=True):
            units[tier].append(values)
        return ShareState(checksums=_checksums(units.values())), *units.values()

    # ---- helpers ----

    @property
    def engine(self) -> Engine:
        assert self._open_engine is not None
        return self._open_engine

    @property
    def share(self) -> Share:
        assert self._open_share is not None
        return self._open_share

    def _state(self, *, sent: tuple[int, ...] = (), checksums: tuple[int, ...] = ()) -> ShareState:
        return ShareState(self.share.last_level, self.share.has_ties, sent, checksums)

    def _pack_for_workers(self, arrays: Sequence[Sequence[Array]]) -> Any:
        messages = [pack(each) for each in arrays]
        sizes = tuple(sum(array.nbytes for array in message or ()) for message in messages)
        return self._state(sent=sizes), *messages


def _load_source(source: GameSource) -> Game:
    if source.text is None:
        game = load_game(source.word, **source.options)
        game.compile_rules = source.compile_rules
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / source.file_name
            path.write_text(source.text, encoding="utf-8")
            game = load_game(str(path), **source.options)
            game.command_word = source.word  # for messages: the user's path
            game.compile_rules = source.compile_rules
            solving_kernel(game)  # translating reads the file
    if game.rules_version != source.rules_version:
        raise PluginError(
            f"{game.name}: a worker has version {game.rules_version} of the rules, but the driver has version "
            f"{source.rules_version}; install the same version on all machines"
        )
    return game


def _checksums(tiers: Iterable[Sequence[Array]]) -> tuple[int, ...]:
    return tuple(checksum(unit) for units in tiers for unit in units)


def _join_units(pieces: Sequence[Sequence[Array]], turn: int, checksums: Sequence[int]) -> list[Array]:
    """Return the blocks of a tier, given its units in pieces; a unit is a block or smaller."""
    units = list(collect_units(pieces, turn))
    if any(len(unit) < BLOCK_SLOTS for unit in units[:-1]):
        units = blocks_of(np.concatenate(units))
    check_arrays(units, checksums)
    return units
