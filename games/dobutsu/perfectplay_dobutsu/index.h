/* The perfect index of unfinished positions: every way to put the pieces, the lions not yet decided, up to the mirror.
 *
 * Unfinished means: the mover cannot take the lion, nor has a lion reached the far rank. Then the lions are not
 * neighbours, and of all ways to put them 39 are left, 21 up to the mirror: the lion pairs. The other six pieces are
 * three layers of two pieces each, first chicks (hens among them), then giraffes, then elephants. A piece has a place:
 * on the board as MINE or as THEIRS, as a hen likewise, or in a hand. The two places of a layer, in no order, are its
 * type; the three types are the group. Within a group a position is a number in mixed radix,
 *
 *     index = first of the group + ((lion pair * chicks + chick) * giraffes + giraffe) * elephants + elephant
 *
 * where each layer's number says which of the cells are taken, of those that lions and earlier layers leave free.
 * There are 21 * 11,878,227 = 249,442,767 slots. Those that hold no position are where the mover could take the lion,
 * and, of the three pairs with both lions in the middle column, where the mirror image has the smaller index.
 *
 * Moves of the same piece from neighbouring slots lead to neighbouring slots: the elephants, innermost, mostly stay. A
 * group lies beside the one with the sides swapped, where every move leads that neither takes, drops nor promotes. */
#ifndef DOBUTSU_INDEX_H
#define DOBUTSU_INDEX_H

#include "board.h"

enum {
    PIECE_TYPES = 10, /* pairs of the places ON_MINE .. HAND_THEIRS */
    CHICK_TYPES = 21, /* pairs of all six places */
    GROUPS = CHICK_TYPES * PIECE_TYPES * PIECE_TYPES,
    LION_PAIRS = 21,
    SLOTS = 249442767,
    NEAR_SHIFT = 16,
    NEARS = (SLOTS >> NEAR_SHIFT) + 1,
    CELLS_BESIDE_LIONS = CELLS - 2,
    PAIRS_OF_CELLS = CELLS_BESIDE_LIONS * (CELLS_BESIDE_LIONS - 1) / 2,
};
enum { ON_MINE, ON_THEIRS, HAND_MINE, HAND_THEIRS, HEN_MINE, HEN_THEIRS, PLACES };

/* How the pieces of a layer stand on the board: none, one, two in the same place, or two in different ones. */
enum { NONE, ONE, ALIKE, DIFFERENT, SHAPES };

typedef struct {
    uint8_t shape, on_board;
    uint8_t place[2]; /* the lower one first */
} layer_type;

typedef struct {
    uint32_t first;
    layer_type layer[3]; /* chicks, giraffes, elephants */
    uint8_t ways[3];     /* to put each of them */
} group;

typedef struct {
    uint8_t cell[2];
} two_cells;

/* How two lions become a lion pair: as they are, by the mirror, or both ways alike. */
enum { AS_IT_IS, BY_MIRROR, EITHER_WAY };
typedef struct {
    uint8_t number, way;
} lion_pair;

extern layer_type dobutsu_type[CHICK_TYPES];
extern uint8_t dobutsu_type_of_counts[243]; /* by how many in each place, in base 3; what is left over is HAND_THEIRS */
extern uint8_t dobutsu_ways[SHAPES][CELLS_BESIDE_LIONS + 1]; /* to put a layer on so many free cells */
extern uint32_t dobutsu_group_first[CHICK_TYPES][PIECE_TYPES][PIECE_TYPES];
extern group dobutsu_group[GROUPS + 1];                 /* by index; the last one has only `first`, the end */
extern uint16_t dobutsu_group_near[NEARS];              /* the group of index i << NEAR_SHIFT */
extern lion_pair dobutsu_lion_pair[CELLS][CELLS];       /* MINE, THEIRS */
extern two_cells dobutsu_lions_of_pair[LION_PAIRS];     /* MINE, THEIRS */
extern two_cells dobutsu_cells_of_pair[PAIRS_OF_CELLS]; /* free cells, the lower one first */

/* ---- from a board to its slot ---- */

