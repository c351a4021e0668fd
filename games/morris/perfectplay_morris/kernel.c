/* Morris for the engine: three, six and nine men's on one set of rules; the board in `context` says what differs.
 *
 * A position, in 64 bits:
 *
 *     63   54  53  52    48 47          24 23           0
 *     [ zero ][side][in hand][ Black's men ][ White's men ]     side 0: White is to move
 *
 * "In hand" counts both players' men still to be placed; of an odd number the mover has one more. A move says where a
 * man comes from, where he goes, and whom a mill takes:
 *
 *     14    10 9     5 4      0
 *     [ taken ][ from ][  to  ]       31: nobody is taken; or the man comes from the hand
 *
 * No position has a mill facing a player who has lost no man, for it would have taken one. */
#include "morris.h"

enum { OTHER_SHIFT = 24, HAND_SHIFT = 48, SIDE_BIT = 53, NONE = 31 };

typedef struct {
    uint32_t mover, other; /* men on the board */
    unsigned in_hand, mover_count, other_count;
} board_view;

static inline const morris_board *board_of(const pp_kernel *self) { return self->context; }

static inline board_view view_of(const morris_board *b, pp_position position) {
    const uint32_t white = (uint32_t)position & 0xFFFFFF, black = (uint32_t)(position >> OTHER_SHIFT) & 0xFFFFFF;
    const int side = (int)(position >> SIDE_BIT & 1);
    board_view v = {.mover = side ? black : white, .other = side ? white : black};
    v.in_hand = (unsigned)(position >> HAND_SHIFT) & 31;
    v.mover_count = count_men(b, v.mover);
    v.other_count = count_men(b, v.other);
    return v;
}

static inline pp_position position_of(uint32_t mover, uint32_t other, unsigned in_hand, unsigned side) {
    const uint64_t white = side ? other : mover, black = side ? mover : other;
    return white | black << OTHER_SHIFT | (uint64_t)in_hand << HAND_SHIFT | (uint64_t)side << SIDE_BIT;
}

static inline unsigned men_of_mover(const board_view *v) { return v->mover_count + hand_of_mover(v->in_hand); }
static inline unsigned men_of_other(const board_view *v) { return v->other_count + hand_of_other(v->in_hand); }

/* Whether the opponent's last move has won the game, other than by leaving no move. */
static inline int is_over(const morris_board *b, const board_view *v) {
    return b->rules.captures ? men_of_mover(v) < 3 : in_mills(b, v->other) != 0;
}

static inline uint32_t empty_points(const morris_board *b, const board_view *v) {
    return b->all & ~(v->mover | v->other);
}

static inline int may_fly(const morris_board *b, unsigned men) { return b->rules.flying && men == 3; }

/* Where a man on this point may go, or may have come from, on a board with these empty points. */
static inline uint32_t within_reach(const morris_board *b, unsigned men, unsigned point, uint32_t empty) {
    return may_fly(b, men) ? empty : empty & b->rules.neighbours[point];
}

static inline int has_move(const morris_board *b, const board_view *v) {
    const uint32_t empty = empty_points(b, v);
    return v->in_hand || may_fly(b, v->mover_count) ? empty != 0 : (near_to(b, v->mover) & empty) != 0;
}

/* Whom a mill may take. */
static inline uint32_t may_be_taken(const morris_board *b, uint32_t men) {
    const uint32_t outside = men & ~in_mills(b, men);
    return outside ? outside : men;
}

/* ---- the rules ---- */

static pp_position start(const pp_kernel *self) {
    return position_of(0, 0, 2 * board_of(self)->rules.men, 0);
}

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
        for (uint32_t taken = may_be_taken(b, v->other); taken; taken &= taken - 1)
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

/* Playing a move and taking it back flip the same bits; `side` is the player who makes it. */
static inline pp_position flip(pp_position position, pp_move move, unsigned side) {
    const unsigned to = move & 31, from = move >> 5 & 31, taken = move >> 10 & 31;
    uint64_t mine = UINT64_C(1) << to, theirs = 0;
    if (from != NONE) mine |= UINT64_C(1) << from;
    if (taken != NONE) theirs = UINT64_C(1) << taken;
    const uint64_t white = side ? theirs : mine, black = side ? mine : theirs;
    return position ^ white ^ black << OTHER_SHIFT ^ UINT64_C(1) << SIDE_BIT;
}

static inline uint64_t from_hand(pp_move move) { return (uint64_t)((move >> 5 & 31) == NONE) << HAND_SHIFT; }

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    (void)self;
    return flip(position, move, (unsigned)(position >> SIDE_BIT & 1)) - from_hand(move);
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    (void)self;
    return flip(position, move, (unsigned)(~position >> SIDE_BIT & 1)) + from_hand(move);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const uint32_t white = (uint32_t)position & 0xFFFFFF, black = (uint32_t)(position >> OTHER_SHIFT) & 0xFFFFFF;
    uint64_t least = UINT64_MAX;
    for (unsigned s = 0; s < b->rules.symmetry_count; s++) {
        const uint64_t image = image_of(b, s, white) | (uint64_t)image_of(b, s, black) << OTHER_SHIFT;
        if (image < least) least = image;
    }
    return least | position >> HAND_SHIFT << HAND_SHIFT;
}

