/* pairs.h: everything one shape can do on the board, numbered and tabulated.
 *
 * Of one shape, the player to move (the mover) has a set of at most two cells, and so has the other; and no
 * cell of one set shares a line with a cell of the other, because the rules forbid just that. Only 2001 such
 * pairs of sets exist, so a pair fits 11 bits and a whole position four numbers. What a move or a symmetry
 * does to a shape is then one look-up, and so is what the shape says about lines and legal cells.
 *
 * The numbering: ascending by, in this order,
 *   1. how many of the 128 symmetries fix the pair, most first: the empty pair is 0, and the greatest
 *      numbers belong to pairs that tell all symmetries apart;
 *   2. the mover's set as a 16-bit mask;   3. the other's.
 * It is part of the position encoding: changing it means raising rules_version.
 */
#ifndef QUANTIK_PAIRS_H
#define QUANTIK_PAIRS_H

#include "geometry.h"
#include "symmetry.h"

enum {
    PAIRS = 2001,
    PAIR_ORBITS = 42,
    NO_PAIR = 0xFFFF,
};

/* Filled once, when the module is loaded; constant from then on, so any thread may read. */
struct pair_tables {
    uint16_t mover[PAIRS];   /* the mover's cells, as a mask */
    uint16_t other[PAIRS];   /* the other player's */
    uint16_t swapped[PAIRS]; /* the pair as the other player sees it */
    uint16_t lines[PAIRS];   /* the lines, as 12 bits, that hold this shape in any colour */
    uint16_t open[PAIRS];  /* where this shape allows the mover to put one more; whether a cell is empty is not in it */
    uint16_t top[PAIRS];   /* the greatest image under the 128 symmetries ... */
    uint16_t first[PAIRS]; /* ... and the symmetries that lead there: turns[first .. first + count) */
    uint16_t count[PAIRS];
    uint8_t turns[PAIR_ORBITS * SYMMETRIES];
    uint16_t placed[PAIRS][CELLS];     /* one more of the mover's on that cell, as the next mover sees it; or NO_PAIR */
    uint16_t image[PAIRS][SYMMETRIES]; /* a row for each pair: a position's four rows stay in the first cache */
    uint16_t line_cells[1 << LINES];   /* all cells of a set of lines */
};
extern struct pair_tables quantik_pairs;

/* The number of a pair of masks, or NO_PAIR if it is none. Any masks may be asked. */
uint16_t quantik_pair(uint16_t mover, uint16_t other);

#endif
