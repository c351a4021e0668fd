/* perfectplay.h: the contract between a game and the engine.
 *
 * A game that needs speed gives the engine one `const pp_kernel`: its rules as C functions. This is the only header
 * that a kernel includes. A function that the engine can derive from the required ones is optional (NULL); implement it
 * if you can do better.
 *
 * Rules for every function below:
 *   - It is pure: the result depends on the arguments alone. The engine calls it from several threads at once.
 *   - `self` is the kernel itself, so that variants of one game can share code through `self->context`.
 *   - A position argument is valid: either `valid` accepted it, or the engine got it from your own functions.
 */
#ifndef PERFECTPLAY_H
#define PERFECTPLAY_H

#include <stddef.h>
#include <stdint.h>

/* Raised whenever the struct or the meaning of a function changes. The host rejects any other number. */
enum { PP_ABI = 2 };

/* A position: the game's own 64-bit encoding, side to move included. All ones is never a position. */
typedef uint64_t pp_position;
#define PP_NO_POSITION UINT64_MAX

/* A move: everything needed to play it. */
typedef uint32_t pp_move;

/* A slot: where a value is stored.
 *
 *      63   62            40 39                    0
 *     [keep][   tier: 23   ] [      index: 40      ]
 *
 * `keep` is set only in the results of expand, retract and survey, for a move after which the same player is to move
 * again. */
typedef uint64_t pp_slot;
enum { PP_INDEX_BITS = 40, PP_TIER_BITS = 23 };
#define PP_KEEPS_TURN ((pp_slot)1 << 63)

static inline pp_slot pp_slot_of(uint32_t tier, uint64_t index) { return (pp_slot)tier << PP_INDEX_BITS | index; }
static inline uint32_t pp_slot_tier(pp_slot slot) { return (uint32_t)((slot & ~PP_KEEPS_TURN) >> PP_INDEX_BITS); }
static inline uint64_t pp_slot_index(pp_slot slot) { return slot & (((uint64_t)1 << PP_INDEX_BITS) - 1); }

/* Limits, which the host checks when it loads a kernel. Edges are counted in 16 bits. */
enum { PP_MAX_EDGES = 65000, PP_MAX_TIERS = (1 << PP_TIER_BITS) - 1, PP_MAX_SCORE = 32767 };

/* The result of a position by the rules alone, for the side to move. survey has two more codes. */
enum pp_status { PP_ONGOING = 0, PP_LOST = 1, PP_DRAWN = 2, PP_WON = 3 };
enum { PP_EMPTY_SLOT = 4, PP_WINS_NOW = 7 };

/* Flags of a kernel. */
enum {
    /* expand and retract list a slot once per move, regardless of the symmetries of the two positions. The engine then
     * removes duplicates itself. Without this flag both must follow the counting law, see `retract`. */
    PP_ONCE_PER_MOVE = 1,
    /* `mover` is informational: turns strictly alternate, so the engine need not compare the movers of every move. */
    PP_TURNS_ALTERNATE = 2,
};

typedef struct pp_kernel pp_kernel;
struct pp_kernel {
    uint32_t abi;           /* PP_ABI */
    uint32_t rules_version; /* stored in every table; raise it whenever rules, encoding or ranks change */
    uint32_t players;       /* 2, or 1 for a puzzle, in which every move keeps the turn; 0 means 2 */
    uint32_t flags;         /* PP_ONCE_PER_MOVE, PP_TURNS_ALTERNATE, both or 0 */
    uint32_t max_moves;     /* the largest number of moves of any position; at most PP_MAX_EDGES */
    uint32_t max_parents;   /* the largest result of `parents` or `retract`, 0 if both are NULL; at most PP_MAX_EDGES */
    uint32_t tier_count;    /* tiers are 0 .. tier_count-1; 1 for a game without tiers; at most PP_MAX_TIERS */
    const void *context;    /* yours: a variant's parameters, lookup tables, or NULL */

    /* ---- required: the rules ---- */

    /* Returns the position in which play begins. */
    pp_position (*start)(const pp_kernel *self);
    /* Writes the legal moves, each once, and returns their number: 0 if the game is over or the mover is stuck. */
    size_t (*moves)(const pp_kernel *self, pp_position position, pp_move *moves);
    /* Returns the position after one of those moves. */
    pp_position (*apply)(const pp_kernel *self, pp_position position, pp_move move);
    /* Returns a pp_status. It is never ONGOING for a mover without moves: the game defines the result of being
     * stuck. */
    int (*status)(const pp_kernel *self, pp_position position);

    /* ---- optional: more of the rules ---- */

