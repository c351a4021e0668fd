/* Ranks and unranks the same sub-space of Morris with morris's own index and with perfectplay/index.h.
 *
 * Both start from a position and from a slot, as a solve does. Ranks are of random positions, and unranks of runs of slots. */
#include "perfectplay.h"

#include "index.h"

#include <time.h>

#include "../games/morris/perfectplay_morris/index.h"
#include "../games/morris/perfectplay_morris/position.h"
#include "perfectplay/index.h"

enum { RUN = 64 };

/* CPU time in nanoseconds. */
static double now(void) { return 1e9 * (double)clock() / CLOCKS_PER_SEC; }

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static inline uint64_t rank_generic(const pp_index *index, pp_position position) {
    const uint64_t masks[2] = {white_men(position), black_men(position)};
    return pp_index_rank(index, masks, NULL);
}

static void unrank_generic(const pp_index *index, uint64_t first, pp_position *positions) {
    uint64_t masks[2 * RUN];
    pp_index_unrank(index, 0, first, RUN, masks);
    for (size_t i = 0; i < RUN; i++)
        positions[i] = position_of((uint32_t)masks[2 * i], (uint32_t)masks[2 * i + 1], 0, 0);
}

static volatile uint64_t sink; /* keeps the calls */

static int measure(const pp_kernel *kernel, const pp_index *index, uint32_t tier, size_t count, pp_position *positions,
                   index_times *times) {
    const uint64_t hand_size = kernel->tier_size(kernel, tier), generic_size = pp_index_size(index, 0);
    uint64_t state = UINT64_C(88172645463325252), sum = 0;
    if (generic_size < RUN) return 0;
    double begin = now();
    for (size_t i = 0; i + RUN <= count; i += RUN)
        unrank_generic(index, next_random(&state) % (generic_size - RUN + 1), positions + i);
    times->generic_unrank = (now() - begin) / (double)count;
    for (size_t i = 0; i < count; i++) { /* runs have similar positions */
        const size_t other = next_random(&state) % count;
        const pp_position swap = positions[i];
        positions[i] = positions[other], positions[other] = swap;
    }
    begin = now();
    for (size_t i = 0; i < count; i++) sum += rank_generic(index, positions[i]);
    times->generic_rank = (now() - begin) / (double)count;
    begin = now();
    for (size_t i = 0; i < count; i++) sum += kernel->rank(kernel, positions[i]);
    times->hand_rank = (now() - begin) / (double)count;
    for (size_t i = 0; i < count; i += count / 1000) { /* the representatives of the two indexes differ */
        pp_position run[RUN];
        const uint64_t rank = rank_generic(index, positions[i]), first = rank < RUN ? 0 : rank - RUN + 1;
        unrank_generic(index, first, run);
        if (kernel->canonicalize(kernel, run[rank - first]) != kernel->canonicalize(kernel, positions[i])) return 0;
    }
    begin = now();
    for (size_t i = 0; i + RUN <= count; i += RUN)
        kernel->unrank(kernel, pp_slot_of(tier, next_random(&state) % (hand_size - RUN + 1)), RUN, positions + i);
    times->hand_unrank = (now() - begin) / (double)count;
    sink = sum;
    return 1;
}

int measure_index(const pp_kernel *kernel, uint32_t mover, uint32_t other, size_t positions, index_times *times) {
    const morris_board *board = kernel->context;
    uint8_t generator[SYMMETRIES][PP_INDEX_CELLS] = {{0}};
    for (unsigned s = 0; s < board->rules.symmetry_count; s++) memcpy(generator[s], board->rules.symmetries[s], POINTS);
    pp_index_spec spec = {.cells = board->rules.points, .kinds = 2, .generators = board->rules.symmetry_count};
    spec.generator = (const uint8_t (*)[PP_INDEX_CELLS])generator;
    spec.least[0] = spec.most[0] = (uint8_t)mover;
    spec.least[1] = spec.most[1] = (uint8_t)other;
    static pp_index index;
    pp_position *room = malloc(positions * sizeof *room);
    const int measured = room && positions >= 1000 && pp_index_build(&index, &spec) == PP_INDEX_OK &&
                         measure(kernel, &index, board->tier_of[0][mover][other], positions, room, times);
    pp_index_free(&index);
    free(room);
    return measured;
}
