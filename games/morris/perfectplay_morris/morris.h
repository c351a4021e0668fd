/* A board of Morris: its description from Python, and the tables that the rules and the index use.
 *
 * Points are numbered in reading order. A set of men is a mask of at most 24 bits. */
#ifndef MORRIS_H
#define MORRIS_H

#include "perfectplay.h"
#include "perfectplay/orbits.h"

/* cdef */
/* The description of a board and its rules, filled in by Python. */
typedef struct {
    uint32_t points;         /* on the board, at most 24 */
    uint32_t men;            /* of each player, at most 9 */
    int captures;            /* a mill captures a man; otherwise it wins the game */
    int flying;              /* with three men left, a man may go to any empty point */
    uint32_t neighbours[24]; /* of each point, as a mask */
    uint32_t mill_count;
    uint32_t mills[16]; /* as masks */
    uint32_t symmetry_count;
    uint8_t symmetries[16][24]; /* the image of each point; the first is the identity */
} morris_rules;

typedef struct morris_board morris_board;

/* Returns a board for the `context` of a kernel, or NULL if memory runs out. Release it with morris_free. */
morris_board *morris_new(const morris_rules *rules);
void morris_free(morris_board *board);
uint32_t morris_tier_count(const morris_board *board);
/* end cdef */

enum {
    POINTS = 24,
    MEN = 9,
    PLIES = 2 * MEN, /* of placing */
    BYTES = 3,
    SYMMETRIES = 16,
    MAX_MILLS = 4, /* through a point */
    TIERS = 1 + (PLIES + 1) * (MEN + 1) * (MEN + 1),
    /* The tier of all games won by a mill. It has one slot, because they have a single value. */
    OVER = 0,
    NO_TIER = UINT16_MAX,
};

/* A tier: men in hand of both players (the mover has the odd one), men on the board, and the layout of its slots. */
typedef struct {
    uint8_t in_hand, mover, other;
    uint8_t by_mover;    /* the mover has at least as many men on the board */
    uint8_t more, fewer; /* men on the board of the player with more and of the player with fewer */
    uint8_t more_may_have_mill, fewer_may_have_mill; /* because the opponent has lost a man */
    uint64_t slots_per_orbit, size;
} morris_tier;

struct morris_board {
    morris_rules rules;
    uint32_t all;                         /* every point */
    uint32_t partners[POINTS][MAX_MILLS]; /* the other two points of each mill through a point, or all ones */
    uint32_t near[BYTES][256];            /* the neighbours of a byte of men */
    pp_permutation symmetry[SYMMETRIES];
    pp_subsets subsets;
    pp_orbits orbits[MEN + 1]; /* of sets of men, by their number */
    morris_tier tiers[TIERS];
    uint16_t tier_of[PLIES + 1][MEN + 1][MEN + 1]; /* by in_hand, mover and other, or NO_TIER */
    uint32_t tier_count;
};

static inline unsigned count_men(const morris_board *b, uint32_t mask) {
    return pp_subset_size(&b->subsets, mask, BYTES);
}

static inline uint32_t near_to(const morris_board *b, uint32_t mask) {
    return b->near[0][mask & 255] | b->near[1][mask >> 8 & 255] | b->near[2][mask >> 16];
}

static inline uint32_t image_of(const morris_board *b, unsigned symmetry, uint32_t mask) {
    return (uint32_t)pp_permute(&b->symmetry[symmetry], mask, BYTES);
}

/* Returns the points of all mills in `men`. */
static inline uint32_t in_mills(const morris_board *b, uint32_t men) {
    uint32_t points = 0;
    for (uint32_t i = 0; i < b->rules.mill_count; i++)
        if ((men & b->rules.mills[i]) == b->rules.mills[i]) points |= b->rules.mills[i];
    return points;
}

/* Returns whether a man added to `men` at this point closes a mill. */
static inline int closes_mill(const morris_board *b, uint32_t men, unsigned point) {
    const uint32_t *partners = b->partners[point];
    return (men & partners[0]) == partners[0] || (men & partners[1]) == partners[1] ||
           (men & partners[2]) == partners[2] || (men & partners[3]) == partners[3];
}

/* The shares of the player to move and of the other player in `in_hand` men. */
static inline unsigned hand_of_mover(unsigned in_hand) { return (in_hand + 1) / 2; }
static inline unsigned hand_of_other(unsigned in_hand) { return in_hand / 2; }

/* Writes the tiers after one move: without a mill, and with a mill that captures a man. Returns their number, and sets
 * `*may_end` if a mill may end the game. */
size_t morris_next_tiers(const morris_rules *rules, morris_tier tier, morris_tier next[2], int *may_end);

#endif
