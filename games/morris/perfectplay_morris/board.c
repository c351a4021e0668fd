/* Builds the tables of a board. */
#include "morris.h"

#include <stdlib.h>

/* ---- masks ---- */

static void build_masks(morris_board *b) {
    const morris_rules *rules = &b->rules;
    b->all = (uint32_t)((UINT64_C(1) << rules->points) - 1);
    for (unsigned point = 0; point < POINTS; point++) {
        unsigned mills = 0;
        for (uint32_t i = 0; i < rules->mill_count; i++)
            if (rules->mills[i] >> point & 1) b->partners[point][mills++] = rules->mills[i] & ~(UINT32_C(1) << point);
        while (mills < MAX_MILLS) b->partners[point][mills++] = UINT32_MAX;
    }
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned point = 0; point < rules->points; point++)
            if (byte >> point % 8 & 1) b->near[point / 8][byte] |= rules->neighbours[point];
    for (uint32_t s = 0; s < rules->symmetry_count; s++)
        pp_permutation_fill(&b->symmetry[s], rules->points, rules->symmetries[s]);
}

static int build_orbits(morris_board *b) {
    const morris_rules *rules = &b->rules;
    int built = pp_subsets_build(&b->subsets, POINTS);
    for (unsigned men = 0; built && men <= rules->men; men++)
        built =
            pp_orbits_of_subsets(&b->orbits[men], &b->subsets, rules->points, men, rules->symmetry_count, b->symmetry);
    return built;
}

/* ---- tiers ---- */

size_t morris_next_tiers(const morris_rules *rules, morris_tier tier, morris_tier next[2], int *may_end) {
    const unsigned placed = tier.in_hand > 0, mover = tier.mover + placed, in_hand = tier.in_hand - placed;
    const int mill = mover >= 3;
    const int last = !rules->captures || tier.other + hand_of_other(tier.in_hand) == 3;
    next[0] = (morris_tier){.in_hand = (uint8_t)in_hand, .mover = tier.other, .other = (uint8_t)mover};
    next[1] = next[0];
    *may_end = mill && last;
    if (!mill || last) return 1;
    /* There is a man to capture: a mover who places their k-th man has captured at most k - 3 of at least k - 1 men. */
    next[1].mover--;
    return 2;
}

static void find_tiers(morris_board *b, morris_tier tier) {
    uint16_t *seen = &b->tier_of[tier.in_hand][tier.mover][tier.other];
    if (*seen != NO_TIER) return;
    *seen = 0;
    morris_tier next[2];
    int may_end;
    const size_t count = morris_next_tiers(&b->rules, tier, next, &may_end);
    for (size_t i = 0; i < count; i++) find_tiers(b, next[i]);
}

static morris_tier layout_of(const morris_board *b, unsigned in_hand, unsigned mover, unsigned other) {
    const int by_mover = mover >= other;
    const int mover_may = other + hand_of_other(in_hand) < b->rules.men;
    const int other_may = mover + hand_of_mover(in_hand) < b->rules.men;
    const unsigned more = by_mover ? mover : other, fewer = by_mover ? other : mover;
    const uint64_t slots_per_orbit = b->subsets.choose[b->rules.points - more][fewer];
    return (morris_tier){
        .in_hand = (uint8_t)in_hand,
        .mover = (uint8_t)mover,
        .other = (uint8_t)other,
        .by_mover = (uint8_t)by_mover,
        .more = (uint8_t)more,
        .fewer = (uint8_t)fewer,
        .more_may_have_mill = (uint8_t)(by_mover ? mover_may : other_may),
        .fewer_may_have_mill = (uint8_t)(by_mover ? other_may : mover_may),
        .slots_per_orbit = slots_per_orbit,
        .size = b->orbits[more].orbits * slots_per_orbit,
    };
}

/* Numbers the reachable tiers in the order in which they are solved, with few men first. */
static void build_tiers(morris_board *b) {
    const unsigned men = b->rules.men;
    for (unsigned in_hand = 0; in_hand <= PLIES; in_hand++)
        for (unsigned mover = 0; mover <= MEN; mover++)
            for (unsigned other = 0; other <= MEN; other++) b->tier_of[in_hand][mover][other] = NO_TIER;
    find_tiers(b, (morris_tier){.in_hand = (uint8_t)(2 * men)});
    b->tiers[OVER].size = 1;
    b->tier_count = 1;
    for (unsigned in_hand = 0; in_hand <= 2 * men; in_hand++)
        for (unsigned both = 0; both <= 2 * men; both++)
            for (unsigned mover = 0; mover <= both && mover <= men; mover++) {
                const unsigned other = both - mover;
                if (other > men || b->tier_of[in_hand][mover][other] == NO_TIER) continue;
                b->tiers[b->tier_count] = layout_of(b, in_hand, mover, other);
                b->tier_of[in_hand][mover][other] = (uint16_t)b->tier_count++;
            }
}

/* ---- creation and destruction ---- */

morris_board *morris_new(const morris_rules *rules) {
    morris_board *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->rules = *rules;
    build_masks(b);
    if (!build_orbits(b)) {
        morris_free(b);
        return NULL;
    }
    build_tiers(b);
    return b;
}

void morris_free(morris_board *board) {
    for (unsigned men = 0; men <= MEN; men++) pp_orbits_free(&board->orbits[men]);
    pp_subsets_free(&board->subsets);
    free(board);
}

uint32_t morris_tier_count(const morris_board *board) { return board->tier_count; }
