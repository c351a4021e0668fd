/* What the C files of this directory share; api.h is what Python sees. */
#ifndef PP_ENGINE_H
#define PP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "values.h"

/* ---- memory within the budget, and beyond it in files ---- */

typedef struct {
    void *bytes; /* zeroed */
    size_t size;
    bool anonymous;
} buffer;

/* ---- tiers ---- */

enum { BLOCK_SLOTS = 1 << PP_BLOCK_BITS };
enum { SHIFT_OUTCOME = 1, SHIFT_NARROW = 3, SHIFT_WIDE = 4, SHIFT_SCORED = 5 };

/* A static search tree over sorted keys: level 0 holds every 16th key, each level above every 16th of the one below. */
enum { TREE_FANOUT = 16, TREE_LEVELS = 10 };
typedef struct {
    uint64_t *level[TREE_LEVELS];
    size_t length[TREE_LEVELS];
    int levels;
    buffer memory;
} key_tree;

typedef struct {
    uint64_t size;
    void **blocks;               /* values, one pointer a block; NULL while there are none */
    const uint64_t **key_blocks; /* NULL for a ranked game */
    key_tree tree;
    buffer owned;         /* the values, if the engine holds them */
    uint64_t local_first; /* where the tier begins among those being solved, by all workers if there are several */
    uint8_t shift;        /* a value takes 1 << shift bits, one of the SHIFT_ */
    uint8_t being_solved;
    uint8_t claimed; /* among the tiers of the engine's claim */
} tier_state;

/* ---- positions between rule and result ----
 *
 * Only positions that no rule settles at once (in Gobblet one in eight) take part in the propagation. They are marked
 * in a bitmap with running counts, which numbers them densely; each has one 32-bit entry:
 *
 *     31            16 15             0
 *     [ open children ] [ code        ]
 *
 * code is what the position is worth so far: win(n) if some child is known to be lost in n-1, else loss(n) where n-1
 * is the longest of the won children known. open children counts children not yet known to be won. So win(n) and
 * loss(n) with no open child are decided, for level n; the rest is undecided. Children here are moves: one that keeps
 * the turn counts as lost where it is won and the other way round, and a child may be reached in both ways.
 *
 * Races. While level n is propagated, threads change the entries of undecided parents with relaxed atomics and no
 * lock, in any order. What the level leaves behind is the same, because:
 *   - an entry that a level reads as decided for n is final: what is found at level n concerns levels above n only;
 *   - all who claim a win at level n write the same word, win(n+1), over anything but a win as quick: so it does not
 *     matter who comes last, nor that a claim may overwrite a close that another thread has just made;
 *   - closing a child is one compare-and-swap of the whole word, so no close is lost, and loss(n) with no open child
 *     is never seen with an n that is still too small; a close that meets a win leaves it alone;
 *   - a move that makes the parent win never closes itself. So while one is there, open children stay above 0:
 *     no entry is claimed as a win and as a loss.
 * Threads meet at the end of a level (pthread_join), which orders everything before the next. Ties are claimed after
 * all wins and losses are known, and again everybody writes the same word. */
typedef struct {
    uint64_t bits;
    uint64_t before; /* how many are marked in earlier words */
} marker_word;

typedef _Atomic uint32_t entry;
enum { OPEN_SHIFT = 16 };

/* An entry whose value is stored, by a higher score: nothing is claimed from it, closed by it, or due at any level. */
enum { ENTRY_STORED = KIND_WIN };

static inline value_code entry_code(uint32_t e) { return e & 0xFFFF; }
static inline unsigned entry_open(uint32_t e) { return e >> OPEN_SHIFT; }
static inline bool entry_decided(uint32_t e) {
    return kind_of(e) == KIND_WIN || kind_of(e) == KIND_TIE || (kind_of(e) == KIND_LOSS && entry_open(e) == 0);
}

/* ---- when entries are due ----
 *
 * Most levels of a deep game decide little, and must not cost a look at everything. So entries are taken in chunks, and
 * each chunk keeps a set of levels modulo 64: a level at which one of its entries is due is in it. Whoever decides an
 * entry adds the level (note_due); whoever looks at the chunk at that level takes it out again, and back in if some
 * entry of the chunk has a remoteness 64, 128, … above it. A level too many costs a look and nothing else.
 *
 * Races: threads add levels above the present one only, so nobody waits for anybody, but for those that are equal modulo
 * 64. An entry that is decided for such a level while its chunk is being looked at is a loss(n) which was loss(n) so far
 * before the level began (a win is due at the next level, a loss at the next or where its longest child puts it), so it
 * is seen for what it is, and the level stays in the set. */
