/* position.h: the solver's 64-bit position, and the rules on it.
 *
 *     63             44 43      33 32      22 21      11 10       0
 *    +-----------------+----------+----------+----------+----------+
 *    |   zero          | shape A  | shape B  | shape C  | shape D  |
 *    +-----------------+----------+----------+----------+----------+
 *
 * Each field is a pair number (pairs.h): the mover's cells of that shape and the other's. The mover's pieces
 * always come first, whatever their colour, so recolouring costs nothing and a value for the side to move
 * needs no further thought. Who moves follows from the counts: colour 0 begins, so the mover is colour 0 if
 * both have the same number of pieces, and colour 1 if the mover has one less. The start is 0.
 *
 * Example: `A.../..../..../....`. Colour 1 is to move; it has no A, the other has one on cell 0. The pair
 * (none, {0}) has number 17, so the position is 17 << 33 = 146028888064.
 *
 * Canonical is the greatest of the 3072 images (128 symmetries of the board × 24 orders of the fields).
 * There the fields descend, and the first is the greatest image of one of the four pairs. So only the
 * symmetries that make a pair greatest are tried, for the pair (or pairs) with the greatest top: two or three
 * as a rule, because the numbering puts the pairs with few symmetries last.
 *
 * A move is shape << 4 | cell.
 */
#ifndef QUANTIK_POSITION_H
#define QUANTIK_POSITION_H

#include "pairs.h"
#include "perfectplay.h"

enum { FIELD_BITS = 11, FIELD_MASK = (1 << FIELD_BITS) - 1 };
_Static_assert(PAIRS <= 1 << FIELD_BITS, "a pair number must fit its field");

struct fields {
    uint32_t pair[SHAPES];
};

static inline unsigned field_shift(unsigned shape) { return FIELD_BITS * (SHAPES - 1 - shape); }

static inline struct fields fields_of(pp_position position) {
    struct fields fields;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fields.pair[shape] = (uint32_t)(position >> field_shift(shape)) & FIELD_MASK;
    }
    return fields;
}

static inline pp_position position_of(struct fields fields) {
    pp_position position = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) position = position << FIELD_BITS | fields.pair[shape];
    return position;
}

static inline unsigned occupied(struct fields fields) {
    unsigned cells = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        cells |= (unsigned)quantik_pairs.mover[fields.pair[shape]] | quantik_pairs.other[fields.pair[shape]];
    }
    return cells;
}

/* The position as the other player sees it; no position of the game in itself, but a step on the way. */
static inline struct fields seen_by_other(struct fields fields) {
    for (unsigned shape = 0; shape < SHAPES; shape++) fields.pair[shape] = quantik_pairs.swapped[fields.pair[shape]];
    return fields;
}

/* The lines, as 12 bits, that hold all four shapes. Any means that the last move has won. */
static inline unsigned finished_lines(struct fields fields) {
    const uint16_t *const lines = quantik_pairs.lines;
    return (unsigned)lines[fields.pair[0]] & lines[fields.pair[1]] & lines[fields.pair[2]] & lines[fields.pair[3]];
}

/* Where the mover may put `shape`, as a mask, if the game is not over. */
static inline unsigned legal_cells(struct fields fields, unsigned shape, unsigned taken) {
    return quantik_pairs.open[fields.pair[shape]] & ~taken;
}

/* Where putting `shape` finishes a line: the empty cells of lines that hold the other three shapes. */
static inline unsigned winning_cells(struct fields fields, unsigned shape, unsigned taken) {
    const uint16_t *const lines = quantik_pairs.lines;
    unsigned lacking = (1U << LINES) - 1;
    for (unsigned i = 0; i < SHAPES; i++) {
        if (i != shape) lacking &= lines[fields.pair[i]];
    }
    return quantik_pairs.line_cells[lacking] & legal_cells(fields, shape, taken);
}

/* The fields after the mover has put `shape` on `cell`, as the next mover sees them. */
static inline struct fields placed(struct fields fields, unsigned shape, unsigned cell) {
    struct fields next = seen_by_other(fields);
    next.pair[shape] = quantik_pairs.placed[fields.pair[shape]][cell];
    return next;
}

static inline uint32_t greater(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The three images under one symmetry, in descending order, as the lower three fields. */
static inline uint64_t descending(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t high = greater(a, b), low = smaller(a, b);
    const uint32_t first = greater(high, c), rest = smaller(high, c);
    return (uint64_t)first << 2 * FIELD_BITS | greater(rest, low) << FIELD_BITS | smaller(rest, low);
}

/* The greatest lower fields that the symmetries which make `leader` greatest can give the other three pairs. */
static inline uint64_t best_below(uint32_t leader, uint32_t a, uint32_t b, uint32_t c) {
    const uint8_t *const turns = quantik_pairs.turns + quantik_pairs.first[leader];
    const uint16_t *const row_a = quantik_pairs.image[a], *const row_b = quantik_pairs.image[b],
                          *const row_c = quantik_pairs.image[c];
    uint64_t best = 0;
    for (unsigned i = 0, count = quantik_pairs.count[leader]; i < count; i++) {
        const unsigned turn = turns[i];
        const uint64_t below = descending(row_a[turn], row_b[turn], row_c[turn]);
        if (below > best) best = below;
    }
    return best;
}

static inline pp_position canonical(struct fields fields) {
    const uint32_t *const pair = fields.pair;
    const uint16_t *const top = quantik_pairs.top;
    const uint32_t leading = greater(greater(top[pair[0]], top[pair[1]]), greater(top[pair[2]], top[pair[3]]));
    uint64_t best = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        if (top[pair[shape]] != leading) continue;
        const uint64_t below =
            best_below(pair[shape], pair[(shape + 1) & 3], pair[(shape + 2) & 3], pair[(shape + 3) & 3]);
        if (below > best) best = below;
    }
    return (uint64_t)leading << 3 * FIELD_BITS | best;
}

#endif
