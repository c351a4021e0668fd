/* Tables under a search: what a strong solve, finished or not, knows of the children of a position.
 *
 * A table may be far larger than memory, so the children are looked up together: their slots first, then their values
 * in the order of the slots, which is their order on disk. What was asked lately is kept, a fixed number of answers;
 * each has one place in the cache, and the last to come there stays. */
#include <stdlib.h>

#include "search.h"

enum { CACHE_BITS = 16 };

typedef struct {
    pp_slot slot;
    pp_position position;
    uint8_t *answer;
} question;

struct below {
    pp_engine *engine;
    question *questions; /* room for one position's children */
    uint64_t *slots;
    pp_position keys[1 << CACHE_BITS];
    uint8_t answers[1 << CACHE_BITS]; /* a pp_status, 0 where the table does not know */
};

static size_t cache_place(pp_position position) {
    return (size_t)((position * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS));
}

static int by_slot(const void *a, const void *b) {
    const pp_slot x = ((const question *)a)->slot, y = ((const question *)b)->slot;
    return x < y ? -1 : x > y;
}

static uint8_t outcome_in(pp_engine *engine, pp_slot slot) {
    const uint32_t code = slot == UINT64_MAX ? (uint32_t)CODE_NO_POSITION : pp_value_of_slot(engine, slot);
    if (code == CODE_NO_POSITION) return 0;
    return code == CODE_ENDLESS ? PP_DRAWN : (uint8_t)kind_of(code);
}

void ask_below(below *b, const pp_position *positions, size_t count, uint8_t *outcomes) {
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t place = cache_place(positions[i]);
        outcomes[i] = b->keys[place] == positions[i] ? b->answers[place] : 0;
        if (b->keys[place] == positions[i]) continue;
        b->slots[asked] = positions[i];
        b->questions[asked++] = (question){.position = positions[i], .answer = &outcomes[i]};
    }
    find_slots(b->engine, b->slots, asked);
    for (size_t i = 0; i < asked; i++) b->questions[i].slot = b->slots[i];
    if (asked > 1) qsort(b->questions, asked, sizeof *b->questions, by_slot);
    for (size_t i = 0; i < asked; i++) {
        const question *q = &b->questions[i];
        const size_t place = cache_place(q->position);
        *q->answer = outcome_in(b->engine, q->slot);
        b->keys[place] = q->position;
        b->answers[place] = *q->answer;
    }
}

int pp_search_use(pp_search *search, pp_engine *engine) {
    const size_t room = (size_t)engine->kernel->max_moves + 1;
    below *b = calloc(1, sizeof *b);
    if (!b) return PP_OUT_OF_MEMORY;
    b->engine = engine;
    b->questions = malloc(room * sizeof *b->questions);
    b->slots = malloc(room * sizeof *b->slots);
    if (!b->questions || !b->slots) {
        free_below(b);
        return PP_OUT_OF_MEMORY;
    }
    memset(b->keys, 0xFF, sizeof b->keys); /* which is no position */
    free_below(search->below);
    search->below = b;
    return PP_OK;
}

void free_below(below *b) {
    if (!b) return;
    free(b->questions);
    free(b->slots);
    free(b);
}