enum { CHUNK_ENTRIES = 1024 };
typedef struct {
    _Atomic uint64_t levels; /* bit n % 64: something may be due at level n */
    uint64_t first_word;     /* of the markers: that of the chunk's first entry */
} entry_chunk;

enum { GRAPH_LIMIT = INT32_MAX }; /* a reverse graph has fewer entries; bit 31 is for the turn */
#define GRAPH_KEEPS_TURN ((uint32_t)1 << 31)

/* The tiers that are solved together; or, with several workers, one worker's share of them (shares.c). */
typedef struct {
    const uint32_t *tiers;
    size_t tier_count;
    uint64_t slots;     /* of all the tiers, each padded to whole words; of a share, those of its units */
    pp_share *share;    /* NULL where the tiers are not shared out between workers */
    uint32_t workers;   /* among whom they are: */
    uint32_t worker;    /* which of them this is; unit g belongs to worker g % workers */
    unsigned unit_bits; /* a unit is 2^unit_bits slots */
    bool listing_edges; /* to the share, while positions are expanded */
    buffer marker_memory, entry_memory, chunk_memory;
    marker_word *markers;
    entry *entries;
    uint64_t entry_count;
    entry_chunk *chunks;
    _Atomic uint64_t open_edges; /* sum of open children: the size of a reverse graph */
    int propagation;             /* a pp_propagation, not AUTO */
    buffer graph_memory;         /* the reverse graph, where there is one: */
    uint64_t *graph_first;       /* the parents of entry i are graph_parents[graph_first[i] .. graph_first[i + 1]) */
    uint32_t *graph_parents;     /* entry numbers, with GRAPH_KEEPS_TURN; or in a share */
    pp_slot *graph_slots;        /* slots, with PP_KEEPS_TURN, at the same places */
    _Atomic uint32_t last_level; /* the highest level at which some entry is due */
    _Atomic bool has_ties;
    bool outcomes;    /* two bits a value */
    bool scored;      /* and not of outcomes */
    int threshold;    /* of a scored component: the score that is being propagated */
    uint64_t *scores; /* a bitmap of those that occur, while they are being collected */
} component;

struct pp_engine {
    const pp_kernel *kernel;
    unsigned threads;
    uint32_t tier_count;
    tier_state *tiers;
    pp_share *share;     /* the one that this engine works on, if any; freed with it */
    struct claim *claim; /* claim.c: an order of the positions that are being verified, if any */

    uint64_t budget;
    char *directory;
    _Atomic uint64_t used;

    _Atomic int stop;
    _Atomic int failure; /* a pp_result met in a parallel step */
    _Atomic uint64_t error_position;
    int error_number;

    _Atomic uint64_t progress_positions;
    _Atomic uint32_t progress_level;
    /* Where positions may repeat, settling the slots is the smaller part: marked ones are then expanded, listed where
     * there is to be a reverse graph, and inform their parents. solve.c makes one figure of it. */
    uint64_t progress_slots; /* in all; 0 while nothing of the kind is being solved */
    unsigned progress_steps; /* of every marked position */
    _Atomic uint64_t progress_marked, progress_steps_done;
};

/* memory.c */
int allocate(pp_engine *engine, size_t size, buffer *out); /* a pp_result */
void release(pp_engine *engine, buffer *memory);

/* parallel.c: calls work(engine, context, first, last) on ranges that cover 0 .. total, none longer than `grain`,
 * from all threads; returns PP_OK, PP_STOPPED or the failure that was met. Ranges may come in any order. */
typedef void range_work(pp_engine *engine, void *context, uint64_t first, uint64_t last);
int parallel(pp_engine *engine, range_work *work, void *context, uint64_t total, uint64_t grain);
static inline void fail(pp_engine *engine, int result, pp_position position) {
    engine->error_position = position;
    engine->failure = result;
}

/* keys.c: finds the index of each key in its tier, UINT64_MAX where it is not there. Many at a time are quicker. */
typedef struct {
    const tier_state *tier; /* one that has keys */
    uint64_t key, index;
} look_up;
int build_key_tree(pp_engine *engine, tier_state *tier);
void find_keys(look_up *wanted, size_t count);

/* graph.c: the moves as the engine sees them, whatever the kernel offers. */
/* Puts the slot of each canonical position in its place, UINT64_MAX where it is not in the index. */
void find_slots(const pp_engine *engine, uint64_t *positions, size_t count);
void positions_of_slots(const pp_engine *engine, pp_slot first, size_t count, pp_position *positions);
size_t canonical_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves);
bool can_retract(const pp_kernel *kernel);
size_t distinct(uint64_t *values, size_t count);
/* What the rules alone say of consecutive slots of a tier, at most RUN_SLOTS. */
enum { RUN_SLOTS = 64 };
void rule_codes_of_slots(pp_engine *engine, pp_slot first, unsigned count, value_code *codes);

