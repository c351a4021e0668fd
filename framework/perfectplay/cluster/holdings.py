"""Tiers in Ray's object store, where the workers of a machine share them, and which of them each worker has at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perfectplay.cluster.component import Pool
from perfectplay.cluster.messages import Finished, Ref
from perfectplay.table.records import KeyRecord, TierRecord
from perfectplay.table.store import Store

PIECE_BLOCKS = 64
"""Blocks that are put into the object store together."""

Brought = tuple[int, list[int], list[Finished], list[Ref]]
"""What `Worker.hold` is told: how many tiers there are, which to keep, which are new, and the pieces of these."""


@dataclass(frozen=True, slots=True)
class Published:
    """A tier in the object store."""

    finished: Finished
    refs: tuple[Ref, ...]


class Holdings:
    """What the workers of a pool have of one table. `before_reading` is called before the store is asked for blocks."""

    def __init__(
        self,
        pool: Pool,
        store: Store,
        sizes: Mapping[int, int],
        keys: Mapping[int, KeyRecord],
        records: Mapping[int, TierRecord],
        before_reading: Callable[[], None] = lambda: None,
    ) -> None:
        self.pool, self.store, self.sizes, self.keys, self.records = pool, store, sizes, keys, records
        self.before_reading = before_reading
        self._tier_count = max(sizes, default=0) + 1
        self.begin_again()

    def begin_again(self) -> None:
        """The workers are fresh ones, and the object store may have lost what they made."""
        self._published: dict[int, Published] = {}
        self._held: list[dict[int, bool]] = [{} for _ in range(self.pool.size)]  # tiers, and whether with values

    def bring(self, worker: int, needed: dict[int, bool]) -> Brought:
        """Let a worker have exactly these tiers, each with or without its values, when it next holds something."""
        held = self._held[worker]
        new = [self._publish(tier, values=values) for tier, values in needed.items() if held.get(tier) is not values]
        self._held[worker] = needed
        pieces = [ref for each in new for ref in each.refs]
        return self._tier_count, list(needed), [each.finished for each in new], pieces

    def offer(self, record: TierRecord, refs: tuple[Ref, ...], turn: int) -> None:
        """A tier is finished: its values are in these pieces, dealt out from `turn` on."""
        keys = self._published.get(record.tier) or self._publish(record.tier, values=False)
        key_refs = keys.refs[: keys.finished.keys]
        finished = _with_values(keys.finished, record, len(refs), turn)
        self._published[record.tier] = Published(finished, (*key_refs, *refs))

    def forget(self, tier: int) -> None:
        """Nobody will ask for this tier again."""
        self._published.pop(tier, None)

    def _publish(self, tier: int, *, values: bool) -> Published:
        """A tier in the object store: where it is there already, or from the table."""
        found = self._published.get(tier)
        if found is not None and (found.finished.values > 0) is values:
            return found
        made, keys = Finished(tier, self.sizes[tier]), ()
        if tier in self.keys or values:
            self.before_reading()
        if tier in self.keys:
            keys = self._put_blocks(self.store.key_blocks(self.keys[tier]), np.uint64)
            made = Finished(tier, self.sizes[tier], len(keys), key_checksums=tuple(self.keys[tier].checksums))
        refs = keys
        if values:
            record = self.records[tier]
            put = self._put_blocks(self.store.value_blocks(record), f"<u{record.width}")
            made = _with_values(made, record, len(put), 0)
            refs = (*keys, *put)
        self._published[tier] = Published(made, refs)
        return self._published[tier]

    def _put_blocks(self, blocks: Sequence[Any], dtype: Any) -> tuple[Ref, ...]:
        arrays = [np.frombuffer(block, dtype=dtype) for block in blocks]
        count = -(-len(arrays) // PIECE_BLOCKS)
        return tuple(self.pool.put(arrays[number::count]) for number in range(count))


def _with_values(keys: Finished, record: TierRecord, pieces: int, turn: int) -> Finished:
    return Finished(
        keys.tier, keys.size, keys.keys, pieces, record.width, turn, tuple(record.checksums), keys.key_checksums
    )
