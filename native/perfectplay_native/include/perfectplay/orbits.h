/* Folds numbered configurations by a group: the orbits, their least members, and the symmetries that lead to them. */
#ifndef PERFECTPLAY_ORBITS_H
#define PERFECTPLAY_ORBITS_H

#include <stdint.h>
#include <stdlib.h>

#include "masks.h"
#include "subsets.h"

/* For example, the corners of a square with one piece and the 4 rotations: configurations 0 … 3 form one orbit with the
 * representative 0, and the entry of configuration 1 has the rotation that takes it to 0. */
typedef struct {
    uint32_t orbits;
    uint32_t *entry;          /* by configuration */
    uint64_t *representative; /* by orbit: its least configuration, or the mask of its least subset */
    uint64_t *stabilizer;     /* by orbit: the symmetries that keep the representative, as a set */
} pp_orbits;

enum { PP_MAX_ORBITS = 1 << 25 };

/* An entry:   31     7 6          1 0
 *            [ orbit  ][ symmetry  ][ symmetric ]
 *
 * `symmetry` takes the configuration to the representative of its orbit; `symmetric` tells whether a symmetry other than
 * the identity keeps the representative. */
static inline uint32_t pp_orbit_of(uint32_t entry) { return entry >> 7; }
static inline unsigned pp_symmetry_of(uint32_t entry) { return entry >> 1 & 63; }
static inline int pp_is_symmetric(uint32_t entry) { return (int)(entry & 1); }

static inline void pp_orbits_free(pp_orbits *o) {
    free(o->entry), free(o->representative), free(o->stabilizer);
    *o = (pp_orbits){0};
}

/* Allocate the tables; 0 if there is not enough memory. Memory beyond the number of orbits is never touched. */
static inline int pp_orbits_start(pp_orbits *o, uint64_t configs) {
    *o = (pp_orbits){0};
    o->entry = malloc((configs + 1) * sizeof *o->entry);
    o->representative = malloc((configs + 1) * sizeof *o->representative);
    o->stabilizer = malloc((configs + 1) * sizeof *o->stabilizer);
    return o->entry && o->representative && o->stabilizer;
}

/* Add the next configuration: `key` identifies it in `representative`, `least` is the number of its least image, to which
 * `symmetry` takes it, and `keeping` the set of symmetries that keep it. Returns 0 if there are too many orbits. */
static inline int pp_orbits_add(pp_orbits *o, uint32_t config, uint64_t key, uint32_t least, unsigned symmetry,
                                uint64_t keeping) {
    if (least < config) {
        o->entry[config] = (o->entry[least] & ~(63u << 1)) | symmetry << 1;
        return 1;
    }
    if (o->orbits == PP_MAX_ORBITS) return 0;
    o->representative[o->orbits] = key;
    o->stabilizer[o->orbits] = keeping;
    o->entry[config] = o->orbits++ << 7 | (keeping != 1);
    return 1;
}

/* Build the tables for `configs` configurations and at most 64 symmetries that form a group, the first being the identity.
 * image(context, s, c) is the configuration to which symmetry s takes c. Returns 0 if there is not enough memory. Call
 * pp_orbits_free in any case. */
static inline int pp_orbits_build(pp_orbits *o, uint32_t configs, unsigned symmetries,
                                  uint32_t (*image)(const void *context, unsigned symmetry, uint32_t config),
                                  const void *context) {
    if (!pp_orbits_start(o, configs)) return 0;
    for (uint32_t config = 0; config < configs; config++) {
        uint32_t least = config;
        unsigned symmetry = 0;
        uint64_t keeping = 0;
        for (unsigned s = 0; s < symmetries; s++) {
            const uint32_t target = image(context, s, config);
            if (target < least) least = target, symmetry = s;
            if (target == config) keeping |= UINT64_C(1) << s;
        }
        if (!pp_orbits_add(o, config, config, least, symmetry, keeping)) return 0;
    }
    return 1;
}

/* The same for the subsets of `cells` cells with `count` elements, in the order of subsets.h. */
static inline int pp_orbits_of_subsets(pp_orbits *o, const pp_subsets *subsets, unsigned cells, unsigned count,
                                       unsigned symmetries, const pp_permutation *permutation) {
    const uint64_t configs = subsets->choose[cells][count];
    *o = (pp_orbits){0};
    if (configs > UINT32_MAX || !pp_orbits_start(o, configs)) return 0;
    uint64_t mask = pp_subset_first(count);
    for (uint32_t config = 0; config < configs; config++, mask = pp_subset_next(mask)) {
        uint64_t least = mask, keeping = 0;
        unsigned symmetry = 0;
        for (unsigned s = 0; s < symmetries; s++) {
            const pp_permutation *p = &permutation[s]; /* a constant number of bytes is faster */
            const uint64_t image = subsets->bytes == 3 ? pp_permute(p, mask, 3) : pp_permute(p, mask, subsets->bytes);
            if (image < least) least = image, symmetry = s;
            if (image == mask) keeping |= UINT64_C(1) << s;
        }
        const uint32_t number = least == mask ? config : (uint32_t)pp_subset_rank(subsets, least, subsets->bytes);
        if (!pp_orbits_add(o, config, mask, number, symmetry, keeping)) return 0;
    }
    return 1;
}

/* The number of a set in a list of distinct sets, to which it is added if it is new. Numbers stabilisers, for example. */
static inline unsigned pp_number_set(uint64_t set, uint64_t *sets, unsigned *count) {
    unsigned number = 0;
    while (number < *count && sets[number] != set) number++;
    if (number == *count) sets[(*count)++] = set;
    return number;
}

/* The number of the last of `count` ascending offsets that is at most `value`; the first is at most `value`. The offsets
 * are `stride` bytes apart, so they may be fields of structures. */
static inline unsigned pp_last_at_most(const uint64_t *offsets, size_t stride, unsigned count, uint64_t value) {
    unsigned low = 0, high = count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (*(const uint64_t *)((const char *)offsets + middle * stride) <= value) low = middle;
        else high = middle;
    }
    return low;
}

#endif
