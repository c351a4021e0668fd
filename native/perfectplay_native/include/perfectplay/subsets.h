/* Subsets of up to 64 cells as bit masks: their numbers, the next subset, gathering and scattering of bits.
 *
 * Subsets with k elements are numbered in the order of their masks (the combinatorial number system). The subset
 * {c1 < c2 < … < ck} has the number C(c1, 1) + C(c2, 2) + … + C(ck, k). For example, with two of four cells:
 *
 *     mask    0011 0101 0110 1001 1010 1100
 *     number     0    1    2    3    4    5
 *
 * The functions that take a `pp_subsets` look up one table entry per byte of a mask. */
#ifndef PERFECTPLAY_SUBSETS_H
#define PERFECTPLAY_SUBSETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

/* ---- without tables ---- */

/* C(n, k) for n <= 64, or UINT64_MAX if it does not fit into 64 bits. */
static inline uint64_t pp_choose(unsigned n, unsigned k) {
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    unsigned __int128 value = 1;
    for (unsigned i = 1; i <= k; i++) value = value * (n - k + i) / i; /* stays below 2^67 */
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* The number of elements of a mask that has at most two. It needs no table, and no POPCNT instruction. */
static inline unsigned pp_one_or_two(uint64_t mask) { return (unsigned)(mask != 0) + ((mask & (mask - 1)) != 0); }

/* The first subset with this many elements. */
static inline uint64_t pp_subset_first(unsigned count) { return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

/* The next larger mask with as many elements (Gosper). After the last subset of n cells it has a bit beyond them. */
static inline uint64_t pp_subset_next(uint64_t mask) {
    if (!mask) return 0;
    const uint64_t carried = mask + (mask & -mask);
    return carried ? carried | (mask ^ carried) >> 2 >> __builtin_ctzll(mask) : 0;
}

/* The bits of `mask` at the places in `among`, moved together (pext); and back (pdep). One step per bit of `among`. */
static inline uint64_t pp_gather_bits(uint64_t mask, uint64_t among) {
    uint64_t bits = 0;
    for (unsigned i = 0; among; among &= among - 1, i++) bits |= (mask >> __builtin_ctzll(among) & 1) << i;
    return bits;
}

static inline uint64_t pp_scatter_bits(uint64_t bits, uint64_t among) {
    uint64_t mask = 0;
    for (; among; among &= among - 1, bits >>= 1) mask |= (bits & 1) * (among & -among);
    return mask;
}

/* ---- with tables ---- */

typedef struct {
    unsigned bytes;            /* of a mask of all cells */
    uint8_t ones[256];         /* bits of a byte; a processor without POPCNT counts slowly */
    uint64_t (*choose)[65];    /* [n][k], as pp_choose */
    uint64_t (*rank)[65][256]; /* [byte][elements in lower bytes][bits]: the byte's part in a subset's number */
    uint8_t (*gathered)[256];  /* [among][bits] */
    uint8_t (*scattered)[256]; /* [among][bits] */
} pp_subsets;

static inline void pp_subsets_free(pp_subsets *s) {
    free(s->choose), free(s->rank), free(s->gathered), free(s->scattered);
    *s = (pp_subsets){0};
}

/* Fill the tables for subsets of at most `cells` cells: 160 KiB, and 130 KiB for each 8 cells. Returns 0 if there is not
 * enough memory. Call pp_subsets_free in any case. */
static inline int pp_subsets_build(pp_subsets *s, unsigned cells) {
    *s = (pp_subsets){.bytes = (cells + 7) / 8};
    s->choose = calloc(65, sizeof *s->choose);
    s->rank = calloc(s->bytes, sizeof *s->rank);
    s->gathered = calloc(256, sizeof *s->gathered);
    s->scattered = calloc(256, sizeof *s->scattered);
    if (!s->choose || !s->rank || !s->gathered || !s->scattered) return 0;
    for (unsigned n = 0; n <= 64; n++)
        for (unsigned k = 0; k <= n; k++) s->choose[n][k] = pp_choose(n, k);
    for (unsigned byte = 0; byte < s->bytes; byte++)
        for (unsigned below = 0; below <= 8 * byte; below++)
            for (unsigned bits = 1; bits < 256; bits++) {
                unsigned k = below;
                for (unsigned rest = bits; rest; rest &= rest - 1)
                    s->rank[byte][below][bits] += s->choose[8 * byte + (unsigned)__builtin_ctz(rest)][++k];
            }
    for (unsigned among = 0; among < 256; among++) {
        s->ones[among] = (uint8_t)__builtin_popcount(among);
        for (unsigned bits = 0; bits < 256; bits++) {
            s->gathered[among][bits] = (uint8_t)pp_gather_bits(bits, among);
            s->scattered[among][bits] = (uint8_t)pp_scatter_bits(bits, among);
        }
    }
    return 1;
}

/* The number of elements. `bytes` bytes of the mask may be in use, here and below. */
static inline unsigned pp_subset_size(const pp_subsets *s, uint64_t mask, unsigned bytes) {
    unsigned size = s->ones[mask & 255];
    for (unsigned i = 1; i < bytes; i++) size += s->ones[mask >> 8 * i & 255];
    return size;
}

/* The number of a subset among those with as many elements. */
static inline uint64_t pp_subset_rank(const pp_subsets *s, uint64_t mask, unsigned bytes) {
    uint64_t number = s->rank[0][0][mask & 255];
    unsigned below = s->ones[mask & 255];
    for (unsigned i = 1; i < bytes; i++) {
        number += s->rank[i][below][mask >> 8 * i & 255];
        below += s->ones[mask >> 8 * i & 255];
    }
    return number;
}

/* The subset of `cells` cells with `count` elements that has this number, which is below C(cells, count). */
static inline uint64_t pp_subset_unrank(const pp_subsets *s, unsigned cells, unsigned count, uint64_t number) {
    uint64_t mask = 0;
    for (; count; count--) {
        while (s->choose[--cells][count] > number) {}
        mask |= UINT64_C(1) << cells;
        number -= s->choose[cells][count];
    }
    return mask;
}

/* As pp_gather_bits and pp_scatter_bits, for `among` within `bytes` bytes. */
static inline uint64_t pp_gather(const pp_subsets *s, uint64_t mask, uint64_t among, unsigned bytes) {
#if defined(__BMI2__)
    (void)s, (void)bytes;
    return _pext_u64(mask, among);
#else
    uint64_t bits = s->gathered[among & 255][mask & 255];
    unsigned shift = s->ones[among & 255];
    for (unsigned i = 1; i < bytes; i++) {
        bits |= (uint64_t)s->gathered[among >> 8 * i & 255][mask >> 8 * i & 255] << shift;
        shift += s->ones[among >> 8 * i & 255];
    }
    return bits;
#endif
}

static inline uint64_t pp_scatter(const pp_subsets *s, uint64_t bits, uint64_t among, unsigned bytes) {
#if defined(__BMI2__)
    (void)s, (void)bytes;
    return _pdep_u64(bits, among);
#else
    uint64_t mask = s->scattered[among & 255][bits & 255];
    for (unsigned i = 1; i < bytes; i++) {
        bits >>= s->ones[among >> 8 * (i - 1) & 255];
        mask |= (uint64_t)s->scattered[among >> 8 * i & 255][bits & 255] << 8 * i;
    }
    return mask;
#endif
}

#endif
