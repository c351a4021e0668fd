/* A position's value as far as its children tell. The children's values lie all over memory, so a few positions are
 * taken together and every value is asked for (prefetched) before the first is read. */
#ifndef PP_EVALUATE_H
#define PP_EVALUATE_H

#include <stdlib.h>

#include "engine.h"

/* Positions gathered at a time; where one call of `survey` answers for many, as many as make AHEAD_SLOTS children. */
enum { LOOK_AHEAD = 8, AHEAD_SLOTS = 4096 };

/* Positions of a run of slots, taken a few at a time. */
typedef struct {
    scratch room;
    unsigned most;                    /* taken at a time */
    pp_slot first;                    /* of the run */
    uint64_t left;                    /* bit i: slot first + i is still to be taken */
    bool known_open;                  /* the rules leave all of them open, or the kernel's survey is to say it */
    pp_position positions[RUN_SLOTS]; /* unless the kernel has a survey */
    pp_slot *slots;                   /* the children of what was taken, one after the other */
    uint32_t ends[RUN_SLOTS];         /* where those of the i-th position taken end */
    uint8_t bits[RUN_SLOTS];          /* which slot of the run it is */
    uint8_t codes[RUN_SLOTS];         /* what the rules say of it */
} look_ahead;

static inline bool surveys(const pp_kernel *kernel) { return kernel->survey && !kernel->score; }

static inline bool begin_look_ahead(pp_engine *engine, look_ahead *ahead) {
    const size_t edges = engine->kernel->max_moves + 1;
    ahead->most = LOOK_AHEAD;
    if (surveys(engine->kernel) && AHEAD_SLOTS / edges > LOOK_AHEAD)
        ahead->most = AHEAD_SLOTS / edges < RUN_SLOTS ? (unsigned)(AHEAD_SLOTS / edges) : RUN_SLOTS;
    if (!new_scratch(engine, &ahead->room)) return false;
    ahead->slots = malloc(ahead->most * edges * sizeof *ahead->slots);
    if (ahead->slots) return true;
    free_scratch(&ahead->room);
    fail(engine, PP_OUT_OF_MEMORY, 0);
    return false;
}

static inline void end_look_ahead(look_ahead *ahead) {
    free_scratch(&ahead->room);
    free(ahead->slots);
}

/* Begins with the slots of a run whose bits are set. */
static inline void begin_run(pp_engine *engine, look_ahead *ahead, pp_slot first, uint64_t bits, bool known_open) {
    ahead->first = first;
    ahead->left = bits;
    ahead->known_open = known_open;
    if (bits && !surveys(engine->kernel))
        positions_of_slots(engine, first, RUN_SLOTS - (unsigned)__builtin_clzll(bits), ahead->positions);
}

static void fail_at(pp_engine *engine, int result, pp_slot slot) {
    pp_position position;
    positions_of_slots(engine, slot, 1, &position);
    fail(engine, result, position);
}

static inline void ask_survey(pp_engine *engine, look_ahead *ahead, unsigned taken, uint64_t wanted) {
    const pp_kernel *kernel = engine->kernel;
    uint8_t codes[RUN_SLOTS];
    uint32_t ends[RUN_SLOTS];
    kernel->survey(kernel, ahead->first, RUN_SLOTS - (unsigned)__builtin_clzll(wanted), wanted,
                   ahead->known_open ? NULL : codes, ahead->slots, ends);
    uint32_t begin = 0, kept = 0;
    for (unsigned i = 0; i < taken; i++) {
        const unsigned bit = ahead->bits[i];
        const uint32_t count = ends[bit] - begin;
        if (kept != begin) memmove(ahead->slots + kept, ahead->slots + begin, count * sizeof *ahead->slots);
        begin = ends[bit];
        kept += (uint32_t)finish_edges(kernel, ahead->slots + kept, count);
        ahead->ends[i] = kept;
        ahead->codes[i] = ahead->known_open ? PP_ONGOING : codes[bit];
    }
}

