/* Stores entries in the transposition table, and lets it grow. */
#define _GNU_SOURCE
#include "transposition_table.h"

#include <sys/mman.h>

enum { FIRST_SIZE = 64 }; /* buckets: a page */

/* Each part is mapped separately, so that freed memory is returned to the system in any order of growth. */
static bucket *new_buckets(uint32_t size) {
    void *memory = mmap(NULL, size * sizeof(bucket), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Writes to the key's place, or else to the first free one from its home on. Returns whether the key is new. */
static bool write_entry(table_part *part, uint64_t key, uint8_t outcome) {
    for (uint32_t i = home_bucket(part, hash_key(key));; i = i + 1 == part->size ? 0 : i + 1) {
        bucket *b = &part->buckets[i];
        for (int place = 0; place < PLACES; place++) {
            if (b->outcomes[place] && b->keys[place] != key) continue;
            const bool is_new = !b->outcomes[place];
            b->keys[place] = key;
            b->outcomes[place] = outcome;
            return is_new;
        }
    }
}

static bool grow_part(transposition_table *table, table_part *part) {
    table_part larger = {.size = part->size ? part->size + part->size / 5 : FIRST_SIZE, .used = part->used};
    if (larger.size < part->size || !(larger.buckets = new_buckets(larger.size))) return false;
    for (uint32_t i = 0; i < part->size; i++)
        for (int place = 0; place < PLACES && part->buckets[i].outcomes[place]; place++)
            write_entry(&larger, part->buckets[i].keys[place], part->buckets[i].outcomes[place]);
    if (part->size) munmap(part->buckets, part->size * sizeof(bucket));
    table->bytes += (uint64_t)(larger.size - part->size) * sizeof(bucket);
    *part = larger;
    return true;
}

bool pp_store_outcome(transposition_table *table, uint64_t key, uint8_t outcome) {
    table_part *part = &table->parts[hash_key(key) >> 56];
    if (part->used >= (uint64_t)part->size * PLACES / 16 * 15 && !grow_part(table, part)) return false;
    if (write_entry(part, key, outcome)) {
        part->used++;
        table->count++;
    }
    return true;
}

void pp_free_table(transposition_table *table) {
    for (int i = 0; i < PARTS; i++)
        if (table->parts[i].size) munmap(table->parts[i].buckets, table->parts[i].size * sizeof(bucket));
}
