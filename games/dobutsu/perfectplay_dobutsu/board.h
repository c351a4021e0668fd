/* A position of Dōbutsu shōgi, as 64 bits and as masks of cells.
 *
 * Cells are numbered row by row, starting with Sky's home rank. Forest plays up the board, Sky plays down:
 *
 *      A  B  C
 *      0  1  2   1      The start (capitals are Forest's):     g l e
 *      3  4  5   2                                             . c .
 *      6  7  8   3                                             . C .
 *      9 10 11   4                                             E L G
 *
 * The 64 bits are four planes with one bit per cell, the pieces in hand, and the side to move (0 Forest, 1 Sky):
 *
 *     63 61  60   59    54 53    48 47      36 35      24 23      12 11       0
 *     [zero][side][ Sky's ][Forest's][ kind 2  ][ kind 1  ][ kind 0  ][ owner   ]    a hand:  5 4   3 2   1 0
 *                  hand     hand                                                             chick eleph. giraffe
 *
 * owner is 1 for Sky. The kind bits (2, 1, 0) of a cell form a code: 0 empty, 1 giraffe, 2 elephant, 3 chick, 4 lion,
 * 7 hen. Adding 4 promotes a chick, and code & 3 is the captured piece in hand (0 for a lion).
 *
 * A `board` is a view from the side of one player, who is MINE and plays up. Half a turn swaps the views. */
#ifndef DOBUTSU_BOARD_H
#define DOBUTSU_BOARD_H

#include "perfectplay.h"

enum { CELLS = 12, COLUMNS = 3, ALL_CELLS = 0xFFF, FAR_RANK = 00007, HOME_RANK = 07000 };
enum { MINE, THEIRS };
enum { GIRAFFE, ELEPHANT, CHICK, LION, HEN, KINDS, KINDS_IN_HAND = 3 };
enum { PROMOTED = 4 }; /* added to the code of a chick gives a hen */

typedef struct {
    uint16_t on[2][KINDS]; /* masks of cells */
    uint8_t hand[2];       /* two bits per kind */
} board;

/* Targets of a piece on a cell. MINE moves up the board. The steps of THEIRS are the steps of MINE reversed. */
extern uint16_t dobutsu_steps[2][KINDS][CELLS];
extern uint8_t dobutsu_ones[1 << CELLS]; /* number of set bits; baseline x86-64 has no instruction for it */

static inline unsigned cell_of(unsigned mask) { return (unsigned)__builtin_ctz(mask); }
static inline unsigned in_hand(const board *b, int side, int kind) { return b->hand[side] >> 2 * kind & 3u; }
static inline uint8_t one_in_hand(int kind) { return (uint8_t)(1 << 2 * kind); }

static inline unsigned pieces(const board *b, int side) {
    unsigned all = 0;
    for (int kind = 0; kind < KINDS; kind++) all |= b->on[side][kind];
    return all;
}

/* Returns the pieces of a side that attack a cell. */
static inline unsigned attackers(const board *b, int side, unsigned cell) {
    unsigned attack = 0;
    for (int kind = 0; kind < KINDS; kind++) attack |= b->on[side][kind] & dobutsu_steps[!side][kind][cell];
    return attack;
}

/* ---- mirror and half turn, of a mask or of the four planes at once ---- */

enum { PLANE_BITS = 4 * CELLS, HAND_BITS = 2 * KINDS_IN_HAND, SIDE_BIT = PLANE_BITS + 2 * HAND_BITS };
static const uint64_t PLANES = ((uint64_t)1 << PLANE_BITS) - 1;
static const uint64_t A_COLUMN = 0x249249249249, FIRST_RANK = 0x007007007007; /* octal 1111 and 0007 in each plane */

static inline uint64_t mirror(uint64_t cells) {
    return (cells & A_COLUMN) << 2 | (cells & A_COLUMN << 1) | (cells >> 2 & A_COLUMN);
}
static inline uint64_t half_turn(uint64_t cells) {
    cells = (cells & FIRST_RANK) << 9 | (cells & FIRST_RANK << 3) << 3 | (cells >> 3 & FIRST_RANK << 3) |
            (cells >> 9 & FIRST_RANK);
    return mirror(cells);
}

static inline board mirrored(const board *b) {
    board image = *b;
    for (int side = 0; side < 2; side++)
        for (int kind = 0; kind < KINDS; kind++) image.on[side][kind] = (uint16_t)mirror(b->on[side][kind]);
    return image;
}
static inline int is_symmetric(const board *b) {
    for (int side = 0; side < 2; side++)
        for (int kind = 0; kind < KINDS; kind++)
            if (mirror(b->on[side][kind]) != b->on[side][kind]) return 0;
    return 1;
}

/* ---- bits to masks and back ---- */

static inline int side_to_move(pp_position position) { return (int)(position >> SIDE_BIT & 1); }

