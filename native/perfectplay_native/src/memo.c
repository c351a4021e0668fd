/* Remembers what a game in Python has said, so that a solve asks each of its functions once a position.
 *
 * Enumerating, settling, expanding and building a reverse graph all ask for the same things. Of a game in C they are had
 * again sooner than they are fetched from memory; a game in Python takes a thousand times as long. So its kernel is the
 * first member of a `memo`, and its functions look here first. What is not remembered, because it was never met or
 * because there is no room, the game is asked. And it is asked for many positions at a time (`foresee`), which
 * costs one call into Python for thousands of them.
 *
 *     numbers   positions are numbered as they are met (numbering.h)
 *     entries   what the game said of each, by number
 *     edges     the numbers of the children, one position's after the other's
 *
 * Once all positions are enumerated, each entry also has its slot: solving then needs no look-up for any child.
 *
 * Threads: one at a time while it is open, which a game in Python allows anyway. Closed, as when a table is read, it only
 * passes questions on, and any number may ask. */
#include <stdlib.h>

#include "engine.h"
#include "numbering.h"

/* 63            24 23    8 7           0
 * [ edges begin   ] [ tier ] [ what else ] */
enum {
    STATUS = 3,
    MOVER_BIT = 2,
    HAS_TIER = 1 << 3,
    STUDIED = 1 << 4,
    INDEXED = 1 << 5,
    TIER_SHIFT = 8,
    EDGES_SHIFT = 24
};
typedef struct {
    uint64_t known;
    uint32_t index; /* of its slot, if INDEXED: its tier has that many keys before it */
    uint16_t children;
    int16_t score;
} memo_entry;

static inline uint32_t tier_of_entry(const memo_entry *entry) { return (uint16_t)(entry->known >> TIER_SHIFT); }
static inline int mover_of_entry(const memo_entry *entry) { return (int)(entry->known >> MOVER_BIT & 1); }

typedef struct {
    pp_kernel kernel; /* first: a pointer to it is a pointer to the memo */
    pp_kernel asked;  /* the same with the game's own functions */
    pp_study *study;
    pp_tiers *tiers;

    bool takes_more; /* open, and not full */
    uint64_t limit;  /* bytes that may be used */
    pp_numbering numbers;
    memo_entry *entries;
    uint32_t *edges;
    size_t entry_room, edge_room, edge_count;
} memo;

static memo *memo_of(const pp_kernel *kernel) { return (memo *)(uintptr_t)kernel; }

/* ---- finding and entering ---- */

static memo_entry *entry_for(const memo *m, pp_position position) {
    const uint32_t number = numbering_find(&m->numbers, position);
    return number == PP_NO_NUMBER ? NULL : &m->entries[number];
}

static uint64_t bytes_used(const memo *m) {
    return numbering_bytes(&m->numbers) + m->entry_room * sizeof *m->entries + m->edge_room * sizeof *m->edges;
}

static uint64_t spare(const memo *m) { return m->limit - bytes_used(m); }

/* The number of a position, which is entered if it is new; false where there is no room. */
static bool number_of(memo *m, pp_position position, uint32_t *number) {
    const size_t count = m->numbers.count;
    if (!make_room((void **)&m->entries, &m->entry_room, count + 1, sizeof *m->entries, spare(m))) return false;
    if (!numbering_enter(&m->numbers, position, spare(m), number)) return false;
    if (*number == count) m->entries[count] = (memo_entry){0};
    return true;
}

/* Adds the distinct children to the edges; SIZE_MAX where there is no room, else how many they are. */
static size_t enter_children(memo *m, pp_position *children, size_t count) {
    count = distinct(children, count);
    if (!make_room((void **)&m->edges, &m->edge_room, m->edge_count + count, sizeof *m->edges, spare(m)))
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (!number_of(m, children[i], &m->edges[m->edge_count + i])) return SIZE_MAX;
    m->edge_count += count;
    return count;
}

void pp_memo_enter(pp_kernel *kernel, const pp_position *positions, size_t count, const pp_studied *studied) {
    memo *const m = memo_of(kernel);
    for (size_t i = 0; i < count; i++) {
        const uint32_t begin = i ? studied->ends[i - 1] : 0;
        const uint64_t first = m->edge_count;
        const size_t children = enter_children(m, studied->children + begin, studied->ends[i] - begin);
        uint32_t number;
        if (children == SIZE_MAX || !number_of(m, positions[i], &number)) {
            m->takes_more = false; /* full: what is there stays, nothing is added */
            return;
        }
        memo_entry *const entry = &m->entries[number];
        const unsigned mover = studied->movers ? studied->movers[i] : 0;
        const uint64_t kept = entry->known & (HAS_TIER | (uint64_t)UINT16_MAX << TIER_SHIFT);
        entry->known = first << EDGES_SHIFT | kept | STUDIED | mover << MOVER_BIT | studied->statuses[i];
        entry->children = (uint16_t)children;
        entry->score = studied->scores ? studied->scores[i] : 0;
    }
}

static void enter_tier(memo_entry *entry, uint32_t tier) {
    entry->known |= (uint64_t)(uint16_t)tier << TIER_SHIFT | HAS_TIER;
}

/* ---- the kernel's functions ---- */

static const memo_entry *recall(const pp_kernel *self, pp_position position) {
    const memo_entry *const entry = entry_for(memo_of(self), position);
    return entry && entry->known & STUDIED ? entry : NULL;
}

static int recall_status(const pp_kernel *self, pp_position position) {
    const memo_entry *const known = recall(self, position);
    return known ? (int)(known->known & STATUS) : memo_of(self)->asked.status(self, position);
}

