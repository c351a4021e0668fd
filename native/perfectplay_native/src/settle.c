/* Step 1 of a solve: what the rules alone decide. Finished positions get remoteness 0, positions that the mover wins
 * at once remoteness 1; no table is read. What is left is marked for the steps that follow. */
#include "engine.h"

enum { BATCH = 512, WORDS_A_RANGE = 512 };

static void settle_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    const pp_kernel *kernel = engine->kernel;
    pp_position positions[BATCH];
    for (uint64_t word = first; word < last;) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t index = pp_slot_index(slot), left = tier->size - index, room = (last - word) * 64;
        uint64_t count = left < BATCH ? left : BATCH;
        if (count > room) count = room;
        positions_of_slots(engine, slot, count, positions);
        for (uint64_t i = 0; i < count; i++) {
            const value_code code = rule_code(kernel, positions[i]);
            if (!code) c->markers[word + i / 64].bits |= (uint64_t)1 << (i % 64);
            set_value(tier, index + i, code);
        }
        word += (count + 63) / 64;
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

void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint8_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = (uint8_t)rule_code(kernel, positions[i]);
}
