/* A worker's share of tiers that several workers solve together: the steps of a solve on the units that it owns.
 *
 *     unit        0     1     2     3     4     5          a tier is padded to whole units
 *     worker      0     1     2     0     1     2          of three
 *     own number  0     0     0     1     1     1
 *
 * A share is a component whose words are those of its own units, one after the other (slot_of_word in component.h does
 * the conversion). So settling, expanding and storing are done by the same functions as without workers. Only updates
 * of parents differ. A worker changes its own entries at once. An update of another worker's entry goes into a batch
 * for that worker, which contains the local slot of the parent. Only parents that the rules left open are updated,
 * which every worker sees in the settled values. The updates of a level concern later levels only (component.h), so it
 * is enough that all batches of a level are applied before the next level begins.
 *
 * A share runs in one thread, because there is a worker for every core. */
#include <stdlib.h>

#include "component.h"
#include "containers.h"
#include "updates.h"

typedef struct {
    char *bytes;
    size_t used, capacity; /* bytes */
} batch;

struct pp_share {
    pp_engine *engine;
    component c;
    score_state scores;
    uint32_t *tiers;
    batch *batches;        /* PP_BATCHES for each worker */
    bool collecting_edges; /* pp_share_add_edges adds to the batches */
};

/* ---- batches ---- */

static batch *batch_for(const pp_share *share, uint32_t worker, int kind) {
    return &share->batches[(uint64_t)worker * PP_BATCHES + (unsigned)kind];
}

