/* The weak solver's transposition table: proven outcomes by position. Entries are never removed.
 *
 * A bucket is one cache line, so that a probe costs one cache miss:
 *
 *     0                                                    56               63
 *     [ key 0 ][ key 1 ][ key 2 ][ key 3 ][ key 4 ][ key 5 ][ key 6 ][ outcomes ][ 0 ]
 *
 * It has seven keys of 8 bytes and seven outcomes of one byte, 0 for a free place, which is 9.15 bytes per place. Keys
 * are hashed to one of PARTS tables. Each of these grows separately, by a fifth, when 15 of 16 places are used. So
 * there are at most 11.8 bytes per entry at any time, and the whole table is never in memory twice. */
#ifndef PP_TRANSPOSITION_TABLE_H
#define PP_TRANSPOSITION_TABLE_H

#include "containers.h"

enum { PLACES = 7, PARTS = 256 };

/* An outcome is a pp_status, plus a mark on positions whose children are in the table, too (search.c). */
enum { OUTCOME_MASK = 3, EXPANDED = 4 };

typedef struct {
    uint64_t keys[PLACES];
    uint8_t outcomes[PLACES + 1];
} bucket;

_Static_assert(sizeof(bucket) == 64, "a bucket is a cache line");

typedef struct {
    bucket *buckets;
    uint32_t size; /* in buckets */
    uint64_t used; /* in places */
} table_part;

typedef struct {
    table_part parts[PARTS];
    uint64_t count;
    uint64_t bytes;
} transposition_table;

static inline const table_part *part_of(const transposition_table *table, uint64_t hash) {
    return &table->parts[hash >> 56];
}
/* The bucket at which the search for a key begins. Growing keeps the order of these. */
static inline uint32_t home_bucket(const table_part *part, uint64_t hash) {
    return (uint32_t)((hash >> 24 & UINT32_MAX) * part->size >> 32);
}

static inline void prefetch_outcome(const transposition_table *table, uint64_t key) {
    const uint64_t hash = hash_key(key);
    const table_part *part = part_of(table, hash);
    if (part->size) __builtin_prefetch(&part->buckets[home_bucket(part, hash)]);
}

/* The outcome stored for a key, 0 if there is none. */
static inline uint8_t stored_outcome(const transposition_table *table, uint64_t key) {
    const uint64_t hash = hash_key(key);
    const table_part *part = part_of(table, hash);
    if (!part->size) return 0;
    for (uint32_t i = home_bucket(part, hash);; i = i + 1 == part->size ? 0 : i + 1) {
        const bucket *b = &part->buckets[i];
        for (int place = 0; place < PLACES; place++) {
            if (!b->outcomes[place]) return 0;
            if (b->keys[place] == key) return b->outcomes[place] & OUTCOME_MASK;
        }
    }
}

/* Stores an outcome other than 0, with or without a mark, and replaces the previous one. Returns false when memory runs
 * out. */
bool pp_store_outcome(transposition_table *table, uint64_t key, uint8_t outcome);
void pp_free_table(transposition_table *table);

#endif
