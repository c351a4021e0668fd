/* Probes the values of a strong solve, finished or not, for the children of a position.
 *
 * A table may be far larger than memory, so the children are probed together: first their slots are found, then their
 * values are read in the order of the slots, which is their order on disk. A direct-mapped cache keeps recent
 * results. */
#include <stdlib.h>

#include "search.h"

enum { CACHE_BITS = 16 };

typedef struct {
    pp_slot slot;
    pp_position position;
    uint8_t *outcome;
} table_probe;

struct tablebase {
    pp_engine *engine;
    table_probe *probes; /* room for the children of one position */
    uint64_t *slots;
    pp_position keys[1 << CACHE_BITS];
    uint8_t outcomes[1 << CACHE_BITS]; /* a pp_status, 0 if the table has no value */
};

static size_t cache_place(pp_position position) { return (size_t)(hash_key(position) >> (64 - CACHE_BITS)); }

static int compare_slots(const void *a, const void *b) {
    const pp_slot x = ((const table_probe *)a)->slot, y = ((const table_probe *)b)->slot;
    return x < y ? -1 : x > y;
}

static uint8_t outcome_in_slot(pp_engine *engine, pp_slot slot) {
    const uint32_t code = slot == UINT64_MAX ? (uint32_t)CODE_NO_POSITION : pp_value_of_slot(engine, slot);
    if (code == CODE_NO_POSITION) return 0;
    return code == CODE_ENDLESS ? PP_DRAWN : (uint8_t)kind_of(code);
}

void pp_tablebase_probe(tablebase *t, const pp_position *positions, size_t count, uint8_t *outcomes) {
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t place = cache_place(positions[i]);
        const bool cached = t->keys[place] == positions[i];
        outcomes[i] = cached ? t->outcomes[place] : 0;
        if (cached) continue;
        t->slots[missing] = positions[i];
        t->probes[missing++] = (table_probe){.position = positions[i], .outcome = &outcomes[i]};
    }
    pp_find_slots(t->engine, t->slots, missing);
    for (size_t i = 0; i < missing; i++) t->probes[i].slot = t->slots[i];
    if (missing > 1) qsort(t->probes, missing, sizeof *t->probes, compare_slots);
    for (size_t i = 0; i < missing; i++) {
        const table_probe *p = &t->probes[i];
        const size_t place = cache_place(p->position);
        *p->outcome = outcome_in_slot(t->engine, p->slot);
        t->keys[place] = p->position;
        t->outcomes[place] = *p->outcome;
    }
}

int pp_search_use_tablebase(pp_search *search, pp_engine *engine) {
    const size_t room = (size_t)engine->kernel->max_moves + 1;
    tablebase *t = calloc(1, sizeof *t);
    if (!t) return PP_OUT_OF_MEMORY;
    t->engine = engine;
    t->probes = malloc(room * sizeof *t->probes);
    t->slots = malloc(room * sizeof *t->slots);
    if (!t->probes || !t->slots) {
        pp_tablebase_free(t);
        return PP_OUT_OF_MEMORY;
    }
    memset(t->keys, 0xFF, sizeof t->keys); /* PP_NO_POSITION */
    pp_tablebase_free(search->tablebase);
    search->tablebase = t;
    return PP_OK;
}

void pp_tablebase_free(tablebase *t) {
    if (!t) return;
    free(t->probes);
    free(t->slots);
    free(t);
}
