/* Tapatan with an index written by hand, without symmetry, for the seeded mistakes in seeded_kernels.txt.
 *
 *     0 - 1 - 2     players place three men each in turn, then move them along the
 *     | \ | / |     lines to a neighbouring free place; three in a line win
 *     3 - 4 - 5
 *     | / | \ |     bits    17 .. 9             8 .. 0
 *     6 - 7 - 8            [the opponent's men][the mover's men]     a bit for each place
 */
#include "perfectplay.h"

enum { PLACES = 9, MEN = 3, ALL_PLACED = 2 * MEN, NEW_MAN = PLACES };

static const unsigned lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};
static const unsigned neighbours[PLACES] = {0032, 0025, 0062, 0121, 0757, 0424, 0230, 0520, 0260};

static unsigned mine(pp_position position) { return position & 0777; }
static unsigned theirs(pp_position position) { return position >> PLACES & 0777; }
static unsigned free_places(pp_position position) { return 0777 & ~(mine(position) | theirs(position)); }
static pp_position make(unsigned mine, unsigned theirs) { return (pp_position)theirs << PLACES | mine; }
static unsigned count(unsigned men) { return (unsigned)__builtin_popcount(men); }

static int has_line(unsigned men) {
    for (int i = 0; i < 8; i++)
        if ((men & lines[i]) == lines[i]) return 1;
    return 0;
}

/* ---- the rules ---- */

/* The mover has as many men on the board as the opponent or one less, and no line, because the game would be over. */
static int valid(const pp_kernel *self, pp_position position) {
    const unsigned first = count(mine(position)), second = count(theirs(position));
    return position >> 2 * PLACES == 0 && (mine(position) & theirs(position)) == 0 && second <= MEN &&
           (first == second || first + 1 == second) && !has_line(mine(position));
}

static pp_position start(const pp_kernel *self) { return make(0, 0); }

static uint32_t tier(const pp_kernel *self, pp_position position) {
    return count(mine(position)) + count(theirs(position)); /* the men on the board, which never get fewer */
}

/* A move is the target and, above it, the source: NEW_MAN for a man that is placed. */
static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    size_t found = 0;
    if (has_line(theirs(position))) return 0;
    const int placing = tier(self, position) < ALL_PLACED;
    for (unsigned from = placing ? NEW_MAN : 0; from < (placing ? NEW_MAN + 1 : PLACES); from++) {
        if (!placing && !(mine(position) >> from & 1)) continue;
        const unsigned targets = free_places(position) & (placing ? 0777 : neighbours[from]);
        for (unsigned to = 0; to < PLACES; to++)
            if (targets >> to & 1) moves[found++] = to | from << 4;
    }
    return found;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const unsigned moved = (mine(position) | 1u << (move & 15)) & ~(1u << (move >> 4));
    return make(theirs(position), moved); /* the opponent is to move, so the halves are exchanged */
}

static int status(const pp_kernel *self, pp_position position) {
    pp_move legal[MEN * 8];
    return moves(self, position, legal) ? PP_ONGOING : PP_LOST; /* the opponent has a line, or the mover is stuck */
}

/* ---- the index ---- */

/* choose[n][k]: the number of ways to choose k of n. */
static const unsigned choose[PLACES + 1][MEN + 1] = {{1, 0, 0, 0},   {1, 1, 0, 0},   {1, 2, 1, 0},   {1, 3, 3, 1},
                                                     {1, 4, 6, 4},   {1, 5, 10, 10}, {1, 6, 15, 20}, {1, 7, 21, 35},
                                                     {1, 8, 28, 56}, {1, 9, 36, 84}};

/* Returns the number of a set of men among all sets of the same size, 0 for the lowest places. */
static unsigned number_of(unsigned men) {
    unsigned number = 0, k = 0;
    for (unsigned place = 0; place < PLACES; place++)
        if (men >> place & 1) number += choose[place][++k];
    return number;
}

/* Returns the set of k men with this number. */
static unsigned set_of(unsigned number, unsigned k) {
    unsigned men = 0;
    for (unsigned place = PLACES; place-- > 0;)
        if (k && choose[place][k] <= number) {
            number -= choose[place][k--];
            men |= 1u << place;
        }
    return men;
}

/* Renumbers the men on `places` as if there were no other places, and the inverse. */
static unsigned squeeze(unsigned men, unsigned places) {
    unsigned squeezed = 0, next = 0;
    for (unsigned place = 0; place < PLACES; place++)
        if (places >> place & 1) squeezed |= (men >> place & 1) << next++;
    return squeezed;
}
static unsigned spread(unsigned squeezed, unsigned places) {
    unsigned men = 0, next = 0;
    for (unsigned place = 0; place < PLACES; place++)
        if (places >> place & 1) men |= (squeezed >> next++ & 1) << place;
    return men;
}

/* In a tier, the mover's men come first. For each set of them, the opponent's men have `theirs_after` placements. */
static unsigned my_men(uint32_t tier) { return tier / 2; }
static unsigned their_men(uint32_t tier) { return (tier + 1) / 2; }
static unsigned theirs_after(uint32_t tier) { return choose[PLACES - my_men(tier)][their_men(tier)]; }

static uint64_t tier_size(const pp_kernel *self, uint32_t tier) {
    return (uint64_t)choose[PLACES][my_men(tier)] * theirs_after(tier);
}

static pp_slot rank(const pp_kernel *self, pp_position position) {
    const uint32_t men = tier(self, position);
    const unsigned others = squeeze(theirs(position), 0777 & ~mine(position));
    return pp_slot_of(men, number_of(mine(position)) * theirs_after(men) + number_of(others));
}

static void unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    const uint32_t men = pp_slot_tier(first);
    for (size_t i = 0; i < count; i++) {
        const unsigned index = (unsigned)(pp_slot_index(first) + i);
        const unsigned my_set = set_of(index / theirs_after(men), my_men(men));
        const unsigned their_set = spread(set_of(index % theirs_after(men), their_men(men)), 0777 & ~my_set);
        const pp_position position = make(my_set, their_set);
        positions[i] = valid(self, position) ? position : PP_NO_POSITION;
    }
}

static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    pp_move legal[MEN * 8];
    const size_t found = moves(self, position, legal);
    for (size_t i = 0; i < found; i++) slots[i] = rank(self, apply(self, position, legal[i]));
    return found;
}

/* Play can return to a tier only when all men are placed. A man of the opponent then came from a neighbouring place. */
static size_t retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    size_t found = 0;
    if (tier(self, position) < ALL_PLACED) return 0;
    for (unsigned to = 0; to < PLACES; to++) {
        if (!(theirs(position) >> to & 1)) continue;
        for (unsigned from = 0; from < PLACES; from++) {
            if (!(neighbours[to] & free_places(position) & 1u << from)) continue;
            const pp_position before = make(theirs(position) ^ 1u << to ^ 1u << from, mine(position));
            if (valid(self, before)) slots[found++] = rank(self, before);
        }
    }
    return found;
}

const pp_kernel tapatan_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .players = 2,
    .max_moves = MEN * 6, /* a man has at most six free targets; the first placement has nine */
    .max_parents = MEN * 6,
    .tier_count = ALL_PLACED + 1,
    .start = start,
    .moves = moves,
    .apply = apply,
    .status = status,
    .valid = valid,
    .tier = tier,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
    .expand = expand,
    .retract = retract,
};