static inline void append(pp_share *share, uint32_t worker, int kind, const void *value, size_t size) {
    batch *b = batch_for(share, worker, kind);
    if (b->used + size > b->capacity && !grow_array((void **)&b->bytes, &b->capacity, b->used + size, 1)) {
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
    for (uint64_t i = 0; i < (uint64_t)share->c.layout.workers * PP_BATCHES; i++) share->batches[i].used = 0;
}

const void *pp_share_batch(const pp_share *share, uint32_t worker, int kind, uint64_t *count) {
    const batch *b = batch_for(share, worker, kind);
    *count = b->used / (kind == PP_BATCH_PARENTS ? sizeof(pp_slot) : sizeof(uint32_t));
    return b->bytes;
}

/* ---- owners ---- */

typedef struct {
    uint32_t worker;
    uint32_t local; /* slot among those of that worker */
} owned_slot;

static inline owned_slot owner_of(const pp_share *share, const tier_state *tier, pp_slot slot) {
    const component_layout *l = &share->c.layout;
    const uint64_t local = local_index(tier, slot); /* among those of all workers */
    const uint32_t unit = (uint32_t)(local >> l->unit_bits);
    const uint32_t within = (uint32_t)local & (((uint32_t)1 << l->unit_bits) - 1);
    return (owned_slot){unit % l->workers, (unit / l->workers) << l->unit_bits | within};
}

/* Whether this share stores a block: its own blocks, or every block if units are smaller than blocks. */
static bool stores_block(const pp_share *share, const tier_state *tier, uint64_t block) {
    const component_layout *l = &share->c.layout;
    const uint64_t unit = (tier->local_first + (block << PP_BLOCK_BITS)) >> l->unit_bits;
    return l->unit_bits < PP_BLOCK_BITS || unit % l->workers == l->worker;
}

/* ---- creating and freeing ---- */

static uint64_t slots_in_block(const tier_state *tier, uint64_t block) {
    const uint64_t left = tier->size - (block << PP_BLOCK_BITS);
    return left < BLOCK_SLOTS ? left : BLOCK_SLOTS;
}

/* Allocates the blocks of a tier that this share stores, zeroed. All others get the address of one additional block, in
 * which every position is open. It is not read before the real values are attached, unless the rules contradict
 * themselves. */
static int own_blocks(pp_share *share, tier_state *tier, uint8_t shift) {
    pp_engine *engine = share->engine;
    const uint64_t blocks = block_count(tier->size);
    uint64_t slots = 0;
    for (uint64_t i = 0; i < blocks; i++)
        if (stores_block(share, tier, i)) slots += slots_in_block(tier, i);
    buffer memory;
    const int result = pp_allocate(engine, value_bytes(slots + (slots < tier->size ? BLOCK_SLOTS : 0), shift), &memory);
    if (result) return result;
    void **pointers = calloc(blocks + 1, sizeof *pointers);
    if (!pointers) {
        pp_release(engine, &memory);
        return PP_OUT_OF_MEMORY;
    }
    char *next = memory.bytes;
    for (uint64_t i = 0; i < blocks; i++) {
        pointers[i] = (char *)memory.bytes + value_bytes(slots, shift);
        if (!stores_block(share, tier, i)) continue;
        pointers[i] = next;
        next += value_bytes(slots_in_block(tier, i), shift);
    }
    pp_drop_values(engine, tier);
    tier->owned = memory;
    tier->blocks = pointers;
    tier->shift = shift;
    return PP_OK;
}

void pp_share_free(pp_share *share) {
    pp_engine *engine = share->engine;
    const component_layout *l = &share->c.layout;
    for (size_t i = 0; i < l->tier_count; i++) {
        tier_state *tier = &engine->tiers[share->tiers[i]];
        pp_drop_values(engine, tier);
        tier->being_solved = 0;
    }
    pp_release_component(engine, &share->c);
    for (uint64_t i = 0; share->batches && i < (uint64_t)l->workers * PP_BATCHES; i++) free(share->batches[i].bytes);
    free(share->batches);
    free(share->tiers);
    free(share);
    engine->share = NULL;
}

static int cut_into_units(pp_share *share, uint8_t shift) {
    pp_engine *engine = share->engine;
    component_layout *l = &share->c.layout;
    const uint64_t unit = (uint64_t)1 << l->unit_bits;
    uint64_t all = 0;
    for (size_t i = 0; i < l->tier_count; i++) {
        tier_state *tier = &engine->tiers[l->tiers[i]];
        tier->being_solved = 1;
        tier->local_first = all;
        all += (tier->size + unit - 1) & ~(unit - 1);
    }
    const uint64_t units = all >> l->unit_bits;
    l->slots = (units / l->workers + (l->worker < units % l->workers)) << l->unit_bits;
    if (l->slots > UINT32_MAX || units > UINT32_MAX) return PP_TOO_MANY;
    for (size_t i = 0; i < l->tier_count; i++) {
        const int result = own_blocks(share, &engine->tiers[l->tiers[i]], shift);
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
    component *c = &share->c;
    c->layout = (component_layout){
        .tiers = share->tiers, .tier_count = count, .workers = workers, .worker = worker, .unit_bits = unit_bits};
    c->share = share;
    c->scores = engine->kernel->score ? &share->scores : NULL;
    c->source.propagation = can_retract(engine->kernel) ? PP_PROPAGATE_RETRACT : PP_PROPAGATE_GRAPH;
    pp_reset_progress(engine);
    const int result = cut_into_units(share, shift_of_width(width));
    if (result) pp_share_free(share);
    else *out = engine->share = share;
    return result;
}

void *pp_share_block(pp_share *share, uint32_t number, uint64_t block) {
    const tier_state *tier = &share->engine->tiers[number];
    return stores_block(share, tier, block) ? tier->blocks[block] : NULL;
}

void pp_share_attach_block(pp_share *share, uint32_t number, uint64_t block, void *values) {
    share->engine->tiers[number].blocks[block] = values;
}

pp_share_state pp_share_state_of(const pp_share *share) {
    return (pp_share_state){
        .marked = share->c.open.count, .last_level = share->c.last_level, .has_ties = share->c.has_ties};
}

/* ---- steps without updates ---- */

int pp_share_solve(pp_share *share) { return pp_solve_acyclic(share->engine, &share->c); }
int pp_share_settle(pp_share *share) { return pp_settle(share->engine, &share->c); }

int pp_share_expand(pp_share *share, int threshold, int edges) {
    clear_batches(share);
    share->scores.threshold = threshold;
    share->collecting_edges = edges;
    const int result = pp_expand_open(share->engine, &share->c);
    share->collecting_edges = false;
    return result;
}

int pp_share_begin_ties(pp_share *share) {
    share->scores.threshold = 0; /* all scores are decided */
    return pp_begin_ties(share->engine, &share->c);
}

int pp_share_collect_scores(pp_share *share, uint64_t *scores) {
    return pp_collect_scores(share->engine, &share->c, scores);
}
int pp_share_store_score(pp_share *share) { return pp_store_decided(share->engine, &share->c); }

/* ---- reverse edges ---- */

void pp_share_add_edges(pp_share *share, pp_slot parent, const pp_slot *children, size_t count) {
    if (!share->collecting_edges) return;
    for (size_t i = 0; i < count; i++) {
        const tier_state *tier = tier_of(share->engine, children[i]);
        if (!tier->being_solved || value_at(tier, pp_slot_index(children[i])) != CODE_ENDLESS) continue;
        const owned_slot child = owner_of(share, tier, children[i]);
        const pp_slot edge = parent | (children[i] & PP_KEEPS_TURN);
        append_slot(share, child.worker, PP_BATCH_CHILDREN, child.local);
        append(share, child.worker, PP_BATCH_PARENTS, &edge, sizeof edge);
    }
}

/* The number of the entry of an own slot that is open. */
static inline uint64_t entry_number(const component *c, uint32_t local) {
    return (uint64_t)(entry_of(c, local) - c->open.entries);
}

/* A counting sort (containers.h). */
int pp_share_receive_edges(pp_share *share, size_t count, const uint32_t *const *children,
                           const uint64_t *const *parents, const uint64_t *lengths) {
    component *c = &share->c;
    parent_source *graph = &c->source;
    uint64_t edges = 0;
    for (size_t i = 0; i < count; i++) edges += lengths[i];
    const int result = pp_allocate(share->engine, (c->open.count + 1 + edges) * sizeof(uint64_t), &graph->memory);
    if (result) return result;
    graph->first = graph->memory.bytes;
    graph->slots = graph->first + c->open.count + 1;
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < lengths[i]; j++) {
            if (children[i][j] >= c->layout.slots || !entry_of(c, children[i][j])) return PP_BAD_BATCH;
            graph->first[entry_number(c, children[i][j])]++;
        }
    end_groups(graph->first, c->open.count);
    for (size_t i = count; i-- > 0;)
        for (uint64_t j = lengths[i]; j-- > 0;)
            graph->slots[--graph->first[entry_number(c, children[i][j])]] = parents[i][j];
    return PP_OK;
}

/* ---- one level ---- */

size_t pp_share_route_updates(pp_share *share, uint64_t *updates, size_t count) {
    const component *c = &share->c;
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = updates[i] & ~PARENT_WINS;
        const tier_state *tier = tier_of(share->engine, slot);
        if (value_at(tier, pp_slot_index(slot)) != CODE_ENDLESS) continue; /* settled, or decided by a higher score */
        const owned_slot parent = owner_of(share, tier, slot);
        if (parent.worker == c->layout.worker) {
            __builtin_prefetch(&c->open.markers[parent.local >> 6]);
            updates[own++] = parent.local | (updates[i] & PARENT_WINS);
        } else {
            const int kind = updates[i] & PARENT_WINS ? PP_BATCH_WINS : PP_BATCH_CLOSES;
            append_slot(share, parent.worker, kind, parent.local);
        }
    }
    return own;
}

