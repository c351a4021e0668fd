/* The placements of one shape, numbered and tabulated.
 *
 * The player to move (the mover) has at most two pieces of a shape, and so has the other player. The rules forbid
 * that they share a line, which leaves only 2001 pairs of cell sets. So a pair fits 11 bits, and a position is four
 * numbers. The effects of a move or a symmetry, the lines of the shape and the legal cells are then table lookups.
 *
 * The pairs are numbered in the order of
 *   1. the number of the 128 symmetries that fix the pair, largest first: the empty pair is 0, and the greatest
 *      numbers belong to pairs that no symmetry except the identity fixes;
 *   2. the mover's set as a 16-bit mask;   3. the other player's.
 * The numbering is part of the position encoding. Changing it requires a new rules_version.
 *
 * Example: the pair (none, {0}), where only the other player has the shape, on cell 0.
 *
 *     o . . .     number 0:         the empty pair, fixed by all 128 symmetries
 *     . . . .     numbers 1 to 8:   (none, a diagonal of a zone), fixed by 16 symmetries each
 *     . . . .     numbers 9 to 16:  (a diagonal of a zone, none), fixed by 16 symmetries each
 *     . . . .     number 17:        (none, {0}), the first pair that is fixed by 8 symmetries: the mover has no
 *                                   cell, and the other player has the smallest mask
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

/* Filled when the module is loaded and constant afterwards, so any thread may read it. */
struct pair_tables {
    uint16_t mover[PAIRS];   /* the mover's cells, as a mask */
    uint16_t other[PAIRS];   /* the other player's */
    uint16_t swapped[PAIRS]; /* the pair with mover and other exchanged */
    uint16_t lines[PAIRS];   /* the lines, as 12 bits, that contain this shape in any colour */
    uint16_t open[PAIRS];    /* cells where this shape allows one more of the mover, ignoring other shapes */
    uint16_t top[PAIRS];     /* the greatest image under the 128 symmetries ... */
    uint16_t first[PAIRS];   /* ... and the symmetries that give it: turns[first] to turns[first + count - 1] */
    uint16_t count[PAIRS];
    uint8_t turns[PAIR_ORBITS * SYMMETRIES];
    uint16_t placed[PAIRS][CELLS];     /* with one more of the mover on that cell, for the next mover; or NO_PAIR */
    uint16_t image[PAIRS][SYMMETRIES]; /* a row for each pair, so that a position's four rows stay in the L1 cache */
    uint16_t line_cells[1 << LINES];   /* all cells of a set of lines */
};
extern struct pair_tables quantik_pairs;

/* Returns the number of a pair of masks, or NO_PAIR. Accepts any masks. */
uint16_t quantik_pair(uint16_t mover, uint16_t other);

#endif
