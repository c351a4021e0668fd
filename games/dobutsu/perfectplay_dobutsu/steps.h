/* Moves on a board, forth and back.
 *
 * Every piece moves a single step, so nothing is ever pinned, blocked or uncovered: whether a move leaves the lion to
 * be taken shows from the attackers before it, and whether it could be taken before a move, from those after it. */
#ifndef DOBUTSU_STEPS_H
#define DOBUTSU_STEPS_H

#include "index.h"

/* With d kinds in hand, at most 6 - d other pieces are on the board beside the lion: that bounds drops and steps to 43,
 * and steps back, with each piece that may have been taken, to 117. */
enum { MOST_MOVES = 64, MOST_PARENTS = 128 };

/* The targets of pieces other than the lion that leave it with no attacker: all if it has none, else only the one. The
 * same backwards: only the one has come. */
static inline unsigned all_or_only(unsigned attack) { return !attack ? ALL_CELLS : attack & (attack - 1) ? 0 : attack; }

/* ---- forth ---- */

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

/* ---- back ---- */

static inline void step_back(board *b, int before, int now, unsigned from, unsigned to) {
    b->on[MINE][now] ^= (uint16_t)to;
    b->on[MINE][before] |= (uint16_t)from;
}

/* Gives a captured piece back to where it stood. */
static inline void give_back(board *b, int in_hand_as, int kind, unsigned to) {
    b->hand[MINE] = (uint8_t)(b->hand[MINE] - one_in_hand(in_hand_as));
    b->on[THEIRS][kind] |= (uint16_t)to;
}

/* Adds the boards before a step of MINE: with nothing taken by it, and with each piece that it may have taken. */
static size_t add_steps_back(const board *b, int before, int now, unsigned from, unsigned to, board *boards) {
    board *next = boards;
    *next = *b;
    step_back(next++, before, now, from, to);
    for (int kind = 0; kind < KINDS; kind++) {
        const int in_hand_as = kind == HEN ? CHICK : kind;
        if (kind == LION || !in_hand(b, MINE, in_hand_as)) continue;
        *next = *b;
        give_back(next, in_hand_as, kind, to);
        step_back(next++, before, now, from, to);
    }
    return (size_t)(next - boards);
}

/* The unfinished boards before an unfinished one, seen by who moved, MINE. There he could not take the lion: so what
 * attacks it now has just come, and from where it did not. */
static size_t boards_before(const board *now, board *boards) {
    const board b = with_lions_as_pair(now);
    const unsigned lion = cell_of(b.on[THEIRS][LION]), attack = attackers(&b, MINE, lion);
    const unsigned came = all_or_only(attack);
    const unsigned free_cells = ALL_CELLS & ~(pieces(&b, MINE) | pieces(&b, THEIRS));
    size_t count = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const unsigned forbidden = dobutsu_steps[THEIRS][kind][lion] | (kind == LION ? FAR_RANK : 0u);
        const unsigned sources = free_cells & ~forbidden;
        for (unsigned left = b.on[MINE][kind] & came; left; left &= left - 1) {
            const unsigned to = left & -left, back = dobutsu_steps[THEIRS][kind][cell_of(to)] & sources;
            if (kind < KINDS_IN_HAND) {
                boards[count] = b;
                boards[count].on[MINE][kind] ^= (uint16_t)to;
                boards[count].hand[MINE] = (uint8_t)(b.hand[MINE] + one_in_hand(kind));
                count++;
            }
            if (kind == CHICK && (to & FAR_RANK)) continue; /* it was dropped: stepping there makes a hen */
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
