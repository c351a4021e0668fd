/* A position's value as far as its children tell. The children's values lie all over memory, so a few positions are
 * expanded together and every value is asked for (prefetched) before the first is read. */
#ifndef PP_EVALUATE_H
#define PP_EVALUATE_H

#include <stdlib.h>

#include "engine.h"

enum { LOOK_AHEAD = 8 };

typedef struct {
    pp_slot *slots[LOOK_AHEAD];
    size_t counts[LOOK_AHEAD];
    scratch room;
} look_ahead;

static inline bool begin_look_ahead(pp_engine *engine, look_ahead *ahead) {
    *ahead = (look_ahead){0};
    if (!new_scratch(engine, &ahead->room)) return false;
    const size_t most = engine->kernel->max_moves + 1;
    pp_slot *memory = malloc(LOOK_AHEAD * most * sizeof *memory);
    if (!memory) {
        free_scratch(&ahead->room);
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    for (size_t i = 0; i < LOOK_AHEAD; i++) ahead->slots[i] = memory + i * most;
    return true;
}

static inline void end_look_ahead(look_ahead *ahead) {
    free_scratch(&ahead->room);
    free(ahead->slots[0]);
}

/* Expands the positions of the lowest set bits, at most LOOK_AHEAD, and clears those bits. Returns how many. */
static inline uint64_t gather(pp_engine *engine, look_ahead *ahead, const pp_position *positions, uint64_t *bits) {
    uint64_t taken = 0;
    for (; *bits && taken < LOOK_AHEAD; *bits &= *bits - 1, taken++) {
        pp_slot *slots = ahead->slots[taken];
        const pp_position position = positions[__builtin_ctzll(*bits)];
        const size_t count = ahead->counts[taken] = child_slots(engine, position, slots, &ahead->room);
        if (!count && !engine->failure) fail(engine, PP_STUCK, position);
        for (size_t i = 0; i < count; i++) {
            const tier_state *tier = tier_of(engine, slots[i]);
            if (!tier->blocks) { /* neither finished nor being solved */
                fail(engine, PP_MISSING_CHILD, position);
                ahead->counts[taken] = 0;
                break;
            }
            __builtin_prefetch(value_address(tier, pp_slot_index(slots[i])));
        }
    }
    return taken;
}

typedef struct {
    value_code code;    /* as in an entry: win(n), or loss(n) so far */
    value_code tie;     /* the quickest tie among the children, one ply on; 0 if none */
    uint32_t open;      /* children not known to be won: unsettled ones, and one more if any is drawn */
    uint32_t unsettled; /* children being solved that are not decided below `level` */
} evaluation;

/* What the children say, entries counting as decided when their remoteness is below `level`. */
static inline evaluation evaluate(const pp_engine *engine, const component *c, const pp_slot *slots, size_t count,
                                  unsigned level) {
    unsigned quickest_loss = UINT32_MAX, longest_win = 0, quickest_tie = UINT32_MAX;
    bool won_child = false, drawn_child = false;
    uint32_t unsettled = 0;
    for (size_t i = 0; i < count; i++) {
        const tier_state *tier = tier_of(engine, slots[i]);
        value_code code = value_at(tier, pp_slot_index(slots[i]));
        if (tier->being_solved && code == CODE_ENDLESS) { /* not settled by rule */
            if (level) {
                const entry *e = entry_of(c, local_index(tier, slots[i]));
                const uint32_t state = atomic_load_explicit(e, memory_order_relaxed);
                if (entry_decided(state) && remoteness_of(entry_code(state)) < level) code = entry_code(state);
            }
            if (code == CODE_ENDLESS) {
                unsettled++;
                continue;
            }
        }
        const unsigned remoteness = remoteness_of(code);
        switch (kind_of(code)) {
        case KIND_LOSS:
            if (remoteness < quickest_loss) quickest_loss = remoteness;
            break;
        case KIND_WIN:
            won_child = true;
            if (remoteness > longest_win) longest_win = remoteness;
            break;
        case KIND_TIE:
            if (remoteness < quickest_tie) quickest_tie = remoteness;
            drawn_child = true;
            break;
        default: drawn_child = true;
        }
    }
    evaluation e = {.open = unsettled + drawn_child, .unsettled = unsettled};
    if (quickest_loss != UINT32_MAX) e.code = code_of(KIND_WIN, quickest_loss + 1);
    else e.code = code_of(KIND_LOSS, won_child ? longest_win + 1 : 0);
    if (quickest_tie != UINT32_MAX) e.tie = code_of(KIND_TIE, quickest_tie + 1);
    return e;
}

/* The win or loss that the children prove, or 0. */
static inline value_code decided_code(const evaluation *e) {
    return kind_of(e->code) == KIND_WIN || !e->open ? e->code : CODE_ENDLESS;
}

/* The same for one marked position of a word. */
static inline evaluation evaluate_one(pp_engine *engine, const component *c, look_ahead *ahead, uint64_t word,
                                      unsigned bit, unsigned level) {
    pp_position position;
    uint64_t one = 1;
    positions_of_slots(engine, slot_of_word(engine, c, word) + bit, 1, &position);
    gather(engine, ahead, &position, &one);
    return evaluate(engine, c, ahead->slots[0], ahead->counts[0], level);
}

/* Raises what is stored to `value`, if it is less. */
static inline void atomic_max(_Atomic uint32_t *stored, uint32_t value) {
    uint32_t seen = atomic_load_explicit(stored, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(stored, &seen, value)) {}
}

#endif
