/* Stores the results of a game in Python, so that a solve calls each of its functions once per position.
 *
 * Enumerating, settling, expanding and building a reverse graph all need the same results. A game in C computes them
 * again faster than they are fetched from memory, but a game in Python takes a thousand times as long. So its kernel is
 * the first member of a `memo`, and the kernel's functions look into the memo first. They call the game for results
 * that are not stored, because the position is new or the memo is full. pp_memo_prefill calls the game for many
 * positions at once, which costs one call into Python for thousands of positions.
 *
 *     numbers   the positions, numbered in the order in which they are added (numbering.h)
 *     entries   the results for each position, by number
 *     edges     the numbers of the children of one position after the other
 *
 * When all positions are enumerated, each entry also gets its slot, and solving then needs no look-ups for children.
 *
 * Threads: one at a time while the memo is started, which is all that a game in Python allows anyway. Otherwise, as
 * when a table is read, it only forwards calls, and any number of threads may call it. */
#include <stdlib.h>

#include "memo_api.h"
#include "moves.h"
#include "numbering.h"

/* 63            24 23    8 7       0
 * [ first edge    ] [ tier ] [ flags ] */
enum {
    STATUS = 3,
    MOVER_BIT = 2,
    HAS_TIER = 1 << 3,
    HAS_RESULTS = 1 << 4,
    HAS_SLOT = 1 << 5,
    TIER_SHIFT = 8,
    EDGES_SHIFT = 24
};
typedef struct {
    uint64_t word;
    uint32_t index; /* of its slot, if HAS_SLOT: the number of smaller keys in its tier */
    uint16_t children;
    int16_t score;
} memo_entry;

static inline uint32_t tier_of_entry(const memo_entry *entry) { return (uint16_t)(entry->word >> TIER_SHIFT); }
static inline int mover_of_entry(const memo_entry *entry) { return (int)(entry->word >> MOVER_BIT & 1); }

typedef struct {
    pp_kernel kernel; /* first: a pointer to it is a pointer to the memo */
    pp_kernel game;   /* the same with the game's own functions */
    pp_expand_callback *expand_many;
    pp_tiers_callback *tiers_of_many;

    bool accepts_more; /* started, and not full */
    uint64_t limit;    /* bytes that may be used */
    pp_numbering numbers;
    memo_entry *entries;
    uint32_t *edges;
    size_t entry_capacity, edge_capacity, edge_count;
} memo;

static memo *memo_of(const pp_kernel *kernel) { return (memo *)(uintptr_t)kernel; }

/* ---- finding and adding ---- */

static memo_entry *entry_for(const memo *m, pp_position position) {
    const uint32_t number = numbering_find(&m->numbers, position);
    return number == PP_NO_NUMBER ? NULL : &m->entries[number];
}

static uint64_t bytes_used(const memo *m) {
    return pp_numbering_bytes(&m->numbers) + m->entry_capacity * sizeof *m->entries +
           m->edge_capacity * sizeof *m->edges;
}

static uint64_t spare(const memo *m) { return m->limit - bytes_used(m); }

/* Adds a position if it is new, and writes its number. Returns false if there is no room. */
static bool number_of(memo *m, pp_position position, uint32_t *number) {
    const size_t count = m->numbers.count;
    if (!grow_array_within((void **)&m->entries, &m->entry_capacity, count + 1, sizeof *m->entries, spare(m)))
        return false;
    if (!pp_numbering_add_key(&m->numbers, position, spare(m), number)) return false;
    if (*number == count) m->entries[count] = (memo_entry){0};
    return true;
}

/* Adds the distinct children to the edges and returns their number; SIZE_MAX if there is no room. */
static size_t add_children(memo *m, pp_position *children, size_t count) {
    count = pp_make_distinct(children, count);
    if (!grow_array_within((void **)&m->edges, &m->edge_capacity, m->edge_count + count, sizeof *m->edges, spare(m)))
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (!number_of(m, children[i], &m->edges[m->edge_count + i])) return SIZE_MAX;
    m->edge_count += count;
    return count;
}

