"""Othello on a small board. A player who cannot move passes, which is not a move, so the opponent moves again."""

from perfectplay import Status, hookimpl

STEPS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


class Othello:
    """A position has the mover's and the opponent's discs, one bit per cell, and in higher bits who is to move."""

    def __init__(self, size=4):
        self.size, self.cells = size, size * size
        self.half = (1 << self.cells) - 1
        self.rays = [[self.ray(cell, *step) for step in STEPS] for cell in range(self.cells)]

    def ray(self, cell, down, right):
        row, column = divmod(cell, self.size)
        cells = []
        while 0 <= (row := row + down) < self.size and 0 <= (column := column + right) < self.size:
            cells.append(row * self.size + column)
        return cells

    def unpack(self, position):
        return position & self.half, position >> self.cells & self.half, position >> 2 * self.cells

    def pack(self, mine, theirs, mover):
        return mine | theirs << self.cells | mover << 2 * self.cells

    def flipped(self, mine, theirs, cell):
        """Return the discs that a disc on an empty cell turns over."""
        turned = 0
        for ray in self.rays[cell]:
            run = 0
            for other in ray:
                if theirs >> other & 1:
                    run |= 1 << other
                    continue
                turned |= run if mine >> other & 1 else 0
                break
        return turned

    def legal(self, mine, theirs):
        empty = [cell for cell in range(self.cells) if not (mine | theirs) >> cell & 1]
        return [cell for cell in empty if self.flipped(mine, theirs, cell)]

    @hookimpl
    def start(self):
        middle = self.size // 2 - 1
        corner = middle * self.size + middle
        return self.pack(1 << corner + 1 | 1 << corner + self.size, 1 << corner | 1 << corner + self.size + 1, 0)

    @hookimpl
    def valid(self, position):
        mine, theirs, mover = self.unpack(position)
        return not mine & theirs and mover < 2

    @hookimpl
    def mover(self, position):
        return self.unpack(position)[2]

    @hookimpl
    def moves(self, position):
        mine, theirs, _ = self.unpack(position)
        return self.legal(mine, theirs)

    @hookimpl
    def apply(self, position, move):
        mine, theirs, mover = self.unpack(position)
        turned = self.flipped(mine, theirs, move)
        mine, theirs = mine | turned | 1 << move, theirs & ~turned
        if not self.legal(theirs, mine) and self.legal(mine, theirs):
            return self.pack(mine, theirs, mover)
        return self.pack(theirs, mine, 1 - mover)

    @hookimpl
    def score(self, position):
        mine, theirs, _ = self.unpack(position)
        return mine.bit_count() - theirs.bit_count()

    @hookimpl
    def status(self, position):
        if self.moves(position):
            return Status.ONGOING
        score = self.score(position)
        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN

    @hookimpl
    def tier(self, position):
        mine, theirs, _ = self.unpack(position)
        return (mine | theirs).bit_count()
