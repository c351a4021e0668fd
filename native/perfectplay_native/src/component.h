/* A component: tiers that are solved together, and the state of their open positions during the solve. */
#ifndef PP_COMPONENT_H
#define PP_COMPONENT_H

#include "moves.h"

/* ---- entries ----
 *
 * Only positions that the rules alone do not settle take part in the propagation (in Gobblet one in eight). They are
 * called open, and are marked in a bitmap with running counts, which numbers them densely. Each has one 32-bit entry:
 *
 *     31            16 15             0
 *     [ open children ] [ code        ]
 *
 * `code` is the value so far: win(n) if a child is known to be lost in n-1, else loss(n), where n-1 is the longest of
 * the won children known. `open children` counts the children not yet known to be won. So win(n), and loss(n) without
 * open children, are decided, for level n; all other entries are undecided. Children are counted by moves. A move that
 * keeps the turn to a won child counts as a move to a lost child and vice versa, and a child may be reached in both
 * ways.
 *
 * Races. While level n is propagated, threads update the entries of undecided parents with relaxed atomics and without
 * locks, in any order. The entries after the level do not depend on that order, for these reasons:
 *   - An entry that is decided for level n is final. Updates made at level n concern levels above n only.
 *   - All threads that claim a win at level n write the same word, win(n+1), over anything except a win that is at
 *     least as quick. So it does not matter which of them is last, nor that a claim may overwrite a close that another
 *     thread has just made.
 *   - Closing a child is one compare-and-swap of the whole word. So no close is lost, and loss(n) without open children
 *     never appears with an n that is still too small. A close does not change a win.
 *   - A move that makes the parent win never closes a child. So while there is such a move, the number of open children
 *     stays above 0, and no entry is decided both as a win and as a loss.
 * Threads meet at the end of a level (pthread_join), which orders all updates before the next level. Ties are claimed
 * after all wins and losses are known, and again all threads write the same word. */
typedef struct {
    uint64_t bits;
    uint64_t before; /* number of marked positions in earlier words */
} marker_word;

typedef _Atomic uint32_t entry;
enum { OPEN_SHIFT = 16 };

/* An entry whose value has been stored, for a higher score. It is never updated, and not due at any level. */
enum { ENTRY_STORED = KIND_WIN };

static inline value_code entry_code(uint32_t e) { return e & 0xFFFF; }
static inline unsigned entry_open(uint32_t e) { return e >> OPEN_SHIFT; }
static inline bool entry_decided(uint32_t e) {
    return kind_of(e) == KIND_WIN || kind_of(e) == KIND_TIE || (kind_of(e) == KIND_LOSS && entry_open(e) == 0);
}

/* ---- chunks: which entries are due at which level ----
 *
 * Most levels of a deep game decide few positions, and must not cost a scan of all entries. So the entries are divided
 * into chunks, and each chunk has a set of levels modulo 64, which contains every level at which one of its entries is
 * due. A thread that decides an entry adds the level (note_due). A thread that scans the chunk at that level removes
 * the level, and adds it again if an entry of the chunk has a remoteness that is 64, 128, … above it. A superfluous
 * level costs one scan and nothing else.
 *
 * Races: threads add only levels above the present one, so they do not interfere with the scan, except for levels that
 * are equal to it modulo 64. An entry that is decided for such a level during the scan of its chunk is a loss(n), and
 * was an undecided loss(n) before the level began: a win is due at the next level, and a loss at the next level or at
 * the level of its longest child. So the scan sees its remoteness in either case, and keeps the level in the set. */
enum { CHUNK_ENTRIES = 1024 };
typedef struct {
    _Atomic uint64_t levels; /* bit n % 64: an entry may be due at level n */
    uint64_t first_word;     /* the marker word of the chunk's first entry */
} entry_chunk;

/* ---- the component ---- */

/* Which slots are solved together. Their local numbers run through the tiers, each padded to whole words of 64. If they
 * are shared between workers, each tier is padded to whole units, and `slots` counts the worker's own units only. */
typedef struct {
    const uint32_t *tiers;
    size_t tier_count;
    uint64_t slots;
    uint32_t workers; /* 0 unless shared */
    uint32_t worker;  /* unit g belongs to worker g % workers */
    unsigned unit_bits;
} component_layout;

/* The open positions and their entries. */
typedef struct {
    marker_word *markers; /* one word for 64 slots */
    entry *entries;
    entry_chunk *chunks;
    uint64_t count; /* of entries */
    buffer marker_memory, entry_memory, chunk_memory;
} open_positions;

/* How the parents of a decided position are found. The reverse graph exists for PP_PROPAGATE_GRAPH only: the parents of
 * entry i are those from first[i] to first[i + 1]. They are entry numbers with GRAPH_KEEPS_TURN; or, in a share, slots
 * with PP_KEEPS_TURN, because they may belong to other workers. */
enum { GRAPH_LIMIT = INT32_MAX }; /* a reverse graph has fewer entries, so that bit 31 is free for the turn */
#define GRAPH_KEEPS_TURN ((uint32_t)1 << 31)
typedef struct {
    int propagation;        /* a pp_propagation other than AUTO */
    _Atomic uint64_t edges; /* sum of all open children: the size of a reverse graph */
    buffer memory;
    uint64_t *first;
    uint32_t *parents; /* NULL in a share */
    pp_slot *slots;    /* NULL unless in a share */
} parent_source;

