/* The game as a graph of slots: children and parents of a position, from whatever the kernel offers. */
#include "engine.h"

#include <stdlib.h>

enum { SHORT_LIST = 64 };

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_short(uint64_t *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const uint64_t value = values[i];
        size_t j = i;
        for (; j && values[j - 1] > value; j--) values[j] = values[j - 1];
        values[j] = value;
    }
}

size_t distinct(uint64_t *values, size_t count) {
    if (count <= SHORT_LIST) sort_short(values, count);
    else qsort(values, count, sizeof *values, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || values[kept - 1] != values[i]) values[kept++] = values[i];
    return kept;
}

size_t canonical_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves) {
    if (kernel->children) return kernel->children(kernel, position, children);
    const size_t count = kernel->moves(kernel, position, moves);
    for (size_t i = 0; i < count; i++) children[i] = canonical(kernel, kernel->apply(kernel, position, moves[i]));
    return distinct(children, count);
}

bool can_retract(const pp_kernel *kernel) { return kernel->retract || kernel->parents; }

static inline uint32_t tier_number(const pp_kernel *kernel, pp_position position) {
    return kernel->tier ? kernel->tier(kernel, position) : 0;
}

/* The slot of a canonical position: no need to canonicalize it again. */
static pp_slot find_canonical(const pp_engine *engine, pp_position key) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->rank) return kernel->rank(kernel, key);
    const uint32_t tier = tier_number(kernel, key);
    if (tier >= engine->tier_count || !engine->tiers[tier].key_blocks) return UINT64_MAX;
    const uint64_t index = find_key(&engine->tiers[tier], key);
    return index == UINT64_MAX ? UINT64_MAX : pp_slot_of(tier, index);
}

pp_slot pp_find(pp_engine *engine, pp_position position) {
    const pp_kernel *kernel = engine->kernel;
    return find_canonical(engine, kernel->rank ? position : canonical(kernel, position));
}

void positions_of_slots(const pp_engine *engine, pp_slot first, size_t count, pp_position *positions) {
    if (engine->kernel->unrank) {
        engine->kernel->unrank(engine->kernel, first, count, positions);
        return;
    }
    const tier_state *tier = tier_of(engine, first);
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = pp_slot_index(first) + i;
        positions[i] = tier->key_blocks[index >> PP_BLOCK_BITS][index & (BLOCK_SLOTS - 1)];
    }
}

void rule_codes_of_slots(pp_engine *engine, pp_slot first, unsigned count, value_code *codes) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->survey && !kernel->score) {
        uint8_t surveyed[RUN_SLOTS];
        kernel->survey(kernel, first, count, UINT64_MAX >> (RUN_SLOTS - count), surveyed, NULL, NULL);
        for (unsigned i = 0; i < count; i++) codes[i] = surveyed[i];
        return;
    }
    pp_position positions[RUN_SLOTS];
    positions_of_slots(engine, first, count, positions);
    for (unsigned i = 0; i < count; i++) {
        codes[i] = rule_code(kernel, positions[i]);
        if (codes[i] == CODE_BAD_SCORE) fail(engine, PP_BAD_SCORE, positions[i]);
    }
}

/* Asked once for one side of an edge, so that a game in Python is not asked again for every move. */
static inline int mover_of(const pp_kernel *kernel, pp_position position) {
    return compares_movers(kernel) ? kernel->mover(kernel, position) : 0;
}

/* PP_KEEPS_TURN, if the position at the other end of an edge has this mover too. */
static inline pp_slot turn_flag(const pp_kernel *kernel, int mover, pp_position other_end) {
    const bool keeps = compares_movers(kernel) ? kernel->mover(kernel, other_end) == mover : kernel->players == 1;
    return keeps ? PP_KEEPS_TURN : 0;
}

