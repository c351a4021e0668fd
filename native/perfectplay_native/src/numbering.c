/* Adds positions to a numbering, and the functions for Python, which handle many positions per call. */
#include "numbering.h"

static const size_t MAX_KEYS = UINT32_MAX - 1;

uint64_t pp_numbering_bytes(const pp_numbering *n) {
    return n->table_size * sizeof *n->table + n->capacity * sizeof *n->keys;
}

static bool grow_table(pp_numbering *n, uint64_t spare) {
    if ((n->count + 1) * 4 <= n->table_size * 3) return true;
    const size_t size = n->table_size ? n->table_size * 2 : 1024;
    if (size * sizeof *n->table > spare) return false;
    uint32_t *const table = calloc(size, sizeof *table);
    if (!table) return false;
    free(n->table);
    n->table = table;
    n->table_size = size;
    for (size_t i = 0; i < n->count; i++) table[numbering_place(n, n->keys[i])] = (uint32_t)i + 1;
    return true;
}

bool pp_numbering_add_key(pp_numbering *n, pp_position key, uint64_t spare, uint32_t *number) {
    if (!grow_table(n, spare)) return false;
    const size_t place = numbering_place(n, key);
    if (!n->table[place]) {
        if (n->count == MAX_KEYS) return false;
        if (!grow_array_within((void **)&n->keys, &n->capacity, n->count + 1, sizeof *n->keys, spare)) return false;
        n->keys[n->count++] = key;
        n->table[place] = (uint32_t)n->count;
    }
    *number = n->table[place] - 1;
    return true;
}

void pp_numbering_clear(pp_numbering *n) {
    free(n->keys);
    free(n->table);
    *n = (pp_numbering){0};
}

/* ---- for Python ---- */

pp_numbering *pp_numbering_new(void) { return calloc(1, sizeof(pp_numbering)); }

void pp_numbering_free(pp_numbering *n) {
    pp_numbering_clear(n);
    free(n);
}

size_t pp_numbering_count(const pp_numbering *n) { return n->count; }

const pp_position *pp_numbering_keys(const pp_numbering *n) { return n->keys; }

uint32_t pp_numbering_find(const pp_numbering *n, pp_position key) { return numbering_find(n, key); }

void pp_numbering_find_many(const pp_numbering *n, const pp_position *keys, size_t count, uint32_t *numbers) {
    for (size_t i = 0; i < count; i++) numbers[i] = numbering_find(n, keys[i]);
}

size_t pp_numbering_add(pp_numbering *n, const pp_position *keys, size_t count, uint32_t *numbers, uint32_t *first) {
    const size_t before = n->count;
    for (size_t i = 0; i < count; i++) {
        const size_t next = n->count;
        if (!pp_numbering_add_key(n, keys[i], UINT64_MAX, &numbers[i])) return SIZE_MAX;
        if (n->count > next) first[next - before] = (uint32_t)i;
    }
    return n->count - before;
}
