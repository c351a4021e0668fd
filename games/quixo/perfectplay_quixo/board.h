/* The tables of one size of board: what a move does to a line, and the perfect index.
 *
 * A move changes one row or column and nothing else, so the rules are tables of lines. A line's content is a number in
 * base 3, a digit for each cell: 0 blank, 1 the other player's mark, 2 the mover's. That is the board as the next
 * mover sees it, who is first there; expand and retract both work in that view.
 *
 * The index. The cells are divided into two blocks, each of which every symmetry of the board maps to itself (for 5×4:
 * the outer two rows and the inner two; for 4×4: both diagonals and the rest). What stands on a block is a number in
 * base 3 again, its code; how many ones and twos it has is its type. Symmetry is taken out block by block: the first
 * block is turned into the representative of its orbit under all symmetries. Those that leave the representative as it
 * is form a group, nearly always the trivial one; under that group the second block is turned into its representative.
 * Every position up to symmetry gets one slot, and there are no holes:
 *
 *     slot = first slot of the class + number of the first block in its class × width + number of the second block
 *
 * A class is a type of the first block and the group that is left; a tier (how many ones, how many twos) then says the
 * type of the second block, and with it the width: how many second blocks there are. */
#ifndef QUIXO_BOARD_H
#define QUIXO_BOARD_H

#include "perfectplay.h"

#include "quixo.h"

enum {
    LONGEST = 5,     /* cells of a line */
    MOST_LINES = 10, /* rows, then columns */
    MOST_CELLS = 25,
    DIRECTIONS = 4, /* of a line of marks: right, down, and the two diagonals */
    HALF = 32,      /* marks of both players: the mover's, or X's, in the lower half, the other's in the upper */
    CONTENTS = 243, /* 3^5 */
    MOST_SYMMETRIES = 8,
    GROUPS = 10,      /* subgroups of the square's symmetries */
    TRIVIAL = 0,      /* the group of the identity alone */
    MOST_TYPES = 105, /* of a block of 13 cells */
    CLASSES = MOST_TYPES * GROUPS,
    MOST_MOVES = 44, /* 4 corners × 2 + 12 other border cells × 3 */
};

static const uint64_t IN_BOTH = 1 | (uint64_t)1 << HALF; /* one cell's bit in both halves */

/* ---- numbers in base 3 ---- */

static const uint32_t power_of_3[14] = {1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049, 177147, 531441, 1594323};

static inline uint32_t digit(uint32_t code, unsigned place) { return code / power_of_3[place] % 3; }

/* Two counts as one number: 0 for (0, 0), then 1, 2 for (1, 0), (0, 1), then 3, 4, 5 for a sum of two, ... */
static inline uint32_t pair_number(uint32_t ones, uint32_t twos) {
    return (ones + twos) * (ones + twos + 1) / 2 + twos;
}

/* The distinct contents that moves make of a line. */
typedef struct {
    uint8_t kept;  /* the first so many take a mark of the mover's own, */
    uint8_t count; /* the rest takes a blank */
    uint8_t content[2 * LONGEST];
} line_moves;

/* Where the slots of a class begin in a tier. */
typedef struct {
    pp_slot first;
    uint32_t width; /* second blocks for each first one; 0 if the tier has none of this class */
    uint8_t second_type;
    uint8_t group;
} class_place;

/* A first block: which class, by which symmetry it becomes a representative, and the number of that in its class.
 *
 *     31       14 13    11 10     0
 *     [ number  ] [symmetry][class ]   */
enum { CLASS_BITS = 11, SYMMETRY_BITS = 3 };

struct quixo_board {
    uint32_t width, height, cells, tiers;

    /* ---- rows and columns ---- */
    uint32_t lines, length[MOST_LINES];    /* a line here is a row or a column */
    uint8_t inner[MOST_LINES];             /* has no border cells but its ends */
    uint32_t goal;                         /* how many marks in a row end the game: as many as the shorter side has */
    uint32_t step[DIRECTIONS];             /* from a cell to the next one in a direction */
    uint64_t starts[DIRECTIONS];           /* the cells from which so many fit on the board, in both halves */
    uint8_t has_goal[1 << LONGEST];        /* whether a mask of a line's cells has so many in a row */
    uint32_t columns_of_row[1 << LONGEST]; /* a row's mask, its cells LONGEST bits apart */
    line_moves moves[2][LONGEST + 1][CONTENTS];   /* by inner, length and content: what the mover makes of it */
    line_moves origins[2][LONGEST + 1][CONTENTS]; /* what the other player, moving an own mark, made it from */
    uint64_t line_code[MOST_LINES][CONTENTS]; /* a line's part in the codes: of the first block << 32, of the second */

    /* ---- symmetries ---- */
    uint32_t symmetries;
    uint8_t cell_image[MOST_SYMMETRIES][MOST_CELLS];

    /* ---- the index ---- */
    uint32_t first_codes, second_codes; /* 3^cells of each block */
    uint32_t *anchors;                  /* by code of the first block */
    uint16_t
        *second_number[MOST_SYMMETRIES]; /* by symmetry and code: the image's number among the blocks of its type */
    uint16_t *orbit[GROUPS];             /* by group and block: its orbit's number among those of its type */
    uint8_t *symmetric[GROUPS];          /* ... and whether some of the group besides the identity fixes it */
    uint32_t type_first[GROUPS][MOST_TYPES + 1]; /* where the orbits of a type begin */
    class_place *places;                         /* by tier and class; one more at the end of each tier */
    uint32_t class_first[CLASSES + 1];
    pp_position *first_bits;          /* by class_first + number: the marks of a representative */
    pp_position *second_bits[GROUPS]; /* by type_first + orbit: likewise */
};

/* ---- contents of lines, whatever the board; built when the library is loaded ---- */
extern uint8_t line_ternary[1 << LONGEST];               /* a mask as a number in base 3 with digits 0 and 1 */
extern uint8_t line_ones[CONTENTS], line_twos[CONTENTS]; /* as masks */
extern uint16_t line_counts[CONTENTS];                   /* how many ones, and twos << 8 */

static inline unsigned content_of(unsigned ones, unsigned twos) { return line_ternary[ones] + 2u * line_ternary[twos]; }

/* Cell `i` of a line: rows first, then columns. */
static inline unsigned line_cell(const quixo_board *board, unsigned line, unsigned i) {
    return line < board->height ? line * board->width + i : i * board->width + (line - board->height);
}

/* Builds all there is of rows and columns, but for their codes. */
void quixo_build_lines(quixo_board *board);

static inline const class_place *places_of(const quixo_board *board, uint32_t tier) {
    return board->places + (size_t)tier * (CLASSES + 1);
}

/* The slot of a position from the codes of its blocks, and whether it has a symmetry of its own. */
static inline pp_slot slot_of_code(const quixo_board *board, const class_place *places, uint64_t code, int *symmetric) {
    const uint32_t anchor = board->anchors[code >> 32];
    const class_place *place = &places[anchor & ((1u << CLASS_BITS) - 1)];
    const uint32_t symmetry = anchor >> CLASS_BITS & (MOST_SYMMETRIES - 1);
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

/* Writes the positions of `count` slots from `first` on, X to move. */
void quixo_unrank(const quixo_board *board, pp_slot first, size_t count, pp_position *positions);

#endif
