/* Step 3 of a solve: level by level, positions just decided inform their parents.
 *
 * At level n the entries that are win(n), or loss(n) with no open child, are final: nothing that comes later can be
 * sooner. A lost position makes each undecided parent win(n+1). A won one closes one of the parent's open children;
 * with the last one closed the parent is lost, one ply after the longest of them. Where the move keeps the turn, won
 * and lost change places. A move that wins never closes, so no entry is claimed from both sides, and what a level
 * leaves behind does not depend on the order within it (engine.h tells about the races).
 *
 * Entries that no level reaches are draws. Among them ties spread in the same way: a parent of a tie that has nothing
 * better is a tie one ply later. What remains is endless.
 *
 * Parents come from the kernel's retract, from a reverse graph, or not at all: then every level looks at the children
 * of everything undecided again. */
#include "engine.h"
#include "evaluate.h"

enum { WORDS_A_RANGE = 1024 };

typedef struct {
    component *c;
    unsigned level;
    bool ties; /* the second round */
} round_state;

/* ---- informing a parent ---- */

static inline bool claim_win(entry *parent, unsigned level) {
    const uint32_t state = atomic_load_explicit(parent, memory_order_relaxed);
    if (kind_of(state) == KIND_WIN && remoteness_of(entry_code(state)) <= level + 1) return false;
    atomic_store_explicit(parent, code_of(KIND_WIN, level + 1), memory_order_relaxed);
    return true;
}

/* Returns the level at which the parent is lost, or 0. */
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

static inline bool claim_tie(entry *parent, unsigned level) {
    const uint32_t state = atomic_load_explicit(parent, memory_order_relaxed);
    if (kind_of(state) == KIND_TIE ? remoteness_of(entry_code(state)) <= level + 1 : entry_decided(state)) return false;
    atomic_store_explicit(parent, code_of(KIND_TIE, level + 1), memory_order_relaxed);
    return true;
}

/* Returns the level at which the parent is due, or 0. */
static inline unsigned inform(const round_state *round, entry *parent, unsigned child_kind, unsigned keeps) {
    if (round->ties) return claim_tie(parent, round->level) ? round->level + 1 : 0;
    if (child_kind == (keeps ? KIND_WIN : KIND_LOSS)) return claim_win(parent, round->level) ? round->level + 1 : 0;
    return close_child(parent, round->level);
}

/* ---- whom to inform ---- */

/* The entries of a position's parents, into room->entries; returns how many. Each step asks for the memory that the
 * next one reads. */
static inline size_t find_parents(pp_engine *engine, const component *c, pp_slot slot, scratch *room) {
    pp_position position;
    positions_of_slots(engine, slot, 1, &position);
    const size_t count = parent_slots(engine, position, room);
    size_t local_count = 0, entry_count = 0;
    for (size_t i = 0; i < count; i++) {
        const tier_state *tier = tier_of(engine, room->slots[i]);
        if (!tier->being_solved) continue;
        const uint64_t local = local_index(tier, room->slots[i]);
        __builtin_prefetch(&c->markers[local >> 6]);
        room->keep_turn[local_count] = (uint8_t)(room->slots[i] >> 63);
        room->locals[local_count++] = local;
    }
    for (size_t i = 0; i < local_count; i++) {
        entry *parent = entry_of(c, room->locals[i]);
        if (!parent) continue;
        __builtin_prefetch(parent, 1);
        room->keep_turn[entry_count] = room->keep_turn[i];
        room->entries[entry_count++] = parent;
    }
    return entry_count;
}

static inline unsigned inform_by_retract(pp_engine *engine, const round_state *round, scratch *room, pp_slot slot,
                                         unsigned kind) {
    const size_t count = find_parents(engine, round->c, slot, room);
    unsigned due = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned level = inform(round, room->entries[i], kind, room->keep_turn[i]);
        if (level > due) due = level;
    }
    return due;
}

