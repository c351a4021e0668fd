/* Tables for boards and the index, built when the library is loaded. */
#include "index.h"

uint16_t dobutsu_steps[2][KINDS][CELLS];
uint8_t dobutsu_ones[1 << CELLS];
layer_type dobutsu_type[CHICK_TYPES];
uint8_t dobutsu_type_of_counts[243];
uint8_t dobutsu_ways[SHAPES][CELLS_BESIDE_LIONS + 1];
uint32_t dobutsu_group_first[CHICK_TYPES][PIECE_TYPES][PIECE_TYPES];
group dobutsu_group[GROUPS + 1];
uint16_t dobutsu_group_near[NEARS];
lion_pair dobutsu_lion_pair[CELLS][CELLS];
two_cells dobutsu_lions_of_pair[LION_PAIRS];
two_cells dobutsu_cells_of_pair[PAIRS_OF_CELLS];

/* ---- steps of pieces ---- */

/* The eight neighbours of a cell for a player who plays up the board:   0 1 2
 *                                                                       3 . 4
 *                                                                       5 6 7  */
static const uint8_t neighbours_of_kind[KINDS] = {
    [GIRAFFE] = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 6,
    [ELEPHANT] = 1 << 0 | 1 << 2 | 1 << 5 | 1 << 7,
    [CHICK] = 1 << 1,
    [LION] = 0xFF,
    [HEN] = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6,
};

static unsigned steps_up(int kind, int cell) {
    static const int row_step[8] = {-1, -1, -1, 0, 0, 1, 1, 1}, column_step[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
    unsigned cells = 0;
    for (int i = 0; i < 8; i++) {
        const int row = cell / COLUMNS + row_step[i], column = cell % COLUMNS + column_step[i];
        const int inside = row >= 0 && row < CELLS / COLUMNS && column >= 0 && column < COLUMNS;
        if (inside && neighbours_of_kind[kind] >> i & 1) cells |= 1u << (COLUMNS * row + column);
    }
    return cells;
}

static void build_steps(void) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int cell = 0; cell < CELLS; cell++) {
            const unsigned up = steps_up(kind, cell);
            dobutsu_steps[MINE][kind][cell] = (uint16_t)up;
            dobutsu_steps[THEIRS][kind][CELLS - 1 - cell] = (uint16_t)half_turn(up);
        }
    for (unsigned mask = 1; mask < 1 << CELLS; mask++)
        dobutsu_ones[mask] = (uint8_t)(dobutsu_ones[mask >> 1] + (mask & 1));
}

/* ---- layers ---- */

static int is_on_board(int place) { return place != HAND_MINE && place != HAND_THEIRS; }

static void build_types(void) {
    static const uint8_t weight[PLACES] = {
        [ON_MINE] = 1, [ON_THEIRS] = 3, [HAND_MINE] = 9, [HEN_MINE] = 27, [HEN_THEIRS] = 81};
    unsigned type = 0; /* the first ten have no hens */
    for (int high = 0; high < PLACES; high++)
        for (int low = 0; low <= high; low++, type++) {
            const int on_board = is_on_board(low) + is_on_board(high);
            const int shape = on_board < 2 ? on_board : low == high ? ALIKE : DIFFERENT;
            dobutsu_type[type] = (layer_type){(uint8_t)shape, (uint8_t)on_board, {(uint8_t)low, (uint8_t)high}};
            dobutsu_type_of_counts[weight[low] + weight[high]] = (uint8_t)type;
        }
}

static void build_ways(void) {
    for (unsigned cells = 0; cells <= CELLS_BESIDE_LIONS; cells++) {
        dobutsu_ways[NONE][cells] = 1;
        dobutsu_ways[ONE][cells] = (uint8_t)cells;
        dobutsu_ways[ALIKE][cells] = (uint8_t)(cells * (cells - 1) / 2);
        dobutsu_ways[DIFFERENT][cells] = (uint8_t)(cells * (cells - 1));
    }
    unsigned pair = 0;
    for (uint8_t high = 1; high < CELLS_BESIDE_LIONS; high++)
        for (uint8_t low = 0; low < high; low++) dobutsu_cells_of_pair[pair++] = (two_cells){{low, high}};
}

