/* The parts of a position and basic rules, for both the rules and the index.
 *
 * A position, in 64 bits:
 *
 *     63   54  53  52    48 47          24 23           0
 *     [ zero ][side][in hand][ Black's men ][ White's men ]     side 0: White is to move
 *
 * "In hand" counts the men of both players still to be placed. If it is odd, the mover has one more. */
#ifndef MORRIS_POSITION_H
#define MORRIS_POSITION_H

#include "morris.h"

enum { BLACK_SHIFT = 24, HAND_SHIFT = 48, SIDE_BIT = 53 };

typedef struct {
    uint32_t mover, other; /* men on the board */
    unsigned in_hand, mover_count, other_count;
} board_view;

static inline uint32_t white_men(pp_position position) { return (uint32_t)position & 0xFFFFFF; }
static inline uint32_t black_men(pp_position position) { return (uint32_t)(position >> BLACK_SHIFT) & 0xFFFFFF; }

static inline const morris_board *board_of(const pp_kernel *self) { return self->context; }

static inline board_view view_of(const morris_board *b, pp_position position) {
    const uint32_t white = white_men(position), black = black_men(position);
    const int side = (int)(position >> SIDE_BIT & 1);
    board_view v = {.mover = side ? black : white, .other = side ? white : black};
    v.in_hand = (unsigned)(position >> HAND_SHIFT) & 31;
    v.mover_count = count_men(b, v.mover);
    v.other_count = count_men(b, v.other);
    return v;
}

static inline pp_position position_of(uint32_t mover, uint32_t other, unsigned in_hand, unsigned side) {
    const uint64_t white = side ? other : mover, black = side ? mover : other;
    return white | black << BLACK_SHIFT | (uint64_t)in_hand << HAND_SHIFT | (uint64_t)side << SIDE_BIT;
}

static inline unsigned men_of_mover(const board_view *v) { return v->mover_count + hand_of_mover(v->in_hand); }
static inline unsigned men_of_other(const board_view *v) { return v->other_count + hand_of_other(v->in_hand); }

/* Returns whether the opponent's last move has won the game, other than by leaving no move. */
static inline int is_over(const morris_board *b, const board_view *v) {
    return b->rules.captures ? men_of_mover(v) < 3 : in_mills(b, v->other) != 0;
}

static inline uint32_t empty_points(const morris_board *b, const board_view *v) {
    return b->all & ~(v->mover | v->other);
}

static inline int may_fly(const morris_board *b, unsigned men) { return b->rules.flying && men == 3; }

/* Returns where a man on this point may go, or may have come from, among these empty points. */
static inline uint32_t within_reach(const morris_board *b, unsigned men, unsigned point, uint32_t empty) {
    return may_fly(b, men) ? empty : empty & b->rules.neighbours[point];
}

static inline int has_move(const morris_board *b, const board_view *v) {
    const uint32_t empty = empty_points(b, v);
    return v->in_hand || may_fly(b, v->mover_count) ? empty != 0 : (near_to(b, v->mover) & empty) != 0;
}

/* Returns the men that a mill may capture. */
static inline uint32_t capturable(const morris_board *b, uint32_t men) {
    const uint32_t outside = men & ~in_mills(b, men);
    return outside ? outside : men;
}

/* Returns the tier of a position, or OVER for a game won by a mill. */
static inline uint32_t tier_of_view(const morris_board *b, const board_view *v) {
    return is_over(b, v) ? OVER : b->tier_of[v->in_hand][v->mover_count][v->other_count];
}

#endif
