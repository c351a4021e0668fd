/* Outcomes by position: the weak solver's memory. Nothing is ever taken out.
 *
 * A bucket is one cache line, so that a question costs one miss:
 *
 *     0                                                    56               63
 *     [ key 0 ][ key 1 ][ key 2 ][ key 3 ][ key 4 ][ key 5 ][ key 6 ][ outcomes ][ 0 ]
 *
 * Seven keys of 8 bytes and seven outcomes of one byte, 0 where a place is free; 9.15 bytes a place. Keys are hashed
 * to one of PARTS tables, which grow each on its own and by a fifth, when fifteen places of sixteen are taken: that is
 * at most 11.8 bytes an entry at any time, and no moment at which the whole has to lie in memory twice. */
#ifndef PP_OUTCOMES_H
#define PP_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACES = 7, PARTS = 256 };

/* An outcome, a pp_status, and a mark on positions whose children are in the table too (prove_reachable.c). */
enum { OUTCOME = 3, EXPANDED = 4 };

typedef struct {
    uint64_t keys[PLACES];
    uint8_t outcomes[PLACES + 1];
} bucket;

_Static_assert(sizeof(bucket) == 64, "a bucket is a cache line");

typedef struct {
    bucket *buckets;
    uint32_t size; /* in buckets */
    uint64_t used; /* in places */
} outcome_part;

typedef struct {
    outcome_part parts[PARTS];
    uint64_t count;
    uint64_t bytes;
} outcome_table;

static inline uint64_t hash_of(uint64_t key) {
    key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u;
}

static inline const outcome_part *part_of(const outcome_table *table, uint64_t hash) {
    return &table->parts[hash >> 56];
}
/* Where a key's search begins. Growing keeps the order of the homes. */
static inline uint32_t home_of(const outcome_part *part, uint64_t hash) {
    return (uint32_t)((hash >> 24 & UINT32_MAX) * part->size >> 32);
}

static inline void prefetch_outcome(const outcome_table *table, uint64_t key) {
    const uint64_t hash = hash_of(key);
    const outcome_part *part = part_of(table, hash);
    if (part->size) __builtin_prefetch(&part->buckets[home_of(part, hash)]);
}

/* The outcome stored for a key, 0 if there is none. */
static inline uint8_t outcome_of(const outcome_table *table, uint64_t key) {
    const uint64_t hash = hash_of(key);
    const outcome_part *part = part_of(table, hash);
    if (!part->size) return 0;
    for (uint32_t i = home_of(part, hash);; i = i + 1 == part->size ? 0 : i + 1) {
        const bucket *b = &part->buckets[i];
        for (int place = 0; place < PLACES; place++) {
            if (!b->outcomes[place]) return 0;
            if (b->keys[place] == key) return b->outcomes[place] & OUTCOME;
        }
    }
}

/* Stores an outcome (not 0), which may be marked, in place of the one there was; false when memory runs out. */
bool put_outcome(outcome_table *table, uint64_t key, uint8_t outcome);
void free_outcomes(outcome_table *table);

#endif
