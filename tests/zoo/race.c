/* Race: a tiny game with everything that makes queries hard: cycles, an index with empty slots and with unreachable
 * positions, a mirror symmetry, and slots that two positions share.
 *
 * There are seven cells in a row. Each player has one piece, at first at the two ends. A move is one step left or right
 * to a free cell. A player who steps on the middle cell wins, but this is allowed only while the opponent is at an end.
 * A player who cannot move loses.
 *
 *     bits   6     5..3         2..0        a move is 0 (left) or 1 (right)
 *           [side][second's cell][first's cell]
 */
#include <perfectplay.h>

enum { CELLS = 7, MIDDLE = 3 };

static unsigned side(pp_position p) { return p >> 6 & 1; }
static unsigned first_at(pp_position p) { return p & 7; }
static unsigned second_at(pp_position p) { return p >> 3 & 7; }
static unsigned mover_at(pp_position p) { return side(p) ? second_at(p) : first_at(p); }
static unsigned other_at(pp_position p) { return side(p) ? first_at(p) : second_at(p); }
static pp_position make(unsigned first, unsigned second, unsigned turn) { return first | second << 3 | turn << 6; }

static int race_valid(const pp_kernel *self, pp_position p) {
    return p < 128 && first_at(p) < CELLS && second_at(p) < CELLS && first_at(p) != second_at(p) &&
           mover_at(p) != MIDDLE;
}

static pp_position race_start(const pp_kernel *self) { return make(0, CELLS - 1, 0); }

static size_t race_moves(const pp_kernel *self, pp_position p, pp_move *moves) {
    const unsigned at = mover_at(p), other = other_at(p);
    const int middle_allowed = other == 0 || other == CELLS - 1;
    size_t count = 0;
    if (other == MIDDLE) return 0;
    if (at > 0 && at - 1 != other && (at - 1 != MIDDLE || middle_allowed)) moves[count++] = 0;
    if (at < CELLS - 1 && at + 1 != other && (at + 1 != MIDDLE || middle_allowed)) moves[count++] = 1;
    return count;
}

static pp_position step(pp_position p, unsigned turn, unsigned right) {
    const unsigned at = turn ? second_at(p) : first_at(p), to = right ? at + 1 : at - 1;
    return turn ? make(first_at(p), to, !side(p)) : make(to, second_at(p), !side(p));
}

static pp_position race_apply(const pp_kernel *self, pp_position p, pp_move move) { return step(p, side(p), move); }

static pp_position race_undo(const pp_kernel *self, pp_position p, pp_move move) { return step(p, !side(p), !move); }

static pp_position race_canonicalize(const pp_kernel *self, pp_position p) {
    const pp_position mirrored = make(CELLS - 1 - first_at(p), CELLS - 1 - second_at(p), side(p));
    return p < mirrored ? p : mirrored;
}

static int race_status(const pp_kernel *self, pp_position p) {
    pp_move moves[2];
    return race_moves(self, p, moves) ? PP_ONGOING : PP_LOST;
}

static uint64_t race_tier_size(const pp_kernel *self, uint32_t tier) { return CELLS * CELLS; }

static uint64_t index_of(unsigned mover, unsigned other) { return mover * CELLS + other; }

static pp_slot race_rank(const pp_kernel *self, pp_position p) {
    const uint64_t index = index_of(mover_at(p), other_at(p));
    const uint64_t mirrored = index_of(CELLS - 1 - mover_at(p), CELLS - 1 - other_at(p));
    return pp_slot_of(0, index < mirrored ? index : mirrored);
}

static void race_unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    for (size_t i = 0; i < count; i++) {
        const unsigned index = (unsigned)(pp_slot_index(first) + i);
        const pp_position p = make(index / CELLS, index % CELLS, 0);
        const int there = race_valid(self, p) && pp_slot_index(race_rank(self, p)) == index;
        positions[i] = there ? p : PP_NO_POSITION;
    }
}

const pp_kernel race_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = 2,
    .tier_count = 1,
    .valid = race_valid,
    .start = race_start,
    .moves = race_moves,
    .apply = race_apply,
    .undo = race_undo,
    .canonicalize = race_canonicalize,
    .status = race_status,
    .tier_size = race_tier_size,
    .rank = race_rank,
    .unrank = race_unrank,
};
