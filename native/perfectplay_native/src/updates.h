/* What a decided child does to the entry of its parent: the arithmetic of propagation, apart from how the parent is
 * found, so that threads, workers on other machines and whoever comes next all do the same. engine.h tells what an
 * entry is, and why these updates commute within a level. */
#ifndef PP_UPDATES_H
#define PP_UPDATES_H

#include "engine.h"

/* The level that is propagated, and whether it is one of the second round, in which ties spread. */
typedef struct {
    unsigned level;
    bool ties;
} round_level;

/* A child is lost: the parent wins one ply later, unless it wins as quickly already. Returns whether it changed. */
static inline bool claim_win(entry *parent, unsigned level) {
    const uint32_t state = atomic_load_explicit(parent, memory_order_relaxed);
    if (kind_of(state) == KIND_WIN && remoteness_of(entry_code(state)) <= level + 1) return false;
    atomic_store_explicit(parent, code_of(KIND_WIN, level + 1), memory_order_relaxed);
    return true;
}

/* A child is won: one fewer is open. Returns the level at which the parent is lost, or 0. */
static inline unsigned close_child(entry *parent, unsigned level) {
    uint32_t state = atomic_load_explicit(parent, memory_order_relaxed), after;
    unsigned lost_at;
    do { /* in one step: loss(n) with no open child must never be seen before n is right */
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
static inline bool wins_by(unsigned child_kind, unsigned keeps_turn) {
    return child_kind == (keeps_turn ? KIND_WIN : KIND_LOSS);
}

/* Tells a parent of a child that is decided at this level. Returns the level at which the parent is due, or 0. */
static inline unsigned inform(round_level round, entry *parent, unsigned child_kind, unsigned keeps_turn) {
    if (round.ties) return claim_tie(parent, round.level) ? round.level + 1 : 0;
    if (wins_by(child_kind, keeps_turn)) return claim_win(parent, round.level) ? round.level + 1 : 0;
    return close_child(parent, round.level);
}

/* The level after the last that a value can name is run too: by mail or batches, and where parents look again, only that
 * tells whether something is due there. What it tells in turn is of no account. */
enum { LAST_LEVEL = PP_LARGEST_REMOTENESS + 1 };

/* propagate.c: after a level, PP_TOO_REMOTE where it was the last and a position is decided there. */
int check_last_level(const component *c, unsigned level);
/* Everything that is due at a level tells its parents. Returns a pp_result. */
int inform_level(pp_engine *engine, component *c, round_level at);
/* The same from outside: own positions of a share, by their places. PP_BAD_BATCH where one is beyond the end. */
int apply_updates(pp_engine *engine, component *c, round_level at, bool child_lost, const uint32_t *places,
                  uint64_t count);

/* Whether an entry is decided at this level, so that its parents are to be told now. */
static inline bool is_due(round_level round, uint32_t state) {
    if (round.ties) return state == code_of(KIND_TIE, round.level);
    return entry_code(state) == code_of(KIND_WIN, round.level) || state == code_of(KIND_LOSS, round.level);
}

#endif
