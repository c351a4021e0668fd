/* Evaluates a position from the values of its children. These lie all over memory, so several positions are handled
 * together, and all values are prefetched before the first one is read. */
#ifndef PP_EVALUATE_H
#define PP_EVALUATE_H

#include <stdlib.h>

#include "component.h"

/* The number of positions expanded together. With `survey`, which handles many positions per call, it is larger, such
 * that they have at most AHEAD_SLOTS children. */
enum { LOOK_AHEAD = 8, AHEAD_SLOTS = 4096 };

/* The slots of a run, expanded a few at a time. */
typedef struct {
    scratch room;
    unsigned capacity;                /* positions expanded together */
    pp_slot first;                    /* of the run */
    uint64_t left;                    /* bit i: slot first + i is not yet expanded */
    bool known_open;                  /* the rules settle none of them; otherwise survey decides that */
    pp_position positions[RUN_SLOTS]; /* unless the kernel has a survey */
    pp_slot *slots;                   /* the children of the expanded positions, one after the other */
    uint32_t ends[RUN_SLOTS];         /* the end of the children of the i-th expanded position */
    uint8_t bits[RUN_SLOTS];          /* its number in the run */
    uint8_t codes[RUN_SLOTS];         /* its rule code */
} look_ahead;

static inline bool begin_look_ahead(pp_engine *engine, look_ahead *ahead) {
    const size_t edges = engine->kernel->max_moves + 1;
    ahead->capacity = LOOK_AHEAD;
    if (has_survey(engine->kernel) && AHEAD_SLOTS / edges > LOOK_AHEAD)
        ahead->capacity = AHEAD_SLOTS / edges < RUN_SLOTS ? (unsigned)(AHEAD_SLOTS / edges) : RUN_SLOTS;
    if (!pp_scratch_new(engine, &ahead->room)) return false;
    ahead->slots = malloc(ahead->capacity * edges * sizeof *ahead->slots);
    if (ahead->slots) return true;
    pp_scratch_free(&ahead->room);
    fail(engine, PP_OUT_OF_MEMORY, 0);
    return false;
}

static inline void end_look_ahead(look_ahead *ahead) {
    pp_scratch_free(&ahead->room);
    free(ahead->slots);
}

/* Begins a run: the slots from `first` on whose bits are set. */
static inline void begin_run(pp_engine *engine, look_ahead *ahead, pp_slot first, uint64_t bits, bool known_open) {
    ahead->first = first;
    ahead->left = bits;
    ahead->known_open = known_open;
    if (bits && !has_survey(engine->kernel))
        pp_positions_of_slots(engine, first, RUN_SLOTS - (unsigned)__builtin_clzll(bits), ahead->positions);
}

static void fail_at(pp_engine *engine, int result, pp_slot slot) {
    pp_position position;
    pp_positions_of_slots(engine, slot, 1, &position);
    fail(engine, result, position);
}

static inline void expand_by_survey(pp_engine *engine, look_ahead *ahead, unsigned count, uint64_t wanted) {
    const pp_kernel *kernel = engine->kernel;
    uint8_t codes[RUN_SLOTS];
    uint32_t ends[RUN_SLOTS];
    kernel->survey(kernel, ahead->first, RUN_SLOTS - (unsigned)__builtin_clzll(wanted), wanted,
                   ahead->known_open ? NULL : codes, ahead->slots, ends);
    uint32_t begin = 0, kept = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned bit = ahead->bits[i];
        const uint32_t children = ends[bit] - begin;
        if (kept != begin) memmove(ahead->slots + kept, ahead->slots + begin, children * sizeof *ahead->slots);
        begin = ends[bit];
        kept += (uint32_t)pp_normalize_edges(kernel, ahead->slots + kept, children);
        ahead->ends[i] = kept;
        ahead->codes[i] = ahead->known_open ? PP_ONGOING : codes[bit];
    }
}

static inline void expand_by_moves(pp_engine *engine, look_ahead *ahead, unsigned count) {
    pp_position positions[RUN_SLOTS];
    for (unsigned i = 0; i < count; i++) {
        positions[i] = ahead->positions[ahead->bits[i]];
        ahead->codes[i] = PP_ONGOING;
    }
    pp_child_slots(engine, positions, count, ahead->slots, ahead->ends, &ahead->room);
}

static inline const pp_slot *children_of(const look_ahead *ahead, unsigned i, size_t *count) {
    const uint32_t begin = i ? ahead->ends[i - 1] : 0;
    *count = ahead->ends[i] - begin;
    return ahead->slots + begin;
}

/* Expands the next slots of the run and prefetches the values of their children. Returns the number of slots, 0 at the
 * end. Without a survey, all of them must be known to be open. */
static inline unsigned expand_next(pp_engine *engine, look_ahead *ahead) {
    unsigned expanded = 0;
    uint64_t wanted = 0;
    for (; ahead->left && expanded < ahead->capacity; ahead->left &= ahead->left - 1, expanded++) {
        ahead->bits[expanded] = (uint8_t)__builtin_ctzll(ahead->left);
        wanted |= ahead->left & -ahead->left;
    }
    if (!expanded) return 0;
    if (has_survey(engine->kernel)) expand_by_survey(engine, ahead, expanded, wanted);
    else expand_by_moves(engine, ahead, expanded);
    for (unsigned i = 0; i < expanded; i++) {
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
    return expanded;
}

/* Expands a single open position, given by its marker word and bit. It is then the first one of `ahead`. */
static inline bool expand_one(pp_engine *engine, const component *c, look_ahead *ahead, uint64_t word, unsigned bit) {
    begin_run(engine, ahead, slot_of_word(engine, c, word) + bit, 1, true);
    return expand_next(engine, ahead) == 1;
}

typedef struct {
    value_code code;    /* as in an entry: win(n), or loss(n) so far */
    value_code tie;     /* the quickest tie by a move to a tied child; 0 if there is none */
    uint32_t open;      /* children not known to be won: the unsettled ones, and one more if any is drawn */
    uint32_t unsettled; /* children being solved that are not decided below `level` */
} evaluation;

/* Evaluates a position. Entries count as decided if their remoteness is below `level`. */
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
        if (tier->being_solved && code == CODE_ENDLESS) { /* open, or an outcome that the rules settle as a draw */
            const entry *e = level ? entry_of(c, local_index(tier, slots[i])) : NULL;
            if (e) {
                const uint32_t state = atomic_load_explicit(e, memory_order_relaxed);
                if (entry_decided(state) && remoteness_of(entry_code(state)) < level) code = entry_code(state);
            }
            if (code == CODE_ENDLESS) {
                unsettled++;
                continue;
            }
        } else if (c->scores) {
            code = code_at_threshold(code, c->scores->threshold);
        }
        code = as_if_turn_passed(code, slots[i]);
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

#endif