static inline unsigned plane(pp_position position, int number) {
    return (unsigned)(position >> number * CELLS) & ALL_CELLS;
}

/* Returns the position from the view of `side`, who becomes Forest and is to move. */
static inline pp_position seen_by(pp_position position, int side) {
    const uint64_t hands = position >> PLANE_BITS & ((1u << 2 * HAND_BITS) - 1);
    if (!side) return (position & PLANES) | hands << PLANE_BITS;
    const uint64_t turned = half_turn(position & PLANES);
    const uint64_t swapped = (hands >> HAND_BITS | hands << HAND_BITS) & ((1u << 2 * HAND_BITS) - 1);
    const unsigned occupied = plane(turned, 1) | plane(turned, 2) | plane(turned, 3);
    return (turned ^ occupied) | swapped << PLANE_BITS;
}

static inline unsigned lions(pp_position position) { return plane(position, 3) & ~plane(position, 1); }

static inline board board_seen_by(pp_position position, int side) {
    const pp_position seen = seen_by(position, side);
    const unsigned theirs = plane(seen, 0), bit0 = plane(seen, 1), bit1 = plane(seen, 2), bit2 = plane(seen, 3);
    unsigned all[KINDS];
    all[GIRAFFE] = bit0 & ~bit1;
    all[ELEPHANT] = bit1 & ~bit0;
    all[CHICK] = bit0 & bit1 & ~bit2;
    all[LION] = lions(seen);
    all[HEN] = bit0 & bit1 & bit2;
    board b;
    for (int kind = 0; kind < KINDS; kind++) {
        b.on[MINE][kind] = (uint16_t)(all[kind] & ~theirs);
        b.on[THEIRS][kind] = (uint16_t)(all[kind] & theirs);
    }
    for (int player = 0; player < 2; player++)
        b.hand[player] = (uint8_t)(seen >> (PLANE_BITS + player * HAND_BITS) & ((1u << HAND_BITS) - 1));
    return b;
}

/* Returns the bits of a board on which MINE is Forest and is to move. */
static inline pp_position position_of(const board *b) {
    unsigned all[KINDS];
    for (int kind = 0; kind < KINDS; kind++) all[kind] = b->on[MINE][kind] | b->on[THEIRS][kind];
    const uint64_t bit0 = all[GIRAFFE] | all[CHICK] | all[HEN], bit1 = all[ELEPHANT] | all[CHICK] | all[HEN];
    const uint64_t bit2 = all[LION] | all[HEN];
    return pieces(b, THEIRS) | bit0 << CELLS | bit1 << 2 * CELLS | bit2 << 3 * CELLS |
           (uint64_t)b->hand[MINE] << PLANE_BITS | (uint64_t)b->hand[THEIRS] << (PLANE_BITS + HAND_BITS);
}

/* ---- tiers ---- */

/* Capturing the lion is compulsory and wins, so play never returns from the second or the third tier. */
enum { UNFINISHED, LION_CAN_BE_TAKEN, FINISHED, TIERS };

/* Returns the tier of a board with `mover` to move. A lion on the far rank that cannot be captured has won. */
static inline uint32_t tier_of_board(const board *b, int mover) {
    if (!b->on[mover][LION]) return FINISHED;
    if (attackers(b, mover, cell_of(b->on[!mover][LION]))) return LION_CAN_BE_TAKEN;
    return b->on[!mover][LION] & (mover == MINE ? HOME_RANK : FAR_RANK) ? FINISHED : UNFINISHED;
}

/* The same for a position from the mover's view. Enumeration calls this for every child, so it builds no board and has
 * no branches that could be mispredicted. */
static inline uint32_t tier_of_position(pp_position seen) {
    const unsigned theirs = plane(seen, 0), bit0 = plane(seen, 1), bit1 = plane(seen, 2), bit2 = plane(seen, 3);
    const unsigned lion = lions(seen) & theirs, cell = cell_of(lion);
    const unsigned attack =
        (bit0 & ~bit1 & dobutsu_steps[THEIRS][GIRAFFE][cell]) | (bit1 & ~bit0 & dobutsu_steps[THEIRS][ELEPHANT][cell]) |
        (bit0 & bit1 & ~bit2 & dobutsu_steps[THEIRS][CHICK][cell]) | (lions(seen) & dobutsu_steps[THEIRS][LION][cell]) |
        (bit0 & bit1 & bit2 & dobutsu_steps[THEIRS][HEN][cell]);
    const unsigned taken = !(lions(seen) & ~theirs), can_be_taken = !taken & ((attack & ~theirs) != 0);
    const unsigned home = !can_be_taken & ((lion & HOME_RANK) != 0);
    return can_be_taken * LION_CAN_BE_TAKEN + (taken | home) * FINISHED;
}

#endif
