/* Solves a component: settle, expand, propagate, store. */
#include <stdlib.h>

#include "component.h"
#include "evaluate.h"

enum { WORDS_PER_RANGE = 256, STORE_WORDS_PER_RANGE = 4096 };

/* ---- values ---- */

/* Allocates the values of a tier, zeroed, the blocks one after the other. */
static int own_values(pp_engine *engine, tier_state *tier, uint8_t shift) {
    buffer memory;
    const uint64_t blocks = block_count(tier->size);
    const int result = pp_allocate(engine, value_bytes(tier->size, shift), &memory);
    if (result) return result;
    void **pointers = malloc((blocks + 1) * sizeof *pointers);
    if (!pointers) {
        pp_release(engine, &memory);
        return PP_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < blocks; i++) pointers[i] = (char *)memory.bytes + value_bytes(i << PP_BLOCK_BITS, shift);
    pp_drop_values(engine, tier);
    tier->owned = memory;
    tier->blocks = pointers;
    tier->shift = shift;
    return PP_OK;
}

static int own_all_values(pp_engine *engine, component *c, uint8_t shift) {
    for (size_t i = 0; i < c->layout.tier_count; i++) {
        const int result = own_values(engine, &engine->tiers[c->layout.tiers[i]], shift);
        if (result) return result;
    }
    return PP_OK;
}

/* Converts the values of a tier from one to two bytes each. */
static int widen(pp_engine *engine, tier_state *tier) {
    buffer narrow = tier->owned;
    tier->owned = (buffer){0}; /* so that it is not freed before it is copied */
    const int result = own_values(engine, tier, SHIFT_WIDE);
    if (!result)
        for (uint64_t i = 0; i < tier->size; i++)
            ((uint16_t *)tier->owned.bytes)[i] = ((const uint8_t *)narrow.bytes)[i];
    pp_release(engine, &narrow);
    return result;
}

static bool needs_two_bytes(const component *c, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; i++) {
        const uint32_t state = load_entry(c, i);
        if (entry_decided(state) && entry_code(state) > LARGEST_NARROW_CODE) return true;
    }
    return false;
}

/* In a game with scores, stores the values decided at the present threshold, which then take no further part. */
static void store_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->open.markers[word].before;
        if (!c->open.markers[word].bits) continue;
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        for (uint64_t bits = c->open.markers[word].bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = load_entry(c, number);
            if (!entry_decided(state) || state == ENTRY_STORED) continue;
            value_code code = entry_code(state);
            if (c->scores) {
                const int threshold = c->scores->threshold;
                code = with_score(code, kind_of(state) == KIND_WIN ? threshold : -threshold);
                atomic_store_explicit(&c->open.entries[number], ENTRY_STORED, memory_order_relaxed);
            }
            set_value(tier, pp_slot_index(slot) + (unsigned)__builtin_ctzll(bits), code);
        }
    }
}

int pp_store_decided(pp_engine *engine, component *c) {
    return pp_parallel(engine, store_words, c, word_count(c), STORE_WORDS_PER_RANGE);
}

static int store(pp_engine *engine, component *c) {
    const marker_word *markers = c->open.markers;
    for (size_t i = 0; i < c->layout.tier_count; i++) {
        tier_state *tier = &engine->tiers[c->layout.tiers[i]];
        const uint64_t after = (tier->local_first + tier->size + 63) / 64;
        const uint64_t first = tier->size ? markers[tier->local_first / 64].before : 0;
        const uint64_t last = after < word_count(c) ? markers[after].before : c->open.count;
        if (tier->size && tier->shift == SHIFT_NARROW && needs_two_bytes(c, first, last)) {
            const int result = widen(engine, tier);
            if (result) return result;
        }
    }
    return pp_store_decided(engine, c);
}

/* ---- scores in tiers with cycles ----
 *
 * One score after the other is propagated, the highest first. The positions from which a player can win by t or more
 * are found like those from which a player can win, with t as the only score that counts (code_at_threshold in
 * values.h). Positions won or lost by more are decided already. So a position decided at t is won or lost by exactly t,
 * with the remoteness of best play for that score. It is stored, and takes no further part. A position that no score
 * decides is a tie or endless, and its score is 0. */

static void note_score(component *c, value_code code) {
    const int score = score_of(code), margin = score < 0 ? -score : score;
    if (margin) __atomic_fetch_or(&c->scores->bitmap[margin / 64], (uint64_t)1 << margin % 64, __ATOMIC_RELAXED);
}

static void collect_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    for (uint64_t word = first; word < last; word++) {
        begin_run(engine, &ahead, slot_of_word(engine, c, word), c->open.markers[word].bits, true);
        for (unsigned count; (count = expand_next(engine, &ahead));)
            for (uint32_t i = 0; i < ahead.ends[count - 1]; i++)
                note_score(c, value_at(tier_of(engine, ahead.slots[i]), pp_slot_index(ahead.slots[i])));
    }
    end_look_ahead(&ahead);
}