/* Turns canonical children into slots; all of them must be in the index. */
static size_t slots_of_children(pp_engine *engine, pp_position parent, const pp_position *children, size_t count,
                                pp_slot *slots) {
    const int mover = mover_of(engine->kernel, parent);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = find_canonical(engine, children[i]);
        if (slot == UINT64_MAX || pp_slot_tier(slot) >= engine->tier_count) fail(engine, PP_MISSING_CHILD, parent);
        else slots[found++] = slot | turn_flag(engine->kernel, mover, children[i]);
    }
    return found;
}

/* Turns canonical parents into slots; of interest are those being solved. */
static size_t slots_of_parents(const pp_engine *engine, pp_position child, const pp_position *parents, size_t count,
                               pp_slot *slots) {
    const int mover = mover_of(engine->kernel, child);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = find_canonical(engine, parents[i]);
        const bool known = slot != UINT64_MAX && pp_slot_tier(slot) < engine->tier_count;
        if (known && tier_of(engine, slot)->being_solved)
            slots[found++] = slot | turn_flag(engine->kernel, mover, parents[i]);
    }
    return found;
}

/* A kernel may list a slot more than once only if both its expand and its retract do, in step. */
static bool counts_in_step(const pp_kernel *kernel) {
    return kernel->expand && kernel->retract && !(kernel->flags & PP_ONCE_PER_MOVE);
}

size_t finish_edges(const pp_kernel *kernel, pp_slot *slots, size_t count) {
    if (kernel->players == 1)
        for (size_t i = 0; i < count; i++) slots[i] |= PP_KEEPS_TURN;
    return counts_in_step(kernel) ? count : distinct(slots, count);
}

size_t child_slots(pp_engine *engine, pp_position position, pp_slot *slots, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->expand) return finish_edges(kernel, slots, kernel->expand(kernel, position, slots));
    const size_t count = canonical_children(kernel, position, room->positions, room->moves);
    const size_t found = slots_of_children(engine, position, room->positions, count, slots);
    return kernel->rank ? distinct(slots, found) : found;
}

size_t parent_slots(pp_engine *engine, pp_position position, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->retract) return finish_edges(kernel, room->slots, kernel->retract(kernel, position, room->slots));
    const size_t count = kernel->parents(kernel, position, room->positions);
    return distinct(room->slots, slots_of_parents(engine, position, room->positions, count, room->slots));
}

bool new_scratch(pp_engine *engine, scratch *out) {
    const pp_kernel *kernel = engine->kernel;
    const size_t room = (kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents) + 1;
    const size_t each = sizeof *out->positions + sizeof *out->slots + sizeof *out->locals + sizeof *out->entries +
                        sizeof *out->moves + sizeof *out->keep_turn;
    *out = (scratch){.memory = malloc(room * each)};
    if (!out->memory) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    out->positions = out->memory;
    out->slots = out->positions + room;
    out->locals = out->slots + room;
    out->entries = (entry **)(out->locals + room);
    out->moves = (pp_move *)(out->entries + room);
    out->keep_turn = (uint8_t *)(out->moves + room);
    return true;
}

void free_scratch(scratch *room) { free(room->memory); }

size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room) {
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    size_t written = 0, i = 0;
    for (; moves && i < count && room - written >= kernel->max_moves; i++)
        if (kernel->status(kernel, positions[i]) == PP_ONGOING)
            written += canonical_children(kernel, positions[i], children + written, moves);
    free(moves);
    *used = i;
    return written;
}

uint64_t pp_largest_tier(const pp_kernel *kernel, uint32_t *tier) {
    uint64_t largest = 0;
    *tier = 0;
    for (uint32_t i = 0; i < kernel->tier_count; i++) {
        const uint64_t size = kernel->tier_size(kernel, i);
        if (size <= largest) continue;
        largest = size;
        *tier = i;
    }
    return largest;
}

void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers) {
    for (size_t i = 0; i < count; i++) tiers[i] = tier_number(kernel, positions[i]);
}

void pp_movers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, int8_t *movers) {
    for (size_t i = 0; i < count; i++) movers[i] = (int8_t)kernel->mover(kernel, positions[i]);
}

void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *images) {
    for (size_t i = 0; i < count; i++) images[i] = canonical(kernel, positions[i]);
}
