/* The proof: every stored value is derived again from its children, with the forward rules alone (valid, moves, apply,
 * status) and the index. None of what made the solve fast is used.
 *
 *     win(n)    a child lost in n-1, and none sooner
 *     loss(n)   all children won, the longest in n-1
 *     tie(n)    no lost child; the quickest tied child in n-1
 *     endless   no lost child, no tied child, at least one endless
 *
 * A finished position's value is its status. Since every win, loss and tie stands one ply above another, and the
 * finished ones are given by rule, these conditions admit one table only: they prove it. */
#include "engine.h"

#include <stdlib.h>

enum { WORST = UINT32_MAX, SLOTS_A_RANGE = 1 << 14, BATCH = 512 };

typedef struct {
    uint32_t tier;
    _Atomic uint64_t wrong;
    pp_fault *faults;
    size_t room;
    _Atomic int lock;
    size_t kept;
} verification;

static value_code stored_value(pp_engine *engine, pp_position position) {
    const pp_slot slot = pp_find(engine, position);
    if (slot == UINT64_MAX || pp_slot_tier(slot) >= engine->tier_count) return WORST;
    const tier_state *tier = tier_of(engine, slot);
    return tier->blocks && pp_slot_index(slot) < tier->size ? value_at(tier, pp_slot_index(slot)) : WORST;
}

/* The code that the children demand; WORST where a child has no value. */
static value_code derive(pp_engine *engine, pp_position position, value_code stored, pp_move *moves) {
    const pp_kernel *kernel = engine->kernel;
    const int status = kernel->status(kernel, position);
    const size_t count = kernel->moves(kernel, position, moves);
    if (status != PP_ONGOING) return (value_code)status;
    unsigned quickest_loss = WORST, longest_win = 0, quickest_tie = WORST;
    bool endless = false;
    if (stored == code_of(KIND_WIN, 1)) { /* nothing is sooner: the first move that wins on the spot proves it */
        for (size_t i = 0; i < count; i++)
            if (kernel->status(kernel, kernel->apply(kernel, position, moves[i])) == PP_LOST) return stored;
    }
    for (size_t i = 0; i < count; i++) {
        const value_code child = stored_value(engine, kernel->apply(kernel, position, moves[i]));
        const unsigned remoteness = remoteness_of(child);
        if (child == WORST || child == CODE_NO_POSITION) return WORST;
        if (kind_of(child) == KIND_LOSS && remoteness < quickest_loss) quickest_loss = remoteness;
        if (kind_of(child) == KIND_WIN && remoteness > longest_win) longest_win = remoteness;
        if (kind_of(child) == KIND_TIE && remoteness < quickest_tie) quickest_tie = remoteness;
        endless |= child == CODE_ENDLESS;
    }
    if (quickest_loss != WORST) return code_of(KIND_WIN, quickest_loss + 1);
    if (quickest_tie != WORST) return code_of(KIND_TIE, quickest_tie + 1);
    if (endless) return CODE_ENDLESS;
    return count ? code_of(KIND_LOSS, longest_win + 1) : WORST; /* no move, and the game says ONGOING */
}

static int by_slot(const void *a, const void *b) {
    const pp_slot x = ((const pp_fault *)a)->slot, y = ((const pp_fault *)b)->slot;
    return x < y ? -1 : x > y;
}

/* Keeps the first faults in slot order, whatever the order they are found in. */
static void keep_fault(verification *v, pp_fault fault) {
    v->wrong++;
    while (atomic_exchange(&v->lock, 1)) {}
    if (v->kept < v->room) {
        v->faults[v->kept++] = fault;
        qsort(v->faults, v->kept, sizeof fault, by_slot);
    } else if (v->room && fault.slot < v->faults[v->room - 1].slot) {
        v->faults[v->room - 1] = fault;
        qsort(v->faults, v->kept, sizeof fault, by_slot);
    }
    v->lock = 0;
}

static void verify_slots(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    verification *v = context;
    const tier_state *tier = &engine->tiers[v->tier];
    pp_position positions[BATCH];
    pp_move *moves = malloc((engine->kernel->max_moves + 1) * sizeof *moves);
    if (!moves) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return;
    }
    for (uint64_t index = first; index < last;) {
        const uint64_t count = last - index < BATCH ? last - index : BATCH;
        positions_of_slots(engine, pp_slot_of(v->tier, index), count, positions);
        for (uint64_t i = 0; i < count; i++) {
            const value_code stored = value_at(tier, index + i);
            const value_code expected = positions[i] == PP_NO_POSITION ? (value_code)CODE_NO_POSITION
                                                                       : derive(engine, positions[i], stored, moves);
            if (stored != expected)
                keep_fault(v, (pp_fault){pp_slot_of(v->tier, index + i), positions[i], stored, expected});
        }
        index += count;
    }
    free(moves);
    engine->progress_positions += last - first;
}

int pp_verify(pp_engine *engine, uint32_t tier, uint64_t *wrong, pp_fault *faults, size_t room) {
    verification v = {.tier = tier, .faults = faults, .room = room};
    engine->failure = PP_OK;
    const int result = parallel(engine, verify_slots, &v, engine->tiers[tier].size, SLOTS_A_RANGE);
    *wrong = v.wrong;
    return result;
}
