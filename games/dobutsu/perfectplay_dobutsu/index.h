/* The perfect index of unfinished positions, up to reflection.
 *
 * In an unfinished position the mover cannot capture the lion, and no lion is on its far rank. The lions are
 * therefore not adjacent, which leaves 39 placements of the lions, 21 up to reflection: the lion pairs. The other
 * six pieces form three layers of two pieces: first the chicks (including hens), then the giraffes, then the
 * elephants. Each piece has a place: on the board as MINE or THEIRS, as a hen of MINE or THEIRS, or in one of the
 * hands. The unordered pair of places of a layer is its type, and the three types form the group. Within a group, a
 * position is a mixed radix number:
 *
 *     index = first of the group + ((lion pair * chicks + chick) * giraffes + giraffe) * elephants + elephant
 *
 * The number of a layer identifies its cells among those that the lions and the earlier layers leave free. There
 * are 21 * 11,878,227 = 249,442,767 slots. A slot is empty if the mover could capture the lion, or, for the three
 * pairs with both lions in the middle column, if the reflected position has a smaller index.
 *
 * Example: both lions, and one chick of MINE; everything else is in MINE's hand.
 *
 *     . . l     0  1  2     lions:     MINE on 9, THEIRS on 2: lion pair 12
 *     . C .     3  4  5     chicks:    places ON_MINE and HAND_MINE, type 3; shape ONE, 10 ways
 *     . . .     6  7  8                cell 4 is number 3 of the free cells 0 1 3 4 5 6 7 8 10 11
 *     L . .     9 10 11     giraffes:  both in HAND_MINE, type 5; shape NONE, 1 way; the same for the elephants
 *
 *     index = dobutsu_group_first[3][5][5] + ((12 * 10 + 3) * 1 + 0) * 1 + 0 = 60,544,260 + 123 = 60,544,383
 *
 * Moves of the same piece from neighbouring slots lead to neighbouring slots, because the elephants, which vary
 * fastest, rarely move. A group is adjacent to the group with the sides swapped, which is the target of every move
 * that is not a capture, drop or promotion. */
#ifndef DOBUTSU_INDEX_H
#define DOBUTSU_INDEX_H

#include "board.h"
#include "perfectplay/subsets.h"

enum {
    PIECE_TYPES = 10, /* unordered pairs of the places ON_MINE to HAND_THEIRS */
    CHICK_TYPES = 21, /* unordered pairs of all six places */
    GROUPS = CHICK_TYPES * PIECE_TYPES * PIECE_TYPES,
    LION_PAIRS = 21,
    SLOTS = 249442767,
    NEAR_SHIFT = 16,
    NEARS = (SLOTS >> NEAR_SHIFT) + 1,
    CELLS_BESIDE_LIONS = CELLS - 2,
    PAIRS_OF_CELLS = CELLS_BESIDE_LIONS * (CELLS_BESIDE_LIONS - 1) / 2,
};
enum { ON_MINE, ON_THEIRS, HAND_MINE, HAND_THEIRS, HEN_MINE, HEN_THEIRS, PLACES };

/* The pieces of a layer on the board: none, one, two in the same place, or two in different places. */
enum { NONE, ONE, ALIKE, DIFFERENT, SHAPES };

typedef struct {
    uint8_t shape, on_board;
    uint8_t place[2]; /* the lower first */
} layer_type;

typedef struct {
    uint32_t first;
    layer_type layer[3]; /* chicks, giraffes, elephants */
    uint8_t ways[3];     /* number of placements of each layer */
} group;

typedef struct {
    uint8_t cell[2];
} two_cells;

/* How two lions map to a lion pair: unchanged, by reflection, or by either because both are in the middle column. */
enum { AS_IT_IS, BY_MIRROR, EITHER_WAY };
typedef struct {
    uint8_t number, way;
} lion_pair;

extern layer_type dobutsu_type[CHICK_TYPES];
extern uint8_t
    dobutsu_type_of_counts[243]; /* indexed by the counts in each place in base 3; the rest is in HAND_THEIRS */
extern uint8_t dobutsu_ways[SHAPES][CELLS_BESIDE_LIONS + 1]; /* placements of a layer by number of free cells */
extern uint32_t dobutsu_group_first[CHICK_TYPES][PIECE_TYPES][PIECE_TYPES];
extern group dobutsu_group[GROUPS + 1];    /* ordered by index; the last one is an end marker with only `first` */
extern uint16_t dobutsu_group_near[NEARS]; /* the group of index i << NEAR_SHIFT */
extern lion_pair dobutsu_lion_pair[CELLS][CELLS];       /* MINE, THEIRS */
extern two_cells dobutsu_lions_of_pair[LION_PAIRS];     /* MINE, THEIRS */
extern two_cells dobutsu_cells_of_pair[PAIRS_OF_CELLS]; /* numbers of free cells, the lower first */

/* ---- from a board to its slot ---- */

static inline unsigned type_of_layer(const board *b, int kind) {
    unsigned code =
        pp_one_or_two(b->on[MINE][kind]) + 3 * pp_one_or_two(b->on[THEIRS][kind]) + 9 * in_hand(b, MINE, kind);
    if (kind == CHICK) code += 27 * pp_one_or_two(b->on[MINE][HEN]) + 81 * pp_one_or_two(b->on[THEIRS][HEN]);
    return dobutsu_type_of_counts[code];
}

/* Returns the number of a cell among the free cells. */
static inline unsigned free_cell(unsigned mask, unsigned taken) {
    return cell_of(mask) - dobutsu_ones[taken & (mask - 1)];
}

/* Returns the number of a layer's placement. `all` are its cells, `first` the cells of its lower place. */
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

/* Returns the index of an unfinished board. */
static inline uint64_t index_of_board(const board *b) {
    const lion_pair pair = dobutsu_lion_pair[cell_of(b->on[MINE][LION])][cell_of(b->on[THEIRS][LION])];
    if (pair.way == AS_IT_IS) return index_under_pair(b, pair.number);
    const board image = mirrored(b);
    const uint64_t index = index_under_pair(&image, pair.number);
    if (pair.way == BY_MIRROR) return index;
    const uint64_t as_it_is = index_under_pair(b, pair.number);
    return as_it_is < index ? as_it_is : index;
}

/* Returns the board or its reflection, such that the lions map to their pair unchanged. Boards with the same lions then
 * need no reflection. */
static inline board with_lions_as_pair(const board *b) {
    const lion_pair pair = dobutsu_lion_pair[cell_of(b->on[MINE][LION])][cell_of(b->on[THEIRS][LION])];
    return pair.way == BY_MIRROR ? mirrored(b) : *b;
}

/* Writes the positions of `count` slots from index `first` on, with Forest to move, or PP_NO_POSITION for empty
 * slots. */
void dobutsu_unrank(uint64_t first, size_t count, pp_position *positions);

#endif
