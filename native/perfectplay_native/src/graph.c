/* The game as a graph of slots: children and parents of a position, from whatever the kernel offers. */
#include "engine.h"

#include <stdlib.h>

enum { SHORT_LIST = 64, LOOK_UPS = 64 };

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Each value goes to the place that the smaller ones leave it: no branch that a processor could guess wrongly. */
static void sort_short(uint64_t *values, size_t count) {
    uint64_t unsorted[SHORT_LIST];
    unsigned place[SHORT_LIST];
    for (size_t i = 0; i < count; i++) {
        unsigned before = 0;
        for (size_t j = 0; j < i; j++) {
            const bool after = values[j] > values[i];
            place[j] += after;
            before += !after;
        }
        place[i] = before;
    }
    memcpy(unsorted, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[place[i]] = unsorted[i];
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

void find_slots(const pp_engine *engine, uint64_t *positions, size_t count) {
    const pp_kernel *kernel = engine->kernel;
    look_up wanted[LOOK_UPS];
    uint64_t *answers[LOOK_UPS];
    for (size_t next = 0; next < count && kernel->rank; next++) positions[next] = kernel->rank(kernel, positions[next]);
    for (size_t next = 0; next < count && !kernel->rank;) {
        size_t asked = 0;
        for (; next < count && asked < LOOK_UPS; next++) {
            const uint32_t tier = tier_number(kernel, positions[next]);
            const bool known = tier < engine->tier_count && engine->tiers[tier].key_blocks;
            wanted[asked] = (look_up){.tier = &engine->tiers[known ? tier : 0], .key = positions[next]};
            answers[asked] = &positions[next];
            positions[next] = UINT64_MAX;
            asked += known;
        }
        find_keys(wanted, asked);
        for (size_t i = 0; i < asked; i++)
            if (wanted[i].index != UINT64_MAX)
                *answers[i] = pp_slot_of((uint32_t)(wanted[i].tier - engine->tiers), wanted[i].index);
    }
}

pp_slot pp_find(pp_engine *engine, pp_position position) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->rank) return kernel->rank(kernel, position);
    position = canonical(kernel, position);
    find_slots(engine, &position, 1);
    return position;
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
    foresee(kernel, positions, count);
    for (unsigned i = 0; i < count; i++) {
        codes[i] = rule_code(kernel, positions[i]);
        if (codes[i] == CODE_BAD_SCORE) fail(engine, PP_BAD_SCORE, positions[i]);
    }
}

/* The same of the other ends of edges from one position, with PP_KEEPS_TURN where the mover is the same there too. */
static void find_edges(const pp_engine *engine, pp_position origin, uint64_t *edges, size_t count, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    const bool compares = compares_movers(kernel);
    const int mover = compares ? kernel->mover(kernel, origin) : 0;
    for (size_t i = 0; i < count; i++)
        room->keep_turn[i] = compares ? kernel->mover(kernel, edges[i]) == mover : kernel->players == 1;
    find_slots(engine, edges, count);
    for (size_t i = 0; i < count; i++)
        if (room->keep_turn[i] && edges[i] != UINT64_MAX) edges[i] |= PP_KEEPS_TURN;
}

static inline bool in_index(const pp_engine *engine, pp_slot slot) {
    return slot != UINT64_MAX && pp_slot_tier(slot) < engine->tier_count;
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

/* Of slots that were looked up for a position's children: all of them must be in the index. */
static size_t keep_children(pp_engine *engine, pp_position parent, const pp_slot *found, size_t count, pp_slot *slots) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (in_index(engine, found[i])) slots[kept++] = found[i];
        else fail(engine, PP_MISSING_CHILD, parent);
    return engine->kernel->rank ? distinct(slots, kept) : kept;
}

/* Where nobody keeps the turn, the look-ups of all positions are made together. */
void child_slots(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots, uint32_t *ends,
                 scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    const bool together = !compares_movers(kernel) && kernel->players != 1;
    uint32_t end = 0, begin = 0;
    for (size_t i = 0; i < count; i++) {
        pp_slot *next = slots + end;
        if (kernel->expand) {
            end += (uint32_t)finish_edges(kernel, next, kernel->expand(kernel, positions[i], next));
        } else {
            const size_t children = canonical_children(kernel, positions[i], next, room->moves);
            if (!together) find_edges(engine, positions[i], next, children, room);
            end += (uint32_t)children;
        }
        ends[i] = end;
    }
    if (kernel->expand) return;
    if (together) find_slots(engine, slots, end);
    for (size_t i = 0, kept = 0; i < count; i++) {
        kept += keep_children(engine, positions[i], slots + begin, ends[i] - begin, slots + kept);
        begin = ends[i];
        ends[i] = (uint32_t)kept;
    }
}

size_t parent_slots(pp_engine *engine, pp_position position, scratch *room) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->retract) return finish_edges(kernel, room->slots, kernel->retract(kernel, position, room->slots));
    const size_t count = kernel->parents(kernel, position, room->slots);
    size_t kept = 0;
    find_edges(engine, position, room->slots, count, room);
    for (size_t i = 0; i < count; i++) /* of interest are those being solved */
        if (in_index(engine, room->slots[i]) && tier_of(engine, room->slots[i])->being_solved)
            room->slots[kept++] = room->slots[i];
    return distinct(room->slots, kept);
}

bool new_scratch(pp_engine *engine, scratch *out) {
    const pp_kernel *kernel = engine->kernel;
    const size_t room = (kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents) + 1;
    const size_t each = sizeof *out->slots + sizeof *out->moves + sizeof *out->keep_turn;
    *out = (scratch){.memory = malloc(room * each)};
    if (!out->memory) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    out->slots = out->memory;
    out->moves = (pp_move *)(out->slots + room);
    out->keep_turn = (uint8_t *)(out->moves + room);
    return true;
}

void free_scratch(scratch *room) { free(room->memory); }

size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room) {
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    size_t written = 0, i = 0;
    if (!moves) return SIZE_MAX;
    foresee(kernel, positions, count);
    for (; i < count && room - written >= kernel->max_moves; i++)
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
    foresee_tiers(kernel, positions, count);
    for (size_t i = 0; i < count; i++) tiers[i] = tier_number(kernel, positions[i]);
}

void pp_movers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, int8_t *movers) {
    for (size_t i = 0; i < count; i++) movers[i] = (int8_t)kernel->mover(kernel, positions[i]);
}

void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *images) {
    for (size_t i = 0; i < count; i++) images[i] = canonical(kernel, positions[i]);
}

void pp_follow(const pp_kernel *kernel, pp_position position, const pp_move *moves, size_t count, pp_position *children,
               pp_position *images) {
    for (size_t i = 0; i < count; i++) {
        children[i] = kernel->apply(kernel, position, moves[i]);
        images[i] = canonical(kernel, children[i]);
    }
}