/* ---- quick answers ---- */

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

/* ---- tiers ---- */

static inline uint32_t tier_of_view(const morris_board *b, const board_view *v) {
    return is_over(b, v) ? OVER : b->tier_of[v->in_hand][v->mover_count][v->other_count];
}

static uint32_t tier(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    return tier_of_view(b, &v);
}

static size_t tier_children(const pp_kernel *self, uint32_t tier_number, uint32_t *out) {
    const morris_board *b = board_of(self);
    if (tier_number == OVER) return 0;
    morris_tier next[2];
    int may_end;
    const size_t count = next_tiers(&b->rules, b->tiers[tier_number], next, &may_end);
    for (size_t i = 0; i < count; i++) out[i] = b->tier_of[next[i].in_hand][next[i].mover][next[i].other];
    if (may_end) out[count] = OVER;
    return count + (size_t)may_end;
}

static uint64_t tier_size(const pp_kernel *self, uint32_t tier_number) {
    return board_of(self)->tiers[tier_number].size;
}

/* ---- the index ----
 *
 * The men of the player who has more on the board (the mover's, if neither has) are turned into the representative of
 * their orbit; the other player's men, turned along, are numbered among the points that are left:
 *
 *     index = orbit of the more * C(points left, fewer) + number of the fewer
 *
 * Where the representative has symmetries of its own, the fewer are turned by these into their least image; the slots
 * of other images hold no position. That is rare where it would matter: the more men, the fewer symmetries. */

static inline pp_slot slot_of(const morris_board *b, uint32_t tier_number, uint32_t mover, uint32_t other,
                              int *symmetric) {
    const morris_tier *t = &b->tiers[tier_number];
    const int by_mover = t->mover >= t->other;
    const uint32_t more = by_mover ? mover : other, fewer = by_mover ? other : mover;
    const unsigned more_count = by_mover ? t->mover : t->other, fewer_count = by_mover ? t->other : t->mover;
    const fold_entry entry = b->fold[more_count][number_of(b, more)];
    const uint32_t orbit = entry & ((UINT32_C(1) << ORBIT_BITS) - 1);
    const unsigned turn = entry >> ORBIT_BITS & ((1u << TURN_BITS) - 1);
    const uint32_t turned = image_of(b, turn, fewer), left = b->all & ~image_of(b, turn, more);
    uint32_t least = turned;
    *symmetric = 0;
    if (entry >> (ORBIT_BITS + TURN_BITS)) {
        unsigned times = 0;
        for (unsigned set = b->stabilizer[more_count][orbit]; set; set &= set - 1) {
            const uint32_t image = image_of(b, (unsigned)__builtin_ctz(set), turned);
            if (image < least) least = image, times = 0;
            times += image == least;
        }
        *symmetric = times > 1;
    }
    const uint64_t slots_an_orbit = b->choose[b->rules.points - more_count][fewer_count];
    return pp_slot_of(tier_number, orbit * slots_an_orbit + number_of(b, gather(b, least, left)));
}

static pp_slot rank(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const uint32_t tier_number = tier_of_view(b, &v);
    int symmetric;
    return tier_number == OVER ? pp_slot_of(OVER, 0) : slot_of(b, tier_number, v.mover, v.other, &symmetric);
}

static uint32_t mask_of_number(const morris_board *b, unsigned men, uint64_t number) {
    uint32_t mask = 0;
    for (unsigned point = POINTS; men;) {
        while (b->choose[--point][men] > number) {}
        mask |= UINT32_C(1) << point;
        number -= b->choose[point][men--];
    }
    return mask;
}

static inline int is_least_image(const morris_board *b, unsigned symmetries, uint32_t mask) {
    for (; symmetries; symmetries &= symmetries - 1)
        if (image_of(b, (unsigned)__builtin_ctz(symmetries), mask) < mask) return 0;
    return 1;
}

/* For the one slot of finished games: the other player has a mill, the mover two men. */
static pp_position example_of_over(const morris_board *b) {
    const uint32_t mill = b->rules.mills[0], left = b->all & ~mill, first = left & -left, rest = left & ~first;
    return position_of(first | (rest & -rest), mill, !b->rules.captures, 0);
}

