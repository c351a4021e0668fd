/* Solves graphs with workers, which are threads of this program. Each has its own engine and share, and all take every
 * step at the same time. test_sanitizers.py builds it with sanitizers, so exchanged data is copied into memory of
 * exactly its size. In the middle of a solve all workers start again from a checkpoint, with one worker fewer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random_graph.h"
#include "share_api.h"

enum { MAX_WORKERS = 3, SAVED_AT = 4 };

typedef struct {
    void *bytes;
    uint64_t count;
} copy;

static copy copy_of(const void *bytes, uint64_t count, size_t size) {
    copy c = {.bytes = malloc(count * size + 1), .count = count};
    CHECK(c.bytes);
    if (count) memcpy(c.bytes, bytes, count * size);
    return c;
}

/* ---- the parameters of the solve, for all workers ---- */

static const pp_kernel *kernel;
static const uint64_t *keys; /* NULL for a kernel with an index */
static uint64_t size, units;
static uint32_t workers;
static unsigned unit_bits, level;
static int threshold, ties, edges;
static copy *unit_values, *unit_entries;

typedef struct {
    uint32_t number;
    pp_engine *engine;
    pp_share *share;
    copy sent[MAX_WORKERS][PP_BATCHES];
    copy attached[64];
    uint64_t scores[PP_MAX_SCORE / 64 + 1];
} worker;

static worker all[MAX_WORKERS];

static void take_step(void *(*step)(void *)) {
    pthread_t threads[MAX_WORKERS];
    for (uint32_t i = 0; i < workers; i++) CHECK(!pthread_create(&threads[i], NULL, step, &all[i]));
    for (uint32_t i = 0; i < workers; i++) CHECK(!pthread_join(threads[i], NULL));
}

static uint64_t length_of(uint64_t unit) {
    const uint64_t left = size - (unit << unit_bits), whole = (uint64_t)1 << unit_bits;
    return left < whole ? left : whole;
}

static uint8_t *values_of(const worker *w, uint64_t unit) {
    const uint64_t first = unit << unit_bits;
    uint8_t *block = pp_share_block(w->share, 0, first >> PP_BLOCK_BITS);
    return block ? block + (first & (((uint64_t)1 << PP_BLOCK_BITS) - 1)) * pp_tier_width(w->engine, 0) : NULL;
}

/* ---- steps ---- */

static void *begin(void *context) {
    worker *w = context;
    const uint64_t *blocks[] = {keys};
    const uint32_t tier = 0;
    w->engine = pp_engine_new(kernel, 1, 1);
    CHECK(w->engine && pp_tier_define(w->engine, 0, size, keys ? blocks : NULL) == PP_OK);
    CHECK(pp_share_new(w->engine, &tier, 1, unit_bits, w->number, workers, kernel->score ? 4 : 1, &w->share) == PP_OK);
    return NULL;
}

static void *settle_own(void *context) {
    CHECK(pp_share_settle(((worker *)context)->share) == PP_OK);
    return NULL;
}

static void *publish_own(void *context) {
    const worker *w = context;
    const unsigned width = pp_tier_width(w->engine, 0);
    for (uint64_t unit = w->number; unit < units; unit += workers) {
        free(unit_values[unit].bytes);
        unit_values[unit] = copy_of(values_of(w, unit), length_of(unit) * width, 1);
    }
    return NULL;
}

static void *attach_others(void *context) {
    worker *w = context;
    for (uint64_t unit = 0; unit < units; unit++) {
        if (unit % workers == w->number) continue;
        if (unit_bits < PP_BLOCK_BITS) {
            memcpy(values_of(w, unit), unit_values[unit].bytes, unit_values[unit].count);
        } else { /* valid until the next call */
            copy *block = &w->attached[unit];
            free(block->bytes);
            *block = copy_of(unit_values[unit].bytes, unit_values[unit].count, 1);
            pp_share_attach_block(w->share, 0, unit, block->bytes);
        }
    }
    return NULL;
}

static void send(worker *w, int first, int last) {
    for (uint32_t other = 0; other < workers; other++)
        for (int kind = first; kind <= last; kind++) {
            uint64_t count;
            const void *found = pp_share_batch(w->share, other, kind, &count);
            w->sent[other][kind] = copy_of(found, count, kind == PP_BATCH_PARENTS ? 8 : 4);
        }
}

static void *expand_own(void *context) {
    worker *w = context;
    CHECK(pp_share_expand(w->share, threshold, edges) == PP_OK);
    if (edges) send(w, PP_BATCH_CHILDREN, PP_BATCH_PARENTS);
    return NULL;
}

