/* The tables of one board size: the effect of moves on lines, and the perfect index.
 *
 * A move changes a single row or column, so the rules are tables of lines. The content of a line is a number in base
 * 3 with a digit for each cell: 0 blank, 1 the other player's mark, 2 the mover's. These are the marks from the view
 * of the next mover, which both expand and retract use.
 *
 * The index divides the cells into two blocks, each of which every symmetry of the board maps to itself (for 5×4:
 * the outer two rows and the inner two; for 4×4: both diagonals and the rest). The content of a block is its code,
 * again a number in base 3, and the numbers of ones and twos in it are its type. Symmetry is removed block by block.
 * The first block is mapped to the representative of its orbit under all symmetries. The stabilizer of that
 * representative is a group, nearly always the trivial one, and the second block is mapped to its representative
 * under that group. Every position up to symmetry gets exactly one slot, without gaps:
 *
 *     slot = first slot of the class + number of the first block in its class × width + number of the second block
 *
 * A class is a type of the first block together with the stabilizer. Together with the tier (the numbers of ones and
 * twos) it determines the type of the second block and so the width, which is the number of second blocks.
 *
 * Example: a 3×3 board with one mark of the player to move (1) and one of the other player (2).
 *
 *     . . 1    flip      1 . .      first block: corners and centre, cells 0 2 6 8 4
 *     . . .   columns    . . .      second block: edges, cells 1 7 3 5
 *     . 2 .  -------->   . 2 .      tier = pair_number(1, 1) = 4
 *
 *     first:  Only the digit of cell 2 is set: code 1 * 3^1 = 3. Flipping the columns gives the least image, code 1.
 *             Its stabilizer is {identity, transpose}, which is group 2. The type is pair_number(1, 0) = 1, so the
 *             class is 1 * GROUPS + 2 = 12, and code 1 is number 0 in it.
 *     second: The flip leaves cell 7 in place. Under the group the edges have two orbits, {1, 3} and {7, 5}, so the
 *             width is 2, and cell 7 is in orbit 1.
 *
 *     The classes before 12 have three slots in this tier: two with an empty first block (the edges' marks opposite
 *     or adjacent), and one with a 1 in the centre. So the slot is index 3 + 0 × 2 + 1 = 4 of 12. */
#ifndef QUIXO_BOARD_H
#define QUIXO_BOARD_H

#include "perfectplay.h"

#include "quixo.h"

enum {
    MAX_LENGTH = 5, /* cells of a line */
    MAX_LINES = 10, /* rows, then columns */
    MAX_CELLS = 25,
    DIRECTIONS = 4, /* of a line of marks: right, down and the two diagonals */
    HALF = 32,      /* shift of the other player's (or O's) marks; the mover's (or X's) are in the lower half */
    CONTENTS = 243, /* 3^5 */
    MAX_SYMMETRIES = 8,
    GROUPS = 10,     /* subgroups of the square's symmetries */
    TRIVIAL = 0,     /* the group of the identity alone */
    MAX_TYPES = 105, /* of a block of 13 cells */
    CLASSES = MAX_TYPES * GROUPS,
    MAX_MOVES = 44, /* 4 corners × 2 + 12 other border cells × 3 */
};

static const uint64_t IN_BOTH = 1 | (uint64_t)1 << HALF; /* one cell's bit in both halves */

/* ---- numbers in base 3 ---- */

static const uint32_t power_of_3[14] = {1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049, 177147, 531441, 1594323};

static inline uint32_t digit(uint32_t code, unsigned place) { return code / power_of_3[place] % 3; }

/* Numbers pairs of counts: 0 is (0, 0), then 1 and 2 are (1, 0) and (0, 1), then 3, 4 and 5 have a sum of two, ... */
static inline uint32_t pair_number(uint32_t ones, uint32_t twos) {
    return (ones + twos) * (ones + twos + 1) / 2 + twos;
}

/* The distinct contents of a line after a move. */
typedef struct {
    uint8_t own_count; /* the first `own_count` contents result from taking a mark of the mover, */
    uint8_t count;     /* the others from taking a blank */
    uint8_t content[2 * MAX_LENGTH];
} line_moves;

/* The slots of a class in a tier. */
typedef struct {
    pp_slot first;
    uint32_t width; /* second blocks per first block; 0 if the tier has none of this class */
    uint8_t second_type;
    uint8_t group;
} class_place;

/* An anchor: the class of a first block, the symmetry that maps it to the representative, and the number of the
 * representative in the class.
 *
 *     31       14 13    11 10     0
 *     [ number  ] [symmetry][class ]   */
