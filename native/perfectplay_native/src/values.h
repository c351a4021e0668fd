/* Value codes, and the value of a child from its parent's point of view.
 *
 *     31               16 15                    2 1    0
 *     [ score: signed 16 ][   remoteness: 14     ][ kind ]
 *
 * Values are for the side to move. The score is the margin by which it wins, 0 in games without scores. Such games need
 * one byte per value, or two if a remoteness is above 63; games with scores need four. A table of outcomes stores only
 * the kind, in two bits. */
#ifndef PP_VALUES_H
#define PP_VALUES_H

#include <stdbool.h>

#include "engine_api.h"

typedef uint32_t value_code;

enum { KIND_NONE = 0, KIND_LOSS = PP_LOST, KIND_TIE = PP_DRAWN, KIND_WIN = PP_WON };
enum { CODE_ENDLESS = 0, CODE_NO_POSITION = PP_EMPTY_SLOT, LARGEST_NARROW_CODE = 255 };
enum { CODE_BAD_SCORE = 8 }; /* never stored: the kernel's score contradicts its status */

static inline value_code code_of(unsigned kind, unsigned remoteness) { return remoteness << 2 | kind; }
static inline value_code with_score(value_code code, int score) { return code | (uint32_t)(uint16_t)score << 16; }
static inline unsigned kind_of(value_code code) { return code & 3; }
static inline unsigned remoteness_of(value_code code) { return code >> 2 & 0x3FFF; }
static inline int score_of(value_code code) { return (int16_t)(uint16_t)(code >> 16); }

/* ---- outcomes ----
 *
 * Two bits: 0 draw, 1 loss, 2 no position, 3 win. The engine reads them as codes with remoteness 0. A draw, whether a
 * tie or endless, is read as CODE_ENDLESS, because that is the value of a position until it is decided, and remains so
 * if it never is. Callers of the API get PP_UNKNOWN_REMOTENESS instead (outcome_code). */
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
 * Most moves pass the turn: a lost child makes its parent win. If a move keeps the turn, a won child makes its parent
 * win. The value of such a child is converted as if the turn had passed, by exchanging win and loss (3 and 1), so that
 * the following code has to handle one kind of move only. Ties, endless draws and empty slots do not change. */
static inline value_code as_if_turn_passed(value_code code, pp_slot edge) {
    return code ^ ((uint32_t)(edge >> 63) & code & 1) << 1;
}

/* ---- scores ----
 *
 * If positions with scores may repeat, one score after the other is propagated, the highest first. While `threshold` is
 * propagated, a value with another score counts as follows. A larger margin is decided, and certainly bad for a parent
 * that is still undecided, which otherwise would have been decided by that margin; the remoteness does not matter. A
 * smaller margin is a draw. */
static inline value_code code_at_threshold(value_code code, int threshold) {
    const int score = score_of(code), margin = score < 0 ? -score : score;
    if (!margin) return code;
    if (margin == threshold) return code & 0xFFFF;
    return margin > threshold ? code_of(kind_of(code), 0) : CODE_ENDLESS;
}

/* How good a child is for its parent: by score, then quick wins, quick ties, endless draws, slow losses. Without scores
 * a win counts as 1. */
static inline int64_t worth_to_parent(value_code child, bool keeps_turn) {
    enum { PLIES = 1 << 16 };
    const int plies = (int)remoteness_of(child), kind = (int)kind_of(child);
    int score = score_of(child) ? score_of(child) : (kind == KIND_WIN) - (kind == KIND_LOSS);
    if (!keeps_turn) score = -score;
    const int order = score < 0 ? plies : child == CODE_ENDLESS ? 0 : PLIES - plies;
    return (int64_t)score * (2 * PLIES) + order;
}

/* The value of a parent whose best move leads to this child. */
static inline value_code value_by_move(value_code child, bool keeps_turn) {
    if (child == CODE_ENDLESS) return CODE_ENDLESS;
    const int score = keeps_turn ? score_of(child) : -score_of(child);
    const unsigned kind = kind_of(child);
    const unsigned parent_kind = keeps_turn || kind == KIND_TIE ? kind : KIND_WIN + KIND_LOSS - kind;
    return with_score(code_of(parent_kind, remoteness_of(child) + 1), score);
}

#endif
