/* Step 2 of a solve: evaluates every open position once from its children. For tiers in which no move stays, this is
 * the whole solve. */
#include "component.h"
#include "evaluate.h"

enum { WORDS_PER_RANGE = 256 };

/* The open positions of a word that no higher score has decided. */
static uint64_t undecided_bits(const component *c, const marker_word *marker) {
    if (!c->scores) return marker->bits;
    uint64_t undecided = 0, number = marker->before;
    for (uint64_t bits = marker->bits; bits; bits &= bits - 1, number++)
        if (c->open.entries[number] != ENTRY_STORED) undecided |= bits & -bits;
    return undecided;
}

static void share_edges(component *c, const look_ahead *ahead, unsigned position) {
    size_t count;
    const pp_slot *slots = children_of(ahead, position, &count);
    pp_share_add_edges(c->share, ahead->first + ahead->bits[position], slots, count);
}

WITH_POPCOUNT static void expand_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    uint32_t last_level = 0;
    uint64_t edges = 0, expanded = 0;
    bool ties = false;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->open.markers[word];
        if (!marker.bits) continue;
        begin_run(engine, &ahead, slot_of_word(engine, c, word), undecided_bits(c, &marker), true);
        for (unsigned count; (count = expand_next(engine, &ahead));) {
            for (unsigned i = 0; i < count; i++) {
                const evaluation e = evaluate(engine, c, &ahead, i, 0);
                const uint32_t state = (uint32_t)e.open << OPEN_SHIFT | e.code;
                const uint64_t lower = ((uint64_t)1 << ahead.bits[i]) - 1;
                const uint64_t number = marker.before + (unsigned)__builtin_popcountll(marker.bits & lower);
                atomic_store_explicit(&c->open.entries[number], state, memory_order_relaxed);
                if (entry_decided(state)) {
                    note_due(c, number, remoteness_of(e.code));
                    if (remoteness_of(e.code) > last_level) last_level = remoteness_of(e.code);
                }
                edges += e.open;
                ties |= e.tie != 0;
                if (c->share) share_edges(c, &ahead, i);
            }
            expanded += count;
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, last_level);
    atomic_fetch_add(&c->source.edges, edges);
    engine->progress_steps_done += expanded;
    if (ties) c->has_ties = true;
}

int pp_expand_open(pp_engine *engine, component *c) {
    c->last_level = 0;
    c->source.edges = 0;
    return pp_parallel(engine, expand_words, c, word_count(c), WORDS_PER_RANGE);
}

/* ---- tiers in which no move stays ---- */

/* The value by the best child, for a game with scores. CODE_NO_POSITION if a child has no value. */
static value_code code_by_score(const pp_engine *engine, const look_ahead *ahead, unsigned position) {
    size_t count;
    const pp_slot *slots = children_of(ahead, position, &count);
    int64_t best_worth = INT64_MIN;
    value_code best = CODE_NO_POSITION;
    for (size_t i = 0; i < count; i++) {
        const bool keeps = slots[i] >= PP_KEEPS_TURN;
        const value_code child = value_at(tier_of(engine, slots[i]), pp_slot_index(slots[i]));
        if (child == CODE_NO_POSITION || tier_of(engine, slots[i])->being_solved) return CODE_NO_POSITION;
        if (worth_to_parent(child, keeps) > best_worth) {
            best_worth = worth_to_parent(child, keeps);
            best = value_by_move(child, keeps);
        }
    }
    return best;
}

/* The value by the best child. CODE_NO_POSITION if a child has no value. */
static inline value_code code_by_children(pp_engine *engine, const component *c, const look_ahead *ahead,
                                          unsigned position) {
    if (c->scores) return code_by_score(engine, ahead, position);
    const evaluation e = evaluate(engine, c, ahead, position, 0);
    const value_code decided = decided_code(&e);
    return e.unsettled ? (value_code)CODE_NO_POSITION : decided ? decided : e.tie;
}

/* Stores the settled values of a run, and returns the open slots. With a survey, which settles and expands in one call,
 * it returns all slots. */
static uint64_t settle_run(pp_engine *engine, tier_state *tier, pp_slot slot, unsigned count) {
    if (has_survey(engine->kernel)) return UINT64_MAX >> (RUN_SLOTS - count);
    value_code codes[RUN_SLOTS];
    uint64_t open = 0;
    pp_rule_codes_of_slots(engine, slot, count, codes);
    for (unsigned i = 0; i < count; i++) {
        open |= (uint64_t)(codes[i] == CODE_ENDLESS) << i;
        set_value(tier, pp_slot_index(slot) + i, codes[i]);
    }
    return open;
}

static void solve_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    uint32_t last_level = 0;
    if (!begin_look_ahead(engine, &ahead)) return;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t left = tier->size - pp_slot_index(slot);
        if (pp_slot_index(slot) >= tier->size) continue; /* beyond the end of a tier, in its last unit */
        const unsigned slots = left < RUN_SLOTS ? (unsigned)left : RUN_SLOTS;
        begin_run(engine, &ahead, slot, settle_run(engine, tier, slot, slots), false);
        for (unsigned count; (count = expand_next(engine, &ahead));) {
            for (unsigned i = 0; i < count; i++) {
                value_code code = ahead.codes[i];
                if (code == PP_ONGOING) {
                    code = code_by_children(engine, c, &ahead, i);
                    if (code == CODE_NO_POSITION) fail_at(engine, PP_MISSING_CHILD, slot + ahead.bits[i]);
                }
                if (remoteness_of(code) > last_level) last_level = remoteness_of(code);
                set_value(tier, pp_slot_index(slot) + ahead.bits[i], code);
            }
        }
        engine->progress_positions += slots;
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, last_level);
}

int pp_solve_acyclic(pp_engine *engine, component *c) {
    const int result = pp_parallel(engine, solve_words, c, word_count(c), WORDS_PER_RANGE);
    return !result && c->last_level > PP_LARGEST_REMOTENESS ? PP_TOO_REMOTE : result;
}
