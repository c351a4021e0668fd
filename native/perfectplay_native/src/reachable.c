/* What play can reach from the start: a perfect index also has slots for positions that no game ever comes to.
 *
 * One bit a slot. Expanding a tier sets the bits of its children, in the tier itself too where a move can stay in it;
 * so the caller repeats a tier, with its sisters, until nothing new turns up. */
#include "engine.h"

enum { WORDS_A_RANGE = 1 << 8, WORD_BITS = 64 };

typedef struct {
    uint32_t tier;
    uint64_t *const *reached;
    uint64_t *expanded;
    _Atomic uint64_t count;
} marking;

static void mark(uint64_t *bitmap, uint64_t index) {
    uint64_t *word = &bitmap[index / WORD_BITS];
    const uint64_t bit = (uint64_t)1 << (index % WORD_BITS);
    /* most are marked already: looking first saves the lock */
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

static void mark_children(pp_engine *engine, const marking *m, pp_position position, scratch *room) {
    if (engine->kernel->status(engine->kernel, position) != PP_ONGOING) return;
    uint32_t count;
    child_slots(engine, &position, 1, room->slots, &count, room);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t tier = pp_slot_tier(room->slots[i]);
        const uint64_t index = pp_slot_index(room->slots[i]);
        if (tier >= engine->tier_count || index >= engine->tiers[tier].size) fail(engine, PP_MISSING_CHILD, position);
        else mark(m->reached[tier], index);
    }
}

/* A word of bits belongs to one range: `expanded` needs no lock, `reached` does. */
static void expand_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    marking *m = context;
    const uint64_t size = engine->tiers[m->tier].size;
    uint64_t done = 0;
    scratch room;
    if (!new_scratch(engine, &room)) return;
    for (uint64_t word = first; word < last; word++) {
        uint64_t fresh = __atomic_load_n(&m->reached[m->tier][word], __ATOMIC_RELAXED) & ~m->expanded[word];
        if (!fresh) continue;
        m->expanded[word] |= fresh;
        pp_position positions[WORD_BITS];
        const uint64_t index = word * WORD_BITS, left = size - index;
        positions_of_slots(engine, pp_slot_of(m->tier, index), left < WORD_BITS ? left : WORD_BITS, positions);
        for (; fresh; fresh &= fresh - 1, done++) mark_children(engine, m, positions[__builtin_ctzll(fresh)], &room);
    }
    free_scratch(&room);
    m->count += done;
    engine->progress_positions += done;
}

int pp_mark_reachable(pp_engine *engine, uint32_t tier, uint64_t *const *reached, uint64_t *expanded, uint64_t *count) {
    marking m = {.tier = tier, .reached = reached, .expanded = expanded};
    engine->failure = PP_OK;
    const uint64_t words = (engine->tiers[tier].size + WORD_BITS - 1) / WORD_BITS;
    const int result = parallel(engine, expand_words, &m, words, WORDS_A_RANGE);
    *count = m.count;
    return result;
}