static inline void ask_children(pp_engine *engine, look_ahead *ahead, unsigned taken) {
    pp_position positions[RUN_SLOTS];
    for (unsigned i = 0; i < taken; i++) {
        positions[i] = ahead->positions[ahead->bits[i]];
        ahead->codes[i] = PP_ONGOING;
    }
    child_slots(engine, positions, taken, ahead->slots, ahead->ends, &ahead->room);
}

static inline const pp_slot *children_of(const look_ahead *ahead, unsigned i, size_t *count) {
    const uint32_t begin = i ? ahead->ends[i - 1] : 0;
    *count = ahead->ends[i] - begin;
    return ahead->slots + begin;
}

/* Takes the next slots of the run, with their children, whose values are on their way from memory. Returns how many,
 * 0 at the end. Without a survey, all of them must be known to be open. */
static inline unsigned gather(pp_engine *engine, look_ahead *ahead) {
    unsigned taken = 0;
    uint64_t wanted = 0;
    for (; ahead->left && taken < ahead->most; ahead->left &= ahead->left - 1, taken++) {
        ahead->bits[taken] = (uint8_t)__builtin_ctzll(ahead->left);
        wanted |= ahead->left & -ahead->left;
    }
    if (!taken) return 0;
    if (surveys(engine->kernel)) ask_survey(engine, ahead, taken, wanted);
    else ask_children(engine, ahead, taken);
    for (unsigned i = 0; i < taken; i++) {
        size_t count;
        const pp_slot *slots = children_of(ahead, i, &count);
        if (!count && ahead->codes[i] == PP_ONGOING && !engine->failure)
            fail_at(engine, PP_STUCK, ahead->first + ahead->bits[i]);
        for (size_t j = 0; j < count; j++) {
            const uint32_t number = pp_slot_tier(slots[j]);
            if (number >= engine->tier_count || !engine->tiers[number].blocks) { /* neither finished nor being solved */
                fail_at(engine, PP_MISSING_CHILD, ahead->first + ahead->bits[i]);
                return 0;
            }
            __builtin_prefetch(value_address(&engine->tiers[number], pp_slot_index(slots[j])));
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
static inline evaluation evaluate(pp_engine *engine, const component *c, const look_ahead *ahead, unsigned position,
                                  unsigned level) {
    size_t count;
    const pp_slot *slots = children_of(ahead, position, &count);
    unsigned quickest_loss = UINT32_MAX, longest_win = 0, quickest_tie = UINT32_MAX;
    bool won_child = false, drawn_child = false;
    uint32_t unsettled = 0;
    for (size_t i = 0; i < count; i++) {
        const tier_state *tier = tier_of(engine, slots[i]);
        value_code code = value_at(tier, pp_slot_index(slots[i]));
        if (tier->being_solved && code == CODE_ENDLESS) { /* not settled by rule; or an outcome that is, as a draw */
            const entry *e = level ? entry_of(c, local_index(tier, slots[i])) : NULL;
            if (e) {
                const uint32_t state = atomic_load_explicit(e, memory_order_relaxed);
                if (entry_decided(state) && remoteness_of(entry_code(state)) < level) code = entry_code(state);
            }
            if (code == CODE_ENDLESS) {
                unsettled++;
                continue;
            }
        } else if (c->scored) {
            code = seen_at(code, c->threshold);
        }
        code = as_if_passed(code, slots[i]);
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
        default:
            drawn_child = true;
            if (code == CODE_NO_POSITION) fail_at(engine, PP_MISSING_CHILD, ahead->first + ahead->bits[position]);
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

/* Takes one marked position of a word alone: it is then the first of `ahead`. */
static inline bool gather_one(pp_engine *engine, const component *c, look_ahead *ahead, uint64_t word, unsigned bit) {
    begin_run(engine, ahead, slot_of_word(engine, c, word) + bit, 1, true);
    return gather(engine, ahead) == 1;
}

/* Raises what is stored to `value`, if it is less. */
static inline void atomic_max(_Atomic uint32_t *stored, uint32_t value) {
    uint32_t seen = atomic_load_explicit(stored, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(stored, &seen, value)) {}
}

#endif