static inline unsigned one_or_two(unsigned mask) { return (unsigned)(mask != 0) + ((mask & (mask - 1)) != 0); }

static inline unsigned type_of_layer(const board *b, int kind) {
    unsigned code = one_or_two(b->on[MINE][kind]) + 3 * one_or_two(b->on[THEIRS][kind]) + 9 * in_hand(b, MINE, kind);
    if (kind == CHICK) code += 27 * one_or_two(b->on[MINE][HEN]) + 81 * one_or_two(b->on[THEIRS][HEN]);
    return dobutsu_type_of_counts[code];
}

/* The number of a cell among those that are free. */
static inline unsigned free_cell(unsigned mask, unsigned taken) {
    return cell_of(mask) - dobutsu_ones[taken & (mask - 1)];
}

/* Which of the ways: `all` are the layer's cells, `first` those of its lower place. */
static inline unsigned way_of_layer(unsigned shape, unsigned all, unsigned first, unsigned taken) {
    if (shape == NONE) return 0;
    const unsigned low = all & -all, high = all ^ low;
    if (shape == ONE) return free_cell(low, taken);
    const unsigned upper = free_cell(high, taken), pair = upper * (upper - 1) / 2 + free_cell(low, taken);
    return shape == ALIKE ? pair : 2 * pair + !(first & low);
}

static inline uint64_t index_under_pair(const board *b, unsigned pair) {
    const unsigned chick = type_of_layer(b, CHICK), giraffe = type_of_layer(b, GIRAFFE);
    const unsigned elephant = type_of_layer(b, ELEPHANT);
    const layer_type c = dobutsu_type[chick], g = dobutsu_type[giraffe], e = dobutsu_type[elephant];
    const uint16_t *mine = b->on[MINE], *theirs = b->on[THEIRS];
    const unsigned chicks = mine[CHICK] | theirs[CHICK] | mine[HEN] | theirs[HEN];
    const unsigned first_chick = mine[CHICK] ? mine[CHICK] : theirs[CHICK] ? theirs[CHICK] : mine[HEN];
    unsigned taken = mine[LION] | theirs[LION], left = CELLS_BESIDE_LIONS;
    uint64_t index = pair;
    index = index * dobutsu_ways[c.shape][left] + way_of_layer(c.shape, chicks, first_chick, taken);
    taken |= chicks;
    left -= c.on_board;
    const unsigned giraffes = mine[GIRAFFE] | theirs[GIRAFFE];
    index = index * dobutsu_ways[g.shape][left] + way_of_layer(g.shape, giraffes, mine[GIRAFFE], taken);
    taken |= giraffes;
    left -= g.on_board;
    const unsigned elephants = mine[ELEPHANT] | theirs[ELEPHANT];
    index = index * dobutsu_ways[e.shape][left] + way_of_layer(e.shape, elephants, mine[ELEPHANT], taken);
    return dobutsu_group_first[chick][giraffe][elephant] + index;
}

/* The index of an unfinished board. */
static inline uint64_t index_of_board(const board *b) {
    const lion_pair pair = dobutsu_lion_pair[cell_of(b->on[MINE][LION])][cell_of(b->on[THEIRS][LION])];
    if (pair.way == AS_IT_IS) return index_under_pair(b, pair.number);
    const board image = mirrored(b);
    const uint64_t index = index_under_pair(&image, pair.number);
    if (pair.way == BY_MIRROR) return index;
    const uint64_t as_it_is = index_under_pair(b, pair.number);
    return as_it_is < index ? as_it_is : index;
}

/* The board, or its mirror image, so that the lions are a pair as they are: boards with the same lions then need no
 * mirror. */
static inline board with_lions_as_pair(const board *b) {
    const lion_pair pair = dobutsu_lion_pair[cell_of(b->on[MINE][LION])][cell_of(b->on[THEIRS][LION])];
    return pair.way == BY_MIRROR ? mirrored(b) : *b;
}

/* Writes the positions of `count` slots from index `first` on, Forest to move; PP_NO_POSITION where there is none. */
void dobutsu_unrank(uint64_t first, size_t count, pp_position *positions);

#endif
