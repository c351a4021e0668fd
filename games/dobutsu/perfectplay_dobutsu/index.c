/* Unranking: from slots to positions. */
#include "index.h"

static const group *group_of_index(uint64_t index) {
    const group *g = &dobutsu_group[dobutsu_group_near[index >> NEAR_SHIFT]];
    while (g[1].first <= index) g++;
    return g;
}

/* Sets the masks of the layer's lower and higher place for one of its placements on the free cells. */
static inline void cells_of_way(layer_type type, unsigned way, const uint16_t *free_cells, unsigned masks[2]) {
    if (type.shape < ALIKE) {
        masks[0] = masks[1] = free_cells[way]; /* at most one of the two is on the board */
        return;
    }
    const unsigned swap = type.shape == DIFFERENT ? way & 1 : 0;
    const two_cells pair = dobutsu_cells_of_pair[type.shape == DIFFERENT ? way >> 1 : way];
    masks[swap] = free_cells[pair.cell[0]];
    masks[!swap] = free_cells[pair.cell[1]];
}

static void put_layer(board *b, int kind, layer_type type, const unsigned masks[2]) {
    for (int i = 0; i < 2; i++) {
        const int side = type.place[i] & 1; /* MINE and THEIRS alternate among the places */
        if (type.place[i] == HAND_MINE || type.place[i] == HAND_THEIRS)
            b->hand[side] = (uint8_t)(b->hand[side] + one_in_hand(kind));
        else b->on[side][type.place[i] >= HEN_MINE ? HEN : kind] |= (uint16_t)masks[i];
    }
}

static void list_free_cells(const board *b, uint16_t *free_cells) {
    for (unsigned left = ALL_CELLS & ~(pieces(b, MINE) | pieces(b, THEIRS)); left; left &= left - 1)
        *free_cells++ = (uint16_t)(left & -left);
}

/* Writes `count` slots of a row, which differ only in the elephants, beginning with placement `way` at `index`. */
static void unrank_row(const group *g, unsigned row, unsigned way, uint64_t index, size_t count,
                       pp_position *positions) {
    uint16_t free_cells[CELLS];
    unsigned masks[2];
    const unsigned pair = row / g->ways[1] / g->ways[0];
    const unsigned way_of[2] = {row / g->ways[1] % g->ways[0], row % g->ways[1]};
    const two_cells lions = dobutsu_lions_of_pair[pair];
    board b = {0};
    b.on[MINE][LION] = (uint16_t)(1u << lions.cell[MINE]);
    b.on[THEIRS][LION] = (uint16_t)(1u << lions.cell[THEIRS]);
    for (int layer = 0; layer < 2; layer++) {
        list_free_cells(&b, free_cells);
        cells_of_way(g->layer[layer], way_of[layer], free_cells, masks);
        put_layer(&b, layer ? GIRAFFE : CHICK, g->layer[layer], masks);
    }
    const unsigned attacks = dobutsu_steps[THEIRS][ELEPHANT][lions.cell[THEIRS]];
    const int taken = attackers(&b, MINE, lions.cell[THEIRS]) != 0;
    const int mirror_counts = dobutsu_lion_pair[lions.cell[MINE]][lions.cell[THEIRS]].way == EITHER_WAY;
    list_free_cells(&b, free_cells);
    for (; count; count--, way++, index++, positions++) {
        board full = b;
        cells_of_way(g->layer[2], way, free_cells, masks);
        put_layer(&full, ELEPHANT, g->layer[2], masks);
        *positions = taken || (full.on[MINE][ELEPHANT] & attacks) || (mirror_counts && index_of_board(&full) != index)
                         ? PP_NO_POSITION
                         : position_of(&full);
    }
}

void dobutsu_unrank(uint64_t first, size_t count, pp_position *positions) {
    const group *g = group_of_index(first);
    while (count) {
        if (first == g[1].first) g++;
        const unsigned inside = (unsigned)(first - g->first), way = inside % g->ways[2];
        const size_t rest = g->ways[2] - way, part = rest < count ? rest : count;
        unrank_row(g, inside / g->ways[2], way, first, part, positions);
        first += part;
        positions += part;
        count -= part;
    }
}
