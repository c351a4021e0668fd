/* Proves every position that play can reach from one in the table, each as alphabeta.c does it.
 *
 * The table is its own list of what is left to do: a position is marked once its children are in the table, and the
 * table is gone through again and again until every position is marked. No queue, and no path through millions of
 * positions, as a depth-first search without pruning would have it. */
#include <stdlib.h>

#include "search.h"

enum { BATCH = 1024 };

/* Proves the children of a position in the table, and marks it. */
static int prove_children(pp_search *s, pp_position position) {
    const bool over = s->kernel->status(s->kernel, position) != PP_ONGOING;
    const size_t count = over ? 0 : canonical_children(s->kernel, position, s->children, s->moves);
    for (size_t i = 0; i < count; i++) {
        begin_proof(s, s->children[i]);
        const int result = finish_proof(s);
        if (result != PP_OK) return result;
    }
    if (!put_outcome(&s->table, position, outcome_of(&s->table, position) | EXPANDED)) return PP_OUT_OF_MEMORY;
    s->counts.expanded++;
    return PP_OK;
}

/* Copies keys without a mark from bucket `*from` on, which moves on; returns how many. */
static size_t unmarked(const outcome_part *part, uint32_t *from, uint64_t *keys) {
    size_t count = 0;
    for (; *from < part->size && count + PLACES <= BATCH; ++*from) {
        const bucket *b = &part->buckets[*from];
        for (int place = 0; place < PLACES && b->outcomes[place]; place++)
            if (!(b->outcomes[place] & EXPANDED)) keys[count++] = b->keys[place];
    }
    return count;
}

/* Proves the children of what is in a part. What a growing table moves behind `next`, and what comes in there, is for the next time. */
static int prove_part(pp_search *s, const outcome_part *part, bool *found) {
    uint64_t keys[BATCH];
    for (uint32_t next = 0; next < part->size;) {
        const size_t count = unmarked(part, &next, keys);
        *found |= count > 0;
        for (size_t i = 0; i < count; i++) {
            const int result = prove_children(s, keys[i]);
            if (result != PP_OK) return result;
            if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return PP_STOPPED;
        }
        publish(s);
    }
    return PP_OK;
}

int pp_search_prove_reachable(pp_search *s) {
    int result = finish_proof(s);
    for (bool found = true; found && result == PP_OK;) {
        found = false;
        for (int part = 0; part < PARTS && result == PP_OK; part++)
            result = prove_part(s, &s->table.parts[part], &found);
    }
    publish(s);
    return result;
}