static void unrank(const pp_kernel *self, pp_slot slot, size_t count, pp_position *positions) {
    const morris_board *b = board_of(self);
    const morris_tier *t = &b->tiers[pp_slot_tier(slot)];
    if (pp_slot_tier(slot) == OVER) {
        *positions = example_of_over(b);
        return;
    }
    const int by_mover = t->mover >= t->other;
    const unsigned more_count = by_mover ? t->mover : t->other, fewer_count = by_mover ? t->other : t->mover;
    const int mover_full = t->mover + hand_of_mover(t->in_hand) == b->rules.men;
    const int other_full = t->other + hand_of_other(t->in_hand) == b->rules.men;
    const int more_full = by_mover ? mover_full : other_full, fewer_full = by_mover ? other_full : mover_full;
    const uint64_t slots_an_orbit = b->choose[b->rules.points - more_count][fewer_count];
    uint64_t orbit = pp_slot_index(slot) / slots_an_orbit, number = pp_slot_index(slot) % slots_an_orbit;
    for (; count; orbit++, number = 0) {
        const uint32_t more = b->representative[more_count][orbit], left = b->all & ~more;
        const unsigned fixing = b->stabilizer[more_count][orbit];
        const int no_mill = !(fewer_full && in_mills(b, more));
        uint32_t bits = mask_of_number(b, fewer_count, number);
        for (; count && number < slots_an_orbit; number++, count--, bits = next_mask(bits)) {
            const uint32_t fewer = scatter(b, bits, left);
            const int is_position = no_mill && !(more_full && in_mills(b, fewer)) && is_least_image(b, fixing, fewer);
            *positions++ = !is_position ? PP_NO_POSITION
                           : by_mover   ? position_of(more, fewer, t->in_hand, 0)
                                        : position_of(fewer, more, t->in_hand, 0);
        }
    }
}

/* Slots gathered under the law of the header: an edge between two positions without symmetry of their own counts as
 * often as there are moves along it, any other edge once. Whether a slot's position has symmetry is the same each time,
 * so the slot is searched among all that are listed. */
typedef struct {
    pp_slot *slots;
    size_t count;
    int origin_symmetric;
} slot_list;

static inline void add_slot(slot_list *list, const morris_board *b, uint32_t tier_number, uint32_t mover,
                            uint32_t other) {
    int symmetric;
    const pp_slot slot = slot_of(b, tier_number, mover, other, &symmetric);
    if (__builtin_expect(symmetric | list->origin_symmetric, 0))
        for (size_t i = 0; i < list->count; i++)
            if (list->slots[i] == slot) return;
    list->slots[list->count++] = slot;
}

static inline slot_list list_from(const morris_board *b, const board_view *v, pp_slot *slots) {
    slot_list list = {.slots = slots};
    slot_of(b, tier_of_view(b, v), v->mover, v->other, &list.origin_symmetric);
    return list;
}

/* The tiers after a move without and with a mill. */
typedef struct {
    uint32_t quiet, mill;
} tiers_after;

static inline void expand_man(slot_list *list, const morris_board *b, const board_view *v, tiers_after after,
                              uint32_t staying, uint32_t targets) {
    for (; targets; targets &= targets - 1) {
        const uint32_t arrived = staying | (targets & -targets);
        if (!closes_mill(b, staying, (unsigned)__builtin_ctz(targets))) {
            add_slot(list, b, after.quiet, v->other, arrived);
        } else if (after.mill == OVER) {
            list->slots[list->count++] = pp_slot_of(OVER, 0);
        } else {
            for (uint32_t taken = may_be_taken(b, v->other); taken; taken &= taken - 1)
                add_slot(list, b, after.mill, v->other & ~(taken & -taken), arrived);
        }
    }
}

static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const uint32_t empty = empty_points(b, &v);
    uint32_t next[3] = {OVER, OVER, OVER};
    tier_children(self, tier_of_view(b, &v), next);
    const tiers_after after = {.quiet = next[0], .mill = next[1]};
    slot_list list = list_from(b, &v, slots);
    if (v.in_hand) expand_man(&list, b, &v, after, v.mover, empty);
    else
        for (uint32_t men = v.mover; men; men &= men - 1) {
            const unsigned from = (unsigned)__builtin_ctz(men);
            const uint32_t targets = within_reach(b, v.mover_count, from, empty);
            expand_man(&list, b, &v, after, v.mover & ~(men & -men), targets);
        }
    return list.count;
}

/* Only moves on the board that close no mill can be returned to. Some that are listed would start from a mill that
 * cannot be; their slots hold no position. */
static size_t retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    if (v.in_hand || is_over(b, &v)) return 0;
    const uint32_t empty = empty_points(b, &v), before = b->tier_of[0][v.other_count][v.mover_count];
    slot_list list = list_from(b, &v, slots);
    for (uint32_t men = v.other & ~in_mills(b, v.other); men; men &= men - 1) {
        const uint32_t staying = v.other & ~(men & -men);
        uint32_t sources = within_reach(b, v.other_count, (unsigned)__builtin_ctz(men), empty);
        for (; sources; sources &= sources - 1)
            add_slot(&list, b, before, staying | (sources & -sources), v.mover);
    }
    return list.count;
}

const pp_kernel morris_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = 32 * MEN, /* no board has more than 32 neighbouring pairs; three men who fly have fewer moves */
    .max_parents = 3 * POINTS,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .tier = tier,
    .tier_children = tier_children,
    .wins_now = wins_now,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
    .expand = expand,
    .retract = retract,
};
