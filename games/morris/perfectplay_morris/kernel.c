/* Morris for the engine: the rules of three, six and nine men's morris. The board in `context` describes the variant.
 *
 * A move has the source and the target of a man, and the man captured by a mill:
 *
 *     14    10 9     5 4      0
 *     [ taken ][ from ][  to  ]       31 for `from`: placed from the hand; for `taken`: no capture
 *
 * A player has no mill while the opponent still has all men, because the mill would have captured one. */
#include "index.h"
#include "position.h"

enum { NONE = 31 };

/* ---- the rules ---- */

static pp_position start(const pp_kernel *self) { return position_of(0, 0, 2 * board_of(self)->rules.men, 0); }

static int valid(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const unsigned men = b->rules.men;
    if (position >> (SIDE_BIT + 1) || v.in_hand > 2 * men) return 0;
    if ((v.mover & v.other) || ((v.mover | v.other) & ~b->all)) return 0;
    if (men_of_mover(&v) > men || men_of_other(&v) > men) return 0;
    if (men_of_other(&v) == men && in_mills(b, v.mover)) return 0;
    if (b->rules.captures && men_of_mover(&v) == 2) return men_of_other(&v) >= 3;
    if (b->rules.captures && men_of_mover(&v) == men && in_mills(b, v.other)) return 0;
    return b->tier_of[v.in_hand][v.mover_count][v.other_count] != NO_TIER;
}

static int status(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    return is_over(b, &v) || !has_move(b, &v) ? PP_LOST : PP_ONGOING;
}

static int mover(const pp_kernel *self, pp_position position) { return (int)(position >> SIDE_BIT & 1); }

static inline size_t add_moves(const morris_board *b, const board_view *v, unsigned from, uint32_t targets,
                               pp_move *out) {
    const uint32_t staying = from == NONE ? v->mover : v->mover & ~(UINT32_C(1) << from);
    size_t count = 0;
    for (; targets; targets &= targets - 1) {
        const unsigned to = (unsigned)__builtin_ctz(targets);
        const pp_move move = from << 5 | to;
        if (!b->rules.captures || !closes_mill(b, staying, to)) {
            out[count++] = (pp_move)NONE << 10 | move;
            continue;
        }
        for (uint32_t taken = capturable(b, v->other); taken; taken &= taken - 1)
            out[count++] = (pp_move)__builtin_ctz(taken) << 10 | move;
    }
    return count;
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *out) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const uint32_t empty = empty_points(b, &v);
    if (is_over(b, &v)) return 0;
    if (v.in_hand) return add_moves(b, &v, NONE, empty, out);
    size_t count = 0;
    for (uint32_t men = v.mover; men; men &= men - 1) {
        const unsigned from = (unsigned)__builtin_ctz(men);
        count += add_moves(b, &v, from, within_reach(b, v.mover_count, from, empty), out + count);
    }
    return count;
}

/* Making and undoing a move flip the same bits; `side` is the player who makes the move. */
static inline pp_position flip(pp_position position, pp_move move, unsigned side) {
    const unsigned to = move & 31, from = move >> 5 & 31, taken = move >> 10 & 31;
    uint64_t mine = UINT64_C(1) << to, theirs = 0;
    if (from != NONE) mine |= UINT64_C(1) << from;
    if (taken != NONE) theirs = UINT64_C(1) << taken;
    const uint64_t white = side ? theirs : mine, black = side ? mine : theirs;
    return position ^ white ^ black << BLACK_SHIFT ^ UINT64_C(1) << SIDE_BIT;
}

static inline uint64_t from_hand(pp_move move) { return (uint64_t)((move >> 5 & 31) == NONE) << HAND_SHIFT; }

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    return flip(position, move, (unsigned)(position >> SIDE_BIT & 1)) - from_hand(move);
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    return flip(position, move, (unsigned)(~position >> SIDE_BIT & 1)) + from_hand(move);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const uint32_t white = white_men(position), black = black_men(position);
    uint64_t least = UINT64_MAX;
    for (unsigned s = 0; s < b->rules.symmetry_count; s++) {
        const uint64_t image = image_of(b, s, white) | (uint64_t)image_of(b, s, black) << BLACK_SHIFT;
        if (image < least) least = image;
    }
    return least | position >> HAND_SHIFT << HAND_SHIFT;
}

/* ---- immediate wins and tiers ---- */

static int wins_now(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    if (b->rules.captures && men_of_other(&v) > 3) return 0;
    for (uint32_t targets = empty_points(b, &v); targets; targets &= targets - 1) {
        const unsigned to = (unsigned)__builtin_ctz(targets);
        if (v.in_hand) {
            if (closes_mill(b, v.mover, to)) return 1;
            continue;
        }
        for (uint32_t men = within_reach(b, v.mover_count, to, v.mover); men; men &= men - 1)
            if (closes_mill(b, v.mover & ~(men & -men), to)) return 1;
    }
    return 0;
}

static uint32_t tier(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    return tier_of_view(b, &v);
}

const pp_kernel morris_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = 32 * MEN, /* a board has at most 32 pairs of neighbours; three flying men have fewer moves */
    .max_parents = 3 * POINTS,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .mover = mover,
    .tier = tier,
    .tier_children = morris_tier_children,
    .wins_now = wins_now,
    .tier_size = morris_tier_size,
    .rank = morris_rank,
    .unrank = morris_unrank,
    .expand = morris_expand,
    .retract = morris_retract,
};
