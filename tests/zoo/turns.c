/* The rules of turns.py: take one or two stones. The player who takes two moves again. Stones taken are points.
 *
 *     bits   10..8     7..1                            0
 *           [stones][first player's lead + 8][mover]       at the start, the lead is stored as 0
 */
#include <perfectplay.h>

enum { STONES = 5, BIAS = 8 };

static unsigned stones_of(pp_position p) { return (unsigned)(p >> 8); }
static int lead_of(pp_position p) { return p == STONES << 8 ? 0 : (int)(p >> 1 & 127) - BIAS; }

static pp_position start(const pp_kernel *self) { return STONES << 8; }

static int valid(const pp_kernel *self, pp_position p) { return p >> 8 <= STONES; }

static size_t moves(const pp_kernel *self, pp_position p, pp_move *moves) {
    size_t count = 0;
    for (pp_move taken = 1; taken <= 2 && taken <= stones_of(p); taken++) moves[count++] = taken;
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position p, pp_move taken) {
    const unsigned first_moves = !(p & 1), mover = taken == 2 ? p & 1 : first_moves;
    const int lead = lead_of(p) + (first_moves ? (int)taken : -(int)taken);
    return (pp_position)(stones_of(p) - taken) << 8 | (pp_position)(lead + BIAS) << 1 | mover;
}

static int mover(const pp_kernel *self, pp_position p) { return p & 1; }

static int score(const pp_kernel *self, pp_position p) { return p & 1 ? -lead_of(p) : lead_of(p); }

static int status(const pp_kernel *self, pp_position p) {
    const int won = score(self, p);
    return stones_of(p) ? PP_ONGOING : won > 0 ? PP_WON : won < 0 ? PP_LOST : PP_DRAWN;
}

const pp_kernel turns_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = 2,
    .tier_count = 1,
    .start = start,
    .valid = valid,
    .moves = moves,
    .apply = apply,
    .status = status,
    .mover = mover,
    .score = score,
};
