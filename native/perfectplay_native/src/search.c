/* Creates, runs and reads searches; and proves every reachable position, each as alphabeta.c does it. */
#include "search.h"

#include <stdlib.h>

/* ---- creating and freeing ---- */

pp_search *pp_search_new(const pp_kernel *kernel) {
    pp_search *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    const size_t room = (size_t)kernel->max_moves + 1;
    s->kernel = kernel;
    s->holder = NO_HOLDER;
    s->moves = malloc(2 * room * sizeof *s->moves);
    s->replies = s->moves ? s->moves + room : NULL;
    s->candidates = malloc(room * sizeof *s->candidates);
    s->children = malloc(room * sizeof *s->children);
    s->probes = malloc(room * sizeof *s->probes);
    s->outcomes = malloc(room * sizeof *s->outcomes);
    if (!s->moves || !s->candidates || !s->children || !s->probes || !s->outcomes) {
        pp_search_free(s);
        return NULL;
    }
    return s;
}

void pp_search_free(pp_search *s) {
    pp_free_table(&s->table);
    pp_path_free(&s->path);
    free(s->frames);
    free(s->open_moves);
    free(s->moves);
    free(s->candidates);
    free(s->children);
    free(s->probes);
    free(s->outcomes);
    pp_tablebase_free(s->tablebase);
    free(s);
}

void pp_search_set_holder(pp_search *s, int player) { s->holder = player; }

/* ---- one position ---- */

int pp_search_run(pp_search *s, pp_position root) {
    if (!s->depth) pp_begin_proof(s, canonical(s->kernel, root));
    const int result = pp_finish_proof(s);
    pp_publish_counts(s);
    return result;
}

void pp_search_stop(pp_search *s, int stop) { s->stop = stop; }

pp_position pp_search_error_position(const pp_search *s) { return s->error_position; }

/* ---- counts ---- */

void pp_publish_counts(pp_search *s) {
    s->counts.unique = s->table.count;
    s->counts.depth = s->depth;
    s->counts.provisional = s->path.draw_count;
    s->counts.confirmed = s->path.confirmed;
    s->counts.forgotten = s->path.discarded;
    s->counts.bytes = s->table.bytes + pp_path_bytes(&s->path) + s->frame_capacity * sizeof *s->frames +
                      s->open_capacity * sizeof *s->open_moves;
    uint64_t words[PUBLISHED_COUNTS];
    memcpy(words, &s->counts, sizeof words);
    for (size_t i = 0; i < PUBLISHED_COUNTS; i++)
        atomic_store_explicit(&s->published[i], words[i], memory_order_relaxed);
}

pp_search_counts pp_search_progress(const pp_search *s) {
    uint64_t words[PUBLISHED_COUNTS];
    pp_search_counts counts;
    for (size_t i = 0; i < PUBLISHED_COUNTS; i++)
        words[i] = atomic_load_explicit(&s->published[i], memory_order_relaxed);
    memcpy(&counts, words, sizeof counts);
    return counts;
}

/* ---- the transposition table ---- */

int pp_search_outcome(const pp_search *s, pp_position position) {
    return stored_outcome(&s->table, canonical(s->kernel, position));
}

void pp_search_entries(const pp_search *s, pp_position *positions, uint8_t *outcomes) {
    for (int part = 0; part < PARTS; part++)
        for (uint32_t i = 0; i < s->table.parts[part].size; i++) {
            const bucket *b = &s->table.parts[part].buckets[i];
            for (int place = 0; place < PLACES && b->outcomes[place]; place++) {
                *positions++ = b->keys[place];
                *outcomes++ = b->outcomes[place];
            }
        }
}

int pp_search_add(pp_search *s, const pp_position *positions, const uint8_t *outcomes, size_t count) {
    size_t i = 0;
    for (; i < count && pp_store_outcome(&s->table, positions[i], outcomes[i]); i++)
        if (outcomes[i] & EXPANDED) s->counts.expanded++;
    pp_publish_counts(s); /* even if there was no room for all of them */
    return i < count ? PP_OUT_OF_MEMORY : PP_OK;
}

/* ---- every reachable position ----
 *
 * The table serves as the list of positions to expand: a position is marked when its children are in the table, and the
 * table is scanned repeatedly until every position is marked. This needs no queue, and no path of millions of
 * positions, as a depth-first search without pruning would. */

enum { KEYS_PER_STEP = 1024 };

/* Proves the children of a position in the table, and marks the position. */
static int prove_children(pp_search *s, pp_position position) {
    const bool finished = s->kernel->status(s->kernel, position) != PP_ONGOING;
    const size_t count = finished ? 0 : pp_canonical_children(s->kernel, position, s->children, s->moves);
    for (size_t i = 0; i < count; i++) {
        pp_begin_proof(s, s->children[i]);
        const int result = pp_finish_proof(s);
        if (result != PP_OK) return result;
    }
    if (!pp_store_outcome(&s->table, position, stored_outcome(&s->table, position) | EXPANDED)) return PP_OUT_OF_MEMORY;
    s->counts.expanded++;
    return PP_OK;
}

/* Copies the keys without a mark from bucket `*from` on, and advances `*from`. Returns their number. */
static size_t copy_unmarked(const table_part *part, uint32_t *from, uint64_t *keys) {
    size_t count = 0;
    for (; *from < part->size && count + PLACES <= KEYS_PER_STEP; ++*from) {
        const bucket *b = &part->buckets[*from];
        for (int place = 0; place < PLACES && b->outcomes[place]; place++)
            if (!(b->outcomes[place] & EXPANDED)) keys[count++] = b->keys[place];
    }
    return count;
}

/* Proves the children of the positions in a part. Positions that are added or moved to buckets before `next` meanwhile
 * are left for the next scan. */
static int prove_part(pp_search *s, const table_part *part, bool *found) {
    uint64_t keys[KEYS_PER_STEP];
    for (uint32_t next = 0; next < part->size;) {
        const size_t count = copy_unmarked(part, &next, keys);
        *found |= count > 0;
        for (size_t i = 0; i < count; i++) {
            const int result = prove_children(s, keys[i]);
            if (result != PP_OK) return result;
            if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return PP_STOPPED;
        }
        pp_publish_counts(s);
    }
    return PP_OK;
}

int pp_search_prove_reachable(pp_search *s) {
    int result = pp_finish_proof(s);
    for (bool found = true; found && result == PP_OK;) {
        found = false;
        for (int part = 0; part < PARTS && result == PP_OK; part++)
            result = prove_part(s, &s->table.parts[part], &found);
    }
    pp_publish_counts(s);
    return result;
}
