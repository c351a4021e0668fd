/* Step 2 of a solve: look once at the children of every marked position. And the whole solve of tiers in which no
 * move stays: there, looking at the children is all there is to do. */
#include "engine.h"
#include "evaluate.h"

enum { WORDS_A_RANGE = 256 };

static void expand_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    uint32_t last_level = 0;
    uint64_t open_edges = 0;
    bool ties = false;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->markers[word];
        if (!marker.bits) continue;
        pp_position positions[64];
        const pp_slot slot = slot_of_word(engine, c, word);
        const unsigned span = 64 - (unsigned)__builtin_clzll(marker.bits);
        positions_of_slots(engine, slot, span, positions);
        uint64_t number = marker.before;
        for (uint64_t bits = marker.bits; bits;) {
            const uint64_t taken = gather(engine, &ahead, positions, &bits);
            for (uint64_t i = 0; i < taken; i++, number++) {
                const evaluation e = evaluate(engine, c, ahead.slots[i], ahead.counts[i], 0);
                const uint32_t state = (uint32_t)e.open << OPEN_SHIFT | e.code;
                atomic_store_explicit(&c->entries[number], state, memory_order_relaxed);
                if (entry_decided(state) && remoteness_of(e.code) > last_level) last_level = remoteness_of(e.code);
                open_edges += e.open;
                ties |= e.tie != 0;
            }
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, last_level);
    atomic_fetch_add(&c->open_edges, open_edges);
    if (ties) c->has_ties = true;
}

int expand_marked(pp_engine *engine, component *c) {
    return parallel(engine, expand_words, c, c->slots / 64, WORDS_A_RANGE);
}

static void solve_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    const pp_kernel *kernel = engine->kernel;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t index = pp_slot_index(slot);
        const unsigned count = tier->size - index < 64 ? (unsigned)(tier->size - index) : 64;
        pp_position positions[64];
        uint64_t bits = 0;
        positions_of_slots(engine, slot, count, positions);
        for (unsigned i = 0; i < count; i++) {
            const value_code code = rule_code(kernel, positions[i]);
            if (!code) bits |= (uint64_t)1 << i;
            set_value(tier, index + i, code);
        }
        while (bits) {
            const uint64_t before = bits;
            const uint64_t taken = gather(engine, &ahead, positions, &bits);
            uint64_t mine = before;
            for (uint64_t i = 0; i < taken; i++, mine &= mine - 1) {
                const evaluation e = evaluate(engine, c, ahead.slots[i], ahead.counts[i], 0);
                if (e.unsettled) fail(engine, PP_MISSING_CHILD, positions[__builtin_ctzll(mine)]);
                const value_code decided = decided_code(&e), code = decided ? decided : e.tie;
                atomic_max(&c->last_level, remoteness_of(code));
                set_value(tier, index + (unsigned)__builtin_ctzll(mine), code);
            }
        }
        engine->progress_positions += count;
    }
    end_look_ahead(&ahead);
}

int solve_acyclic(pp_engine *engine, component *c) {
    return parallel(engine, solve_words, c, c->slots / 64, WORDS_A_RANGE);
}
