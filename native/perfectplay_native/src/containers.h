/* The array, the hash and the sort that several files need. */
#ifndef PP_CONTAINERS_H
#define PP_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- a growable array ---- */

/* Grows `*array` by half, or to `wanted` elements if that is more. Returns false if that needs more than `spare` bytes
 * beyond the present ones, or if memory runs out; the array is then unchanged. */
static inline bool grow_array_within(void **array, size_t *capacity, size_t wanted, size_t element, uint64_t spare) {
    if (wanted <= *capacity) return true;
    const size_t half_more = *capacity + *capacity / 2, larger = half_more > wanted ? half_more : wanted;
    if ((larger - *capacity) * element > spare) return false;
    void *const moved = realloc(*array, larger * element);
    if (!moved) return false;
    *array = moved;
    *capacity = larger;
    return true;
}
static inline bool grow_array(void **array, size_t *capacity, size_t wanted, size_t element) {
    return grow_array_within(array, capacity, wanted, element, UINT64_MAX);
}

/* ---- a hash ---- */

/* Mixes the bits of a key. The high bits of the result are the best ones. */
static inline uint64_t hash_key(uint64_t key) {
    key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u;
}

/* ---- a counting sort ----
 *
 * Three steps: count the elements of each group; call end_groups; put each element, from the last to the first, at
 * position --counts[group]. The sort is stable, and afterwards counts[group] .. counts[group + 1] are the positions of
 * a group. */

/* Replaces the counts of the groups by their running totals, that is the ends of the groups. Sets counts[groups] to the
 * total, which must have room. */
static inline void end_groups(uint64_t *counts, uint64_t groups) {
    uint64_t total = 0;
    for (uint64_t i = 0; i < groups; i++) counts[i] = total += counts[i];
    counts[groups] = total;
}

#endif
