/* A worker's share of tiers that several workers solve together: the steps of a solve on the units it owns.
 *
 *     unit        0     1     2     3     4     5          a tier is padded to whole units
 *     worker      0     1     2     0     1     2          of three
 *     own number  0     0     0     1     1     1
 *
 * A share is a component whose words are those of its own units, one after the other (slot_of_word in engine.h does
 * the rest), so that settling, expanding and storing are the very functions that threads run. Different is how a parent
 * is told: its own entries a worker changes at once; what concerns another's goes into a batch for that worker, as the
 * place of the parent among that worker's slots. Only parents that the rules left open are told at all; every worker
 * sees that in the settled values. Since updates of a level concern later levels only (engine.h), it is enough that
 * all batches of a level are applied before the next level begins.
 *
 * A share works in one thread: there is a worker for every core. */
#include <stdlib.h>

#include "engine.h"
#include "evaluate.h"
#include "updates.h"

typedef struct {
    char *bytes;
    uint64_t used, room; /* bytes */
} batch;

struct pp_share {
    pp_engine *engine;
    component c;
    uint32_t *tiers;
    batch *batches; /* PP_BATCHES for each worker */
};

/* ---- batches ---- */

static batch *batch_for(const pp_share *share, uint32_t worker, int kind) {
    return &share->batches[(uint64_t)worker * PP_BATCHES + (unsigned)kind];
}

static bool make_room(batch *b, uint64_t size) {
    const uint64_t room = b->room ? 2 * b->room : 4096;
    char *bytes = b->used + size <= b->room ? b->bytes : realloc(b->bytes, room);
    if (!bytes) return false;
    if (bytes != b->bytes || b->used + size > b->room) b->room = room;
    b->bytes = bytes;
    return true;
}

static inline void append(pp_share *share, uint32_t worker, int kind, const void *value, uint64_t size) {
    batch *b = batch_for(share, worker, kind);
    if (b->used + size > b->room && !make_room(b, size)) {
        fail(share->engine, PP_OUT_OF_MEMORY, 0);
        return;
    }
    memcpy(b->bytes + b->used, value, size);
    b->used += size;
}

static inline void append_slot(pp_share *share, uint32_t worker, int kind, uint32_t local) {
    append(share, worker, kind, &local, sizeof local);
}

static void clear_batches(pp_share *share) {
    for (uint64_t i = 0; i < (uint64_t)share->c.workers * PP_BATCHES; i++) share->batches[i].used = 0;
}

const void *pp_share_batch(const pp_share *share, uint32_t worker, int kind, uint64_t *count) {
    const batch *b = batch_for(share, worker, kind);
    *count = b->used / (kind == PP_BATCH_PARENTS ? sizeof(pp_slot) : sizeof(uint32_t));
    return b->bytes;
}

/* ---- whose ---- */

typedef struct {
    uint32_t worker;
    uint32_t local; /* among the slots of that worker */
} place;

static inline place place_of(const pp_share *share, const tier_state *tier, pp_slot slot) {
    const component *c = &share->c;
    const uint64_t of_all = local_index(tier, slot);
    const uint32_t unit = (uint32_t)(of_all >> c->unit_bits);
    const uint32_t within = (uint32_t)of_all & (((uint32_t)1 << c->unit_bits) - 1);
    return (place){unit % c->workers, (unit / c->workers) << c->unit_bits | within};
}

/* Whether a block is held here: its own, or where units are smaller than blocks, every one. */
static bool holds_block(const pp_share *share, const tier_state *tier, uint64_t block) {
    const component *c = &share->c;
    const uint64_t unit = (tier->local_first + (block << PP_BLOCK_BITS)) >> c->unit_bits;
    return c->unit_bits < PP_BLOCK_BITS || unit % c->workers == c->worker;
}

/* ---- making and unmaking ---- */

static uint64_t slots_in_block(const tier_state *tier, uint64_t block) {
    const uint64_t left = tier->size - (block << PP_BLOCK_BITS);
    return left < BLOCK_SLOTS ? left : BLOCK_SLOTS;
}

