/* A board of Morris: what Python says of it, and the tables that make the rules and the index quick.
 *
 * Points are numbered in reading order, and a set of men is a mask of at most 24 bits, looked at byte by byte: three
 * lookups turn it, count it or number it, whatever the board. */
#ifndef MORRIS_H
#define MORRIS_H

#include "perfectplay.h"

/* cdef */
/* What is special about a board and its rules; Python fills it in. */
typedef struct {
    uint32_t points;         /* on the board, at most 24 */
    uint32_t men;            /* of each player, at most 9 */
    int captures;            /* a mill takes a man; otherwise it wins the game */
    int flying;              /* with three men left, a man may go to any empty point */
    uint32_t neighbours[24]; /* of each point, as a mask */
    uint32_t mill_count;
    uint32_t mills[16]; /* as masks */
    uint32_t symmetry_count;
    uint8_t symmetries[16][24]; /* where each takes a point; the first is the identity */
} morris_rules;

typedef struct morris_board morris_board;

/* A board for the `context` of a kernel, or NULL for want of memory; morris_free gives it back. */
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
    MILLS_THROUGH = 4, /* a point, at most */
    TIERS = 1 + (PLIES + 1) * (MEN + 1) * (MEN + 1),
    /* The tier of all games that a mill has won: one slot, for they are one value. */
    OVER = 0,
    NO_TIER = UINT16_MAX,
};

/* How a mask becomes the representative of its orbit:   24    23  20 19      0
 *                                                    [fixed] [turn] [ orbit ]
 * `orbit` among the masks of as many men, `turn` a symmetry that leads to the representative, `fixed` set where some
 * symmetry other than the identity leaves the representative as it is. */
typedef uint32_t fold_entry;
enum { ORBIT_BITS = 20, TURN_BITS = 4 };

/* A tier: men in hand of both (the mover has the odd one), and men on the board; how its slots are laid out. */
typedef struct {
    uint8_t in_hand, mover, other;
    uint8_t by_mover;    /* the mover has more men on the board, or as many */
    uint8_t more, fewer; /* men on the board of the player who has more, and of the one who has fewer */
    uint8_t more_may_have_mill, fewer_may_have_mill; /* for the opponent has lost a man */
    uint64_t slots_an_orbit, size;
} morris_tier;

struct morris_board {
    morris_rules rules;
    uint32_t all;                             /* every point */
    uint32_t partners[POINTS][MILLS_THROUGH]; /* the other two points of each mill through a point; or all ones */
    uint32_t near[BYTES][256];                /* the neighbours of a byte of men */
    uint32_t image[SYMMETRIES][BYTES][256];   /* of a byte of men */
    uint8_t count[256];                       /* bits in a byte */
    uint32_t choose[POINTS + 1][POINTS + 1];
    uint32_t number[BYTES][2 * 8 + 1][256]; /* of a byte, after so many men in the bytes below */
    uint8_t gathered[256][256];             /* [among][byte]: the bits of `byte` at places in `among`, close up */
    uint8_t scattered[256][256];            /* the converse */
    fold_entry *fold[MEN + 1];              /* by men and number */
    uint32_t orbits[MEN + 1];
    uint32_t *representative[MEN + 1]; /* by men and orbit */
    uint16_t *stabilizer[MEN + 1];     /* the symmetries that leave it as it is, as a set */
    morris_tier tiers[TIERS];
    uint16_t tier_of[PLIES + 1][MEN + 1][MEN + 1]; /* by in_hand, mover, other; or NO_TIER */
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

/* Among all masks with as many men, in the order of their values. */
static inline uint32_t number_of(const morris_board *b, uint32_t mask) {
    const unsigned low = byte_of(mask, 0), middle = byte_of(mask, 1), below = b->count[low];
    return b->number[0][0][low] + b->number[1][below][middle] +
           b->number[2][below + b->count[middle]][byte_of(mask, 2)];
}

/* The bits of `mask` at the places in `among`, close up. */
static inline uint32_t gather(const morris_board *b, uint32_t mask, uint32_t among) {
    const unsigned low = byte_of(among, 0), middle = byte_of(among, 1), first = b->count[low];
    return b->gathered[low][byte_of(mask, 0)] | (uint32_t)b->gathered[middle][byte_of(mask, 1)] << first |
           (uint32_t)b->gathered[byte_of(among, 2)][byte_of(mask, 2)] << (first + b->count[middle]);
}

/* The converse: close bits back to their places. */
static inline uint32_t scatter(const morris_board *b, uint32_t bits, uint32_t among) {
    const unsigned low = byte_of(among, 0), middle = byte_of(among, 1);
    const unsigned first = b->count[low], second = first + b->count[middle];
    return b->scattered[low][bits & 255] | (uint32_t)b->scattered[middle][bits >> first & 255] << 8 |
           (uint32_t)b->scattered[byte_of(among, 2)][bits >> second & 255] << 16;
}

/* The next larger mask with as many men (Gosper's way). */
static inline uint32_t next_mask(uint32_t mask) {
    const uint32_t carried = mask + (mask & -mask);
    return mask ? carried | (mask ^ carried) >> 2 >> __builtin_ctz(mask) : 0;
}

/* The points of all mills that stand in `men`. */
static inline uint32_t in_mills(const morris_board *b, uint32_t men) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < b->rules.mill_count; i++)
        if ((men & b->rules.mills[i]) == b->rules.mills[i]) found |= b->rules.mills[i];
    return found;
}

/* Whether a man who joins `men` at this point stands in a mill there. */
static inline int closes_mill(const morris_board *b, uint32_t men, unsigned point) {
    const uint32_t *partners = b->partners[point];
    return (men & partners[0]) == partners[0] || (men & partners[1]) == partners[1] ||
           (men & partners[2]) == partners[2] || (men & partners[3]) == partners[3];
}

/* Of `in_hand` men, those of the player to move; the other has the rest. */
static inline unsigned hand_of_mover(unsigned in_hand) { return (in_hand + 1) / 2; }
static inline unsigned hand_of_other(unsigned in_hand) { return in_hand / 2; }

/* The tiers that one move leads to: without a mill, and by a mill that takes a man. Returns how many there are, and
 * says whether a mill may end the game. */
size_t morris_next_tiers(const morris_rules *rules, morris_tier tier, morris_tier next[2], int *may_end);

#endif
