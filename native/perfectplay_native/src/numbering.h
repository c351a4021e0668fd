/* Numbers positions in the order in which they are met: 0, 1, 2 and so on.
 *
 *     keys    by number: the position
 *     table   1 + the number of a position, 0 where free; by linear probing, at least a quarter free
 *
 * One thread at a time. */
#ifndef PP_NUMBERING_H
#define PP_NUMBERING_H

#include <stdbool.h>

#include "api.h"

struct pp_numbering {
    pp_position *keys;
    uint32_t *table;
    size_t count, room, table_size; /* table_size is a power of two */
};

static inline size_t numbering_place(const pp_numbering *n, pp_position key) {
    const uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    size_t place = (size_t)(mixed ^ mixed >> 32) & (n->table_size - 1);
    while (n->table[place] && n->keys[n->table[place] - 1] != key) place = (place + 1) & (n->table_size - 1);
    return place;
}

/* The number of a position, PP_NO_NUMBER if it has none. */
static inline uint32_t numbering_find(const pp_numbering *n, pp_position key) {
    return n->table_size ? n->table[numbering_place(n, key)] - 1 : PP_NO_NUMBER;
}

/* The number of a position, a new one if it has none; false where it would need more than `spare` bytes beyond those
 * it has, or memory runs out. */
bool numbering_enter(pp_numbering *n, pp_position key, uint64_t spare, uint32_t *number);
uint64_t numbering_bytes(const pp_numbering *n);
void numbering_clear(pp_numbering *n);

/* Makes an array longer by half, or to `wanted` elements if that is more; false where that takes more than `spare`
 * bytes beyond those it has, or memory runs out. */
bool make_room(void **array, size_t *room, size_t wanted, size_t element, uint64_t spare);

#endif
