/* Folds numbered configurations by a group: the orbits, their least members, and the symmetries that lead to them. */
#ifndef PERFECTPLAY_ORBITS_H
#define PERFECTPLAY_ORBITS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For example, the corners of a square with one piece and the 4 rotations: configurations 0 … 3 form one orbit with the
 * representative 0, and `by` of configuration 1 is the rotation that takes it to 0. */
typedef struct {
    uint32_t orbits;
    uint32_t *orbit;          /* by configuration: the number of its orbit */
    uint8_t *by;              /* by configuration: a symmetry that takes it to the representative */
    uint32_t *representative; /* by orbit: its least configuration */
    uint64_t *stabilizer;     /* by orbit: the symmetries that keep the representative, as a set */
} pp_orbits;

static inline void pp_orbits_free(pp_orbits *o) {
    free(o->orbit), free(o->by), free(o->representative), free(o->stabilizer);
    *o = (pp_orbits){0};
}

/* Build the tables for `configs` configurations and at most 64 symmetries that form a group, the first being the identity.
 * image(context, s, c) is the configuration to which symmetry s takes c. Returns 0 if there is not enough memory. Call
 * pp_orbits_free in any case. */
static inline int pp_orbits_build(pp_orbits *o, uint32_t configs, unsigned symmetries,
                                  uint32_t (*image)(const void *context, unsigned symmetry, uint32_t config),
                                  const void *context) {
    *o = (pp_orbits){0};
    o->orbit = malloc((configs + (size_t)1) * sizeof *o->orbit);
    o->by = calloc(configs + (size_t)1, sizeof *o->by);
    o->representative = calloc(configs + (size_t)1, sizeof *o->representative);
    o->stabilizer = calloc(configs + (size_t)1, sizeof *o->stabilizer);
    if (!o->orbit || !o->by || !o->representative || !o->stabilizer) return 0;
    memset(o->orbit, 255, configs * sizeof *o->orbit);
    for (uint32_t config = 0; config < configs; config++) {
        for (unsigned s = 0; s < symmetries; s++) {
            const uint32_t target = image(context, s, config);
            if (target < config) { /* its orbit is known; s takes config to a member, whose symmetry leads on */
                if (o->orbit[config] == UINT32_MAX) o->orbit[config] = o->orbit[target];
                if (target == o->representative[o->orbit[config]]) o->by[config] = (uint8_t)s;
            }
        }
        if (o->orbit[config] != UINT32_MAX) continue;
        o->representative[o->orbits] = config;
        for (unsigned s = 0; s < symmetries; s++)
            if (image(context, s, config) == config) o->stabilizer[o->orbits] |= UINT64_C(1) << s;
        o->orbit[config] = o->orbits++;
    }
    return 1;
}

/* The number of the last of `count` ascending offsets that is at most `value`; the first is at most `value`. */
static inline unsigned pp_last_at_most(const uint64_t *offsets, unsigned count, uint64_t value) {
    unsigned low = 0, high = count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (offsets[middle] <= value) low = middle;
        else high = middle;
    }
    return low;
}

#endif
