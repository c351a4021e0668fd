/* Solves tiers that reach each other: settle, expand, propagate, store. And the engine's own making and unmaking. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <stdlib.h>

#include "engine.h"

/* ---- the engine ---- */

pp_engine *pp_engine_new(const pp_kernel *kernel, uint32_t tier_count, unsigned threads) {
    pp_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return NULL;
    engine->kernel = kernel;
    engine->tier_count = tier_count;
    engine->threads = threads ? threads : 1;
    engine->tiers = calloc(tier_count ? tier_count : 1, sizeof *engine->tiers);
    if (engine->tiers) return engine;
    free(engine);
    return NULL;
}

void pp_engine_free(pp_engine *engine) {
    if (engine->share) pp_share_free(engine->share);
    pp_claim_free(engine);
    for (uint32_t tier = 0; tier < engine->tier_count; tier++) pp_tier_drop(engine, tier);
    free(engine->tiers);
    free(engine->directory);
    free(engine);
}

int pp_engine_memory(pp_engine *engine, uint64_t budget, const char *directory) {
    char *copy = directory ? strdup(directory) : NULL;
    if (directory && !copy) return PP_OUT_OF_MEMORY;
    engine->budget = budget;
    free(engine->directory);
    engine->directory = copy;
    return PP_OK;
}

void pp_engine_stop(pp_engine *engine, int stop) { engine->stop = stop; }
pp_position pp_engine_error_position(const pp_engine *engine) { return engine->error_position; }
int pp_engine_error_number(const pp_engine *engine) { return engine->error_number; }

/* How many slots' worth of work is done, the marked ones among those not yet settled being as many as so far. */
static uint64_t finished_slots(const pp_engine *engine) {
    enum { STEP = 8 }; /* a step of a marked position takes some ten times as long as settling a slot */
    const double settled = (double)engine->progress_positions, slots = (double)engine->progress_slots;
    if (settled == 0 || slots == 0) return engine->progress_positions;
    const double steps = (double)engine->progress_marked / settled * slots * engine->progress_steps;
    const double done = (double)engine->progress_steps_done < steps ? (double)engine->progress_steps_done : steps;
    return (uint64_t)(slots * (settled + STEP * done) / (slots + STEP * steps));
}

pp_progress pp_engine_progress(const pp_engine *engine) {
    return (pp_progress){.positions = finished_slots(engine), .level = engine->progress_level, .used = engine->used};
}

/* ---- tiers ---- */

void drop_values(pp_engine *engine, tier_state *tier) {
    release(engine, &tier->owned);
    free(tier->blocks);
    tier->blocks = NULL;
}

void pp_tier_drop(pp_engine *engine, uint32_t number) {
    tier_state *tier = &engine->tiers[number];
    drop_values(engine, tier);
    release(engine, &tier->tree.memory);
    free((void *)tier->key_blocks);
    *tier = (tier_state){0};
}

int pp_tier_define(pp_engine *engine, uint32_t number, uint64_t size, const uint64_t *const *key_blocks) {
    tier_state *tier = &engine->tiers[number];
    pp_tier_drop(engine, number);
    tier->size = size;
    if (!key_blocks) return PP_OK;
    const size_t bytes = block_count(size) * sizeof *key_blocks;
    tier->key_blocks = malloc(bytes ? bytes : 1);
    if (tier->key_blocks) memcpy(tier->key_blocks, key_blocks, bytes);
    const int result = tier->key_blocks ? build_key_tree(engine, tier) : PP_OUT_OF_MEMORY;
    if (result) pp_tier_drop(engine, number); /* half an index would find nothing, or crash */
    return result;
}

int pp_tier_attach(pp_engine *engine, uint32_t number, unsigned width, void *const *blocks) {
    tier_state *tier = &engine->tiers[number];
    const size_t bytes = block_count(tier->size) * sizeof *blocks;
    void **copy = malloc(bytes ? bytes : 1);
    if (!copy) return PP_OUT_OF_MEMORY;
    memcpy(copy, blocks, bytes);
    drop_values(engine, tier);
    tier->blocks = copy;
    tier->shift = shift_of_width(width);
    return PP_OK;
}

void *pp_tier_values(pp_engine *engine, uint32_t number) { return engine->tiers[number].owned.bytes; }
unsigned pp_tier_width(const pp_engine *engine, uint32_t number) { return (1u << engine->tiers[number].shift) / 8; }

/* Room for a tier's values, zeroed, the blocks one after the other. */
static int own_values(pp_engine *engine, tier_state *tier, uint8_t shift) {
    buffer memory;
    const uint64_t blocks = block_count(tier->size);
    const int result = allocate(engine, value_bytes(tier->size, shift), &memory);
    if (result) return result;
    void **pointers = malloc((blocks + 1) * sizeof *pointers);
    if (!pointers) {
        release(engine, &memory);
        return PP_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < blocks; i++) pointers[i] = (char *)memory.bytes + value_bytes(i << PP_BLOCK_BITS, shift);
    drop_values(engine, tier);
    tier->owned = memory;
    tier->blocks = pointers;
    tier->shift = shift;
    return PP_OK;
}

