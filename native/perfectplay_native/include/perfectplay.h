/* perfectplay.h: the contract between a game and the engine.
 *
 * A game that wants speed gives the engine one `const pp_kernel`: its rules as C functions. This is the
 * only header a kernel includes. Everything the engine can derive from the required functions is optional
 * (NULL); give it when you can do better.
 *
 * Rules for every function below:
 *   - pure: the answer depends on the arguments alone. The engine calls from several threads at once.
 *   - `self` is the kernel itself, so that variants of one game can share code through `self->context`.
 *   - a position passed in is valid (the host has asked `valid`, or the engine made it from your own answers).
 */
#ifndef PERFECTPLAY_H
#define PERFECTPLAY_H

#include <stddef.h>
#include <stdint.h>

/* Raised whenever the struct or the meaning of a function changes. The host refuses any other number. */
enum { PP_ABI = 1 };

/* A position: the game's own 64-bit encoding, side to move included. All ones is never a position. */
typedef uint64_t pp_position;
#define PP_NO_POSITION UINT64_MAX

/* A move: says everything needed to play it and to take it back. */
typedef uint32_t pp_move;

/* No position may have more moves, nor more parents, than this: they are counted in 16 bits. */
enum { PP_MAX_EDGES = 65000 };

/* A slot: where a value is stored.   63            40 39                    0
 *                                    [   tier: 24  ] [      index: 40       ]   */
typedef uint64_t pp_slot;
enum { PP_INDEX_BITS = 40 };

static inline pp_slot pp_slot_of(uint32_t tier, uint64_t index) { return (pp_slot)tier << PP_INDEX_BITS | index; }
static inline uint32_t pp_slot_tier(pp_slot slot) { return (uint32_t)(slot >> PP_INDEX_BITS); }
static inline uint64_t pp_slot_index(pp_slot slot) { return slot & (((uint64_t)1 << PP_INDEX_BITS) - 1); }

/* How a position stands by rule alone, for the side to move. */
enum pp_status { PP_ONGOING = 0, PP_LOST = 1, PP_DRAWN = 2, PP_WON = 3 };

typedef struct pp_kernel pp_kernel;
struct pp_kernel {
    uint32_t abi;           /* PP_ABI */
    uint32_t rules_version; /* stored in every table; raise it whenever rules, encoding or ranks change */
    uint32_t max_moves;     /* no position has more moves than this; at most PP_MAX_EDGES */
    uint32_t max_parents;   /* nor more answers from `parents` or `retract`; 0 when both are NULL */
    uint32_t tier_count;    /* tiers are 0 .. tier_count-1; 1 for a game without tiers */
    const void *context;    /* yours: a variant's parameters, or NULL */

    /* ---- required: the rules ---- */

    /* 1 if these 64 bits are a position of the game, 0 if not. Any 64 bits may be asked. */
    int (*valid)(const pp_kernel *self, pp_position position);
    /* The position in which play begins. */
    pp_position (*start)(const pp_kernel *self);
    /* Writes the legal moves, each once, and returns how many. None when the game is over or the mover is stuck. */
    size_t (*moves)(const pp_kernel *self, pp_position position, pp_move *moves);
    /* The position after one of those moves. */
    pp_position (*apply)(const pp_kernel *self, pp_position position, pp_move move);
    /* The converse: undo(apply(p, m), m) == p. */
    pp_position (*undo)(const pp_kernel *self, pp_position position, pp_move move);
    /* The chosen representative of all positions that are the same up to symmetry. */
    pp_position (*canonicalize)(const pp_kernel *self, pp_position position);
    /* A pp_status. A mover without moves is never ONGOING: the game says what being stuck means. */
    int (*status)(const pp_kernel *self, pp_position position);

    /* ---- optional: tiers (NULL: one tier, number 0) ---- */

    /* The tier of a position; the same for all its symmetric images. */
    uint32_t (*tier)(const pp_kernel *self, pp_position position);
    /* Writes the tiers that one move from this tier can reach (itself included where that is so; room for
     * tier_count) and returns how many. NULL promises that a move never leads to a lower tier number. */
    size_t (*tier_children)(const pp_kernel *self, uint32_t tier, uint32_t *tiers);

    /* ---- optional: quick answers (wins_now, children and expand are asked of ongoing positions only) ---- */

    /* 1 only if the mover can end the game with a win at once. 0 promises nothing. */
    int (*wins_now)(const pp_kernel *self, pp_position position);
    /* Writes the distinct canonical children and returns how many (room for max_moves). */
    size_t (*children)(const pp_kernel *self, pp_position position, pp_position *children);
    /* Writes the distinct canonical parents: every canonical position with a move into an image of this one
     * (room for max_parents). Positions that play can never reach may be among them. */
    size_t (*parents)(const pp_kernel *self, pp_position position, pp_position *parents);

    /* ---- optional: a perfect index (give all three of tier_size, rank, unrank, or none) ---- */

    /* How many slots a tier has. */
    uint64_t (*tier_size)(const pp_kernel *self, uint32_t tier);
    /* The slot of a position; the same for all its symmetric images. A colour swap that also swaps the side
     * to move may share slots: a value is always for the side to move. */
    pp_slot (*rank)(const pp_kernel *self, pp_position position);
    /* Writes a position of each of `count` consecutive slots of one tier: rank(position) is that slot.
     * A slot that holds no position gets PP_NO_POSITION. */
    void (*unrank)(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions);
    /* Writes the slots of the children and returns how many (room for max_moves). */
    size_t (*expand)(const pp_kernel *self, pp_position position, pp_slot *slots);
    /* Writes the slots of those parents whose tier can be reached again from this position's tier (its own
     * and its sisters), and returns how many (room for max_parents).
     *
     * The law that binds the two: c stands in expand(p) exactly as often as p stands in retract(c), and at
     * least once if a move leads there. Listing each slot once on both sides is one way to keep it; counting
     * moves on both sides is another, but only where neither position has a symmetry of its own. */
    size_t (*retract)(const pp_kernel *self, pp_position position, pp_slot *slots);
};

#endif
