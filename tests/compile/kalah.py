"""Kalah with m pits per side and n seeds in each. A player whose last seed falls into their store moves again."""

from perfectplay import Status, hookimpl
from perfectplay.authoring import Fields


class Kalah:
    """Pits are numbered around the board without the stores, first the first player's, then the second's.

    A position has the pits, the first player's store and the mover; the other store is the rest of the seeds.
    """

    def __init__(self, pits, seeds):
        self.pits, self.seeds = pits, 2 * pits * seeds
        self.each = seeds
        self.fields = Fields(pits=(2 * pits, self.seeds + 1), store=self.seeds + 1, mover=2)

    def side(self, mover):
        return range(mover * self.pits, (mover + 1) * self.pits)

    @hookimpl
    def start(self):
        return self.fields.pack(pits=[self.each] * 2 * self.pits, store=0, mover=0)

    @hookimpl
    def valid(self, position):
        if not self.fields.fits(position):
            return False
        pits, store, _ = self.fields.unpack(position)
        return sum(pits) + store <= self.seeds

    @hookimpl
    def mover(self, position):
        return self.fields.unpack(position).mover

    @hookimpl
    def moves(self, position):
        pits, _, mover = self.fields.unpack(position)
        return [pit for pit in self.side(mover) if pits[pit]]

    @hookimpl
    def apply(self, position, move):
        pits, store, mover = self.fields.unpack(position)
        pits, stores = list(pits), [store, self.seeds - store - sum(pits)]
        hand, pits[move] = pits[move], 0
        pit, in_store = move, False
        while hand:
            if pit == self.side(mover)[-1] and not in_store:
                stores[mover] += 1
                in_store = True
            else:
                pit, in_store = (pit + 1) % len(pits), False
                pits[pit] += 1
            hand -= 1
        after = mover if in_store else 1 - mover
        opposite = 2 * self.pits - 1 - pit
        if not in_store and pit in self.side(mover) and pits[pit] == 1 and pits[opposite]:
            stores[mover] += 1 + pits[opposite]
            pits[pit] = pits[opposite] = 0
        if not any(pits[pit] for pit in self.side(after)):  # the opponent of a player without seeds takes the rest
            stores[1 - after] += sum(pits)
            pits = [0] * len(pits)
        return self.fields.pack(pits=pits, store=stores[0], mover=after)

    @hookimpl
    def score(self, position):
        pits, store, mover = self.fields.unpack(position)
        lead = 2 * store + sum(pits) - self.seeds
        return -lead if mover else lead

    @hookimpl
    def status(self, position):
        if self.moves(position):
            return Status.ONGOING
        score = self.score(position)
        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN
