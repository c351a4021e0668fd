/* Finds the slots that play can reach from the start. A perfect index also has slots for unreachable positions.
 *
 * There is one bit per slot. Expanding a tier sets the bits of its children, also in the tier itself if a move can stay
 * in it. So the caller repeats all tiers of a component until there are no new slots. */
#include "moves.h"

enum { WORDS_PER_RANGE = 1 << 8, WORD_BITS = 64 };

typedef struct {
    uint32_t tier;
    uint64_t *const *reached;
    uint64_t *expanded;
    _Atomic uint64_t count;
} marking;

static void mark(uint64_t *bitmap, uint64_t index) {
    uint64_t *word = &bitmap[index / WORD_BITS];
    const uint64_t bit = (uint64_t)1 << (index % WORD_BITS);
    /* most are marked already, and a read is cheaper than an atomic update */
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

static void mark_children(pp_engine *engine, const marking *m, pp_position position, scratch *room) {
    if (engine->kernel->status(engine->kernel, position) != PP_ONGOING) return;
    uint32_t count;
    pp_child_slots(engine, &position, 1, room->slots, &count, room);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t tier = pp_slot_tier(room->slots[i]);
        const uint64_t index = pp_slot_index(room->slots[i]);
        if (tier >= engine->tier_count || index >= engine->tiers[tier].size) fail(engine, PP_MISSING_CHILD, position);
        else mark(m->reached[tier], index);
    }
}

/* A word of `expanded` belongs to one range, so it needs no atomics. `reached` does. */
static void expand_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    marking *m = context;
    const uint64_t size = engine->tiers[m->tier].size;
    uint64_t done = 0;
    scratch room;
    if (!pp_scratch_new(engine, &room)) return;
    for (uint64_t word = first; word < last; word++) {
        uint64_t new_bits = __atomic_load_n(&m->reached[m->tier][word], __ATOMIC_RELAXED) & ~m->expanded[word];
        if (!new_bits) continue;
        m->expanded[word] |= new_bits;
        pp_position positions[WORD_BITS];
        const uint64_t index = word * WORD_BITS, left = size - index;
        pp_positions_of_slots(engine, pp_slot_of(m->tier, index), left < WORD_BITS ? left : WORD_BITS, positions);
        for (; new_bits; new_bits &= new_bits - 1, done++)
            mark_children(engine, m, positions[__builtin_ctzll(new_bits)], &room);
    }
    pp_scratch_free(&room);
    m->count += done;
    engine->progress_positions += done;
}

int pp_mark_reachable(pp_engine *engine, uint32_t tier, uint64_t *const *reached, uint64_t *expanded, uint64_t *count) {
    marking m = {.tier = tier, .reached = reached, .expanded = expanded};
    engine->failure = PP_OK;
    const uint64_t words = (engine->tiers[tier].size + WORD_BITS - 1) / WORD_BITS;
    const int result = pp_parallel(engine, expand_words, &m, words, WORDS_PER_RANGE);
    *count = m.count;
    return result;
}
