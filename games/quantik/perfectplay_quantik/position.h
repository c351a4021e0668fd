/* The solver's 64-bit position and its rules.
 *
 *     63             44 43      33 32      22 21      11 10       0
 *    +-----------------+----------+----------+----------+----------+
 *    |   zero          | shape A  | shape B  | shape C  | shape D  |
 *    +-----------------+----------+----------+----------+----------+
 *
 * Each field is a pair number (pairs.h): the mover's cells of that shape and the other player's. The mover's pieces
 * come first, whatever their colour, so exchanging the colours costs nothing and values are those of the side to
 * move. The counts determine the mover: colour 0 moves first, so the mover is colour 0 if both have the same number
 * of pieces, and colour 1 if the mover has one less. The start is 0.
 *
 * Example: `A.../..../..../....`. Colour 1 is to move. It has no A, and the other player has one on cell 0. The pair
 * (none, {0}) has number 17, so the position is 17 << 33 = 146028888064.
 *
 * The canonical form is the greatest of the 3072 images (128 symmetries of the board × 24 orders of the fields). Its
 * fields are in descending order, and the first is the greatest image of one of the four pairs. So it is enough to
 * try the symmetries that give the greatest image, for the pair (or pairs) whose greatest image is the largest.
 * There are usually two or three of them, because the numbering puts the pairs with few symmetries last.
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

/* Returns the fields with mover and other player exchanged. This is an intermediate step, not a position. */
static inline struct fields seen_by_other(struct fields fields) {
    for (unsigned shape = 0; shape < SHAPES; shape++) fields.pair[shape] = quantik_pairs.swapped[fields.pair[shape]];
    return fields;
}

/* Returns the lines, as 12 bits, that contain all four shapes. If there are any, the last move has won. */
static inline unsigned finished_lines(struct fields fields) {
    const uint16_t *const lines = quantik_pairs.lines;
    return (unsigned)lines[fields.pair[0]] & lines[fields.pair[1]] & lines[fields.pair[2]] & lines[fields.pair[3]];
}

/* Returns the cells where the mover may place `shape` if the game is not over. */
static inline unsigned legal_cells(struct fields fields, unsigned shape, unsigned occupied_cells) {
    return quantik_pairs.open[fields.pair[shape]] & ~occupied_cells;
}

/* Returns the cells where placing `shape` finishes a line: empty cells of lines with the other three shapes. */
static inline unsigned winning_cells(struct fields fields, unsigned shape, unsigned occupied_cells) {
    const uint16_t *const lines = quantik_pairs.lines;
    unsigned lacking = (1U << LINES) - 1;
    for (unsigned i = 0; i < SHAPES; i++) {
        if (i != shape) lacking &= lines[fields.pair[i]];
    }
    return quantik_pairs.line_cells[lacking] & legal_cells(fields, shape, occupied_cells);
}

/* Returns the fields after the mover places `shape` on `cell`, from the view of the next mover. */
static inline struct fields placed(struct fields fields, unsigned shape, unsigned cell) {
    struct fields next = seen_by_other(fields);
    next.pair[shape] = quantik_pairs.placed[fields.pair[shape]][cell];
    return next;
}

static inline uint32_t greater(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns three images in descending order as the lower three fields. */
static inline uint64_t descending(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t high = greater(a, b), low = smaller(a, b);
    const uint32_t first = greater(high, c), rest = smaller(high, c);
    return (uint64_t)first << 2 * FIELD_BITS | greater(rest, low) << FIELD_BITS | smaller(rest, low);
}

/* Returns the greatest lower fields of the other three pairs under the symmetries that give `leader` its greatest
 * image. */
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