int pp_share_propagate(pp_share *share, unsigned level, int ties) {
    clear_batches(share);
    share->engine->progress_level = level;
    const int result = pp_propagate_level(share->engine, &share->c, (round_level){.level = level, .ties = ties});
    return result ? result : pp_check_last_level(&share->c, level);
}

int pp_share_apply(pp_share *share, unsigned level, int ties, int kind, const uint32_t *slots, uint64_t count) {
    const round_level at = {.level = level, .ties = ties};
    return pp_apply_updates(share->engine, &share->c, at, kind == PP_BATCH_WINS, slots, count);
}

/* ---- checkpoints ---- */

uint64_t pp_share_entries(const pp_share *share, uint64_t unit, uint32_t *states) {
    const component *c = &share->c;
    const uint64_t words = (uint64_t)1 << (c->layout.unit_bits - 6), after = (unit + 1) * words;
    const uint64_t end = after < word_count(c) ? c->open.markers[after].before : c->open.count;
    uint64_t count = 0;
    for (uint64_t i = c->open.markers[unit * words].before; i < end; i++) {
        const uint32_t state = load_entry(c, i);
        if (state != ENTRY_STORED) states[count++] = state; /* otherwise its value is no longer open */
    }
    return count;
}

int pp_share_restore_values(pp_share *share) { return pp_mark_open(share->engine, &share->c); }

int pp_share_restore_entries(pp_share *share, int threshold, int ties, const uint32_t *states, uint64_t count) {
    component *c = &share->c;
    if (count != c->open.count) return PP_BAD_BATCH;
    share->scores.threshold = threshold;
    c->last_level = 0;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned level = remoteness_of(entry_code(states[i]));
        c->open.entries[i] = states[i];
        if (!entry_decided(states[i]) || (kind_of(states[i]) == KIND_TIE) != ties) continue;
        note_due(c, i, level);
        if (level > c->last_level) c->last_level = level;
    }
    return PP_OK;
}

/* ---- storing ---- */

void pp_share_wide_tiers(const pp_share *share, uint8_t *wide) {
    const component *c = &share->c;
    for (uint64_t word = 0; word < word_count(c); word++) {
        uint64_t number = c->open.markers[word].before;
        for (uint64_t bits = c->open.markers[word].bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = load_entry(c, number);
            if (!entry_decided(state) || entry_code(state) <= LARGEST_NARROW_CODE) continue;
            const uint32_t tier = pp_slot_tier(slot_of_word(share->engine, c, word));
            for (size_t i = 0; i < c->layout.tier_count; i++) wide[i] |= c->layout.tiers[i] == tier;
        }
    }
}

/* Converts the values of a tier from one to two bytes each. */
static int widen_blocks(pp_share *share, tier_state *tier) {
    const uint64_t blocks = block_count(tier->size);
    buffer narrow = tier->owned;
    void **addresses = tier->blocks;
    tier->owned = (buffer){0}; /* so that they are not freed before they are copied */
    tier->blocks = NULL;
    const int result = own_blocks(share, tier, SHIFT_WIDE);
    for (uint64_t i = 0; !result && i < blocks; i++) {
        if (!stores_block(share, tier, i)) continue;
        for (uint64_t j = 0; j < slots_in_block(tier, i); j++)
            ((uint16_t *)tier->blocks[i])[j] = ((const uint8_t *)addresses[i])[j];
    }
    pp_release(share->engine, &narrow);
    free(addresses);
    return result;
}

int pp_share_store(pp_share *share, const uint8_t *wide) {
    for (size_t i = 0; i < share->c.layout.tier_count; i++) {
        tier_state *tier = &share->engine->tiers[share->tiers[i]];
        const int result = wide[i] && tier->shift == SHIFT_NARROW ? widen_blocks(share, tier) : PP_OK;
        if (result) return result;
    }
    return pp_store_decided(share->engine, &share->c);
}
