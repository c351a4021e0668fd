/* Fills the tables of pairs.h when the module is loaded. */
#include "pairs.h"

#include "core.h"
#include "perfectplay/subsets.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 1 + CELLS + CELLS * (CELLS - 1) / 2 }; /* sets of at most two cells */

struct pair_tables quantik_pairs;
static uint8_t set_number[1 << CELLS]; /* 0 none, 1-16 one cell, 17-136 two cells, SETS for more cells */
static uint16_t number_of[SETS][SETS];

uint16_t quantik_pair(uint16_t mover, uint16_t other) {
    const unsigned a = set_number[mover], b = set_number[other];
    return a < SETS && b < SETS ? number_of[a][b] : (uint16_t)NO_PAIR;
}

struct candidate {
    uint16_t fixed_by, mover, other;
};

static int by_number(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->fixed_by != b->fixed_by) return a->fixed_by > b->fixed_by ? -1 : 1;
    if (a->mover != b->mover) return a->mover < b->mover ? -1 : 1;
    return (a->other > b->other) - (a->other < b->other);
}

static void number_pairs(uint16_t symmetric[SYMMETRIES][SETS], const uint16_t *masks) {
    static struct candidate candidates[PAIRS];
    unsigned count = 0;
    for (unsigned a = 0; a < SETS; a++) {
        for (unsigned b = 0; b < SETS; b++) {
            if (lines_touched(masks[a]) & lines_touched(masks[b])) continue;
            unsigned fixed_by = 0;
            for (unsigned t = 0; t < SYMMETRIES; t++) {
                fixed_by += symmetric[t][a] == masks[a] && symmetric[t][b] == masks[b];
            }
            if (count == PAIRS) abort(); /* cannot happen, because the rules determine the count */
            candidates[count++] = (struct candidate){(uint16_t)fixed_by, masks[a], masks[b]};
        }
    }
    qsort(candidates, count, sizeof candidates[0], by_number);
    memset(number_of, 0xFF, sizeof number_of);
    for (unsigned pair = 0; pair < count; pair++) {
        const uint16_t mover = candidates[pair].mover, other = candidates[pair].other;
        quantik_pairs.mover[pair] = mover;
        quantik_pairs.other[pair] = other;
        number_of[set_number[mover]][set_number[other]] = (uint16_t)pair;
    }
}

/* Stores the images of one pair and the symmetries that give its greatest image. Returns the end of the used turns. */
static unsigned build_images(unsigned pair, uint16_t symmetric[SYMMETRIES][SETS], unsigned used) {
    struct pair_tables *const tables = &quantik_pairs;
    const unsigned a = set_number[tables->mover[pair]], b = set_number[tables->other[pair]];
    uint16_t top = 0;
    for (unsigned t = 0; t < SYMMETRIES; t++) {
        const uint16_t image = quantik_pair(symmetric[t][a], symmetric[t][b]);
        tables->image[pair][t] = image;
        if (image > top) top = image;
    }
    tables->top[pair] = top;
    tables->first[pair] = (uint16_t)used;
    for (unsigned t = 0; t < SYMMETRIES; t++) {
        if (tables->image[pair][t] == top) tables->turns[used++] = (uint8_t)t;
    }
    tables->count[pair] = (uint16_t)(used - tables->first[pair]);
    return used;
}

static void build_pair(unsigned pair) {
    struct pair_tables *const tables = &quantik_pairs;
    const uint16_t mover = tables->mover[pair], other = tables->other[pair];
    tables->swapped[pair] = quantik_pair(other, mover);
    tables->lines[pair] = lines_touched(mover | other);
    const uint16_t free_of_other = (uint16_t)~cells_of_lines(lines_touched(other));
    tables->open[pair] = count_bits(mover) < PIECES_PER_SHAPE ? free_of_other & (uint16_t)~mover : 0;
    for (unsigned cell = 0; cell < CELLS; cell++) {
        const unsigned bit = 1U << cell;
        tables->placed[pair][cell] =
            tables->open[pair] & bit ? quantik_pair(other, (uint16_t)(mover | bit)) : (uint16_t)NO_PAIR;
    }
}

/* Runs while the module is loaded, before any call, so the hot path needs neither a lock nor a check. */
__attribute__((constructor)) static void fill_tables(void) {
    static uint16_t symmetric[SYMMETRIES][SETS];
    uint16_t masks[SETS];
    memset(set_number, SETS, sizeof set_number);
    for (unsigned set = 0, count = 0, mask = 0; set < SETS; set++) {
        masks[set] = (uint16_t)mask;
        set_number[mask] = (uint8_t)set;
        mask = (unsigned)pp_subset_next(mask);
        if (!mask || mask >> CELLS) mask = (unsigned)pp_subset_first(++count);
    }
    for (unsigned t = 0; t < SYMMETRIES; t++) {
        for (unsigned set = 0; set < SETS; set++) symmetric[t][set] = symmetry_mask(t, masks[set]);
    }
    number_pairs(symmetric, masks);
    unsigned used = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        used = build_images(pair, symmetric, used);
        build_pair(pair);
    }
    for (unsigned lines = 0; lines < 1U << LINES; lines++) quantik_pairs.line_cells[lines] = cells_of_lines(lines);
}
