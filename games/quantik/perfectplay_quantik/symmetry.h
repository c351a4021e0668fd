/* The 128 permutations of the cells that map rows, columns and zones to rows, columns and zones.
 *
 * Rotations and reflections are only 8 of them. A row permutation preserves the zones if it preserves the two bands
 * {0,1} and {2,3}: it can swap the rows of either band and the bands, which gives 8 permutations. The same is true
 * of columns, and transposing exchanges rows and columns: 8 × 8 × 2 = 128.
 */
#ifndef QUANTIK_SYMMETRY_H
#define QUANTIK_SYMMETRY_H

#include "geometry.h"

enum { SYMMETRIES = 128 };

/* Returns the image of `cell` under symmetry `number` (0 to SYMMETRIES - 1; 0 is the identity). */
static inline unsigned symmetry_cell(unsigned number, unsigned cell) {
    /* The eight permutations of four rows that preserve the bands: bit 0 and bit 1 swap the rows of the first
     * and the second band, bit 2 swaps the bands. */
    static const uint8_t banded[8][4] = {
        {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 0, 1}, {2, 3, 1, 0}, {3, 2, 1, 0},
    };
    const unsigned transpose = number >> 6;
    const unsigned row = transpose ? cell & 3 : cell >> 2;
    const unsigned column = transpose ? cell >> 2 : cell & 3;
    return (unsigned)banded[number >> 3 & 7][row] * 4 + banded[number & 7][column];
}

/* Returns the image of a set of cells. */
static inline uint16_t symmetry_mask(unsigned number, uint16_t mask) {
    unsigned image = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1) image |= 1U << symmetry_cell(number, lowest_bit(rest));
    return (uint16_t)image;
}

#endif
