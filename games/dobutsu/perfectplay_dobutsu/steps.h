/* Forward and backward moves on a board.
 *
 * Every piece moves a single step, so no piece is ever pinned or blocked, and no attack is ever uncovered. The
 * attackers before a move therefore decide whether the lion can be captured after it, and the other way round. */
#ifndef DOBUTSU_STEPS_H
#define DOBUTSU_STEPS_H

#include "index.h"

/* With d kinds in hand, at most 6 - d pieces other than the lion are on the board. That bounds drops and steps by
 * 43, and backward steps, including each piece that may have been captured, by 117. */
enum { MAX_MOVES = 64, MAX_PARENTS = 128 };

/* Returns the targets of pieces other than the lion that leave it without an attacker: all cells if there is no
 * attacker, the attacker's cell if there is one, else none. Backwards, these are the cells of the pieces that can
 * have moved. */
static inline unsigned all_or_only(unsigned attack) { return !attack ? ALL_CELLS : attack & (attack - 1) ? 0 : attack; }

/* ---- forward ---- */

static inline void step(board *b, int side, int kind, unsigned from, unsigned to) {
    const unsigned far = side == MINE ? FAR_RANK : HOME_RANK;
    b->on[side][kind] ^= (uint16_t)from;
    b->on[side][kind == CHICK && (to & far) ? HEN : kind] |= (uint16_t)to;
    for (int taken = 0; taken < KINDS; taken++)
        if (b->on[!side][taken] & to) {
            b->on[!side][taken] ^= (uint16_t)to;
            b->hand[side] = (uint8_t)(b->hand[side] + one_in_hand(taken == HEN ? CHICK : taken));
        }
}

static inline void drop(board *b, int side, int kind, unsigned to) {
    b->on[side][kind] |= (uint16_t)to;
    b->hand[side] = (uint8_t)(b->hand[side] - one_in_hand(kind));
}

/* ---- backward ---- */

static inline void step_back(board *b, int before, int now, unsigned from, unsigned to) {
    b->on[MINE][now] ^= (uint16_t)to;
    b->on[MINE][before] |= (uint16_t)from;
}

/* Puts a captured piece back on its cell. */
static inline void put_back(board *b, int in_hand_as, int kind, unsigned to) {
    b->hand[MINE] = (uint8_t)(b->hand[MINE] - one_in_hand(in_hand_as));
    b->on[THEIRS][kind] |= (uint16_t)to;
}

/* Adds the boards before a step of MINE: one without a capture, and one for each piece that it may have captured. */
static size_t add_steps_back(const board *b, int before, int now, unsigned from, unsigned to, board *boards) {
    board *next = boards;
    *next = *b;
    step_back(next++, before, now, from, to);
    for (int kind = 0; kind < KINDS; kind++) {
        const int in_hand_as = kind == HEN ? CHICK : kind;
        if (kind == LION || !in_hand(b, MINE, in_hand_as)) continue;
        *next = *b;
        put_back(next, in_hand_as, kind, to);
        step_back(next++, before, now, from, to);
    }
    return (size_t)(next - boards);
}

/* Lists the unfinished boards before an unfinished one, from the view of the player who moved (MINE). They could not
 * capture the lion before, so only the piece that moved can attack it now, and it did not attack it from its source. */
static size_t boards_before(const board *now, board *boards) {
    const board b = with_lions_as_pair(now);
    const unsigned lion = cell_of(b.on[THEIRS][LION]), attack = attackers(&b, MINE, lion);
    const unsigned movable = all_or_only(attack);
    const unsigned free_cells = ALL_CELLS & ~(pieces(&b, MINE) | pieces(&b, THEIRS));
    size_t count = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const unsigned forbidden = dobutsu_steps[THEIRS][kind][lion] | (kind == LION ? FAR_RANK : 0u);
        const unsigned sources = free_cells & ~forbidden;
        for (unsigned left = b.on[MINE][kind] & movable; left; left &= left - 1) {
            const unsigned to = left & -left, back = dobutsu_steps[THEIRS][kind][cell_of(to)] & sources;
            if (kind < KINDS_IN_HAND) {
                boards[count] = b;
                boards[count].on[MINE][kind] ^= (uint16_t)to;
                boards[count].hand[MINE] = (uint8_t)(b.hand[MINE] + one_in_hand(kind));
                count++;
            }
            if (kind == CHICK && (to & FAR_RANK)) continue; /* it was dropped, because a step there promotes */
            for (unsigned from = back; from; from &= from - 1)
                count += add_steps_back(&b, kind, kind, from & -from, to, boards + count);
            const unsigned behind = to << COLUMNS & free_cells;
            if (kind == HEN && (to & FAR_RANK) && behind)
                count += add_steps_back(&b, CHICK, HEN, behind, to, boards + count);
        }
    }
    return count;
}

#endif