static int widen(pp_engine *engine, tier_state *tier) {
    buffer narrow = tier->owned;
    tier->owned = (buffer){0}; /* kept until it is copied */
    const int result = own_values(engine, tier, SHIFT_WIDE);
    if (!result)
        for (uint64_t i = 0; i < tier->size; i++)
            ((uint16_t *)tier->owned.bytes)[i] = ((const uint8_t *)narrow.bytes)[i];
    release(engine, &narrow);
    return result;
}

/* ---- storing ---- */

static bool is_too_large(const component *c, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; i++) {
        const uint32_t state = atomic_load_explicit(&c->entries[i], memory_order_relaxed);
        if (entry_decided(state) && entry_code(state) > LARGEST_NARROW_CODE) return true;
    }
    return false;
}

/* Of a scored component, what is decided at the score that is being propagated; it then takes no more part. */
static void store_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->markers[word].before;
        if (!c->markers[word].bits) continue;
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        for (uint64_t bits = c->markers[word].bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            if (!entry_decided(state) || state == ENTRY_STORED) continue;
            value_code code = entry_code(state);
            if (c->scored) {
                code = with_score(code, kind_of(state) == KIND_WIN ? c->threshold : -c->threshold);
                atomic_store_explicit(&c->entries[number], ENTRY_STORED, memory_order_relaxed);
            }
            set_value(tier, pp_slot_index(slot) + (unsigned)__builtin_ctzll(bits), code);
        }
    }
}

int store_decided(pp_engine *engine, component *c) { return parallel(engine, store_words, c, c->slots / 64, 4096); }

static int store(pp_engine *engine, component *c) {
    const uint64_t words = c->slots / 64;
    for (size_t i = 0; i < c->tier_count; i++) {
        tier_state *tier = &engine->tiers[c->tiers[i]];
        const uint64_t after = (tier->local_first + tier->size + 63) / 64;
        const uint64_t first = tier->size ? c->markers[tier->local_first / 64].before : 0;
        const uint64_t last = after < words ? c->markers[after].before : c->entry_count;
        if (tier->size && tier->shift == SHIFT_NARROW && is_too_large(c, first, last)) {
            const int result = widen(engine, tier);
            if (result) return result;
        }
    }
    return store_decided(engine, c);
}

/* ---- solving ---- */

static int choose_propagation(const pp_engine *engine, const component *c, int propagation) {
    if (propagation != PP_PROPAGATE_AUTO) return propagation;
    if (can_retract(engine->kernel)) return PP_PROPAGATE_RETRACT;
    const bool fits = !engine->budget || engine->used + reverse_graph_bytes(c) <= engine->budget;
    return fits && c->entry_count < GRAPH_LIMIT ? PP_PROPAGATE_GRAPH : PP_PROPAGATE_FORWARD;
}

/* Settle, expand, and the reverse graph where there is to be one. */
static int prepare(pp_engine *engine, component *c, int propagation) {
    c->threshold = PP_MAX_SCORE + 1; /* nobody wins by so much: every open child counts */
    const bool graph =
        propagation == PP_PROPAGATE_GRAPH || (propagation == PP_PROPAGATE_AUTO && !can_retract(engine->kernel));
    for (size_t i = 0; i < c->tier_count; i++) engine->progress_slots += engine->tiers[c->tiers[i]].size;
    engine->progress_steps = graph ? 3 : 2;
    int result = settle(engine, c);
    if (!result) result = expand_marked(engine, c);
    if (result) return result;
    c->propagation = choose_propagation(engine, c, propagation);
    return c->propagation == PP_PROPAGATE_GRAPH ? build_reverse_graph(engine, c) : PP_OK;
}

static int propagate_all_scores(pp_engine *engine, component *c) {
    uint64_t *scores = calloc(PP_MAX_SCORE / 64 + 1, sizeof *scores);
    if (!scores) return PP_OUT_OF_MEMORY;
    int result = collect_scores(engine, c, scores);
    if (!result) result = propagate_scores(engine, c, scores);
    free(scores);
    return result;
}

static int solve_cyclic(pp_engine *engine, component *c, int propagation) {
    int result = prepare(engine, c, propagation);
    if (!result && c->scored) {
        result = propagate_all_scores(engine, c);
    } else if (!result) {
        result = propagate_wins(engine, c);
        if (!result) result = propagate_ties(engine, c);
    }
    release(engine, &c->graph_memory);
    return result ? result : store(engine, c);
}

static int own_all(pp_engine *engine, component *c, uint8_t shift) {
    for (size_t i = 0; i < c->tier_count; i++) {
        const int result = own_values(engine, &engine->tiers[c->tiers[i]], shift);
        if (result) return result;
    }
    return PP_OK;
}

