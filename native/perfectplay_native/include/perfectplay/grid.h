/* The symmetries of a board of rows and columns. Cells are numbered row by row from the top left. */
#ifndef PERFECTPLAY_GRID_H
#define PERFECTPLAY_GRID_H

#include <stdint.h>

/* Fill image[s][c], the cell to which symmetry s takes cell c, and return the number of symmetries: 8 for a square board,
 * else 4. Bit 2 of s transposes the board, then bit 1 flips its rows and bit 0 its columns. For 3 × 3 cells, image[s] is:
 *
 *     s    0        1        2        3        4        5        6        7
 *        0 1 2    2 1 0    6 7 8    8 7 6    0 3 6    2 5 8    6 3 0    8 5 2
 *        3 4 5    5 4 3    3 4 5    5 4 3    1 4 7    1 4 7    7 4 1    7 4 1
 *        6 7 8    8 7 6    0 1 2    2 1 0    2 5 8    0 3 6    8 5 2    6 3 0 */
static inline unsigned pp_grid_symmetries(unsigned width, unsigned height, uint8_t image[8][64]) {
    const unsigned count = width == height ? 8 : 4;
    for (unsigned s = 0; s < count; s++)
        for (unsigned cell = 0; cell < width * height; cell++) {
            unsigned row = cell / width, column = cell % width;
            if (s & 4) {
                const unsigned swap = row;
                row = column;
                column = swap;
            }
            if (s & 2) row = height - 1 - row;
            if (s & 1) column = width - 1 - column;
            image[s][cell] = (uint8_t)(row * width + column);
        }
    return count;
}

#endif
