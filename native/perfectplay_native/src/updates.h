/* The effect of a decided child on the entry of its parent: the arithmetic of propagation, independent of how the
 * parent is found, so that threads and workers on other machines do exactly the same. component.h describes entries,
 * and explains why these updates commute within a level. */
#ifndef PP_UPDATES_H
#define PP_UPDATES_H

#include "component.h"

/* The level being propagated, and whether it belongs to the second round, in which ties spread. */
typedef struct {
    unsigned level;
    bool ties;
} round_level;

/* An update, as it is buffered and sent: a parent, and this bit if the move to the decided child wins for the parent,
 * that is if the child is lost, or won by a move that keeps the turn. Without the bit the update closes a child. */
#define PARENT_WINS ((uint64_t)1 << 63)

/* A child is lost: the parent wins one ply later, unless it already wins as quickly. Returns whether it changed. */
static inline bool claim_win(entry *parent, unsigned level) {
    const uint32_t state = atomic_load_explicit(parent, memory_order_relaxed);
    if (kind_of(state) == KIND_WIN && remoteness_of(entry_code(state)) <= level + 1) return false;
    atomic_store_explicit(parent, code_of(KIND_WIN, level + 1), memory_order_relaxed);
    return true;
}

/* A child is won: one child fewer is open. Returns the level at which the parent is lost, or 0. */
static inline unsigned close_child(entry *parent, unsigned level) {
    uint32_t state = atomic_load_explicit(parent, memory_order_relaxed), after;
    unsigned lost_at;
    do { /* in one step: loss(n) without open children must never appear before n is right */
        if (kind_of(state) == KIND_WIN) return 0;
        const unsigned longest = remoteness_of(entry_code(state));
        lost_at = entry_open(state) > 1 ? 0 : longest > level + 1 ? longest : level + 1;
        after = lost_at ? code_of(KIND_LOSS, lost_at) : state - (1u << OPEN_SHIFT);
    } while (!atomic_compare_exchange_weak_explicit(parent, &state, after, memory_order_relaxed, memory_order_relaxed));
    return lost_at;
}

/* A child is a tie: so is the parent, one ply later, if it has nothing better. Returns whether it changed. */
static inline bool claim_tie(entry *parent, unsigned level) {
    const uint32_t state = atomic_load_explicit(parent, memory_order_relaxed);
    if (kind_of(state) == KIND_TIE ? remoteness_of(entry_code(state)) <= level + 1 : entry_decided(state)) return false;
    atomic_store_explicit(parent, code_of(KIND_TIE, level + 1), memory_order_relaxed);
    return true;
}

/* Whether a move to a child of this kind wins. */
static inline bool wins_by(unsigned child_kind, bool keeps_turn) {
    return child_kind == (keeps_turn ? KIND_WIN : KIND_LOSS);
}

/* Updates a parent of a child that is decided at this level. Returns the level at which the parent is due, or 0. */
static inline unsigned apply_update(round_level round, entry *parent, bool parent_wins) {
    if (round.ties) return claim_tie(parent, round.level) ? round.level + 1 : 0;
    if (parent_wins) return claim_win(parent, round.level) ? round.level + 1 : 0;
    return close_child(parent, round.level);
}

/* Whether an entry is decided at this level, so that its parents are updated now. */
static inline bool is_due(round_level round, uint32_t state) {
    if (round.ties) return state == code_of(KIND_TIE, round.level);
    return entry_code(state) == code_of(KIND_WIN, round.level) || state == code_of(KIND_LOSS, round.level);
}

/* The level after the largest remoteness is run, too: with queues, batches or forward propagation, only that shows
 * whether a position is due there. The updates of that level have no effect. */
enum { LAST_LEVEL = PP_LARGEST_REMOTENESS + 1 };

/* propagate.c: returns PP_TOO_REMOTE if the level was the last one and a position is decided there. */
int pp_check_last_level(const component *c, unsigned level);
/* Updates the parents of all entries that are due at a level. Returns a pp_result. */
int pp_propagate_level(pp_engine *engine, component *c, round_level at);
/* Applies updates from another worker to own positions of a share, given by their local numbers. Returns a pp_result,
 * PP_BAD_BATCH for a number beyond the end. */
int pp_apply_updates(pp_engine *engine, component *c, round_level at, bool parent_wins, const uint32_t *locals,
                     uint64_t count);

#endif
