/* A perfect index of placements without symmetry: pieces of several kinds on cells, with a fixed number of each kind.
 *
 * The first kind is a subset of all cells, the second a subset of the rest, and so on. The numbers of these subsets are the
 * digits of the placement's number, the first kind's being the highest. For example, one X and one O on three cells:
 *
 *     XO.  X.O  OX.  .XO  O.X  .OX          X takes cell 0, 0, 1, 1, 2, 2
 *      0    1    2    3    4    5           O takes free cell 0, 1, 0, 1, 0, 1
 *
 * index.h adds symmetry. */
#ifndef PERFECTPLAY_PLACEMENT_H
#define PERFECTPLAY_PLACEMENT_H

#include "subsets.h"

/* The number of placements; UINT64_MAX if it does not fit into 64 bits. */
static inline uint64_t pp_placement_size(const pp_subsets *s, unsigned cells, unsigned kinds, const uint8_t *counts) {
    uint64_t size = 1;
    for (unsigned kind = 0; kind < kinds; cells -= counts[kind++]) {
        if (counts[kind] > cells) return 0;
        if (__builtin_mul_overflow(size, s->choose[cells][counts[kind]], &size)) return UINT64_MAX;
    }
    return size;
}

/* The number of the placement masks[kind]. The masks are disjoint. */
static inline uint64_t pp_placement_rank(const pp_subsets *s, unsigned cells, unsigned kinds, const uint64_t *masks) {
    uint64_t number = 0, free = cells == 64 ? UINT64_MAX : (UINT64_C(1) << cells) - 1;
    for (unsigned kind = 0; kind < kinds; kind++) {
        const unsigned left = (unsigned)__builtin_popcountll(free);
        const uint64_t bits = pp_gather(s, masks[kind], free, s->bytes);
        number = number * s->choose[left][__builtin_popcountll(bits)] + pp_subset_rank(s, bits, s->bytes);
        free &= ~masks[kind];
    }
    return number;
}

/* The placement with this number. */
static inline void pp_placement_unrank(const pp_subsets *s, unsigned cells, unsigned kinds, const uint8_t *counts,
                                       uint64_t number, uint64_t *masks) {
    uint64_t digits[64], free = cells == 64 ? UINT64_MAX : (UINT64_C(1) << cells) - 1;
    unsigned left = cells;
    for (unsigned kind = 0; kind < kinds; kind++) left -= counts[kind];
    for (unsigned kind = kinds; kind--;) {
        left += counts[kind];
        digits[kind] = number % s->choose[left][counts[kind]];
        number /= s->choose[left][counts[kind]];
    }
    for (unsigned kind = 0; kind < kinds; kind++) {
        const uint64_t bits = pp_subset_unrank(s, (unsigned)__builtin_popcountll(free), counts[kind], digits[kind]);
        masks[kind] = pp_scatter(s, bits, free, s->bytes);
        free &= ~masks[kind];
    }
}

#endif
