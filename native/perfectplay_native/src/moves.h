/* The game as a graph of slots: results by the rules alone, children and parents, whatever functions the kernel has. */
#ifndef PP_MOVES_H
#define PP_MOVES_H

#include "engine.h"

/* ---- positions ---- */

static inline pp_position canonical(const pp_kernel *kernel, pp_position position) {
    return kernel->canonicalize ? kernel->canonicalize(kernel, position) : position;
}
static inline uint32_t tier_number(const pp_kernel *kernel, pp_position position) {
    return kernel->tier ? kernel->tier(kernel, position) : 0;
}
static inline bool can_retract(const pp_kernel *kernel) { return kernel->retract || kernel->parents; }
static inline bool has_survey(const pp_kernel *kernel) { return kernel->survey && !kernel->score; }

/* Whether the movers must be compared to find out if a move keeps the turn. */
static inline bool compares_movers(const pp_kernel *kernel) {
    return kernel->mover && kernel->players != 1 && !(kernel->flags & PP_TURNS_ALTERNATE);
}
/* Whether the same player is to move before and after a move. */
static inline bool keeps_turn(const pp_kernel *kernel, pp_position parent, pp_position child) {
    if (compares_movers(kernel)) return kernel->mover(kernel, parent) == kernel->mover(kernel, child);
    return kernel->players == 1;
}

static inline bool score_agrees(int score, int status) {
    if (score < -PP_MAX_SCORE || score > PP_MAX_SCORE) return false;
    return status == PP_WON ? score > 0 : status == PP_LOST ? score < 0 : score == 0;
}
static inline value_code finished_code(const pp_kernel *kernel, pp_position position, int status) {
    if (!kernel->score) return (value_code)status;
    const int score = kernel->score(kernel, position);
    return score_agrees(score, status) ? with_score((value_code)status, score) : (value_code)CODE_BAD_SCORE;
}
/* The code of a position that the rules alone settle: finished, won in one move, or no position. CODE_ENDLESS if they
 * do not settle it; such a position is called open. */
static inline value_code rule_code(const pp_kernel *kernel, pp_position position) {
    if (position == PP_NO_POSITION) return CODE_NO_POSITION;
    const int status = kernel->status(kernel, position);
    if (status != PP_ONGOING) return finished_code(kernel, position, status);
    const bool wins_now = kernel->wins_now && !kernel->score && kernel->wins_now(kernel, position);
    return wins_now ? (value_code)PP_WINS_NOW : (value_code)CODE_ENDLESS;
}
/* Writes the rule codes of consecutive slots of a tier, at most RUN_SLOTS. */
enum { RUN_SLOTS = 64 };
void pp_rule_codes_of_slots(pp_engine *engine, pp_slot first, unsigned count, value_code *codes);

/* ---- moves ---- */

/* Sorts a short array and removes duplicates. Returns the number left. */
size_t pp_make_distinct(uint64_t *values, size_t count);
/* Writes the distinct canonical children and returns their number; `moves` has room for max_moves. */
size_t pp_canonical_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves);
/* The same, but any image of a child will do, and a child may occur several times. */
size_t pp_any_children(const pp_kernel *kernel, pp_position position, pp_position *children, pp_move *moves);

/* Buffers for the moves, children or parents of one position. Each thread has its own. */
typedef struct {
    pp_move *moves;
    pp_slot *slots;
    uint8_t *keeps_turn; /* of each slot: whether the move keeps the turn */
    void *memory;
} scratch;
bool pp_scratch_new(pp_engine *engine, scratch *out); /* false when memory runs out, which is noted as a failure */
void pp_scratch_free(scratch *room);

/* Writes the slots of the children of the first position, then of the second, and so on, with PP_KEEPS_TURN if the move
 * keeps the turn. ends[i] is the end of the children of positions[i]. Needs room for max_moves + 1 per position. */
void pp_child_slots(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots, uint32_t *ends,
                    scratch *room);
/* Writes the parents of one position to room->slots in the same form, and returns their number. */
size_t pp_parent_slots(pp_engine *engine, pp_position position, scratch *room);
/* Brings the result of a kernel's expand, survey or retract into that form. Returns the number of slots left. */
size_t pp_normalize_edges(const pp_kernel *kernel, pp_slot *slots, size_t count);

/* The kernel that a declared index was added to (declared_index.c), or the kernel itself. */
const pp_kernel *pp_undeclared(const pp_kernel *kernel);

/* Announces that functions of a Python game will be called for these positions, so that the memo can call it for all of
 * them at once (memo.c). No effect on a game in C. */
void pp_memo_prefill(const pp_kernel *kernel, const pp_position *positions, size_t count);
void pp_memo_prefill_tiers(const pp_kernel *kernel, const pp_position *positions, size_t count);

#endif