static void *receive_edges(void *context) {
    const worker *w = context;
    const uint32_t *children[MAX_WORKERS];
    const uint64_t *parents[MAX_WORKERS];
    uint64_t lengths[MAX_WORKERS];
    for (uint32_t i = 0; i < workers; i++) {
        children[i] = all[i].sent[w->number][PP_BATCH_CHILDREN].bytes;
        parents[i] = all[i].sent[w->number][PP_BATCH_PARENTS].bytes;
        lengths[i] = all[i].sent[w->number][PP_BATCH_CHILDREN].count;
    }
    CHECK(pp_share_receive_edges(w->share, workers, children, parents, lengths) == PP_OK);
    return NULL;
}

static void *find_ties(void *context) {
    CHECK(pp_share_begin_ties(((worker *)context)->share) == PP_OK);
    return NULL;
}

static void *propagate_own(void *context) {
    worker *w = context;
    CHECK(pp_share_propagate(w->share, level, ties) == PP_OK);
    send(w, PP_BATCH_WINS, PP_BATCH_CLOSES);
    return NULL;
}

static void *apply_others(void *context) {
    const worker *w = context;
    for (uint32_t i = 0; i < workers; i++)
        for (int kind = PP_BATCH_WINS; kind <= PP_BATCH_CLOSES; kind++) {
            const copy *updates = &all[i].sent[w->number][kind];
            CHECK(pp_share_apply(w->share, level, ties, kind, updates->bytes, updates->count) == PP_OK);
        }
    return NULL;
}

static void *collect_scores(void *context) {
    worker *w = context;
    memset(w->scores, 0, sizeof w->scores);
    CHECK(pp_share_collect_scores(w->share, w->scores) == PP_OK);
    return NULL;
}

static void *store_score(void *context) {
    CHECK(pp_share_store_score(((worker *)context)->share) == PP_OK);
    return NULL;
}

static void *store_all(void *context) {
    const worker *w = context;
    uint8_t wide = 0;
    pp_share_wide_tiers(w->share, &wide);
    CHECK(!wide && pp_share_store(w->share, &wide) == PP_OK);
    return NULL;
}

/* ---- checkpoints ---- */

static void *save_entries(void *context) {
    const worker *w = context;
    for (uint64_t unit = w->number; unit < units; unit += workers) {
        uint32_t *states = malloc(length_of(unit) * sizeof *states);
        CHECK(states);
        const uint64_t count = pp_share_entries(w->share, unit / workers, states);
        unit_entries[unit] = copy_of(states, count, sizeof *states);
        free(states);
    }
    return NULL;
}

static void *restore_values(void *context) {
    const worker *w = context;
    for (uint64_t unit = w->number; unit < units; unit += workers)
        memcpy(values_of(w, unit), unit_values[unit].bytes, unit_values[unit].count);
    CHECK(pp_share_restore_values(w->share) == PP_OK);
    return NULL;
}

static void *restore_entries(void *context) {
    const worker *w = context;
    uint64_t count = 0;
    for (uint64_t unit = w->number; unit < units; unit += workers) count += unit_entries[unit].count;
    uint32_t *states = malloc(count * sizeof *states + 1), *next = states;
    CHECK(states);
    for (uint64_t unit = w->number; unit < units; unit += workers) {
        memcpy(next, unit_entries[unit].bytes, unit_entries[unit].count * sizeof *next);
        next += unit_entries[unit].count;
    }
    CHECK(pp_share_restore_entries(w->share, threshold, ties, states, count + 1) == PP_BAD_BATCH);
    CHECK(pp_share_restore_entries(w->share, threshold, ties, states, count) == PP_OK);
    free(states);
    return NULL;
}

/* ---- the solve ---- */

static void clear_sent(void) {
    for (uint32_t i = 0; i < MAX_WORKERS; i++)
        for (uint32_t other = 0; other < MAX_WORKERS; other++)
            for (int kind = 0; kind < PP_BATCHES; kind++) {
                free(all[i].sent[other][kind].bytes);
                all[i].sent[other][kind] = (copy){0};
            }
}

static void end(void) {
    for (uint32_t i = 0; i < workers; i++) {
        pp_share_free(all[i].share);
        pp_engine_free(all[i].engine);
        for (size_t j = 0; j < 64; j++) free(all[i].attached[j].bytes);
        memset(all[i].attached, 0, sizeof all[i].attached);
    }
}

static void run_and_publish(void *(*step)(void *)) {
    take_step(step);
    take_step(publish_own);
    take_step(attach_others);
}

static void expand_all(int at, int with_edges) {
    threshold = at;
    edges = with_edges;
    take_step(expand_own);
    if (edges) take_step(receive_edges);
    clear_sent();
}

