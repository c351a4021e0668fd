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
        for (unsigned bit = 0; bit < 8; bit++) {
            if (!(byte >> bit & 1)) continue;
            b->count[byte]++;
            for (unsigned i = 0; i < BYTES; i++) {
                const unsigned point = 8 * i + bit;
                if (point >= rules->points) continue;
                b->near[i][byte] |= rules->neighbours[point];
                for (uint32_t s = 0; s < rules->symmetry_count; s++)
                    b->image[s][i][byte] |= UINT32_C(1) << rules->symmetries[s][point];
            }
        }
}

/* ---- numbers of masks ---- */

/* The number of a mask with men at p1 < p2 < … is C(p1, 1) + C(p2, 2) + … (combinatorial number system), so each byte
 * contributes a term. */
static void build_numbers(morris_board *b) {
    for (unsigned n = 0; n <= POINTS; n++) {
        b->choose[n][0] = 1;
        for (unsigned k = 1; k <= n; k++) b->choose[n][k] = b->choose[n - 1][k - 1] + b->choose[n - 1][k];
    }
    for (unsigned i = 0; i < BYTES; i++)
        for (unsigned below = 0; below <= 8 * i; below++)
            for (unsigned byte = 0; byte < 256; byte++) {
                unsigned men = below;
                for (unsigned bit = 0; bit < 8; bit++)
                    if (byte >> bit & 1) {
                        men++;
                        if (men <= POINTS) b->number[i][below][byte] += b->choose[8 * i + bit][men];
                    }
            }
    for (unsigned among = 0; among < 256; among++)
        for (unsigned byte = 0; byte < 256; byte++) {
            unsigned place = 0;
            for (unsigned bit = 0; bit < 8; bit++) {
                if (!(among >> bit & 1)) continue;
                b->gathered[among][byte] |= (uint8_t)((byte >> bit & 1) << place);
                b->scattered[among][byte] |= (uint8_t)((byte >> place & 1) << bit);
                place++;
            }
        }
}

/* ---- orbits ---- */

static fold_entry fold_of(const morris_board *b, unsigned men, uint32_t mask, uint32_t *least, uint16_t *fixing) {
    unsigned turn = 0;
    *least = mask;
    *fixing = 0;
    for (unsigned s = 0; s < b->rules.symmetry_count; s++) {
        const uint32_t image = image_of(b, s, mask);
        if (image < *least) *least = image, turn = s;
        if (image == mask) *fixing |= (uint16_t)(1u << s);
    }
    /* The representative precedes it, and its own turn is 0. */
    if (*least != mask) return b->fold[men][number_of(b, *least)] | turn << ORBIT_BITS;
    return b->orbits[men] | (uint32_t)(*fixing != 1) << (ORBIT_BITS + TURN_BITS);
}

static int build_orbits(morris_board *b) {
    for (unsigned men = 0; men <= b->rules.men; men++) {
        const uint32_t masks = b->choose[b->rules.points][men];
        /* There are far fewer orbits than masks, but untouched memory costs nothing. */
        b->fold[men] = malloc(masks * sizeof *b->fold[men]);
        b->representative[men] = malloc(masks * sizeof *b->representative[men]);
        b->stabilizer[men] = malloc(masks * sizeof *b->stabilizer[men]);
        if (!b->fold[men] || !b->representative[men] || !b->stabilizer[men]) return 0;
        uint32_t mask = (UINT32_C(1) << men) - 1;
        for (uint32_t number = 0; number < masks; number++, mask = next_mask(mask)) {
            uint32_t least;
            uint16_t fixing;
            b->fold[men][number] = fold_of(b, men, mask, &least, &fixing);
            if (least != mask) continue;
            b->representative[men][b->orbits[men]] = mask;
            b->stabilizer[men][b->orbits[men]++] = fixing;
        }
    }
    return 1;
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
    const uint64_t slots_per_orbit = b->choose[b->rules.points - more][fewer];
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
        .size = b->orbits[more] * slots_per_orbit,
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
    build_numbers(b);
    if (!build_orbits(b)) {
        morris_free(b);
        return NULL;
    }
    build_tiers(b);
    return b;
}

void morris_free(morris_board *board) {
    for (unsigned men = 0; men <= MEN; men++) {
        free(board->fold[men]);
        free(board->representative[men]);
        free(board->stabilizer[men]);
    }
    free(board);
}

uint32_t morris_tier_count(const morris_board *board) { return board->tier_count; }
