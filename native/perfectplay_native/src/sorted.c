/* Sets of positions as sorted arrays: made, joined and subtracted by reading each once, from front to back. */
#include <stdbool.h>
#include <string.h>

#include "api.h"

enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

static inline unsigned digit_of(uint64_t key, unsigned shift) { return (unsigned)(key >> shift) & (DIGITS - 1); }

/* One pass of a radix sort, from the array `from` to the array `to`. */
static void sort_by_digit(const uint64_t *from, size_t count, unsigned shift, uint64_t *to) {
    size_t place[DIGITS] = {0}, before = 0;
    for (size_t i = 0; i < count; i++) place[digit_of(from[i], shift)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t here = place[digit];
        place[digit] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++) to[place[digit_of(from[i], shift)]++] = from[i];
}

size_t pp_sort_distinct(uint64_t *keys, size_t count, uint64_t *room) {
    uint64_t *from = keys, *to = room, varying = 0;
    for (size_t i = 1; i < count; i++) varying |= keys[i] ^ keys[0];
    for (unsigned shift = 0; shift < 64 && varying >> shift; shift += DIGIT_BITS) {
        shift += (unsigned)__builtin_ctzll(varying >> shift); /* bits that all keys share need no pass */
        sort_by_digit(from, count, shift, to);
        uint64_t *const other = from;
        from = to;
        to = other;
    }
    size_t kept = count > 0;
    if (kept) keys[0] = from[0];
    for (size_t i = 1; i < count; i++) {
        keys[kept] = from[i]; /* overwritten by the next, if it is the last one kept once more */
        kept += from[i] != keys[kept - 1];
    }
    return kept;
}

size_t pp_union(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t *out) {
    const uint64_t *const a_end = a + a_count, *const b_end = b + b_count;
    uint64_t *next = out;
    while (a < a_end && b < b_end) { /* no branch that would be guessed wrong every other time */
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

/* The first place from `place` on where a sorted array has at least `key`: in steps that double, then halve. */
static size_t seek(const uint64_t *keys, size_t count, size_t place, uint64_t key) {
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

size_t pp_without(uint64_t *keys, size_t count, const uint64_t *known, size_t known_count) {
    enum { FAR = 8 }; /* so many steps at most are gone one by one */
    size_t kept = 0, place = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = keys[i];
        for (unsigned steps = 0; place < known_count && known[place] < key; steps++, place++)
            if (steps == FAR) {
                place = seek(known, known_count, place, key);
                break;
            }
        keys[kept] = key;
        kept += place == known_count || known[place] != key;
    }
    return kept;
}
