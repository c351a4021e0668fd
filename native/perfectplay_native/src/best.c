/* The best move of many positions: for exports, where asking from Python would take days. */
#include <stdlib.h>

#include "engine.h"

/* What a child is worth to the player who moves there, the best lowest: quick wins, quick ties, endless draws, slow
 * losses. UINT32_MAX where the child has no value. */
static uint32_t worth(pp_engine *engine, pp_position child) {
    enum { WIN = 0, TIE = 1 << 16, ENDLESS = 2 << 16, LOSS = 3 << 16 };
    const pp_slot slot = pp_find(engine, child);
    uint16_t code;
    pp_values_of_slots(engine, &slot, 1, &code);
    const uint32_t remoteness = remoteness_of(code);
    switch (kind_of(code)) {
    case KIND_LOSS: return WIN + remoteness;
    case KIND_TIE: return TIE + remoteness;
    case KIND_WIN: return LOSS + (PP_LARGEST_REMOTENESS - remoteness);
    default: return code == CODE_ENDLESS ? ENDLESS : UINT32_MAX;
    }
}

void pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best) {
    const pp_kernel *kernel = engine->kernel;
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    for (size_t i = 0; i < count; i++) {
        uint32_t lowest = UINT32_MAX;
        best[i] = -1;
        const size_t legal = moves ? kernel->moves(kernel, positions[i], moves) : 0;
        for (size_t m = 0; m < legal; m++) {
            const uint32_t this_worth = worth(engine, kernel->apply(kernel, positions[i], moves[m]));
            if (this_worth < lowest) {
                lowest = this_worth;
                best[i] = moves[m];
            }
        }
    }
    free(moves);
}
