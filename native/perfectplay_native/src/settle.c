/* Step 1 of a solve: what the rules alone decide. Finished positions get remoteness 0, positions that the mover wins
 * at once remoteness 1; no table is read. What is left is marked for the steps that follow. */
#include <stdlib.h>

#include "engine.h"

enum { WORDS_A_RANGE = 512, WORDS_A_REPORT = 16 };

WITH_POPCOUNT static void settle_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    unsigned settled = 0, marked = 0;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t index = pp_slot_index(slot), left = tier->size - index;
        if (index >= tier->size) continue; /* beyond the end of a tier that is shared out in units */
        const unsigned count = left < RUN_SLOTS ? (unsigned)left : RUN_SLOTS;
        value_code codes[RUN_SLOTS];
        uint64_t open = 0;
        rule_codes_of_slots(engine, slot, count, codes);
        for (unsigned i = 0; i < count; i++) {
            open |= (uint64_t)(codes[i] == CODE_ENDLESS) << i;
            set_value(tier, index + i, codes[i]);
        }
        c->markers[word].bits = open;
        settled += count;
        marked += (unsigned)__builtin_popcountll(open);
        if (word + 1 < last && (word + 1) % WORDS_A_REPORT) continue;
        engine->progress_positions += settled;
        engine->progress_marked += marked;
        settled = marked = 0;
    }
}

/* The same where what the rules say is in the values already. */
static void mark_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const component *c = context;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        const tier_state *tier = tier_of(engine, slot);
        const uint64_t index = pp_slot_index(slot);
        for (unsigned i = 0; i < RUN_SLOTS && index + i < tier->size; i++)
            c->markers[word].bits |= (uint64_t)(value_at(tier, index + i) == CODE_ENDLESS) << i;
    }
}

WITH_POPCOUNT static uint64_t number_markers(marker_word *markers, uint64_t words) {
    uint64_t before = 0;
    for (uint64_t i = 0; i < words; i++) {
        markers[i].before = before;
        before += (unsigned)__builtin_popcountll(markers[i].bits);
    }
    return before;
}

WITH_POPCOUNT static int begin_chunks(pp_engine *engine, component *c) {
    const int result = allocate(engine, chunk_count(c) * sizeof(entry_chunk), &c->chunk_memory);
    if (result) return result;
    c->chunks = c->chunk_memory.bytes;
    uint64_t chunk = 0;
    for (uint64_t word = 0; word < c->slots / 64; word++)
        while (c->markers[word].before + (unsigned)__builtin_popcountll(c->markers[word].bits) > chunk * CHUNK_ENTRIES)
            c->chunks[chunk++].first_word = word;
    return PP_OK;
}

static int make_entries(pp_engine *engine, component *c, range_work *mark) {
    const uint64_t words = c->slots / 64;
    int result = allocate(engine, words * sizeof(marker_word), &c->marker_memory);
    if (result) return result;
    c->markers = c->marker_memory.bytes;
    result = parallel(engine, mark, c, words, WORDS_A_RANGE);
    if (result) return result;
    c->entry_count = number_markers(c->markers, words);
    result = allocate(engine, c->entry_count * sizeof(entry), &c->entry_memory);
    c->entries = c->entry_memory.bytes;
    return result ? result : begin_chunks(engine, c);
}

int settle(pp_engine *engine, component *c) { return make_entries(engine, c, settle_words); }
int mark_open(pp_engine *engine, component *c) { return make_entries(engine, c, mark_words); }

void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = rule_code(kernel, positions[i]);
}

/* The best that the moves offer, if the rules decide all of them; nearly always an early one is left open. */
static value_code code_by_moves(const pp_kernel *kernel, pp_position position, pp_move *moves) {
    const size_t count = kernel->moves(kernel, position, moves);
    value_code best = CODE_ENDLESS;
    int64_t most = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, position, moves[i]);
        const value_code code = rule_code(kernel, child);
        const bool keeps = keeps_turn(kernel, position, child);
        if (code == CODE_ENDLESS) return CODE_ENDLESS;
        if (worth_to_parent(code, keeps) <= most) continue;
        most = worth_to_parent(code, keeps);
        best = by_moving_to(code, keeps);
    }
    return best;
}

int pp_foreseen_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes) {
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        codes[i] = rule_code(kernel, positions[i]);
        if (codes[i] == CODE_ENDLESS) codes[i] = code_by_moves(kernel, positions[i], moves);
    }
    free(moves);
    return PP_OK;
}