/* memo.c: a game in Python is about to be asked about these positions; of a game in C, nothing happens. */
void foresee(const pp_kernel *kernel, const pp_position *positions, size_t count);
void foresee_tiers(const pp_kernel *kernel, const pp_position *positions, size_t count);

/* Room for the moves, children or parents of one position; each thread has its own. */
typedef struct {
    pp_move *moves;
    pp_slot *slots;
    uint8_t *keep_turn; /* of each slot: whether the move keeps the turn */
    void *memory;
} scratch;
bool new_scratch(pp_engine *engine, scratch *out); /* false when memory runs out; the failure is noted */
void free_scratch(scratch *room);

/* graph.c: the slots of positions' children, one position's after the other's, each with PP_KEEPS_TURN where the move
 * keeps the turn; ends[i] is where those of positions[i] end. Room for max_moves + 1 of each position. */
void child_slots(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots, uint32_t *ends,
                 scratch *room);
/* The same of one position's parents, in room->slots; returns how many. */
size_t parent_slots(pp_engine *engine, pp_position position, scratch *room);
/* Makes such a list of what a kernel's expand, survey or retract wrote. */
size_t finish_edges(const pp_kernel *kernel, pp_slot *slots, size_t count);

/* settle.c, expand.c, reverse.c, propagate.c, scores.c: the steps of a solve; all return a pp_result. */
int settle(pp_engine *engine, component *c);
int mark_open(pp_engine *engine, component *c); /* instead, where the values are settled already */
int expand_marked(pp_engine *engine, component *c);
uint64_t reverse_graph_bytes(const component *c);
int build_reverse_graph(pp_engine *engine, component *c);
int propagate_wins(pp_engine *engine, component *c);
int begin_ties(pp_engine *engine, component *c); /* finds the ties that the expanded children make */
int propagate_ties(pp_engine *engine, component *c);
int collect_scores(pp_engine *engine, component *c, uint64_t *scores);
int propagate_scores(pp_engine *engine, component *c, const uint64_t *scores);
int solve_acyclic(pp_engine *engine, component *c);
int store_decided(pp_engine *engine, component *c);
int solve_component(pp_engine *engine, component *c, int cyclic, int propagation); /* the values then are owned */
void release_component(pp_engine *engine, component *c);
void drop_values(pp_engine *engine, tier_state *tier);

/* shares.c: notes a parent of each child that is open, for the worker whose child it is. */
void note_edges(pp_share *share, pp_slot parent, const pp_slot *children, size_t count);
/* Of updates by slot, leaves those for own positions, by their place; those for others' open ones go into batches. */
size_t keep_own_updates(pp_share *share, uint64_t *updates, size_t count);

/* ---- what the rules say ---- */

static inline pp_position canonical(const pp_kernel *kernel, pp_position position) {
    return kernel->canonicalize ? kernel->canonicalize(kernel, position) : position;
}

/* Whether movers have to be compared to know if a move keeps the turn. */
static inline bool compares_movers(const pp_kernel *kernel) {
    return kernel->mover && kernel->players != 1 && !(kernel->flags & PP_TURNS_ALTERNATE);
}

/* Whether the player who moves from one position to the other is to move there too. */
static inline bool keeps_turn(const pp_kernel *kernel, pp_position parent, pp_position child) {
    if (compares_movers(kernel)) return kernel->mover(kernel, parent) == kernel->mover(kernel, child);
    return kernel->players == 1;
}

static inline bool score_agrees(int score, int status) {
    if (score < -PP_MAX_SCORE || score > PP_MAX_SCORE) return false;
    return status == PP_WON ? score > 0 : status == PP_LOST ? score < 0 : score == 0;
}

static inline value_code finished_code(const pp_kernel *kernel, pp_position position, int status) {
    if (!kernel->score) return (value_code)status;
    const int score = kernel->score(kernel, position);
    return score_agrees(score, status) ? with_score((value_code)status, score) : (value_code)CODE_BAD_SCORE;
}

/* The code of a position that is finished, won at once, or none at all; CODE_ENDLESS where the rules leave it open. */
static inline value_code rule_code(const pp_kernel *kernel, pp_position position) {
    if (position == PP_NO_POSITION) return CODE_NO_POSITION;
    const int status = kernel->status(kernel, position);
    if (status != PP_ONGOING) return finished_code(kernel, position, status);
    const bool quick = kernel->wins_now && !kernel->score && kernel->wins_now(kernel, position);
    return quick ? (value_code)PP_WINS_NOW : (value_code)CODE_ENDLESS;
}

/* ---- reading values ---- */

