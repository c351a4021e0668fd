/* Tiers and slots: the perfect index of Morris.
 *
 * The men of the player with more on the board (the mover's if both have the same number) are mapped to the
 * representative of their orbit. The other player's men are mapped along and numbered among the remaining points:
 *
 *     index = orbit of the more * C(remaining points, fewer) + number of the fewer
 *
 * If symmetries fix the representative, the fewer are also mapped to their least image under these. Slots of other
 * images are empty. Such slots are few, because sets of many men rarely have symmetries.
 *
 * Example: three men's morris with one man of the mover (M) and one of the other player (O) on the board. M's are
 * "the more", because both have the same number.
 *
 *     O . .   a quarter   . M .     0 1 2
 *     . . M     turn      . . .     3 4 5
 *     . . .   -------->   O . .     6 7 8
 *
 *     more:  Single men have three orbits: corner (0), edge (1) and centre (2). The turn gives the representative of
 *            the edges, point 1.
 *     fewer: O is on point 6. The reflection that fixes M would take it to 8, but 6 is less. Among the remaining
 *            points 0 2 3 4 5 6 7 8, it is number 5.
 *
 *     index = 1 * C(8, 1) + 5 = 13 of 24 */
#include "index.h"

#include "perfectplay/edges.h"
#include "position.h"

size_t morris_tier_children(const pp_kernel *self, uint32_t tier_number, uint32_t *out) {
    const morris_board *b = board_of(self);
    if (tier_number == OVER) return 0;
    morris_tier next[2];
    int may_end;
    const size_t count = morris_next_tiers(&b->rules, b->tiers[tier_number], next, &may_end);
    for (size_t i = 0; i < count; i++) out[i] = b->tier_of[next[i].in_hand][next[i].mover][next[i].other];
    if (may_end) out[count] = OVER;
    return count + (size_t)may_end;
}

uint64_t morris_tier_size(const pp_kernel *self, uint32_t tier_number) {
    return board_of(self)->tiers[tier_number].size;
}

static inline pp_slot slot_of(const morris_board *b, uint32_t tier_number, uint32_t mover, uint32_t other,
                              int *symmetric) {
    const morris_tier *t = &b->tiers[tier_number];
    const uint32_t more = t->by_mover ? mover : other, fewer = t->by_mover ? other : mover;
    const pp_orbits *orbits = &b->orbits[t->more];
    const uint32_t entry = orbits->entry[pp_subset_rank(&b->subsets, more, BYTES)], orbit = pp_orbit_of(entry);
    const unsigned turn = pp_symmetry_of(entry);
    const uint32_t turned = image_of(b, turn, fewer), left = b->all & ~image_of(b, turn, more);
    uint32_t least = turned;
    *symmetric = 0;
    if (pp_is_symmetric(entry)) {
        unsigned times = 0;
        for (uint64_t set = orbits->stabilizer[orbit]; set; set &= set - 1) {
            const uint32_t image = image_of(b, (unsigned)__builtin_ctzll(set), turned);
            if (image < least) least = image, times = 0;
            times += image == least;
        }
        *symmetric = times > 1;
    }
    const uint64_t bits = pp_gather(&b->subsets, least, left, BYTES);
    return pp_slot_of(tier_number, orbit * t->slots_per_orbit + pp_subset_rank(&b->subsets, bits, BYTES));
}

pp_slot morris_rank(const pp_kernel *self, pp_position position) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const uint32_t tier_number = tier_of_view(b, &v);
    int symmetric;
    return tier_number == OVER ? pp_slot_of(OVER, 0) : slot_of(b, tier_number, v.mover, v.other, &symmetric);
}

static inline int is_least_image(const morris_board *b, uint64_t symmetries, uint32_t mask) {
    for (; symmetries; symmetries &= symmetries - 1)
        if (image_of(b, (unsigned)__builtin_ctzll(symmetries), mask) < mask) return 0;
    return 1;
}

/* Returns the position for the slot of finished games: the other player has a mill, the mover two men. */
static pp_position finished_example(const morris_board *b) {
    const uint32_t mill = b->rules.mills[0], left = b->all & ~mill, first = left & -left, rest = left & ~first;
    return position_of(first | (rest & -rest), mill, !b->rules.captures, 0);
}

