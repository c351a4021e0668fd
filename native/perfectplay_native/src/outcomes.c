/* Putting into outcomes.h's table, and growing it. */
#define _GNU_SOURCE
#include "outcomes.h"

#include <sys/mman.h>

enum { FIRST_SIZE = 64 }; /* buckets: a page */

/* Each part is mapped on its own: returned memory goes back to the system, whatever the order of growing. */
static bucket *new_buckets(uint32_t size) {
    void *memory = mmap(NULL, size * sizeof(bucket), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Takes the first free place from the key's home on, or the key's own. True if the key is new. */
static bool place_key(outcome_part *part, uint64_t key, uint8_t outcome) {
    for (uint32_t i = home_of(part, hash_of(key));; i = i + 1 == part->size ? 0 : i + 1) {
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

static bool grow(outcome_table *table, outcome_part *part) {
    outcome_part larger = {.size = part->size ? part->size + part->size / 5 : FIRST_SIZE, .used = part->used};
    if (larger.size < part->size || !(larger.buckets = new_buckets(larger.size))) return false;
    for (uint32_t i = 0; i < part->size; i++)
        for (int place = 0; place < PLACES && part->buckets[i].outcomes[place]; place++)
            place_key(&larger, part->buckets[i].keys[place], part->buckets[i].outcomes[place]);
    if (part->size) munmap(part->buckets, part->size * sizeof(bucket));
    table->bytes += (uint64_t)(larger.size - part->size) * sizeof(bucket);
    *part = larger;
    return true;
}

bool put_outcome(outcome_table *table, uint64_t key, uint8_t outcome) {
    outcome_part *part = &table->parts[hash_of(key) >> 56];
    if (part->used >= (uint64_t)part->size * PLACES / 16 * 15 && !grow(table, part)) return false;
    if (place_key(part, key, outcome)) {
        part->used++;
        table->count++;
    }
    return true;
}

void free_outcomes(outcome_table *table) {
    for (int i = 0; i < PARTS; i++)
        if (table->parts[i].size) munmap(table->parts[i].buckets, table->parts[i].size * sizeof(bucket));
}
