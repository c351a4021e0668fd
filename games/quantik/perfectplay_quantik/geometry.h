/* The 4×4 board as bit masks. Bit i is cell i, row by row:
 *
 *      0  1 |  2  3        A line is a row, a column or a 2×2 zone. Lines are numbered
 *      4  5 |  6  7        rows 0-3, columns 4-7, zones 8-11, so that a set of lines
 *     ------+-------       fits 12 bits.
 *      8  9 | 10 11
 *     12 13 | 14 15        Every cell is on three lines, which together are its scope.
 */
#ifndef QUANTIK_GEOMETRY_H
#define QUANTIK_GEOMETRY_H

#include <stdint.h>

enum { CELLS = 16, SHAPES = 4, LINES = 12, PIECES_PER_SHAPE = 2 };

static const uint16_t line_mask[LINES] = {
    0x000F, 0x00F0, 0x0F00, 0xF000, /* rows */
    0x1111, 0x2222, 0x4444, 0x8888, /* columns */
    0x0033, 0x00CC, 0x3300, 0xCC00, /* zones */
};

/* Returns the lines, as 12 bits, that have a cell in `mask`. */
static inline uint16_t lines_touched(uint16_t mask) {
    unsigned lines = 0;
    for (unsigned line = 0; line < LINES; line++) {
        if (mask & line_mask[line]) lines |= 1U << line;
    }
    return (uint16_t)lines;
}

/* Returns all cells of a set of lines. */
static inline uint16_t cells_of_lines(unsigned lines) {
    unsigned cells = 0;
    for (unsigned line = 0; line < LINES; line++) {
        if (lines >> line & 1U) cells |= line_mask[line];
    }
    return (uint16_t)cells;
}

static inline unsigned count_bits(uint64_t mask) { return (unsigned)__builtin_popcountll(mask); }

/* Returns the number of the lowest bit. The mask must not be empty. */
static inline unsigned lowest_bit(unsigned mask) { return (unsigned)__builtin_ctz(mask); }

#endif