static int recall_mover(const pp_kernel *self, pp_position position) {
    const memo_entry *const known = recall(self, position);
    return known ? mover_of_entry(known) : memo_of(self)->asked.mover(self, position);
}

static int recall_score(const pp_kernel *self, pp_position position) {
    const memo_entry *const known = recall(self, position);
    return known ? known->score : memo_of(self)->asked.score(self, position);
}

static uint32_t recall_tier(const pp_kernel *self, pp_position position) {
    memo_entry *const known = entry_for(memo_of(self), position);
    if (known && known->known & HAS_TIER) return tier_of_entry(known);
    const uint32_t tier = memo_of(self)->asked.tier(self, position);
    if (known) enter_tier(known, tier);
    return tier;
}

static size_t recall_children(const pp_kernel *self, pp_position position, pp_position *children) {
    const memo *const m = memo_of(self);
    const memo_entry *const known = recall(self, position);
    if (!known) return m->asked.children(self, position, children);
    const uint32_t *const edges = m->edges + (known->known >> EDGES_SHIFT);
    for (size_t i = 0; i < known->children; i++) children[i] = m->numbers.keys[edges[i]];
    return known->children;
}

/* ---- slots ----
 *
 * Once every position has one, the children of a position are found without looking for any of them. */

static size_t recall_edges(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const memo *const m = memo_of(self);
    const memo_entry *const known = recall(self, position);
    const uint32_t *const edges = m->edges + (known->known >> EDGES_SHIFT);
    for (size_t i = 0; i < known->children; i++) {
        const memo_entry *const child = &m->entries[edges[i]];
        const bool keeps_turn = self->mover && mover_of_entry(child) == mover_of_entry(known);
        slots[i] = pp_slot_of(tier_of_entry(child), child->index) | (keeps_turn ? PP_KEEPS_TURN : 0);
        if (!(child->known & INDEXED)) slots[i] = UINT64_MAX; /* which is in no tier, and is noticed */
    }
    return known->children;
}

int pp_memo_index(pp_kernel *kernel, uint32_t tier, uint64_t first, const pp_position *keys, size_t count) {
    if (first + count > UINT32_MAX || tier > UINT16_MAX) return 0;
    for (size_t i = 0; i < count; i++) {
        memo_entry *const entry = entry_for(memo_of(kernel), keys[i]);
        if (!entry || !(entry->known & STUDIED)) return 0;
        entry->index = (uint32_t)(first + i);
        enter_tier(entry, tier);
        entry->known |= INDEXED;
    }
    return 1;
}

void pp_memo_use_index(pp_kernel *kernel) { kernel->expand = recall_edges; }

/* ---- asking for many at a time ---- */

static bool takes_more(const pp_kernel *kernel) {
    return kernel->children == recall_children && memo_of(kernel)->takes_more;
}

void foresee(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    if (!takes_more(kernel)) return;
    pp_position *const fresh = malloc((count + 1) * sizeof *fresh);
    size_t wanted = 0;
    for (size_t i = 0; fresh && i < count; i++)
        if (!recall(kernel, positions[i])) fresh[wanted++] = positions[i];
    if (wanted) memo_of(kernel)->study(kernel, fresh, wanted);
    free(fresh);
}

static void enter_tiers(memo *m, const pp_position *positions, size_t count, const uint32_t *tiers) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        if (!number_of(m, positions[i], &number)) return; /* pp_memo_enter will say that it is full */
        enter_tier(&m->entries[number], tiers[i]);
    }
}

void foresee_tiers(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    if (!kernel->tier || !takes_more(kernel)) return;
    memo *const m = memo_of(kernel);
    pp_position *const fresh = malloc((count + 1) * sizeof *fresh);
    uint32_t *const tiers = malloc((count + 1) * sizeof *tiers);
    size_t wanted = 0;
    for (size_t i = 0; fresh && tiers && i < count; i++) {
        const memo_entry *const entry = entry_for(m, positions[i]);
        if (!entry || !(entry->known & HAS_TIER)) fresh[wanted++] = positions[i];
    }
    if (wanted && m->tiers(kernel, fresh, wanted, tiers)) enter_tiers(m, fresh, wanted, tiers);
    free(fresh);
    free(tiers);
}

/* ---- making and unmaking ---- */

pp_kernel *pp_memo_new(const pp_kernel *asked, pp_study *study, pp_tiers *tiers) {
    memo *const m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->kernel = m->asked = *asked;
    m->study = study;
    m->tiers = tiers;
    m->kernel.status = recall_status;
    m->kernel.children = recall_children;
    if (asked->mover) m->kernel.mover = recall_mover;
    if (asked->score) m->kernel.score = recall_score;
    if (asked->tier) m->kernel.tier = recall_tier;
    return &m->kernel;
}

void pp_memo_open(pp_kernel *kernel, uint64_t limit) {
    memo_of(kernel)->limit = limit;
    memo_of(kernel)->takes_more = true;
}

void pp_memo_close(pp_kernel *kernel) {
    memo *const m = memo_of(kernel);
    kernel->expand = NULL;
    numbering_clear(&m->numbers);
    free(m->entries);
    free(m->edges);
    *m = (memo){.kernel = m->kernel, .asked = m->asked, .study = m->study, .tiers = m->tiers};
}

uint64_t pp_memo_bytes(const pp_kernel *kernel) { return bytes_used(memo_of(kernel)); }

void pp_memo_free(pp_kernel *kernel) {
    pp_memo_close(kernel);
    free(memo_of(kernel));
}
