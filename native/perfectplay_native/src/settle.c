/* Step 1 of a solve: settles the positions that the rules alone decide. Finished positions get remoteness 0, positions
 * won in one move get remoteness 1; no table is read. The remaining, open positions are marked for the next steps. */
#include "component.h"

enum { WORDS_PER_RANGE = 512, WORDS_PER_REPORT = 16 };

WITH_POPCOUNT static void settle_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    unsigned settled = 0, marked = 0;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        tier_state *tier = &engine->tiers[pp_slot_tier(slot)];
        const uint64_t index = pp_slot_index(slot), left = tier->size - index;
        if (index >= tier->size) continue; /* beyond the end of a tier, in its last unit */
        const unsigned count = left < RUN_SLOTS ? (unsigned)left : RUN_SLOTS;
        value_code codes[RUN_SLOTS];
        uint64_t open = 0;
        pp_rule_codes_of_slots(engine, slot, count, codes);
        for (unsigned i = 0; i < count; i++) {
            open |= (uint64_t)(codes[i] == CODE_ENDLESS) << i;
            set_value(tier, index + i, codes[i]);
        }
        c->open.markers[word].bits = open;
        settled += count;
        marked += (unsigned)__builtin_popcountll(open);
        if (word + 1 < last && (word + 1) % WORDS_PER_REPORT) continue;
        engine->progress_positions += settled;
        engine->progress_marked += marked;
        settled = marked = 0;
    }
}

/* Marks the open positions of a component whose values are settled already. */
static void mark_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const component *c = context;
    for (uint64_t word = first; word < last; word++) {
        const pp_slot slot = slot_of_word(engine, c, word);
        const tier_state *tier = tier_of(engine, slot);
        const uint64_t index = pp_slot_index(slot);
        for (unsigned i = 0; i < RUN_SLOTS && index + i < tier->size; i++)
            c->open.markers[word].bits |= (uint64_t)(value_at(tier, index + i) == CODE_ENDLESS) << i;
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

WITH_POPCOUNT static int create_chunks(pp_engine *engine, component *c) {
    open_positions *open = &c->open;
    const int result = pp_allocate(engine, chunk_count(c) * sizeof(entry_chunk), &open->chunk_memory);
    if (result) return result;
    open->chunks = open->chunk_memory.bytes;
    uint64_t chunk = 0;
    for (uint64_t word = 0; word < word_count(c); word++) {
        const uint64_t end = open->markers[word].before + (unsigned)__builtin_popcountll(open->markers[word].bits);
        while (end > chunk * CHUNK_ENTRIES) open->chunks[chunk++].first_word = word;
    }
    return PP_OK;
}

static int create_entries(pp_engine *engine, component *c, range_work *mark) {
    open_positions *open = &c->open;
    const uint64_t words = word_count(c);
    int result = pp_allocate(engine, words * sizeof(marker_word), &open->marker_memory);
    if (result) return result;
    open->markers = open->marker_memory.bytes;
    result = pp_parallel(engine, mark, c, words, WORDS_PER_RANGE);
    if (result) return result;
    open->count = number_markers(open->markers, words);
    result = pp_allocate(engine, open->count * sizeof(entry), &open->entry_memory);
    open->entries = open->entry_memory.bytes;
    return result ? result : create_chunks(engine, c);
}

int pp_settle(pp_engine *engine, component *c) { return create_entries(engine, c, settle_words); }
int pp_mark_open(pp_engine *engine, component *c) { return create_entries(engine, c, mark_words); }
