/* Numbers positions 0, 1, 2 ... in the order in which they are added.
 *
 *     keys    the position of each number
 *     table   1 + the number of a position, 0 if free; linear probing, at least a quarter is free
 *
 * Not thread-safe. */
#ifndef PP_NUMBERING_H
#define PP_NUMBERING_H

#include "containers.h"
#include "positions_api.h"

struct pp_numbering {
    pp_position *keys;
    uint32_t *table;
    size_t count, capacity, table_size; /* table_size is a power of two */
};

static inline size_t numbering_place(const pp_numbering *n, pp_position key) {
    size_t place = (size_t)(hash_key(key) >> 32) & (n->table_size - 1);
    while (n->table[place] && n->keys[n->table[place] - 1] != key) place = (place + 1) & (n->table_size - 1);
    return place;
}

/* The number of a position, PP_NO_NUMBER if it has none. */
static inline uint32_t numbering_find(const pp_numbering *n, pp_position key) {
    return n->table_size ? n->table[numbering_place(n, key)] - 1 : PP_NO_NUMBER;
}

/* Adds a position if it has no number, and writes its number. Returns false if that needs more than `spare` bytes
 * beyond the present ones, or if memory runs out. */
bool pp_numbering_add_key(pp_numbering *n, pp_position key, uint64_t spare, uint32_t *number);
uint64_t pp_numbering_bytes(const pp_numbering *n);
void pp_numbering_clear(pp_numbering *n);

#endif