/* Room for the blocks of a tier that are held here, zeroed. The others have the address of a block more, which says of
 * every position that it is open: nobody asks before the true values are lent, unless the rules contradict themselves. */
static int own_blocks(pp_share *share, tier_state *tier, uint8_t shift) {
    pp_engine *engine = share->engine;
    const uint64_t blocks = block_count(tier->size);
    uint64_t slots = 0;
    for (uint64_t i = 0; i < blocks; i++)
        if (holds_block(share, tier, i)) slots += slots_in_block(tier, i);
    buffer memory;
    const int result = allocate(engine, value_bytes(slots + (slots < tier->size ? BLOCK_SLOTS : 0), shift), &memory);
    if (result) return result;
    void **pointers = calloc(blocks + 1, sizeof *pointers);
    if (!pointers) {
        release(engine, &memory);
        return PP_OUT_OF_MEMORY;
    }
    char *next = memory.bytes;
    for (uint64_t i = 0; i < blocks; i++) {
        pointers[i] = (char *)memory.bytes + value_bytes(slots, shift);
        if (!holds_block(share, tier, i)) continue;
        pointers[i] = next;
        next += value_bytes(slots_in_block(tier, i), shift);
    }
    drop_values(engine, tier);
    tier->owned = memory;
    tier->blocks = pointers;
    tier->shift = shift;
    return PP_OK;
}

void pp_share_free(pp_share *share) {
    pp_engine *engine = share->engine;
    for (size_t i = 0; i < share->c.tier_count; i++) {
        tier_state *tier = &engine->tiers[share->tiers[i]];
        drop_values(engine, tier);
        tier->being_solved = 0;
    }
    release(engine, &share->c.marker_memory);
    release(engine, &share->c.entry_memory);
    release(engine, &share->c.chunk_memory);
    release(engine, &share->c.graph_memory);
    for (uint64_t i = 0; share->batches && i < (uint64_t)share->c.workers * PP_BATCHES; i++)
        free(share->batches[i].bytes);
    free(share->batches);
    free(share->tiers);
    free(share);
    engine->share = NULL;
}

static int cut_into_units(pp_share *share, uint8_t shift) {
    pp_engine *engine = share->engine;
    component *c = &share->c;
    const uint64_t unit = (uint64_t)1 << c->unit_bits;
    uint64_t all = 0;
    for (size_t i = 0; i < c->tier_count; i++) {
        tier_state *tier = &engine->tiers[c->tiers[i]];
        tier->being_solved = 1;
        tier->local_first = all;
        all += (tier->size + unit - 1) & ~(unit - 1);
    }
    const uint64_t units = all >> c->unit_bits;
    c->slots = (units / c->workers + (c->worker < units % c->workers)) << c->unit_bits;
    if (c->slots > UINT32_MAX || units > UINT32_MAX) return PP_TOO_MANY;
    for (size_t i = 0; i < c->tier_count; i++) {
        const int result = own_blocks(share, &engine->tiers[c->tiers[i]], shift);
        if (result) return result;
    }
    return PP_OK;
}

int pp_share_new(pp_engine *engine, const uint32_t *tiers, size_t count, unsigned unit_bits, uint32_t worker,
                 uint32_t workers, unsigned width, pp_share **out) {
    pp_share *share = calloc(1, sizeof *share);
    if (!share) return PP_OUT_OF_MEMORY;
    share->engine = engine;
    share->tiers = malloc((count + 1) * sizeof *tiers);
    share->batches = calloc((size_t)workers * PP_BATCHES, sizeof *share->batches);
    if (!share->tiers || !share->batches) {
        pp_share_free(share);
        return PP_OUT_OF_MEMORY;
    }
    memcpy(share->tiers, tiers, count * sizeof *tiers);
    share->c = (component){.tiers = share->tiers,
                           .tier_count = count,
                           .share = share,
                           .workers = workers,
                           .worker = worker,
                           .unit_bits = unit_bits,
                           .scored = engine->kernel->score != NULL,
                           .propagation = can_retract(engine->kernel) ? PP_PROPAGATE_RETRACT : PP_PROPAGATE_GRAPH};
    engine->failure = PP_OK;
    engine->progress_level = 0;
    engine->progress_positions = engine->progress_slots = 0;
    engine->progress_marked = engine->progress_steps_done = 0;
    const int result = cut_into_units(share, shift_of_width(width));
    if (result) pp_share_free(share);
    else *out = engine->share = share;
    return result;
}

