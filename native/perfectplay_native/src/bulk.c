/* Kernel functions for many positions in one call from Python. */
#include <stdlib.h>

#include "containers.h"
#include "moves.h"
#include "positions_api.h"

size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room) {
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    size_t written = 0, i = 0;
    if (!moves) return SIZE_MAX;
    pp_memo_prefill(kernel, positions, count);
    for (; i < count && room - written >= kernel->max_moves; i++)
        if (kernel->status(kernel, positions[i]) == PP_ONGOING)
            written += pp_canonical_children(kernel, positions[i], children + written, moves);
    free(moves);
    *used = i;
    return written;
}

void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers) {
    pp_memo_prefill_tiers(kernel, positions, count);
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

/* ---- values from the rules ---- */

void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = rule_code(kernel, positions[i]);
}

/* ---- digests ----
 *
 * `solve check` computes them in several threads at once and compares: a function that keeps state between calls then
 * gives different results. */

static uint64_t add_to_digest(uint64_t digest, uint64_t result) { return hash_key(digest ^ result); }

static uint64_t digest_of(const uint64_t *results, size_t count) {
    uint64_t digest = add_to_digest(0, count);
    for (size_t i = 0; i < count; i++) digest = add_to_digest(digest, results[i]);
    return digest;
}

/* The digests of one position. `moves` and `room` have room for everything that the kernel may write. */
static void digest_position(const pp_kernel *k, pp_position position, pp_move *moves, uint64_t *room,
                            uint64_t *digests) {
    const size_t count = k->moves(k, position, moves);
    digests[PP_DIGEST_MOVES] = add_to_digest(0, count);
    for (size_t i = 0; i < count; i++) {
        digests[PP_DIGEST_MOVES] = add_to_digest(digests[PP_DIGEST_MOVES], moves[i]);
        room[i] = k->apply(k, position, moves[i]);
    }
    digests[PP_DIGEST_APPLY] = digest_of(room, count);
    if (k->canonicalize) digests[PP_DIGEST_CANONICALIZE] = k->canonicalize(k, position);
    const int status = k->status(k, position);
    digests[PP_DIGEST_STATUS] = (uint64_t)status;
    if (k->rank) digests[PP_DIGEST_RANK] = k->rank(k, position);
    if (status != PP_ONGOING) return;
    if (k->expand) digests[PP_DIGEST_EXPAND] = digest_of(room, k->expand(k, position, room));
    if (k->wins_now && k->wins_now(k, position)) return; /* parents are defined for open positions only */
    if (k->retract) digests[PP_DIGEST_RETRACT] = digest_of(room, k->retract(k, position, room));
    if (k->parents) digests[PP_DIGEST_PARENTS] = digest_of(room, k->parents(k, position, room));
}

int pp_digests(const pp_kernel *kernel, const pp_position *positions, size_t count, uint64_t *digests) {
    const size_t edges = kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents;
    pp_move *moves = malloc((edges + 1) * sizeof *moves);
    uint64_t *room = malloc((edges + 1) * sizeof *room);
    const int result = moves && room ? PP_OK : PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < PP_DIGESTS * count; i++) digests[i] = 0;
    for (size_t i = 0; i < count && result == PP_OK; i++)
        digest_position(kernel, positions[i], moves, room, digests + PP_DIGESTS * i);
    free(moves);
    free(room);
    return result;
}