static void restart(void) {
    take_step(publish_own);
    take_step(save_entries);
    end();
    workers--;
    take_step(begin);
    take_step(restore_values);
    take_step(attach_others);
    if (!kernel->retract && !kernel->parents) expand_all(threshold, 1);
    take_step(restore_entries);
    for (uint64_t unit = 0; unit < units; unit++) free(unit_entries[unit].bytes);
}

static int take_levels(int saved) {
    unsigned last = 0;
    for (level = 1;; level++) {
        take_step(propagate_own);
        take_step(apply_others);
        clear_sent();
        if (level == SAVED_AT && !saved) restart(), saved = 1;
        for (uint32_t i = 0; i < workers; i++) {
            const unsigned due = pp_share_state_of(all[i].share).last_level;
            if (due > last) last = due;
        }
        if (level >= last) return saved;
    }
}

static uint64_t solve_by_workers(uint32_t count, unsigned bits) {
    int saved = 0, has_ties = 0;
    workers = count, unit_bits = bits, ties = 0;
    units = (size + ((uint64_t)1 << bits) - 1) >> bits;
    unit_values = calloc(units, sizeof *unit_values);
    unit_entries = calloc(units, sizeof *unit_entries);
    CHECK(unit_values && unit_entries && (bits < PP_BLOCK_BITS || units <= 64));
    take_step(begin);
    run_and_publish(settle_own);
    expand_all(PP_MAX_SCORE + 1, !kernel->retract && !kernel->parents);
    for (uint32_t i = 0; i < workers; i++) has_ties |= pp_share_state_of(all[i].share).has_ties;
    if (!kernel->score) saved = take_levels(saved);
    if (kernel->score) take_step(collect_scores);
    for (int score = kernel->score ? PP_MAX_SCORE : 0; score > 0; score--) {
        uint64_t found = 0;
        for (uint32_t i = 0; i < count; i++) found |= all[i].scores[score / 64] >> score % 64 & 1;
        if (!found) continue;
        expand_all(score, 0);
        saved = take_levels(saved);
        run_and_publish(store_score);
    }
    ties = 1, threshold = 0;
    if (has_ties) take_step(find_ties), saved = take_levels(saved);
    CHECK(saved);
    run_and_publish(store_all);
    uint64_t hash = 0;
    for (uint64_t unit = 0; unit < units; unit++) {
        const uint8_t *bytes = unit_values[unit].bytes;
        for (uint64_t i = 0; i < unit_values[unit].count; i++) hash = (hash ^ bytes[i]) * 0x100000001B3ULL;
        free(unit_values[unit].bytes);
    }
    end();
    free(unit_values);
    free(unit_entries);
    return hash;
}

static uint64_t solve_without_workers(void) {
    const uint64_t *blocks[] = {keys};
    const uint32_t tier = 0;
    pp_engine *engine = pp_engine_new(kernel, 1, 1);
    CHECK(engine && pp_tier_define(engine, 0, size, keys ? blocks : NULL) == PP_OK);
    CHECK(pp_solve(engine, &tier, 1, 1, PP_PROPAGATE_AUTO, 0) == PP_OK);
    const uint8_t *bytes = pp_tier_values(engine, 0);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < size * pp_tier_width(engine, 0); i++) hash = (hash ^ bytes[i]) * 0x100000001B3ULL;
    pp_engine_free(engine);
    return hash;
}

static void compare_solves(const pp_kernel *chosen, const uint64_t *chosen_keys, uint32_t count, unsigned bits) {
    kernel = chosen;
    keys = chosen_keys;
    size = ((const graph *)kernel->context)->nodes;
    CHECK(solve_by_workers(count, bits) == solve_without_workers());
}

int main(void) {
    for (uint32_t i = 0; i < MAX_WORKERS; i++) all[i].number = i;
    random_graph *r = random_graph_new(20000);
    CHECK(r);
    pp_kernel forward = r->ranked;
    forward.retract = NULL, forward.parents = NULL;
    compare_solves(&r->ranked, NULL, 3, 6);
    compare_solves(&r->ranked, NULL, 3, 10);
    compare_solves(&r->enumerated, r->keys, 3, 10);
    compare_solves(&forward, NULL, 3, 10);
    puts("graphs");
    add_turns_and_scores(r, &r->ranked);
    add_turns_and_scores(r, &forward);
    compare_solves(&r->ranked, NULL, 3, 10);
    compare_solves(&forward, NULL, 3, 10);
    puts("graphs with scores and turns");
    random_graph_free(r);
    r = random_graph_new((1 << PP_BLOCK_BITS) + 5000);
    CHECK(r);
    compare_solves(&r->ranked, NULL, 2, PP_BLOCK_BITS);
    random_graph_free(r);
    puts("units of whole blocks");
    return 0;
}