/* ---- lions ---- */

/* Entries for lions that no unfinished position has stay zero and are never read. */
static void build_lion_pairs(void) {
    uint8_t pair = 0;
    for (uint8_t mine = 0; mine < CELLS; mine++)
        for (uint8_t theirs = 0; theirs < CELLS; theirs++) {
            const unsigned on_mine = 1u << mine, on_theirs = 1u << theirs;
            const int touch = on_mine == on_theirs || (dobutsu_steps[MINE][LION][mine] & on_theirs);
            const int column =
                mine % COLUMNS == 1 ? theirs % COLUMNS : mine % COLUMNS; /* of the first lion off the middle column */
            if (touch || (on_mine & FAR_RANK) || (on_theirs & HOME_RANK) || column == 2) continue;
            const unsigned mine_image = cell_of((unsigned)mirror(on_mine));
            const unsigned theirs_image = cell_of((unsigned)mirror(on_theirs));
            dobutsu_lion_pair[mine_image][theirs_image] = (lion_pair){pair, BY_MIRROR};
            dobutsu_lion_pair[mine][theirs] = (lion_pair){pair, column == 1 ? EITHER_WAY : AS_IT_IS};
            dobutsu_lions_of_pair[pair++] = (two_cells){{mine, theirs}};
        }
}

/* ---- groups ---- */

static unsigned swapped(unsigned type) { /* the type with the sides swapped */
    const unsigned a = dobutsu_type[type].place[0] ^ 1u, b = dobutsu_type[type].place[1] ^ 1u;
    const unsigned low = a < b ? a : b, high = a < b ? b : a;
    return high * (high + 1) / 2 + low;
}

static group *add_group(group *g, unsigned chick, unsigned giraffe, unsigned elephant) {
    const layer_type c = dobutsu_type[chick], r = dobutsu_type[giraffe], e = dobutsu_type[elephant];
    const unsigned left = CELLS_BESIDE_LIONS - c.on_board;
    g->layer[0] = c, g->layer[1] = r, g->layer[2] = e;
    g->ways[0] = dobutsu_ways[c.shape][CELLS_BESIDE_LIONS];
    g->ways[1] = dobutsu_ways[r.shape][left];
    g->ways[2] = dobutsu_ways[e.shape][left - r.on_board];
    dobutsu_group_first[chick][giraffe][elephant] = g->first;
    g[1].first = g->first + (uint32_t)LION_PAIRS * g->ways[0] * g->ways[1] * g->ways[2];
    return g + 1;
}

static void build_groups(void) {
    group *next = dobutsu_group;
    for (unsigned c = 0; c < CHICK_TYPES; c++)
        for (unsigned g = 0; g < PIECE_TYPES; g++)
            for (unsigned e = 0; e < PIECE_TYPES; e++) {
                const unsigned number = (c * PIECE_TYPES + g) * PIECE_TYPES + e;
                const unsigned other = (swapped(c) * PIECE_TYPES + swapped(g)) * PIECE_TYPES + swapped(e);
                if (other < number) continue; /* already added next to that one */
                next = add_group(next, c, g, e);
                if (other > number) next = add_group(next, swapped(c), swapped(g), swapped(e));
            }
    for (unsigned near = 0, number = 0; near < NEARS; near++) {
        while (dobutsu_group[number + 1].first <= near << NEAR_SHIFT) number++;
        dobutsu_group_near[near] = (uint16_t)number;
    }
}

__attribute__((constructor)) static void build_tables(void) {
    build_steps();
    build_types();
    build_ways();
    build_lion_pairs();
    build_groups();
}