void *pp_share_block(pp_share *share, uint32_t number, uint64_t block) {
    const tier_state *tier = &share->engine->tiers[number];
    return holds_block(share, tier, block) ? tier->blocks[block] : NULL;
}

void pp_share_lend(pp_share *share, uint32_t number, uint64_t block, void *values) {
    share->engine->tiers[number].blocks[block] = values;
}

pp_share_state pp_share_state_of(const pp_share *share) {
    return (pp_share_state){
        .marked = share->c.entry_count, .last_level = share->c.last_level, .has_ties = share->c.has_ties};
}

/* ---- the steps that need no telling ---- */

int pp_share_solve(pp_share *share) { return solve_acyclic(share->engine, &share->c); }
int pp_share_settle(pp_share *share) { return settle(share->engine, &share->c); }

int pp_share_expand(pp_share *share, int threshold, int edges) {
    clear_batches(share);
    share->c.threshold = threshold;
    share->c.listing_edges = edges;
    const int result = expand_marked(share->engine, &share->c);
    share->c.listing_edges = false;
    return result;
}

int pp_share_begin_ties(pp_share *share) {
    share->c.threshold = 0; /* all scores are decided */
    return begin_ties(share->engine, &share->c);
}

int pp_share_scores(pp_share *share, uint64_t *scores) { return collect_scores(share->engine, &share->c, scores); }
int pp_share_store_score(pp_share *share) { return store_decided(share->engine, &share->c); }

/* ---- reverse edges ---- */

void note_edges(pp_share *share, pp_slot parent, const pp_slot *children, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const tier_state *tier = tier_of(share->engine, children[i]);
        if (!tier->being_solved || value_at(tier, pp_slot_index(children[i])) != CODE_ENDLESS) continue;
        const place child = place_of(share, tier, children[i]);
        const pp_slot edge = parent | (children[i] & PP_KEEPS_TURN);
        append_slot(share, child.worker, PP_BATCH_CHILDREN, child.local);
        append(share, child.worker, PP_BATCH_PARENTS, &edge, sizeof edge);
    }
}

/* The number of the entry of an own slot that is open. */
static inline uint64_t entry_number(const component *c, uint32_t local) {
    return (uint64_t)(entry_of(c, local) - c->entries);
}

/* A counting sort, as in reverse.c: how many parents each child has, where these end, and each into its place. */
int pp_share_learn(pp_share *share, size_t count, const uint32_t *const *children, const uint64_t *const *parents,
                   const uint64_t *lengths) {
    component *c = &share->c;
    uint64_t edges = 0;
    for (size_t i = 0; i < count; i++) edges += lengths[i];
    const int result = allocate(share->engine, (c->entry_count + 1 + edges) * sizeof(uint64_t), &share->c.graph_memory);
    if (result) return result;
    c->graph_first = share->c.graph_memory.bytes;
    c->graph_slots = c->graph_first + c->entry_count + 1;
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < lengths[i]; j++) {
            if (children[i][j] >= c->slots || !entry_of(c, children[i][j])) return PP_BAD_BATCH;
            c->graph_first[entry_number(c, children[i][j])]++;
        }
    for (uint64_t i = 1; i <= c->entry_count; i++) c->graph_first[i] += c->graph_first[i - 1];
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < lengths[i]; j++)
            c->graph_slots[--c->graph_first[entry_number(c, children[i][j])]] = parents[i][j];
    return PP_OK;
}

/* ---- one level ---- */

size_t keep_own_updates(pp_share *share, uint64_t *updates, size_t count) {
    const component *c = &share->c;
    const uint64_t child_lost = (uint64_t)1 << 63;
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = updates[i] & ~child_lost;
        const tier_state *tier = tier_of(share->engine, slot);
        if (value_at(tier, pp_slot_index(slot)) != CODE_ENDLESS) continue; /* the rules settled it, or a higher score */
        const place parent = place_of(share, tier, slot);
        if (parent.worker == c->worker) {
            __builtin_prefetch(&c->markers[parent.local >> 6]);
            updates[own++] = parent.local | (updates[i] & child_lost);
        } else {
            append_slot(share, parent.worker, updates[i] & child_lost ? PP_BATCH_WINS : PP_BATCH_CLOSES, parent.local);
        }
    }
    return own;
}