int pp_collect_scores(pp_engine *engine, component *c, uint64_t *scores) {
    c->scores->bitmap = scores;
    return pp_parallel(engine, collect_words, c, word_count(c), WORDS_PER_RANGE);
}

static int propagate_scores(pp_engine *engine, component *c, const uint64_t *bitmap) {
    int *threshold = &c->scores->threshold;
    for (*threshold = PP_MAX_SCORE; *threshold > 0; --*threshold) {
        if (!(bitmap[*threshold / 64] >> *threshold % 64 & 1)) continue;
        int result = pp_expand_open(engine, c);
        if (!result) result = pp_propagate_wins(engine, c);
        if (!result) result = pp_store_decided(engine, c);
        if (result) return result;
    }
    return pp_propagate_ties(engine, c); /* at threshold 0, where all scores are decided, and bad */
}

static int propagate_all_scores(pp_engine *engine, component *c) {
    uint64_t *bitmap = calloc(PP_MAX_SCORE / 64 + 1, sizeof *bitmap);
    if (!bitmap) return PP_OUT_OF_MEMORY;
    int result = pp_collect_scores(engine, c, bitmap);
    if (!result) result = propagate_scores(engine, c, bitmap);
    free(bitmap);
    return result;
}

/* ---- solving ---- */

static int choose_propagation(const pp_engine *engine, const component *c, int propagation) {
    if (propagation != PP_PROPAGATE_AUTO) return propagation;
    if (can_retract(engine->kernel)) return PP_PROPAGATE_RETRACT;
    const bool fits = !engine->budget || engine->used + pp_reverse_graph_bytes(c) <= engine->budget;
    return fits && c->open.count < GRAPH_LIMIT ? PP_PROPAGATE_GRAPH : PP_PROPAGATE_FORWARD;
}

/* Settles and expands, and builds the reverse graph if one is needed. */
static int prepare(pp_engine *engine, component *c, int propagation) {
    if (c->scores) c->scores->threshold = NO_THRESHOLD;
    const bool graph =
        propagation == PP_PROPAGATE_GRAPH || (propagation == PP_PROPAGATE_AUTO && !can_retract(engine->kernel));
    for (size_t i = 0; i < c->layout.tier_count; i++) engine->progress_slots += engine->tiers[c->layout.tiers[i]].size;
    engine->progress_steps = graph ? 3 : 2;
    int result = pp_settle(engine, c);
    if (!result) result = pp_expand_open(engine, c);
    if (result) return result;
    c->source.propagation = choose_propagation(engine, c, propagation);
    return c->source.propagation == PP_PROPAGATE_GRAPH ? pp_build_reverse_graph(engine, c) : PP_OK;
}

static int solve_cyclic(pp_engine *engine, component *c, int propagation) {
    int result = prepare(engine, c, propagation);
    if (!result && c->scores) {
        result = propagate_all_scores(engine, c);
    } else if (!result) {
        result = pp_propagate_wins(engine, c);
        if (!result) result = pp_propagate_ties(engine, c);
    }
    pp_release(engine, &c->source.memory);
    return result ? result : store(engine, c);
}

/* One byte per value is enough for nearly every tier. If it is not, the tier is solved again. */
static int solve_without_cycles(pp_engine *engine, component *c) {
    int result = pp_solve_acyclic(engine, c);
    if (result || c->scores || code_of(KIND_WIN, c->last_level) <= LARGEST_NARROW_CODE) return result;
    result = own_all_values(engine, c, SHIFT_WIDE);
    return result ? result : pp_solve_acyclic(engine, c);
}

int pp_solve_component(pp_engine *engine, component *c, int cyclic, int propagation) {
    component_layout *l = &c->layout;
    pp_reset_progress(engine);
    for (size_t i = 0; i < l->tier_count; i++) {
        tier_state *tier = &engine->tiers[l->tiers[i]];
        tier->being_solved = 1;
        tier->local_first = l->slots;
        l->slots += (tier->size + 63) & ~(uint64_t)63;
    }
    int result = own_all_values(engine, c, c->outcomes ? SHIFT_OUTCOME : c->scores ? SHIFT_SCORED : SHIFT_NARROW);
    if (!result) result = cyclic ? solve_cyclic(engine, c, propagation) : solve_without_cycles(engine, c);
    for (size_t i = 0; i < l->tier_count; i++) {
        engine->tiers[l->tiers[i]].being_solved = 0;
        if (result) pp_drop_values(engine, &engine->tiers[l->tiers[i]]);
    }
    return result;
}

void pp_release_component(pp_engine *engine, component *c) {
    pp_release(engine, &c->open.marker_memory);
    pp_release(engine, &c->open.entry_memory);
    pp_release(engine, &c->open.chunk_memory);
    pp_release(engine, &c->source.memory);
}

int pp_solve(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation, int outcomes) {
    score_state scores = {0};
    component c = {.layout = {.tiers = tiers, .tier_count = count},
                   .outcomes = outcomes != 0,
                   .scores = engine->kernel->score && !outcomes ? &scores : NULL};
    const int result = pp_solve_component(engine, &c, cyclic, propagation);
    pp_release_component(engine, &c);
    return result;
}
