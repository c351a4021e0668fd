/* The best move of many positions: for exports, where asking from Python would take days. */
#include <stdlib.h>

#include "engine.h"

int pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best) {
    const pp_kernel *kernel = engine->kernel;
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t most = INT64_MIN;
        best[i] = -1;
        const size_t legal = kernel->moves(kernel, positions[i], moves);
        for (size_t m = 0; m < legal; m++) {
            const pp_position child = kernel->apply(kernel, positions[i], moves[m]);
            const value_code code = pp_value_of_slot(engine, pp_find(engine, child));
            if (code == CODE_NO_POSITION) continue;
            const int64_t worth = worth_to_parent(code, keeps_turn(kernel, positions[i], child));
            if (worth > most) {
                most = worth;
                best[i] = moves[m];
            }
        }
    }
    free(moves);
    return PP_OK;
}
