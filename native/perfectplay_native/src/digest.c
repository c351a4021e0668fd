/* All that a kernel says about some positions, each function's answers as one number. For `solve check`, which asks from
 * several threads at once and compares: a function that keeps something between calls then contradicts itself. */
#include <stdlib.h>

#include "engine.h"

static uint64_t mixed(uint64_t digest, uint64_t answer) {
    digest = (digest ^ answer) * UINT64_C(0x9E3779B97F4A7C15);
    return digest ^ digest >> 29;
}

static uint64_t digest_of(const uint64_t *answers, size_t count) {
    uint64_t digest = mixed(0, count);
    for (size_t i = 0; i < count; i++) digest = mixed(digest, answers[i]);
    return digest;
}

/* The answers of one position, where api.h puts them. `moves` and `room` hold the most that the kernel writes. */
static void ask_all(const pp_kernel *k, pp_position position, pp_move *moves, uint64_t *room, uint64_t *digests) {
    const size_t found = k->moves(k, position, moves);
    digests[PP_DIGEST_MOVES] = mixed(0, found);
    for (size_t i = 0; i < found; i++) {
        digests[PP_DIGEST_MOVES] = mixed(digests[PP_DIGEST_MOVES], moves[i]);
        room[i] = k->apply(k, position, moves[i]);
    }
    digests[PP_DIGEST_APPLY] = digest_of(room, found);
    if (k->canonicalize) digests[PP_DIGEST_CANONICALIZE] = k->canonicalize(k, position);
    const int status = k->status(k, position);
    digests[PP_DIGEST_STATUS] = (uint64_t)status;
    if (k->rank) digests[PP_DIGEST_RANK] = k->rank(k, position);
    if (status != PP_ONGOING) return;
    if (k->expand) digests[PP_DIGEST_EXPAND] = digest_of(room, k->expand(k, position, room));
    if (k->wins_now && k->wins_now(k, position)) return; /* parents are asked for of open positions alone */
    if (k->retract) digests[PP_DIGEST_RETRACT] = digest_of(room, k->retract(k, position, room));
    if (k->parents) digests[PP_DIGEST_PARENTS] = digest_of(room, k->parents(k, position, room));
}

int pp_digests(const pp_kernel *kernel, const pp_position *positions, size_t count, uint64_t *digests) {
    const size_t most = kernel->max_moves > kernel->max_parents ? kernel->max_moves : kernel->max_parents;
    pp_move *moves = malloc((most + 1) * sizeof *moves);
    uint64_t *room = malloc((most + 1) * sizeof *room);
    const int result = moves && room ? PP_OK : PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < PP_DIGESTS * count; i++) digests[i] = 0;
    for (size_t i = 0; i < count && result == PP_OK; i++)
        ask_all(kernel, positions[i], moves, room, digests + PP_DIGESTS * i);
    free(moves);
    free(room);
    return result;
}
