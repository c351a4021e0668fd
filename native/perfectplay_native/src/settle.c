/* Step 1 of a solve: what the rules alone decide. Finished positions get remoteness 0, positions that the mover wins
 * at once remoteness 1; no table is read. What is left is marked for the steps that follow. */
#include "engine.h"

enum { WORDS_A_RANGE = 512 };

static void settle_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t index = pp_slot_index(slot), left = tier->size - index;
        const unsigned count = left < RUN_SLOTS ? (unsigned)left : RUN_SLOTS;
        value_code codes[RUN_SLOTS];
        uint64_t open = 0;
        rule_codes_of_slots(engine, slot, count, codes);
        for (unsigned i = 0; i < count; i++) {
            open |= (uint64_t)(codes[i] == CODE_ENDLESS) << i;
            set_value(tier, index + i, codes[i]);
        }
        c->markers[word].bits = open;
        engine->progress_positions += count;
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

int settle(pp_engine *engine, component *c) {
    const uint64_t words = c->slots / 64;
    int result = allocate(engine, words * sizeof(marker_word), &c->marker_memory);
    if (result) return result;
    c->markers = c->marker_memory.bytes;
    result = parallel(engine, settle_words, c, words, WORDS_A_RANGE);
    if (result) return result;
    c->entry_count = number_markers(c->markers, words);
    result = allocate(engine, c->entry_count * sizeof(entry), &c->entry_memory);
    c->entries = c->entry_memory.bytes;
    return result;
}

void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = rule_code(kernel, positions[i]);
}
