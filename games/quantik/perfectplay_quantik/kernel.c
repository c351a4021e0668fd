/* Quantik for the engine. The position, its canonical form and its rules are in position.h.
 *
 * The tier is the number of pieces on the board, so every move leads to the next tier.
 */
#include "core.h"
#include "position.h"

#include <string.h>

enum {
    MAX_MOVES = CELLS * SHAPES,
    CELL_BITS = 4,
    HASH_SIZE = 2 * MAX_MOVES, /* of the small hash table that finds duplicate children */
};

static unsigned pieces_on_board(pp_position position) { return count_bits(occupied(fields_of(position))); }

/* Exact: returns 1 for all positions that play can reach and no others. Sharing a line is symmetric, so pieces that
 * do not clash can have been placed in any order, and the game was not over earlier unless a line is finished
 * now. A finished game must have been ongoing before the last piece of the player who moved last. */
static int quantik_valid(const pp_kernel *self, pp_position position) {
    if (position >> (FIELD_BITS * SHAPES)) return 0;
    const struct fields fields = fields_of(position);
    unsigned occupied_cells = 0, pieces = 0, movers = 0, others = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        const uint32_t pair = fields.pair[shape];
        if (pair >= PAIRS) return 0;
        movers += count_bits(quantik_pairs.mover[pair]);
        others |= quantik_pairs.other[pair];
        const unsigned cells = (unsigned)quantik_pairs.mover[pair] | quantik_pairs.other[pair];
        pieces += count_bits(cells);
        occupied_cells |= cells;
    }
    if (count_bits(occupied_cells) != pieces) return 0; /* two pieces on one cell */
    if (movers != pieces / 2) return 0;                 /* as many as the other player, or one less */
    unsigned last = others;
    for (unsigned lines = finished_lines(fields); lines; lines &= lines - 1) last &= line_mask[lowest_bit(lines)];
    return !finished_lines(fields) || last != 0;
}

static pp_position quantik_start(const pp_kernel *self) { return 0; }

static size_t quantik_moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const struct fields fields = fields_of(position);
    if (finished_lines(fields)) return 0;
    const unsigned occupied_cells = occupied(fields);
    size_t count = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned cells = legal_cells(fields, shape, occupied_cells); cells; cells &= cells - 1) {
            moves[count++] = shape << CELL_BITS | lowest_bit(cells);
        }
    }
    return count;
}

static pp_position quantik_apply(const pp_kernel *self, pp_position position, pp_move move) {
    return position_of(placed(fields_of(position), (move >> CELL_BITS) % SHAPES, move & (CELLS - 1)));
}

static pp_position quantik_undo(const pp_kernel *self, pp_position position, pp_move move) {
    struct fields fields = seen_by_other(fields_of(position));
    uint32_t *const pair = &fields.pair[(move >> CELL_BITS) % SHAPES];
    const unsigned without = quantik_pairs.mover[*pair] & ~(1U << (move & (CELLS - 1)));
    *pair = quantik_pair((uint16_t)without, quantik_pairs.other[*pair]);
    return position_of(fields);
}

static pp_position quantik_canonicalize(const pp_kernel *self, pp_position position) {
    return canonical(fields_of(position));
}

/* Lost or ongoing: the other player has finished a line, or the mover is stuck and loses. */
static int quantik_status(const pp_kernel *self, pp_position position) {
    const struct fields fields = fields_of(position);
    if (finished_lines(fields)) return PP_LOST;
    const unsigned occupied_cells = occupied(fields);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        if (legal_cells(fields, shape, occupied_cells)) return PP_ONGOING;
    }
    return PP_LOST;
}

static int quantik_mover(const pp_kernel *self, pp_position position) { return pieces_on_board(position) & 1; }

static uint32_t quantik_tier(const pp_kernel *self, pp_position position) { return pieces_on_board(position); }

static int quantik_wins_now(const pp_kernel *self, pp_position position) {
    const struct fields fields = fields_of(position);
    if (finished_lines(fields)) return 0;
    const unsigned occupied_cells = occupied(fields);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        if (winning_cells(fields, shape, occupied_cells)) return 1;
    }
    return 0;
}

/* Appends a child unless it is listed. `seen` maps hashes to 1 + the index of a child, or 0. */
static inline size_t add_child(pp_position child, pp_position *children, size_t count, uint8_t *seen) {
    size_t slot = (size_t)(child * 0x9E3779B97F4A7C15U >> 57);
    _Static_assert(HASH_SIZE == 1 << (64 - 57), "the shift must fit the hash");
    while (seen[slot]) {
        if (children[seen[slot] - 1] == child) return count;
        slot = (slot + 1) & (HASH_SIZE - 1);
    }
    children[count] = child;
    seen[slot] = (uint8_t)(count + 1);
    return count + 1;
}

static size_t quantik_children(const pp_kernel *self, pp_position position, pp_position *children) {
    const struct fields fields = fields_of(position);
    if (finished_lines(fields)) return 0;
    const unsigned occupied_cells = occupied(fields);
    const struct fields unmoved = seen_by_other(fields);
    uint8_t seen[HASH_SIZE];
    memset(seen, 0, sizeof seen);
    size_t count = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        const uint32_t pair = fields.pair[shape];
        int repeated = 0; /* shapes with equal pairs, usually both unused, have the same children */
        for (unsigned earlier = 0; earlier < shape; earlier++) repeated |= fields.pair[earlier] == pair;
        if (repeated) continue;
        struct fields next = unmoved;
        for (unsigned cells = legal_cells(fields, shape, occupied_cells); cells; cells &= cells - 1) {
            next.pair[shape] = quantik_pairs.placed[pair][lowest_bit(cells)];
            count = add_child(canonical(next), children, count, seen);
        }
    }
    return count;
}

const pp_kernel quantik_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_MOVES,
    .tier_count = CELLS + 1,
    .valid = quantik_valid,
    .start = quantik_start,
    .moves = quantik_moves,
    .apply = quantik_apply,
    .undo = quantik_undo,
    .canonicalize = quantik_canonicalize,
    .status = quantik_status,
    .mover = quantik_mover,
    .tier = quantik_tier,
    .wins_now = quantik_wins_now,
    .children = quantik_children,
};
