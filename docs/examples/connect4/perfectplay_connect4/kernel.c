/* Connect Four for the engine: the rules of rules.py once more, in C. The encoding is drawn there.
 *
 * One kernel serves every size of board: `context` says which. */
#include "perfectplay.h"

#include "connect4.h"

enum { HALF = 32 };

static uint64_t mine(pp_position position) { return position & UINT32_MAX; }
static uint64_t theirs(pp_position position) { return position >> HALF; }
static uint64_t stones(pp_position position) { return mine(position) | theirs(position); }

static const connect4_size *size_of(const pp_kernel *self) { return self->context; }
static uint32_t step_of(const connect4_size *size) { return size->height + 1; }
static uint64_t column_of(const connect4_size *size, uint32_t column) {
    return ((UINT64_C(1) << size->height) - 1) << column * step_of(size);
}

/* Adding one at the bottom of a column carries to its lowest empty cell. Nothing where the column is full. */
static uint64_t next_stone(const connect4_size *size, pp_position position, uint32_t column) {
    const uint64_t cells = column_of(size, column);
    return (stones(position) + (cells & -cells)) & cells & ~stones(position);
}

static int has_four(const connect4_size *size, uint64_t owned) {
    const uint32_t step = step_of(size), shifts[] = {1, step, step + 1, step - 1};
    for (int i = 0; i < 4; i++) {
        const uint64_t pairs = owned & owned >> shifts[i];
        if (pairs & pairs >> 2 * shifts[i]) return 1;
    }
    return 0;
}

static pp_position start(const pp_kernel *self) {
    (void)self;
    return 0;
}

static int valid(const pp_kernel *self, pp_position position) {
    const connect4_size *size = size_of(self);
    uint64_t board = 0;
    for (uint32_t column = 0; column < size->width; column++) {
        const uint64_t cells = column_of(size, column);
        if ((stones(position) + (cells & -cells)) & stones(position) & cells) return 0; /* a gap under a stone */
        board |= cells;
    }
    const int lead = __builtin_popcountll(theirs(position)) - __builtin_popcountll(mine(position));
    return !(mine(position) & theirs(position)) && !(stones(position) & ~board) && (lead == 0 || lead == 1) &&
           !has_four(size, mine(position));
}

static int status(const pp_kernel *self, pp_position position) {
    const connect4_size *size = size_of(self);
    if (has_four(size, theirs(position))) return PP_LOST;
    for (uint32_t column = 0; column < size->width; column++)
        if (next_stone(size, position, column)) return PP_ONGOING;
    return PP_DRAWN;
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const connect4_size *size = size_of(self);
    size_t count = 0;
    if (has_four(size, theirs(position))) return 0;
    for (uint32_t column = 0; column < size->width; column++)
        if (next_stone(size, position, column)) moves[count++] = column;
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    return theirs(position) | (mine(position) | next_stone(size_of(self), position, move)) << HALF;
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    const uint64_t filled = stones(position) & column_of(size_of(self), move);
    const uint64_t top = UINT64_C(1) << (63 - __builtin_clzll(filled));
    return (theirs(position) ^ top) | mine(position) << HALF;
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const connect4_size *size = size_of(self);
    if (!size->mirror) return position;
    const uint64_t column = column_of(size, 0) | column_of(size, 0) << HALF;
    const uint32_t step = step_of(size);
    pp_position mirrored = 0;
    for (uint32_t i = 0; i < size->width; i++)
        mirrored |= (position >> i * step & column) << (size->width - 1 - i) * step;
    return mirrored < position ? mirrored : position;
}

static uint32_t tier(const pp_kernel *self, pp_position position) {
    (void)self;
    return (uint32_t)__builtin_popcountll(position);
}

/* Optional: positions won on the spot need not be looked into. */
static int wins_now(const pp_kernel *self, pp_position position) {
    const connect4_size *size = size_of(self);
    for (uint32_t column = 0; column < size->width; column++) {
        const uint64_t stone = next_stone(size, position, column);
        if (stone && has_four(size, mine(position) | stone)) return 1;
    }
    return 0;
}

const pp_kernel connect4_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = 8,
    .tier_count = HALF + 1,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .tier = tier,
    .wins_now = wins_now,
};