static inline unsigned inform_by_graph(const round_state *round, uint64_t number, unsigned kind) {
    const component *c = round->c;
    unsigned due = 0;
    for (uint64_t i = c->graph_first[number]; i < c->graph_first[number + 1]; i++) {
        const uint32_t parent = c->graph_parents[i] & ~GRAPH_KEEPS_TURN, keeps = c->graph_parents[i] & GRAPH_KEEPS_TURN;
        const unsigned level = inform(round, &c->entries[parent], kind, keeps);
        if (level > due) due = level;
    }
    return due;
}

/* ---- one level ---- */

WITH_POPCOUNT static void inform_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    const uint32_t won = code_of(KIND_WIN, round->level), lost = code_of(KIND_LOSS, round->level);
    const uint32_t tied = code_of(KIND_TIE, round->level);
    scratch room;
    if (!new_scratch(engine, &room)) return;
    unsigned due = 0;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->markers[word];
        uint64_t number = marker.before;
        for (uint64_t bits = marker.bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            if (round->ties ? state != tied : entry_code(state) != won && state != lost) continue;
            unsigned level;
            if (c->propagation == PP_PROPAGATE_GRAPH) {
                level = inform_by_graph(round, number, kind_of(state));
            } else {
                const pp_slot slot = slot_of_word(engine, c, word) + (unsigned)__builtin_ctzll(bits);
                level = inform_by_retract(engine, round, &room, slot, kind_of(state));
            }
            if (level > due) due = level;
        }
    }
    free_scratch(&room);
    atomic_max(&c->last_level, due);
}

/* Without parents: decide at this level what its children, decided at earlier ones, say. */
WITH_POPCOUNT static void look_again_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    const unsigned level = round->level;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    bool any = false;
    unsigned due = 0;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->markers[word];
        uint64_t number = marker.before;
        for (uint64_t bits = marker.bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            if (entry_decided(state)) {
                any |= remoteness_of(entry_code(state)) == level;
                /* only a win or a tie that is due later can still come sooner */
                if (remoteness_of(entry_code(state)) <= level || kind_of(state) != (round->ties ? KIND_TIE : KIND_WIN))
                    continue;
            }
            if (!gather_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, level);
            const value_code code = round->ties ? e.tie : decided_code(&e);
            if (!code) continue;
            if (remoteness_of(code) > due) due = remoteness_of(code);
            if (remoteness_of(code) != level) continue; /* a loss that a finished child delays: its level will come */
            atomic_store_explicit(&c->entries[number], code, memory_order_relaxed);
            any = true;
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, any && due <= level ? level + 1 : due);
}

static int run_levels(pp_engine *engine, component *c, bool ties) {
    for (unsigned level = 1; level <= c->last_level; level++) {
        round_state round = {.c = c, .level = level, .ties = ties};
        if (level > PP_LARGEST_REMOTENESS) return PP_TOO_REMOTE;
        engine->progress_level = level;
        const int result = parallel(engine, c->propagation == PP_PROPAGATE_FORWARD ? look_again_words : inform_words,
                                    &round, c->slots / 64, WORDS_A_RANGE);
        if (result) return result;
    }
    return PP_OK;
}

/* ---- the two rounds ---- */

static void find_ties(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    unsigned due = 0;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->markers[word].before;
        for (uint64_t bits = c->markers[word].bits; bits; bits &= bits - 1, number++) {
            if (entry_decided(c->entries[number])) continue;
            if (!gather_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, 0);
            if (!e.tie) continue;
            c->entries[number] = e.tie;
            if (remoteness_of(e.tie) > due) due = remoteness_of(e.tie);
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, due);
}

int propagate_wins(pp_engine *engine, component *c) { return run_levels(engine, c, false); }

int propagate_ties(pp_engine *engine, component *c) {
    if (!c->has_ties) return PP_OK;
    round_state round = {.c = c, .ties = true};
    c->last_level = 0;
    const int result = parallel(engine, find_ties, &round, c->slots / 64, WORDS_A_RANGE);
    return result ? result : run_levels(engine, c, true);
}