int pp_share_inform(pp_share *share, unsigned level, int ties) {
    clear_batches(share);
    share->engine->progress_level = level;
    const int result = inform_level(share->engine, &share->c, (round_level){.level = level, .ties = ties});
    return result ? result : check_last_level(&share->c, level);
}

int pp_share_apply(pp_share *share, unsigned level, int ties, int kind, const uint32_t *slots, uint64_t count) {
    const round_level at = {.level = level, .ties = ties};
    return apply_updates(share->engine, &share->c, at, kind == PP_BATCH_WINS, slots, count);
}

/* ---- checkpoints ---- */

uint64_t pp_share_entries(const pp_share *share, uint64_t unit, uint32_t *states) {
    const component *c = &share->c;
    const uint64_t words = (uint64_t)1 << (c->unit_bits - 6), after = (unit + 1) * words;
    const uint64_t end = after < c->slots / 64 ? c->markers[after].before : c->entry_count;
    uint64_t count = 0;
    for (uint64_t i = c->markers[unit * words].before; i < end; i++) {
        const uint32_t state = atomic_load_explicit(&c->entries[i], memory_order_relaxed);
        if (state != ENTRY_STORED) states[count++] = state; /* else its value is no longer open */
    }
    return count;
}

int pp_share_mark(pp_share *share) { return mark_open(share->engine, &share->c); }

int pp_share_recall(pp_share *share, int threshold, int ties, const uint32_t *states, uint64_t count) {
    component *c = &share->c;
    if (count != c->entry_count) return PP_BAD_BATCH;
    c->threshold = threshold;
    c->last_level = 0;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned level = remoteness_of(entry_code(states[i]));
        c->entries[i] = states[i];
        if (!entry_decided(states[i]) || (kind_of(states[i]) == KIND_TIE) != ties) continue;
        note_due(c, i, level);
        if (level > c->last_level) c->last_level = level;
    }
    return PP_OK;
}

/* ---- storing ---- */

void pp_share_wide(const pp_share *share, uint8_t *wide) {
    const component *c = &share->c;
    for (uint64_t word = 0; word < c->slots / 64; word++) {
        uint64_t number = c->markers[word].before;
        for (uint64_t bits = c->markers[word].bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            if (!entry_decided(state) || entry_code(state) <= LARGEST_NARROW_CODE) continue;
            const uint32_t tier = pp_slot_tier(slot_of_word(share->engine, c, word));
            for (size_t i = 0; i < c->tier_count; i++) wide[i] |= c->tiers[i] == tier;
        }
    }
}

/* Two bytes a value instead of one. */
static int widen_blocks(pp_share *share, tier_state *tier) {
    const uint64_t blocks = block_count(tier->size);
    buffer narrow = tier->owned;
    void **addresses = tier->blocks;
    tier->owned = (buffer){0}; /* kept until they are copied */
    tier->blocks = NULL;
    const int result = own_blocks(share, tier, SHIFT_WIDE);
    for (uint64_t i = 0; !result && i < blocks; i++) {
        if (!holds_block(share, tier, i)) continue;
        for (uint64_t j = 0; j < slots_in_block(tier, i); j++)
            ((uint16_t *)tier->blocks[i])[j] = ((const uint8_t *)addresses[i])[j];
    }
    release(share->engine, &narrow);
    free(addresses);
    return result;
}

int pp_share_store(pp_share *share, const uint8_t *wide) {
    for (size_t i = 0; i < share->c.tier_count; i++) {
        tier_state *tier = &share->engine->tiers[share->tiers[i]];
        const int result = wide[i] && tier->shift == SHIFT_NARROW ? widen_blocks(share, tier) : PP_OK;
        if (result) return result;
    }
    return store_decided(share->engine, &share->c);
}