void morris_unrank(const pp_kernel *self, pp_slot slot, size_t count, pp_position *positions) {
    const morris_board *b = board_of(self);
    const morris_tier *t = &b->tiers[pp_slot_tier(slot)];
    if (pp_slot_tier(slot) == OVER) {
        *positions = finished_example(b);
        return;
    }
    uint64_t orbit = pp_slot_index(slot) / t->slots_per_orbit, number = pp_slot_index(slot) % t->slots_per_orbit;
    for (; count; orbit++, number = 0) {
        const uint32_t more = (uint32_t)b->orbits[t->more].representative[orbit], left = b->all & ~more;
        const uint64_t fixing = b->orbits[t->more].stabilizer[orbit];
        const int more_possible = t->more_may_have_mill || !in_mills(b, more);
        uint64_t bits = pp_subset_unrank(&b->subsets, b->rules.points - t->more, t->fewer, number);
        for (; count && number < t->slots_per_orbit; number++, count--, bits = pp_subset_next(bits)) {
            const uint32_t fewer = (uint32_t)pp_scatter(&b->subsets, bits, left, BYTES);
            const int fewer_possible = t->fewer_may_have_mill || !in_mills(b, fewer);
            if (!more_possible || !fewer_possible || !is_least_image(b, fixing, fewer)) *positions++ = PP_NO_POSITION;
            else if (t->by_mover) *positions++ = position_of(more, fewer, t->in_hand, 0);
            else *positions++ = position_of(fewer, more, t->in_hand, 0);
        }
    }
}

static inline void add_slot(pp_edges *list, const morris_board *b, uint32_t tier_number, uint32_t mover,
                            uint32_t other) {
    int symmetric;
    const pp_slot slot = slot_of(b, tier_number, mover, other, &symmetric);
    pp_edges_add(list, slot, symmetric);
}

static inline pp_edges list_from(const morris_board *b, const board_view *v, pp_slot *slots) {
    pp_edges list = {.slots = slots};
    slot_of(b, tier_of_view(b, v), v->mover, v->other, &list.origin_symmetric);
    return list;
}

/* The tiers after a move without a mill and with one. */
typedef struct {
    uint32_t quiet, mill;
} tiers_after;

static inline void expand_man(pp_edges *list, const morris_board *b, const board_view *v, tiers_after after,
                              uint32_t staying, uint32_t targets) {
    for (; targets; targets &= targets - 1) {
        const uint32_t arrived = staying | (targets & -targets);
        if (!closes_mill(b, staying, (unsigned)__builtin_ctz(targets))) {
            add_slot(list, b, after.quiet, v->other, arrived);
        } else if (after.mill == OVER) {
            list->slots[list->count++] = pp_slot_of(OVER, 0);
        } else {
            for (uint32_t taken = capturable(b, v->other); taken; taken &= taken - 1)
                add_slot(list, b, after.mill, v->other & ~(taken & -taken), arrived);
        }
    }
}

size_t morris_expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    const uint32_t empty = empty_points(b, &v);
    uint32_t next[3] = {OVER, OVER, OVER};
    morris_tier_children(self, tier_of_view(b, &v), next);
    const tiers_after after = {.quiet = next[0], .mill = next[1]};
    pp_edges list = list_from(b, &v, slots);
    if (v.in_hand) expand_man(&list, b, &v, after, v.mover, empty);
    else
        for (uint32_t men = v.mover; men; men &= men - 1) {
            const unsigned from = (unsigned)__builtin_ctz(men);
            const uint32_t targets = within_reach(b, v.mover_count, from, empty);
            expand_man(&list, b, &v, after, v.mover & ~(men & -men), targets);
        }
    return list.count;
}

/* Play can return only to positions before moves on the board that close no mill. Some of the listed slots are empty,
 * because they would contain an impossible mill. */
size_t morris_retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const morris_board *b = board_of(self);
    const board_view v = view_of(b, position);
    if (v.in_hand || is_over(b, &v)) return 0;
    const uint32_t empty = empty_points(b, &v), before = b->tier_of[0][v.other_count][v.mover_count];
    pp_edges list = list_from(b, &v, slots);
    for (uint32_t men = v.other & ~in_mills(b, v.other); men; men &= men - 1) {
        const uint32_t staying = v.other & ~(men & -men);
        uint32_t sources = within_reach(b, v.other_count, (unsigned)__builtin_ctz(men), empty);
        for (; sources; sources &= sources - 1) add_slot(&list, b, before, staying | (sources & -sources), v.mover);
    }
    return list.count;
}