/* One byte a value is enough for nearly every tier; where it is not, the tier is solved again. */
static int solve_without_cycles(pp_engine *engine, component *c) {
    int result = solve_acyclic(engine, c);
    if (result || c->scored || code_of(KIND_WIN, c->last_level) <= LARGEST_NARROW_CODE) return result;
    result = own_all(engine, c, SHIFT_WIDE);
    return result ? result : solve_acyclic(engine, c);
}

int solve_component(pp_engine *engine, component *c, int cyclic, int propagation) {
    c->scored = engine->kernel->score && !c->outcomes;
    engine->failure = PP_OK;
    engine->progress_level = 0;
    engine->progress_positions = engine->progress_slots = 0;
    engine->progress_marked = engine->progress_steps_done = 0;
    for (size_t i = 0; i < c->tier_count; i++) {
        tier_state *tier = &engine->tiers[c->tiers[i]];
        tier->being_solved = 1;
        tier->local_first = c->slots;
        c->slots += (tier->size + 63) & ~(uint64_t)63;
    }
    int result = own_all(engine, c, c->outcomes ? SHIFT_OUTCOME : c->scored ? SHIFT_SCORED : SHIFT_NARROW);
    if (!result) result = cyclic ? solve_cyclic(engine, c, propagation) : solve_without_cycles(engine, c);
    for (size_t i = 0; i < c->tier_count; i++) {
        engine->tiers[c->tiers[i]].being_solved = 0;
        if (result) drop_values(engine, &engine->tiers[c->tiers[i]]);
    }
    return result;
}

void release_component(pp_engine *engine, component *c) {
    release(engine, &c->marker_memory);
    release(engine, &c->entry_memory);
    release(engine, &c->chunk_memory);
}

int pp_solve(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation, int outcomes) {
    component c = {.tiers = tiers, .tier_count = count, .outcomes = outcomes != 0};
    const int result = solve_component(engine, &c, cyclic, propagation);
    release_component(engine, &c);
    return result;
}

/* ---- reading ---- */

pp_slot pp_look_up(pp_engine *engine, pp_position position) {
    const pp_kernel *kernel = engine->kernel;
    const bool valid = position != PP_NO_POSITION && (!kernel->valid || kernel->valid(kernel, position));
    return valid ? pp_find(engine, position) : UINT64_MAX;
}

void pp_find_many(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots) {
    for (size_t i = 0; i < count; i++) slots[i] = pp_look_up(engine, positions[i]);
}

uint32_t pp_value_of_slot(pp_engine *engine, pp_slot slot) {
    const tier_state *tier = pp_slot_tier(slot) < engine->tier_count ? tier_of(engine, slot) : NULL;
    const bool known = tier && tier->blocks && pp_slot_index(slot) < tier->size;
    return known ? known_value(tier, pp_slot_index(slot)) : (value_code)CODE_NO_POSITION;
}

void pp_values_of_slots(pp_engine *engine, const pp_slot *slots, size_t count, uint32_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = pp_value_of_slot(engine, slots[i]);
}

void pp_positions_of_slots(pp_engine *engine, pp_slot first, size_t count, pp_position *positions) {
    positions_of_slots(engine, first, count, positions);
}

/* Adds to counts[byte] how often each byte stands there. */
static void count_bytes(const uint8_t *bytes, uint64_t count, uint64_t *counts) {
    uint64_t lanes[4][256] = {{0}}; /* neighbours are often equal: four lanes keep the additions apart */
    for (uint64_t i = 0; i < count; i++) lanes[i & 3][bytes[i]]++;
    for (int lane = 0; lane < 4; lane++)
        for (int code = 0; code < 256; code++) counts[code] += lanes[lane][code];
}

static void count_outcomes(const uint8_t *packed, uint64_t count, uint64_t *counts) {
    uint64_t bytes[256] = {0};
    count_bytes(packed, count / 4, bytes);
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned i = 0; i < 4; i++) counts[outcome_code(byte >> outcome_place(i))] += bytes[byte];
    for (uint64_t i = count & ~(uint64_t)3; i < count; i++)
        counts[outcome_code((unsigned)packed[i / 4] >> outcome_place(i))]++;
}

void pp_histogram(const void *values, unsigned width, uint64_t count, uint64_t *counts) {
    if (width == 0) count_outcomes(values, count, counts);
    else if (width == 1) count_bytes(values, count, counts);
    else
        for (uint64_t i = 0; i < count; i++) counts[((const uint16_t *)values)[i]]++;
}

void pp_unpack_outcomes(const uint8_t *packed, uint64_t count, uint16_t *codes) {
    for (uint64_t i = 0; i < count; i++) codes[i] = (uint16_t)outcome_code((unsigned)packed[i / 4] >> outcome_place(i));
}
