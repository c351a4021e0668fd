/* Sets of positions as sorted arrays. Sorting takes a few passes; union and difference read each array once. */
#include <string.h>

#include "containers.h"
#include "positions_api.h"

enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

static inline unsigned digit_of(uint64_t key, unsigned shift) { return (unsigned)(key >> shift) & (DIGITS - 1); }

/* One pass of a radix sort, from one array to the other. A counting sort (containers.h). */
static void sort_by_digit(const uint64_t *from, size_t count, unsigned shift, uint64_t *to) {
    uint64_t first[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++) first[digit_of(from[i], shift)]++;
    end_groups(first, DIGITS);
    for (size_t i = count; i-- > 0;) to[--first[digit_of(from[i], shift)]] = from[i];
}

size_t pp_sort_distinct(uint64_t *keys, size_t count, uint64_t *buffer) {
    uint64_t *from = keys, *to = buffer, varying = 0;
    for (size_t i = 1; i < count; i++) varying |= keys[i] ^ keys[0];
    for (unsigned shift = 0; shift < 64 && varying >> shift; shift += DIGIT_BITS) {
        shift += (unsigned)__builtin_ctzll(varying >> shift); /* no pass for bits that are equal in all keys */
        sort_by_digit(from, count, shift, to);
        uint64_t *const other = from;
        from = to;
        to = other;
    }
    size_t kept = count > 0;
    if (kept) keys[0] = from[0];
    for (size_t i = 1; i < count; i++) {
        keys[kept] = from[i]; /* overwritten by the next key if it is a duplicate */
        kept += from[i] != keys[kept - 1];
    }
    return kept;
}

size_t pp_union(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t *out) {
    const uint64_t *const a_end = a + a_count, *const b_end = b + b_count;
    uint64_t *next = out;
    while (a < a_end && b < b_end) { /* without a branch to mispredict */
        const uint64_t x = *a, y = *b;
        *next++ = x < y ? x : y;
        a += x <= y;
        b += y <= x;
    }
    memcpy(next, a, (size_t)(a_end - a) * sizeof *a);
    next += a_end - a;
    memcpy(next, b, (size_t)(b_end - b) * sizeof *b);
    next += b_end - b;
    return (size_t)(next - out);
}

/* The first index from `place` on of a key that is at least `key`, by a galloping search. */
static size_t gallop(const uint64_t *keys, size_t count, size_t place, uint64_t key) {
    size_t step = 1;
    while (place + step < count && keys[place + step] < key) {
        place += step;
        step *= 2;
    }
    size_t left = place + step < count ? step : count - place;
    while (left) {
        const size_t half = left / 2;
        const bool below = keys[place + half] < key;
        place += below ? half + 1 : 0;
        left = below ? left - half - 1 : half;
    }
    return place;
}

size_t pp_difference(uint64_t *keys, size_t count, const uint64_t *others, size_t other_count) {
    enum { LINEAR_STEPS = 8 }; /* before galloping */
    if (!other_count) return count;
    size_t i = gallop(keys, count, 0, others[0]), kept = i;
    for (size_t place = 0; i < count; i++) {
        const uint64_t key = keys[i];
        for (unsigned steps = 0; place < other_count && others[place] < key; steps++, place++)
            if (steps == LINEAR_STEPS) {
                place = gallop(others, other_count, place, key);
                break;
            }
        if (place == other_count) break;
        keys[kept] = key;
        kept += others[place] != key;
    }
    if (kept < i) memmove(keys + kept, keys + i, (count - i) * sizeof *keys);
    return kept + count - i;
}
