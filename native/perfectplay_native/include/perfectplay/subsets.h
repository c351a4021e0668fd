/* Subsets of up to 64 cells as bit masks: the combinatorial number system, gathering and scattering of bits.
 *
 * Subsets with k elements are numbered in the order of their masks. The subset {c1 < c2 < … < ck} has the number
 *
 *     C(c1, 1) + C(c2, 2) + … + C(ck, k)
 *
 * For k = 2:   mask    0011 0101 0110 1001 1010 1100
 *              number     0    1    2    3    4    5
 */
#ifndef PERFECTPLAY_SUBSETS_H
#define PERFECTPLAY_SUBSETS_H

#include <stdint.h>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

/* C(n, k) for n <= 64, or UINT64_MAX if it does not fit into 64 bits; in that case no table has that many slots. */
static inline uint64_t pp_choose(unsigned n, unsigned k) {
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    uint64_t value = 1;
    for (unsigned i = 1; i <= k; i++) {
        const unsigned __int128 next = (unsigned __int128)value * (n - k + i) / i;
        if (next > UINT64_MAX) return UINT64_MAX;
        value = (uint64_t)next;
    }
    return value;
}

/* The number of a subset among those with as many elements. */
static inline uint64_t pp_subset_rank(uint64_t mask) {
    uint64_t number = 0;
    for (unsigned k = 1; mask; mask &= mask - 1, k++) number += pp_choose((unsigned)__builtin_ctzll(mask), k);
    return number;
}

/* The subset of `n` cells with `k` elements that has this number, which must be below C(n, k). */
static inline uint64_t pp_subset_unrank(unsigned n, unsigned k, uint64_t number) {
    uint64_t mask = 0;
    for (; k; k--) {
        while (pp_choose(--n, k) > number) {}
        mask |= UINT64_C(1) << n;
        number -= pp_choose(n, k);
    }
    return mask;
}

/* The next larger mask with as many elements (Gosper). The result of the last subset of n cells is not a subset of them. */
static inline uint64_t pp_subset_next(uint64_t mask) {
    if (!mask) return 0;
    const uint64_t carried = mask + (mask & -mask);
    return carried ? carried | (mask ^ carried) >> 2 >> __builtin_ctzll(mask) : 0;
}

/* Portable versions of pext and pdep, one step per set bit of `among`. */
static inline uint64_t pp_gather_portable(uint64_t mask, uint64_t among) {
    uint64_t bits = 0;
    for (unsigned i = 0; among; among &= among - 1, i++) bits |= (mask >> __builtin_ctzll(among) & 1) << i;
    return bits;
}

static inline uint64_t pp_scatter_portable(uint64_t bits, uint64_t among) {
    uint64_t mask = 0;
    for (; among; among &= among - 1, bits >>= 1) mask |= (bits & 1) * (among & -among);
    return mask;
}

/* The bits of `mask` at the places in `among`, moved together; and back. */
static inline uint64_t pp_gather(uint64_t mask, uint64_t among) {
#if defined(__BMI2__)
    return _pext_u64(mask, among);
#else
    return pp_gather_portable(mask, among);
#endif
}

static inline uint64_t pp_scatter(uint64_t bits, uint64_t among) {
#if defined(__BMI2__)
    return _pdep_u64(bits, among);
#else
    return pp_scatter_portable(bits, among);
#endif
}

#endif