enum { CLASS_BITS = 11, SYMMETRY_BITS = 3 };

struct quixo_board {
    uint32_t width, height, cells, tiers;
    uint32_t first_row, first_column; /* as masks of cells */

    /* ---- rows and columns ---- */
    uint32_t lines, length[MAX_LINES];        /* a line here is a row or a column */
    uint8_t inner[MAX_LINES];                 /* only its ends are border cells */
    uint32_t goal;                            /* marks in a row that end the game: the length of the shorter side */
    uint32_t step[DIRECTIONS];                /* from a cell to the next in a direction */
    uint64_t starts[DIRECTIONS];              /* cells from which `goal` cells fit on the board, in both halves */
    uint8_t has_goal[1 << MAX_LENGTH];        /* whether a mask of a line's cells has `goal` in a row */
    uint32_t columns_of_row[1 << MAX_LENGTH]; /* a row's mask with its cells MAX_LENGTH bits apart */
    line_moves moves[2][MAX_LENGTH + 1][CONTENTS]; /* by inner, length and content: after a move of the mover */
    line_moves origins[2][MAX_LENGTH + 1]
                      [CONTENTS];            /* before a move in which the other player took one of their own marks */
    uint64_t line_code[MAX_LINES][CONTENTS]; /* the line's share of the codes: first block << 32 | second block */

    /* ---- symmetries ---- */
    uint32_t symmetries;
    uint8_t cell_image[MAX_SYMMETRIES][64];

    /* ---- the index ---- */
    uint32_t first_codes, second_codes;         /* 3^cells of each block */
    uint32_t *anchors;                          /* by code of the first block */
    uint16_t *second_number[MAX_SYMMETRIES];    /* by symmetry and code: number of the image in its type */
    uint16_t *orbit[GROUPS];                    /* by group and block: number of the orbit in its type */
    uint8_t *symmetric[GROUPS];                 /* by group and block: fixed by a member other than the identity */
    uint32_t type_first[GROUPS][MAX_TYPES + 1]; /* first orbit of each type */
    class_place *places;                        /* by tier and class, with an end marker for each tier */
    uint32_t class_first[CLASSES + 1];
    pp_position *first_bits;          /* by class_first + number: marks of the representative */
    pp_position *second_bits[GROUPS]; /* by type_first + orbit: marks of the representative */
};

/* ---- contents of lines on any board, built when the library is loaded ---- */
extern uint8_t quixo_line_ternary[1 << MAX_LENGTH]; /* a mask as a number in base 3 with digits 0 and 1 */
extern uint8_t quixo_line_ones[CONTENTS], quixo_line_twos[CONTENTS]; /* as masks */
extern uint16_t quixo_line_counts[CONTENTS];                         /* number of ones | number of twos << 8 */

static inline unsigned content_of(unsigned ones, unsigned twos) {
    return quixo_line_ternary[ones] + 2u * quixo_line_ternary[twos];
}

/* Cell `i` of a line: rows first, then columns. */
static inline unsigned line_cell(const quixo_board *board, unsigned line, unsigned i) {
    return line < board->height ? line * board->width + i : i * board->width + (line - board->height);
}

/* Builds the tables of rows and columns, except their codes. */
void quixo_build_lines(quixo_board *board);

static inline const class_place *places_of(const quixo_board *board, uint32_t tier) {
    return board->places + (size_t)tier * (CLASSES + 1);
}

/* Returns the slot for the codes of both blocks. Sets `*symmetric` if a symmetry other than the identity fixes the
 * position. */
static inline pp_slot slot_of_code(const quixo_board *board, const class_place *places, uint64_t code, int *symmetric) {
    const uint32_t anchor = board->anchors[code >> 32];
    const class_place *place = &places[anchor & ((1u << CLASS_BITS) - 1)];
    const uint32_t symmetry = anchor >> CLASS_BITS & (MAX_SYMMETRIES - 1);
    const uint32_t second = board->second_number[symmetry][(uint32_t)code];
    const pp_slot row = place->first + (uint64_t)(anchor >> (CLASS_BITS + SYMMETRY_BITS)) * place->width;
    if (__builtin_expect(place->group == TRIVIAL, 1)) {
        *symmetric = 0;
        return row + second;
    }
    const uint32_t block = board->type_first[TRIVIAL][place->second_type] + second;
    *symmetric = board->symmetric[place->group][block];
    return row + board->orbit[place->group][block];
}

/* Writes the positions of `count` slots from `first` on, with X to move. */
void quixo_unrank(const quixo_board *board, pp_slot first, size_t count, pp_position *positions);

#endif
