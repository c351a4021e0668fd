/* Value codes, and what a child's value is worth to its parent.
 *
 *     31               16 15                    2 1    0
 *     [ score: signed 16 ][   remoteness: 14     ][ kind ]
 *
 * Values are for the side to move. The score is by how much it wins, 0 in games without scores: these need one byte a
 * value, or two where a remoteness is above 63; games with scores need four. Of a table of outcomes nothing but the kind
 * is stored, in two bits. */
#ifndef PP_VALUES_H
#define PP_VALUES_H

#include <stdbool.h>

#include "api.h"

typedef uint32_t value_code;

enum { KIND_NONE = 0, KIND_LOSS = PP_LOST, KIND_TIE = PP_DRAWN, KIND_WIN = PP_WON };
enum { CODE_ENDLESS = 0, CODE_NO_POSITION = PP_EMPTY_SLOT, LARGEST_NARROW_CODE = 255 };
enum { CODE_BAD_SCORE = 8 }; /* never stored: the rules give a score that contradicts the status */

static inline value_code code_of(unsigned kind, unsigned remoteness) { return remoteness << 2 | kind; }
static inline value_code with_score(value_code code, int score) { return code | (uint32_t)(uint16_t)score << 16; }
static inline unsigned kind_of(value_code code) { return code & 3; }
static inline unsigned remoteness_of(value_code code) { return code >> 2 & 0x3FFF; }
static inline int score_of(value_code code) { return (int16_t)(uint16_t)(code >> 16); }

/* ---- outcomes ----
 *
 * Two bits: 0 draw, 1 loss, 2 no position, 3 win. The engine reads them as codes of remoteness 0, a draw, be it a tie or
 * endless, as CODE_ENDLESS: that is what a position is until it is decided, and what it stays if it never is. Whoever
 * asks from outside gets PP_UNKNOWN_REMOTENESS. */
static inline unsigned packed_outcome(value_code code) {
    return code == CODE_NO_POSITION ? 2 : kind_of(code) == KIND_TIE ? 0 : kind_of(code);
}
static inline value_code unpacked_outcome(unsigned bits) { return 0x3410 >> 4 * (bits & 3) & 7; }
static inline value_code outcome_code(unsigned bits) {
    const value_code code = unpacked_outcome(bits);
    return code == CODE_NO_POSITION ? code : code_of(code ? code : KIND_TIE, PP_UNKNOWN_REMOTENESS);
}

/* ---- turns ----
 *
 * Most moves pass the turn: a child that is lost makes its parent won. Where a move keeps the turn, a child that is won
 * makes its parent won. Such a child is looked at as though the turn had passed, win and loss (3 and 1) exchanged; so
 * all that follows knows one kind of move only. Ties, endless draws and empty slots stay what they are. */
static inline value_code as_if_passed(value_code code, pp_slot edge) {
    return code ^ ((uint32_t)(edge >> 63) & code & 1) << 1;
}

/* ---- scores ----
 *
 * Where a score decides between positions that may repeat, one score after the other is propagated, the highest first.
 * While that of `threshold` is, other values count as follows. Won or lost by more: decided, and for a parent that is
 * not decided yet certainly bad, since it would have been won before; its remoteness does not matter. By less: drawn. */
static inline value_code seen_at(value_code code, int threshold) {
    const int score = score_of(code), size = score < 0 ? -score : score;
    if (!size) return code;
    if (size == threshold) return code & 0xFFFF;
    return size > threshold ? code_of(kind_of(code), 0) : CODE_ENDLESS;
}

/* What a child is worth to the parent, greater being better: the score, then quick wins, quick ties, endless draws,
 * slow losses. Without scores winning counts 1. */
static inline int64_t worth_to_parent(value_code child, bool keeps_turn) {
    enum { PLIES = 1 << 16 };
    const int plies = (int)remoteness_of(child), kind = (int)kind_of(child);
    int score = score_of(child) ? score_of(child) : (kind == KIND_WIN) - (kind == KIND_LOSS);
    if (!keeps_turn) score = -score;
    const int order = score < 0 ? plies : child == CODE_ENDLESS ? 0 : PLIES - plies;
    return (int64_t)score * (2 * PLIES) + order;
}

/* The value that a parent has by moving to this child. */
static inline value_code by_moving_to(value_code child, bool keeps_turn) {
    if (child == CODE_ENDLESS) return CODE_ENDLESS;
    const int score = keeps_turn ? score_of(child) : -score_of(child);
    const unsigned kind = kind_of(child);
    const unsigned mine = keeps_turn || kind == KIND_TIE ? kind : KIND_WIN + KIND_LOSS - kind;
    return with_score(code_of(mine, remoteness_of(child) + 1), score);
}

#endif
