/* Tapatan for the engine, with a dense index up to symmetry from perfectplay/index.h.
 *
 *     0 - 1 - 2     players place three men each in turn, then move them along the
 *     | \ | / |     lines to a neighbouring free place; three in a line win
 *     3 - 4 - 5
 *     | / | \ |     bits    17 .. 9             8 .. 0
 *     6 - 7 - 8            [the opponent's men][the mover's men]     a bit for each place */
#include "perfectplay.h"
#include "perfectplay/grid.h"
#include "perfectplay/index.h"

enum { PLACES = 9, MEN = 3, NEW_MAN = PLACES, TIERS = (MEN + 1) * (MEN + 1), ALL_PLACED = TIERS - 1 };
static const unsigned lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};
static const unsigned neighbours[PLACES] = {0032, 0025, 0062, 0121, 0757, 0424, 0230, 0520, 0260};
static pp_index index_of_men; /* the mover's men are the first kind, the opponent's the second */

__attribute__((constructor)) static void build_index(void) {
    uint8_t image[8][64];
    pp_index_spec spec = {.cells = PLACES, .kinds = 2, .most = {MEN, MEN}, .generator = (const uint8_t (*)[64])image};
    spec.generators = pp_grid_symmetries(3, 3, image);
    if (pp_index_build(&index_of_men, &spec) != PP_INDEX_OK) abort(); /* not enough memory */
}

static unsigned mine(pp_position position) { return position & 0777; }
static unsigned theirs(pp_position position) { return position >> PLACES & 0777; }
static unsigned count(unsigned men) { return (unsigned)__builtin_popcount(men); }
static pp_position make(uint64_t mine, uint64_t theirs) { return theirs << PLACES | mine; }

static int has_line(unsigned men) {
    for (int i = 0; i < 8; i++)
        if ((men & lines[i]) == lines[i]) return 1;
    return 0;
}

/* The tier is that of the index: by the mover's men, then by the opponent's. A move never leads to a lower tier. */
static uint32_t tier(const pp_kernel *self, pp_position position) {
    return (void)self, (MEN + 1) * count(mine(position)) + count(theirs(position));
}

/* The mover has as many men on the board as the opponent or one less, and no line, because the game would be over. */
static int valid(const pp_kernel *self, pp_position position) {
    const unsigned ahead = count(theirs(position)) - count(mine(position));
    return (void)self, position >> 2 * PLACES == 0 && !(mine(position) & theirs(position)) && ahead <= 1 &&
                           count(theirs(position)) <= MEN && !has_line(mine(position));
}

static pp_position start(const pp_kernel *self) { return (void)self, make(0, 0); }

/* A move is the target and, above it, the source: NEW_MAN for a man that is placed. */
static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const int placing = tier(self, position) < ALL_PLACED;
    const unsigned free = 0777 & ~(mine(position) | theirs(position));
    size_t found = 0;
    if (has_line(theirs(position))) return 0;
    for (unsigned men = placing ? 1u << NEW_MAN : mine(position); men; men &= men - 1)
        for (unsigned to = placing ? free : free & neighbours[__builtin_ctz(men)]; to; to &= to - 1)
            moves[found++] = (pp_move)(__builtin_ctz(men) << 4 | __builtin_ctz(to));
    return found;
}

/* The opponent is to move, so the halves are exchanged. */
static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    return (void)self, make(theirs(position), (mine(position) | 1u << (move & 15)) & ~(1u << (move >> 4)));
}

static int status(const pp_kernel *self, pp_position position) {
    return moves(self, position, (pp_move[MEN * 8]){0}) ? PP_ONGOING : PP_LOST; /* a line, or the mover is stuck */
}

static uint64_t tier_size(const pp_kernel *self, uint32_t tier) {
    return (void)self, pp_index_size(&index_of_men, tier);
}

static pp_slot rank(const pp_kernel *self, pp_position position) {
    const uint64_t men[2] = {mine(position), theirs(position)};
    return pp_slot_of(tier(self, position), pp_index_rank(&index_of_men, men, NULL));
}

static void unrank(const pp_kernel *self, pp_slot slot, size_t count, pp_position *positions) {
    for (uint64_t men[2]; count--; slot++, positions++) {
        pp_index_unrank(&index_of_men, pp_slot_tier(slot), pp_slot_index(slot), 1, men);
        *positions = valid(self, make(men[0], men[1])) ? make(men[0], men[1]) : PP_NO_POSITION;
    }
}

const pp_kernel tapatan_kernel = {
    .abi = PP_ABI,
    .rules_version = 2,
    .max_moves = MEN * 6, /* a man has at most six free targets; the first placement has nine */
    .tier_count = TIERS,
    .start = start,
    .moves = moves,
    .apply = apply,
    .status = status,
    .valid = valid,
    .tier = tier,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
};