void pp_memo_add(pp_kernel *kernel, const pp_position *positions, size_t count, const pp_position_batch *batch) {
    memo *const m = memo_of(kernel);
    for (size_t i = 0; i < count; i++) {
        const uint32_t begin = i ? batch->ends[i - 1] : 0;
        const uint64_t first = m->edge_count;
        const size_t children = add_children(m, batch->children + begin, batch->ends[i] - begin);
        uint32_t number;
        if (children == SIZE_MAX || !number_of(m, positions[i], &number)) {
            m->accepts_more = false; /* full: the entries stay, but none are added */
            return;
        }
        memo_entry *const entry = &m->entries[number];
        const unsigned mover = batch->movers ? batch->movers[i] : 0;
        const uint64_t tier = entry->word & (HAS_TIER | (uint64_t)UINT16_MAX << TIER_SHIFT);
        entry->word = first << EDGES_SHIFT | tier | HAS_RESULTS | mover << MOVER_BIT | batch->statuses[i];
        entry->children = (uint16_t)children;
        entry->score = batch->scores ? batch->scores[i] : 0;
    }
}

static void set_tier(memo_entry *entry, uint32_t tier) {
    entry->word |= (uint64_t)(uint16_t)tier << TIER_SHIFT | HAS_TIER;
}

/* ---- the kernel's functions ---- */

static const memo_entry *find_results(const pp_kernel *self, pp_position position) {
    const memo_entry *const entry = entry_for(memo_of(self), position);
    return entry && entry->word & HAS_RESULTS ? entry : NULL;
}

static int memo_status(const pp_kernel *self, pp_position position) {
    const memo_entry *const entry = find_results(self, position);
    return entry ? (int)(entry->word & STATUS) : memo_of(self)->game.status(self, position);
}

/* A position with results was valid when they were stored. */
static int memo_valid(const pp_kernel *self, pp_position position) {
    return find_results(self, position) ? 1 : memo_of(self)->game.valid(self, position);
}

static int memo_mover(const pp_kernel *self, pp_position position) {
    const memo_entry *const entry = find_results(self, position);
    return entry ? mover_of_entry(entry) : memo_of(self)->game.mover(self, position);
}

static int memo_score(const pp_kernel *self, pp_position position) {
    const memo_entry *const entry = find_results(self, position);
    return entry ? entry->score : memo_of(self)->game.score(self, position);
}

static uint32_t memo_tier(const pp_kernel *self, pp_position position) {
    memo_entry *const entry = entry_for(memo_of(self), position);
    if (entry && entry->word & HAS_TIER) return tier_of_entry(entry);
    const uint32_t tier = memo_of(self)->game.tier(self, position);
    if (entry) set_tier(entry, tier);
    return tier;
}

static size_t memo_children(const pp_kernel *self, pp_position position, pp_position *children) {
    const memo *const m = memo_of(self);
    const memo_entry *const entry = find_results(self, position);
    if (!entry) return m->game.children(self, position, children);
    const uint32_t *const edges = m->edges + (entry->word >> EDGES_SHIFT);
    for (size_t i = 0; i < entry->children; i++) children[i] = m->numbers.keys[edges[i]];
    return entry->children;
}

/* ---- slots ---- */

/* The kernel's `expand` when every position has a slot. */
static size_t memo_expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const memo *const m = memo_of(self);
    const memo_entry *const entry = find_results(self, position);
    const uint32_t *const edges = m->edges + (entry->word >> EDGES_SHIFT);
    for (size_t i = 0; i < entry->children; i++) {
        const memo_entry *const child = &m->entries[edges[i]];
        const bool keeps_turn = self->mover && mover_of_entry(child) == mover_of_entry(entry);
        slots[i] = pp_slot_of(tier_of_entry(child), child->index) | (keeps_turn ? PP_KEEPS_TURN : 0);
        if (!(child->word & HAS_SLOT)) slots[i] = UINT64_MAX; /* in no tier, which the engine reports */
    }
    return entry->children;
}

