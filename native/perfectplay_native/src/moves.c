/* Children and parents of positions as slots, from whatever functions the kernel has. */
#include "moves.h"

#include <stdlib.h>

enum { SHORT_LIST = 64 };

/* ---- short lists ---- */

static int compare_values(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Puts each value at the index given by the number of smaller ones, without a branch to mispredict. */
static void sort_short(uint64_t *values, size_t count) {
    uint64_t unsorted[SHORT_LIST];
    unsigned rank[SHORT_LIST];
    for (size_t i = 0; i < count; i++) {
        unsigned before = 0;
        for (size_t j = 0; j < i; j++) {
            const bool after = values[j] > values[i];
            rank[j] += after;
            before += !after;
        }
        rank[i] = before;
    }
    memcpy(unsorted, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[rank[i]] = unsorted[i];
}

size_t pp_make_distinct(uint64_t *values, size_t count) {
    if (count <= SHORT_LIST) sort_short(values, count);
    else qsort(values, count, sizeof *values, compare_values);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || values[kept - 1] != values[i]) values[kept++] = values[i];
    return kept;
}

size_t pp_canonical_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves) {
    if (kernel->children) return kernel->children(kernel, position, children);
    const size_t count = kernel->moves(kernel, position, moves);
    for (size_t i = 0; i < count; i++) children[i] = canonical(kernel, kernel->apply(kernel, position, moves[i]));
    return pp_make_distinct(children, count);
}

size_t pp_any_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves) {
    if (kernel->children) return kernel->children(kernel, position, children);
    const size_t count = kernel->moves(kernel, position, moves);
    for (size_t i = 0; i < count; i++) children[i] = kernel->apply(kernel, position, moves[i]);
    return count;
}

/* ---- rules ---- */

void pp_rule_codes_of_slots(pp_engine *engine, pp_slot first, unsigned count, value_code *codes) {
    const pp_kernel *kernel = engine->kernel;
    if (has_survey(kernel)) {
        uint8_t surveyed[RUN_SLOTS];
        kernel->survey(kernel, first, count, UINT64_MAX >> (RUN_SLOTS - count), surveyed, NULL, NULL);
        for (unsigned i = 0; i < count; i++) codes[i] = surveyed[i];
        return;
    }
    pp_position positions[RUN_SLOTS];
    pp_positions_of_slots(engine, first, count, positions);
    pp_memo_prefill(kernel, positions, count);
    for (unsigned i = 0; i < count; i++) {
        codes[i] = rule_code(kernel, positions[i]);
        if (codes[i] == CODE_BAD_SCORE) fail(engine, PP_BAD_SCORE, positions[i]);
    }
}

/* ---- edges ---- */

/* Replaces the positions at the other ends of edges from one position by their slots, with PP_KEEPS_TURN if the mover
 * is the same at both ends. */
static void find_edges(const pp_engine *engine, pp_position origin, uint64_t *edges, size_t count, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    const bool compares = compares_movers(kernel);
    const int mover = compares ? kernel->mover(kernel, origin) : 0;
    for (size_t i = 0; i < count; i++)
        room->keeps_turn[i] = compares ? kernel->mover(kernel, edges[i]) == mover : kernel->players == 1;
    pp_find_slots(engine, edges, count);
    for (size_t i = 0; i < count; i++)
        if (room->keeps_turn[i] && edges[i] != UINT64_MAX) edges[i] |= PP_KEEPS_TURN;
}

static inline bool in_index(const pp_engine *engine, pp_slot slot) {
    return slot != UINT64_MAX && pp_slot_tier(slot) < engine->tier_count;
}

/* Whether a kernel may list a slot more than once: only if it has both expand and retract, under the counting law. */
static bool follows_counting_law(const pp_kernel *kernel) {
    return kernel->expand && kernel->retract && !(kernel->flags & PP_ONCE_PER_MOVE);
}

size_t pp_normalize_edges(const pp_kernel *kernel, pp_slot *slots, size_t count) {
    if (kernel->players == 1)
        for (size_t i = 0; i < count; i++) slots[i] |= PP_KEEPS_TURN;
    return follows_counting_law(kernel) ? count : pp_make_distinct(slots, count);
}

/* Copies the slots found for a position's children. All of them must be in the index. */
static size_t keep_children(pp_engine *engine, pp_position parent, const pp_slot *found, size_t count, pp_slot *slots) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (in_index(engine, found[i])) slots[kept++] = found[i];
        else fail(engine, PP_MISSING_CHILD, parent);
    return engine->kernel->rank ? pp_make_distinct(slots, kept) : kept;
}

/* If no move keeps the turn, the look-ups of all positions are made together. */
void pp_child_slots(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots, uint32_t *ends,
                    scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    const bool together = !compares_movers(kernel) && kernel->players != 1;
    uint32_t end = 0, begin = 0;
    for (size_t i = 0; i < count; i++) {
        pp_slot *next = slots + end;
        if (kernel->expand) {
            end += (uint32_t)pp_normalize_edges(kernel, next, kernel->expand(kernel, positions[i], next));
        } else {
            /* images have the same rank, so only keys need the canonical form */
            const size_t children = kernel->rank ? pp_any_children(kernel, positions[i], next, room->moves)
                                                 : pp_canonical_children(kernel, positions[i], next, room->moves);
            if (!together) find_edges(engine, positions[i], next, children, room);
            end += (uint32_t)children;
        }
        ends[i] = end;
    }
    if (kernel->expand) return;
    if (together) pp_find_slots(engine, slots, end);
    for (size_t i = 0, kept = 0; i < count; i++) {
        kept += keep_children(engine, positions[i], slots + begin, ends[i] - begin, slots + kept);
        begin = ends[i];
        ends[i] = (uint32_t)kept;
    }
}

size_t pp_parent_slots(pp_engine *engine, pp_position position, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->retract) return pp_normalize_edges(kernel, room->slots, kernel->retract(kernel, position, room->slots));
    const size_t count = kernel->parents(kernel, position, room->slots);
    size_t kept = 0;
    find_edges(engine, position, room->slots, count, room);
    for (size_t i = 0; i < count; i++) /* only parents in tiers being solved matter */
        if (in_index(engine, room->slots[i]) && tier_of(engine, room->slots[i])->being_solved)
            room->slots[kept++] = room->slots[i];
    return pp_make_distinct(room->slots, kept);
}

/* ---- buffers ---- */

bool pp_scratch_new(pp_engine *engine, scratch *out) {
    const pp_kernel *kernel = engine->kernel;
    const size_t room = (kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents) + 1;
    const size_t each = sizeof *out->slots + sizeof *out->moves + sizeof *out->keeps_turn;
    *out = (scratch){.memory = malloc(room * each)};
    if (!out->memory) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    out->slots = out->memory;
    out->moves = (pp_move *)(out->slots + room);
    out->keeps_turn = (uint8_t *)(out->moves + room);
    return true;
}

void pp_scratch_free(scratch *room) { free(room->memory); }
