/* The game as a graph of slots: children and parents of a position, from whatever the kernel offers. */
#include "engine.h"

#include <stdlib.h>

size_t distinct(uint64_t *values, size_t count) {
    /* insertion sort: the lists are short */
    for (size_t i = 1; i < count; i++) {
        const uint64_t value = values[i];
        size_t j = i;
        for (; j && values[j - 1] > value; j--) values[j] = values[j - 1];
        values[j] = value;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || values[kept - 1] != values[i]) values[kept++] = values[i];
    return kept;
}

size_t canonical_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves) {
    if (kernel->children) return kernel->children(kernel, position, children);
    const size_t count = kernel->moves(kernel, position, moves);
    for (size_t i = 0; i < count; i++)
        children[i] = kernel->canonicalize(kernel, kernel->apply(kernel, position, moves[i]));
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
    return find_canonical(engine, kernel->rank ? position : kernel->canonicalize(kernel, position));
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

/* Turns canonical children into slots; all of them must be in the index. */
static size_t slots_of_children(pp_engine *engine, pp_position parent, const pp_position *children, size_t count,
                                pp_slot *slots) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = find_canonical(engine, children[i]);
        if (slot == UINT64_MAX || pp_slot_tier(slot) >= engine->tier_count) fail(engine, PP_MISSING_CHILD, parent);
        else slots[found++] = slot;
    }
    return found;
}

/* Turns canonical parents into slots; of interest are those being solved. */
static size_t slots_of_parents(const pp_engine *engine, const pp_position *parents, size_t count, pp_slot *slots) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const pp_slot slot = find_canonical(engine, parents[i]);
        const bool known = slot != UINT64_MAX && pp_slot_tier(slot) < engine->tier_count;
        if (known && tier_of(engine, slot)->being_solved) slots[found++] = slot;
    }
    return found;
}

size_t child_slots(pp_engine *engine, pp_position position, pp_slot *slots, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    /* A kernel's expand may list a slot more than once only in step with its own retract. */
    if (kernel->expand) {
        const size_t count = kernel->expand(kernel, position, slots);
        return kernel->retract ? count : distinct(slots, count);
    }
    const size_t count = canonical_children(kernel, position, room->positions, room->moves);
    const size_t found = slots_of_children(engine, position, room->positions, count, slots);
    return kernel->rank ? distinct(slots, found) : found;
}

size_t parent_slots(pp_engine *engine, pp_position position, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->retract && kernel->expand) return kernel->retract(kernel, position, room->slots);
    if (kernel->retract) return distinct(room->slots, kernel->retract(kernel, position, room->slots));
    const size_t count = kernel->parents(kernel, position, room->positions);
    return distinct(room->slots, slots_of_parents(engine, room->positions, count, room->slots));
}

bool new_scratch(pp_engine *engine, scratch *out) {
    const pp_kernel *kernel = engine->kernel;
    const size_t room = (kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents) + 1;
    const size_t each =
        sizeof *out->positions + sizeof *out->slots + sizeof *out->locals + sizeof *out->entries + sizeof *out->moves;
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

void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers) {
    for (size_t i = 0; i < count; i++) tiers[i] = tier_number(kernel, positions[i]);
}

void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *canonical) {
    for (size_t i = 0; i < count; i++) canonical[i] = kernel->canonicalize(kernel, positions[i]);
}
