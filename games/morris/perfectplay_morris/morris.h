/* A board of Morris: its description from Python, and the tables that the rules and the index use.
 *
 * Points are numbered in reading order. A set of men is a mask of at most 24 bits that is processed byte by byte: three
 * lookups give its image, its size or its number on any board. */
#ifndef MORRIS_H
#define MORRIS_H

#include "perfectplay.h"

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

/* How a mask maps to the representative of its orbit:   24    23  20 19      0
 *                                                    [fixed] [turn] [ orbit ]
 * `orbit` is numbered among the masks with the same number of men, `turn` is a symmetry that gives the representative,
 * and `fixed` is set if a symmetry other than the identity fixes the representative. */
typedef uint32_t fold_entry;
enum { ORBIT_BITS = 20, TURN_BITS = 4 };

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
    uint32_t all;                           /* every point */
    uint32_t partners[POINTS][MAX_MILLS];   /* the other two points of each mill through a point, or all ones */
    uint32_t near[BYTES][256];              /* the neighbours of a byte of men */
    uint32_t image[SYMMETRIES][BYTES][256]; /* of a byte of men */
    uint8_t count[256];                     /* bits in a byte */
    uint32_t choose[POINTS + 1][POINTS + 1];
    uint32_t number[BYTES][2 * 8 + 1][256]; /* of a byte, by men in the bytes below */
    uint8_t gathered[256][256];             /* [among][byte]: the bits of `byte` selected by `among`, packed */
    uint8_t scattered[256][256];            /* the inverse */
    fold_entry *fold[MEN + 1];              /* by men and number */
    uint32_t orbits[MEN + 1];
    uint32_t *representative[MEN + 1]; /* by men and orbit */
    uint16_t *stabilizer[MEN + 1];     /* the set of symmetries that fix the representative */
    morris_tier tiers[TIERS];
    uint16_t tier_of[PLIES + 1][MEN + 1][MEN + 1]; /* by in_hand, mover and other, or NO_TIER */
    uint32_t tier_count;
};

static inline unsigned byte_of(uint32_t mask, int i) { return mask >> 8 * i & 255; }

static inline unsigned count_men(const morris_board *b, uint32_t mask) {
    return (unsigned)b->count[byte_of(mask, 0)] + b->count[byte_of(mask, 1)] + b->count[byte_of(mask, 2)];
}

static inline uint32_t near_to(const morris_board *b, uint32_t mask) {
    return b->near[0][byte_of(mask, 0)] | b->near[1][byte_of(mask, 1)] | b->near[2][byte_of(mask, 2)];
}

static inline uint32_t image_of(const morris_board *b, unsigned symmetry, uint32_t mask) {
    const uint32_t (*image)[256] = b->image[symmetry];
    return image[0][byte_of(mask, 0)] | image[1][byte_of(mask, 1)] | image[2][byte_of(mask, 2)];
}

/* Returns the number of a mask among all masks with the same number of men, in increasing order. */
static inline uint32_t number_of(const morris_board *b, uint32_t mask) {
    const unsigned low = byte_of(mask, 0), middle = byte_of(mask, 1), below = b->count[low];
    return b->number[0][0][low] + b->number[1][below][middle] +
           b->number[2][below + b->count[middle]][byte_of(mask, 2)];
}

/* Returns the bits of `mask` selected by `among`, packed. */
static inline uint32_t gather(const morris_board *b, uint32_t mask, uint32_t among) {
    const unsigned low = byte_of(among, 0), middle = byte_of(among, 1), first = b->count[low];
    return b->gathered[low][byte_of(mask, 0)] | (uint32_t)b->gathered[middle][byte_of(mask, 1)] << first |
           (uint32_t)b->gathered[byte_of(among, 2)][byte_of(mask, 2)] << (first + b->count[middle]);
}

/* The inverse of gather: returns packed bits at the places in `among`. */
static inline uint32_t scatter(const morris_board *b, uint32_t bits, uint32_t among) {
    const unsigned low = byte_of(among, 0), middle = byte_of(among, 1);
    const unsigned first = b->count[low], second = first + b->count[middle];
    return b->scattered[low][bits & 255] | (uint32_t)b->scattered[middle][bits >> first & 255] << 8 |
           (uint32_t)b->scattered[byte_of(among, 2)][bits >> second & 255] << 16;
}

/* Returns the next larger mask with the same number of men (Gosper's hack). */
static inline uint32_t next_mask(uint32_t mask) {
    const uint32_t carried = mask + (mask & -mask);
    return mask ? carried | (mask ^ carried) >> 2 >> __builtin_ctz(mask) : 0;
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