    /* Returns 1 if these 64 bits are a position of the game, else 0. Called with any 64 bits except all ones.
     * NULL: all of them are positions. */
    int (*valid)(const pp_kernel *self, pp_position position);
    /* The inverse of apply: undo(apply(p, m), m) == p. Only `solve check` calls it. */
    pp_position (*undo)(const pp_kernel *self, pp_position position, pp_move move);
    /* Returns the representative of all positions that are equal up to symmetry. NULL: there are no symmetries. */
    pp_position (*canonicalize)(const pp_kernel *self, pp_position position);
    /* Returns the player to move: 0 for the first player, 1 for the second. The same for all symmetric images. NULL:
     * turns alternate, or there is one player. */
    int (*mover)(const pp_kernel *self, pp_position position);
    /* Called for finished positions. Returns the margin by which the mover wins: negative if it loses, 0 for a draw, at
     * most PP_MAX_SCORE either way, with a sign that agrees with status. The same for all symmetric images. NULL: no
     * scores. */
    int (*score)(const pp_kernel *self, pp_position position);

    /* ---- optional: tiers (NULL: one tier, number 0) ---- */

    /* Returns the tier of a position; the same for all its symmetric images. */
    uint32_t (*tier)(const pp_kernel *self, pp_position position);
    /* Writes the tiers that one move from this tier can reach, itself included if a move can stay in it, and returns
     * their number (room for tier_count). NULL promises that a move never leads to a lower tier number. */
    size_t (*tier_children)(const pp_kernel *self, uint32_t tier, uint32_t *tiers);

    /* ---- optional: shortcuts ---- */

    /* Called for ongoing positions. Returns 1 only if the mover can win with this move; 0 promises nothing. Not called
     * for a game with scores. */
    int (*wins_now)(const pp_kernel *self, pp_position position);
    /* Called for ongoing positions. Writes the distinct canonical children and returns their number (room for
     * max_moves). */
    size_t (*children)(const pp_kernel *self, pp_position position, pp_position *children);
    /* Called for positions that status and wins_now do not settle. Writes canonical parents, that is positions with a
     * move into an image of this one, and returns their number (room for max_parents). The list must contain every
     * ongoing parent whose tier can be reached again from this position's tier, which includes this tier. The engine
     * counts each parent once and ignores all others: those in other tiers, finished ones, and unreachable ones. */
    size_t (*parents)(const pp_kernel *self, pp_position position, pp_position *parents);

    /* ---- optional: a perfect index (implement all three of tier_size, rank, unrank, or none) ---- */

    /* Returns the number of slots of a tier; less than 2^40. */
    uint64_t (*tier_size)(const pp_kernel *self, uint32_t tier);
    /* Returns the slot of a position; the same for all its symmetric images. A colour swap that also swaps the side to
     * move may share slots, because a value is always for the side to move. */
    pp_slot (*rank)(const pp_kernel *self, pp_position position);
    /* Writes a position of each of `count` consecutive slots of one tier, such that rank(position) is that slot.
     * A slot without a position gets PP_NO_POSITION. */
    void (*unrank)(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions);
    /* Called for ongoing positions. Writes the slots of the children and returns their number (room for max_moves). A
     * child with the same mover as this position gets PP_KEEPS_TURN; in a puzzle the engine adds it. */
    size_t (*expand)(const pp_kernel *self, pp_position position, pp_slot *slots);
    /* Writes the slots of the parents and returns their number (room for max_parents). A parent with the same mover as
     * this position gets PP_KEEPS_TURN. See `parents` for the positions it is called for and the parents it must list.
     *
     * The counting law, unless PP_ONCE_PER_MOVE is set: c occurs in expand(p) exactly as often as p occurs in
     * retract(c), and at least once if a move leads from p to c. Listing each slot once on both sides satisfies it.
     * Listing a slot once per move on both sides satisfies it only if neither position has a symmetry. */
    size_t (*retract)(const pp_kernel *self, pp_position position, pp_slot *slots);
    /* Evaluates a run of `count` consecutive slots of one tier in one call, so that a kernel need not unrank them and
     * need not generate moves twice. Bit i of `wanted` stands for slot first + i; `count` is at most 64. For each
     * wanted slot, in ascending order:
     *
     *   codes   unless NULL, codes[i] becomes PP_LOST, PP_DRAWN or PP_WON if the game is over, PP_EMPTY_SLOT if the
     *   slot
     *           has no position, PP_WINS_NOW if the mover can win with this move (as wins_now returns, if implemented),
     *           else PP_ONGOING. NULL: all wanted slots are known to be PP_ONGOING.
     *   slots   unless NULL, the result of expand is appended for a slot that is PP_ONGOING (room for max_moves per
     *           wanted slot), and for every wanted slot ends[i] becomes the number of slots written so far.
     *
     * Not called for a game with scores. */
    void (*survey)(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                   uint32_t *ends);
};

#endif