static inline uint64_t block_count(uint64_t size) { return (size + BLOCK_SLOTS - 1) >> PP_BLOCK_BITS; }
static inline const tier_state *tier_of(const pp_engine *engine, pp_slot slot) {
    return &engine->tiers[pp_slot_tier(slot)];
}
/* How many bytes so many values take. */
static inline uint64_t value_bytes(uint64_t count, unsigned shift) { return ((count << shift) + 7) >> 3; }
static inline const void *value_address(const tier_state *tier, uint64_t index) {
    const char *block = tier->blocks[index >> PP_BLOCK_BITS];
    return block + ((index & (BLOCK_SLOTS - 1)) << tier->shift >> 3);
}
static inline unsigned outcome_place(uint64_t index) { return 2 * (index & 3); } /* in its byte */
static inline unsigned outcome_bits(const tier_state *tier, uint64_t index) {
    return (unsigned)*(const uint8_t *)value_address(tier, index) >> outcome_place(index);
}
static inline value_code value_at(const tier_state *tier, uint64_t index) {
    const void *address = value_address(tier, index);
    if (tier->shift == SHIFT_NARROW) return *(const uint8_t *)address;
    if (tier->shift == SHIFT_OUTCOME) return unpacked_outcome(outcome_bits(tier, index));
    return tier->shift == SHIFT_WIDE ? *(const uint16_t *)address : *(const uint32_t *)address;
}
/* The same as whoever asks from outside is to see it. */
static inline value_code known_value(const tier_state *tier, uint64_t index) {
    if (tier->shift != SHIFT_OUTCOME) return value_at(tier, index);
    return outcome_code(outcome_bits(tier, index));
}
/* Of outcomes four share a byte: a thread must have 64 slots from a multiple of 64 on for its own. */
static inline void set_value(tier_state *tier, uint64_t index, value_code code) {
    void *address = (void *)(uintptr_t)value_address(tier, index);
    if (tier->shift == SHIFT_NARROW) {
        *(uint8_t *)address = (uint8_t)code;
    } else if (tier->shift == SHIFT_OUTCOME) {
        uint8_t *byte = address;
        const unsigned place = outcome_place(index);
        *byte = (uint8_t)((*byte & ~(3u << place)) | packed_outcome(code) << place);
    } else if (tier->shift == SHIFT_WIDE) {
        *(uint16_t *)address = (uint16_t)code;
    } else {
        *(uint32_t *)address = code;
    }
}
static inline uint8_t shift_of_width(unsigned width) {
    return width == 0 ? SHIFT_OUTCOME : width == 1 ? SHIFT_NARROW : width == 2 ? SHIFT_WIDE : SHIFT_SCORED;
}

/* ---- marked positions ---- */

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(PP_NO_CLONES)
/* The baseline of x86-64 has no instruction that counts bits; nearly every machine has. */
#define WITH_POPCOUNT __attribute__((target_clones("popcnt", "default")))
#else
#define WITH_POPCOUNT
#endif

static inline uint64_t local_index(const tier_state *tier, pp_slot slot) {
    return tier->local_first + pp_slot_index(slot);
}
/* The entry of a slot that is being solved; NULL if a rule settled it. */
static inline entry *entry_of(const component *c, uint64_t local) {
    const marker_word *word = &c->markers[local >> 6];
    const uint64_t bit = (uint64_t)1 << (local & 63);
    if (!(word->bits & bit)) return NULL;
    return &c->entries[word->before + (unsigned)__builtin_popcountll(word->bits & (bit - 1))];
}

static inline uint64_t chunk_count(const component *c) { return (c->entry_count + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES; }
static inline uint64_t level_bit(unsigned level) { return (uint64_t)1 << (level & 63); }
static inline void note_due(const component *c, uint64_t number, unsigned level) {
    _Atomic uint64_t *levels = &c->chunks[number / CHUNK_ENTRIES].levels;
    if (!(atomic_load_explicit(levels, memory_order_relaxed) & level_bit(level)))
        atomic_fetch_or_explicit(levels, level_bit(level), memory_order_relaxed);
}

/* Which tier, and which index in it, a word of markers begins at. A share's last unit of a tier may go on beyond the
 * tier's end. */
static inline pp_slot slot_of_word(const pp_engine *engine, const component *c, uint64_t word) {
    size_t i = c->tier_count - 1;
    if (c->workers) { /* from the share's own numbering to that of all */
        const unsigned bits = c->unit_bits - 6;
        word = ((word >> bits) * c->workers + c->worker) << bits | (word & (((uint64_t)1 << bits) - 1));
    }
    while (engine->tiers[c->tiers[i]].local_first > word << 6) i--;
    return pp_slot_of(c->tiers[i], (word << 6) - engine->tiers[c->tiers[i]].local_first);
}

#endif