/* State of a game with scores, in which one score is propagated at a time. */
typedef struct {
    int threshold;    /* the score being propagated */
    uint64_t *bitmap; /* the scores that occur, while they are being collected */
} score_state;
enum { NO_THRESHOLD = PP_MAX_SCORE + 1 }; /* above any possible score, so every open child counts */

typedef struct {
    component_layout layout;
    open_positions open;
    parent_source source;
    _Atomic uint32_t last_level; /* the highest level at which an entry is due */
    _Atomic bool has_ties;
    bool outcomes;       /* values are outcomes of two bits */
    pp_share *share;     /* NULL unless the component is shared between workers */
    score_state *scores; /* NULL if the values have no scores */
} component;

static inline uint64_t word_count(const component *c) { return c->layout.slots / 64; }

/* ---- open positions ---- */

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(PP_NO_CLONES)
/* The x86-64 baseline lacks the instruction that counts bits, but nearly every machine has it. */
#define WITH_POPCOUNT __attribute__((target_clones("popcnt", "default")))
#else
#define WITH_POPCOUNT
#endif

static inline uint64_t local_index(const tier_state *tier, pp_slot slot) {
    return tier->local_first + pp_slot_index(slot);
}
/* The entry of a slot, given by its local number; NULL if the rules settled it. */
static inline entry *entry_of(const component *c, uint64_t local) {
    const marker_word *word = &c->open.markers[local >> 6];
    const uint64_t bit = (uint64_t)1 << (local & 63);
    if (!(word->bits & bit)) return NULL;
    return &c->open.entries[word->before + (unsigned)__builtin_popcountll(word->bits & (bit - 1))];
}
static inline uint32_t load_entry(const component *c, uint64_t number) {
    return atomic_load_explicit(&c->open.entries[number], memory_order_relaxed);
}

static inline uint64_t chunk_count(const component *c) { return (c->open.count + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES; }
static inline uint64_t level_bit(unsigned level) { return (uint64_t)1 << (level & 63); }
static inline void note_due(const component *c, uint64_t number, unsigned level) {
    _Atomic uint64_t *levels = &c->open.chunks[number / CHUNK_ENTRIES].levels;
    if (!(atomic_load_explicit(levels, memory_order_relaxed) & level_bit(level)))
        atomic_fetch_or_explicit(levels, level_bit(level), memory_order_relaxed);
}
/* Raises a stored number to `value`, if it is lower. */
static inline void atomic_max(_Atomic uint32_t *stored, uint32_t value) {
    uint32_t seen = atomic_load_explicit(stored, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(stored, &seen, value)) {}
}

/* The first slot of a marker word. The last unit of a tier in a share may extend beyond the tier's end. */
static inline pp_slot slot_of_word(const pp_engine *engine, const component *c, uint64_t word) {
    const component_layout *l = &c->layout;
    size_t i = l->tier_count - 1;
    if (l->workers) { /* from the worker's own units to all units */
        const unsigned bits = l->unit_bits - 6;
        word = ((word >> bits) * l->workers + l->worker) << bits | (word & (((uint64_t)1 << bits) - 1));
    }
    while (engine->tiers[l->tiers[i]].local_first > word << 6) i--;
    return pp_slot_of(l->tiers[i], (word << 6) - engine->tiers[l->tiers[i]].local_first);
}

/* ---- the steps of a solve; all return a pp_result ---- */

/* settle.c */
int pp_settle(pp_engine *engine, component *c);
int pp_mark_open(pp_engine *engine, component *c); /* replaces pp_settle if the values are settled already */
/* expand.c */
int pp_expand_open(pp_engine *engine, component *c);
int pp_solve_acyclic(pp_engine *engine, component *c);
/* reverse_graph.c */
uint64_t pp_reverse_graph_bytes(const component *c);
int pp_build_reverse_graph(pp_engine *engine, component *c);
/* propagate.c */
int pp_propagate_wins(pp_engine *engine, component *c);
int pp_begin_ties(pp_engine *engine, component *c); /* finds the ties that settled children make */
int pp_propagate_ties(pp_engine *engine, component *c);
/* solve.c */
int pp_collect_scores(pp_engine *engine, component *c, uint64_t *scores);
int pp_store_decided(pp_engine *engine, component *c);
/* The engine owns the values afterwards. The caller releases the component. */
int pp_solve_component(pp_engine *engine, component *c, int cyclic, int propagation);
void pp_release_component(pp_engine *engine, component *c);

/* share.c: while reverse edges are collected, adds this parent of each open child to the batch of the child's owner. */
void pp_share_add_edges(pp_share *share, pp_slot parent, const pp_slot *children, size_t count);
/* Moves the updates of other workers' open positions to their batches. Leaves the updates of own positions, which it
 * converts from slots to local numbers, and returns their number. */
size_t pp_share_route_updates(pp_share *share, uint64_t *updates, size_t count);

#endif