int pp_memo_index(pp_kernel *kernel, uint32_t tier, uint64_t first, const pp_position *keys, size_t count) {
    if (first + count > UINT32_MAX || tier > UINT16_MAX) return 0;
    for (size_t i = 0; i < count; i++) {
        memo_entry *const entry = entry_for(memo_of(kernel), keys[i]);
        if (!entry || !(entry->word & HAS_RESULTS)) return 0;
        entry->index = (uint32_t)(first + i);
        set_tier(entry, tier);
        entry->word |= HAS_SLOT;
    }
    return 1;
}

void pp_memo_use_index(pp_kernel *kernel) { kernel->expand = memo_expand; }

/* ---- many positions per call ---- */

static bool accepts_more(const pp_kernel *kernel) {
    return kernel->children == memo_children && memo_of(kernel)->accepts_more;
}

void pp_memo_prefill(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    kernel = pp_undeclared(kernel);
    if (!accepts_more(kernel)) return;
    pp_position *const missing = malloc((count + 1) * sizeof *missing);
    size_t missing_count = 0;
    for (size_t i = 0; missing && i < count; i++)
        if (positions[i] != PP_NO_POSITION && !find_results(kernel, positions[i]))
            missing[missing_count++] = positions[i];
    if (missing_count) memo_of(kernel)->expand_many(kernel, missing, missing_count);
    free(missing);
}

static void add_tiers(memo *m, const pp_position *positions, size_t count, const uint32_t *tiers) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        if (!number_of(m, positions[i], &number)) return; /* pp_memo_add will notice that the memo is full */
        set_tier(&m->entries[number], tiers[i]);
    }
}

void pp_memo_prefill_tiers(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    if (!kernel->tier || !accepts_more(kernel)) return;
    memo *const m = memo_of(kernel);
    pp_position *const missing = malloc((count + 1) * sizeof *missing);
    uint32_t *const tiers = malloc((count + 1) * sizeof *tiers);
    size_t missing_count = 0;
    for (size_t i = 0; missing && tiers && i < count; i++) {
        const memo_entry *const entry = entry_for(m, positions[i]);
        if (!entry || !(entry->word & HAS_TIER)) missing[missing_count++] = positions[i];
    }
    if (missing_count && m->tiers_of_many(kernel, missing, missing_count, tiers))
        add_tiers(m, missing, missing_count, tiers);
    free(missing);
    free(tiers);
}

/* ---- creating and freeing ---- */

pp_kernel *pp_memo_new(const pp_kernel *game, pp_expand_callback *expand_many, pp_tiers_callback *tiers_of_many) {
    memo *const m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->kernel = m->game = *game;
    m->expand_many = expand_many;
    m->tiers_of_many = tiers_of_many;
    m->kernel.status = memo_status;
    if (game->valid) m->kernel.valid = memo_valid;
    m->kernel.children = memo_children;
    if (game->mover) m->kernel.mover = memo_mover;
    if (game->score) m->kernel.score = memo_score;
    if (game->tier) m->kernel.tier = memo_tier;
    return &m->kernel;
}

void pp_memo_start(pp_kernel *kernel, uint64_t limit) {
    memo_of(kernel)->limit = limit;
    memo_of(kernel)->accepts_more = true;
}

void pp_memo_clear(pp_kernel *kernel) {
    memo *const m = memo_of(kernel);
    kernel->expand = NULL;
    pp_numbering_clear(&m->numbers);
    free(m->entries);
    free(m->edges);
    *m = (memo){.kernel = m->kernel, .game = m->game, .expand_many = m->expand_many, .tiers_of_many = m->tiers_of_many};
}

uint64_t pp_memo_bytes(const pp_kernel *kernel) { return bytes_used(memo_of(kernel)); }

void pp_memo_free(pp_kernel *kernel) {
    pp_memo_clear(kernel);
    free(memo_of(kernel));
}
