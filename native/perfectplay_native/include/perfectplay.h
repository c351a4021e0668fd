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
enum { PP_ABI = 2 };

/* A position: the game's own 64-bit encoding, side to move included. All ones is never a position. */
typedef uint64_t pp_position;
#define PP_NO_POSITION UINT64_MAX

/* A move: says everything needed to play it. */
typedef uint32_t pp_move;

/* A slot: where a value is stored.
 *
 *      63   62            40 39                    0
 *     [keep][   tier: 23   ] [      index: 40      ]
 *
 * `keep` is 0 but in the answers of expand, retract and survey. There it is set on a move after which the same player
 * is to move again. */
typedef uint64_t pp_slot;
enum { PP_INDEX_BITS = 40, PP_TIER_BITS = 23 };
#define PP_KEEPS_TURN ((pp_slot)1 << 63)

static inline pp_slot pp_slot_of(uint32_t tier, uint64_t index) { return (pp_slot)tier << PP_INDEX_BITS | index; }
static inline uint32_t pp_slot_tier(pp_slot slot) {
    return (uint32_t)(slot >> PP_INDEX_BITS) & (((uint32_t)1 << PP_TIER_BITS) - 1);
}
static inline uint64_t pp_slot_index(pp_slot slot) { return slot & (((uint64_t)1 << PP_INDEX_BITS) - 1); }

/* Limits, which the host checks where it loads a kernel. Edges are counted in 16 bits. */
enum { PP_MAX_EDGES = 65000, PP_MAX_TIERS = (1 << PP_TIER_BITS) - 1, PP_MAX_SCORE = 32767 };

/* How a position stands by rule alone, for the side to move; survey has two answers more. */
enum pp_status { PP_ONGOING = 0, PP_LOST = 1, PP_DRAWN = 2, PP_WON = 3 };
enum { PP_EMPTY_SLOT = 4, PP_WINS_NOW = 7 };

/* Flags of a kernel. */
enum {
    /* expand and retract list a slot once for each move, whatever the symmetries of the two positions; the engine
     * itself makes each list distinct. Without this flag the law at `retract` must be kept. */
    PP_ONCE_PER_MOVE = 1,
    /* `mover` is for those who ask, every move passes the turn: the engine need not compare movers move by move. */
    PP_TURNS_ALTERNATE = 2,
};

typedef struct pp_kernel pp_kernel;
struct pp_kernel {
    uint32_t abi;           /* PP_ABI */
    uint32_t rules_version; /* stored in every table; raise it whenever rules, encoding or ranks change */
    uint32_t players;       /* 2, or 1 for a puzzle, in which every move keeps the turn; 0 counts as 2 */
    uint32_t flags;         /* PP_ONCE_PER_MOVE, PP_TURNS_ALTERNATE, both or 0 */
    uint32_t max_moves;     /* no position has more moves than this; at most PP_MAX_EDGES */
    uint32_t max_parents; /* nor more answers from `parents` or `retract`; 0 when both are NULL; at most PP_MAX_EDGES */
    uint32_t tier_count;  /* tiers are 0 .. tier_count-1; 1 for a game without tiers; at most PP_MAX_TIERS */
    const void *context;  /* yours: a variant's parameters, lookup tables, or NULL */

    /* ---- required: the rules ---- */

    /* The position in which play begins. */
    pp_position (*start)(const pp_kernel *self);
    /* Writes the legal moves, each once, and returns how many. None when the game is over or the mover is stuck. */
    size_t (*moves)(const pp_kernel *self, pp_position position, pp_move *moves);
    /* The position after one of those moves. */
    pp_position (*apply)(const pp_kernel *self, pp_position position, pp_move move);
    /* A pp_status. A mover without moves is never ONGOING: the game says what being stuck means. */
    int (*status)(const pp_kernel *self, pp_position position);

    /* ---- optional: more of the rules ---- */

    /* 1 if these 64 bits are a position of the game, 0 if not. Any 64 bits but all ones may be asked.
     * NULL: all of them are. */
    int (*valid)(const pp_kernel *self, pp_position position);
    /* The converse of apply: undo(apply(p, m), m) == p. NULL: not there; nothing but `solve check` asks it. */
    pp_position (*undo)(const pp_kernel *self, pp_position position, pp_move move);
    /* The chosen representative of all positions that are the same up to symmetry. NULL: no two are. */
    pp_position (*canonicalize)(const pp_kernel *self, pp_position position);
    /* Who is to move: 0 the player who begins, 1 the other. The same for all symmetric images. NULL: turns alternate,
     * or there is one player. */
    int (*mover)(const pp_kernel *self, pp_position position);
    /* Asked of finished positions: by how much the mover wins, negative where it loses, 0 for a draw, at most
     * PP_MAX_SCORE either way; its sign agrees with status. The same for all symmetric images. NULL: no scores. */
    int (*score)(const pp_kernel *self, pp_position position);

    /* ---- optional: tiers (NULL: one tier, number 0) ---- */

    /* The tier of a position; the same for all its symmetric images. */
    uint32_t (*tier)(const pp_kernel *self, pp_position position);
    /* Writes the tiers that one move from this tier can reach (itself included where that is so; room for
     * tier_count) and returns how many. NULL promises that a move never leads to a lower tier number. */
    size_t (*tier_children)(const pp_kernel *self, uint32_t tier, uint32_t *tiers);

    /* ---- optional: quick answers ---- */

    /* Asked of ongoing positions: 1 only if the mover can end the game with a win at once. 0 promises nothing. Not
     * asked of a game with scores. */
    int (*wins_now)(const pp_kernel *self, pp_position position);
    /* Asked of ongoing positions: writes the distinct canonical children and returns how many (room for max_moves). */
    size_t (*children)(const pp_kernel *self, pp_position position, pp_position *children);
    /* Asked of positions that status and wins_now leave open: writes canonical parents, that is positions with a move
     * into an image of this one, and returns how many (room for max_parents). All ongoing parents must be among them
     * whose tier can be reached again from this position's tier (its own and its sisters). The engine ignores others,
     * be they of other tiers, finished, or positions that play never comes to, and it counts each once. */
    size_t (*parents)(const pp_kernel *self, pp_position position, pp_position *parents);

    /* ---- optional: a perfect index (give all three of tier_size, rank, unrank, or none) ---- */

    /* How many slots a tier has; less than 2^40. */
    uint64_t (*tier_size)(const pp_kernel *self, uint32_t tier);
    /* The slot of a position; the same for all its symmetric images. A colour swap that also swaps the side
     * to move may share slots: a value is always for the side to move. */
    pp_slot (*rank)(const pp_kernel *self, pp_position position);
    /* Writes a position of each of `count` consecutive slots of one tier: rank(position) is that slot.
     * A slot that holds no position gets PP_NO_POSITION. */
    void (*unrank)(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions);
    /* Asked of ongoing positions: writes the slots of the children, those with PP_KEEPS_TURN whose mover is that of
     * this position, and returns how many (room for max_moves). In a puzzle the engine adds PP_KEEPS_TURN itself. */
    size_t (*expand)(const pp_kernel *self, pp_position position, pp_slot *slots);
    /* Writes the slots of the parents, those with PP_KEEPS_TURN whose mover is that of this position, and returns how
     * many (room for max_parents). Of which positions it is asked, and which parents must be among them, stands at
     * `parents`.
     *
     * The law that binds the two, unless PP_ONCE_PER_MOVE is set: c stands in expand(p) exactly as often as p stands
     * in retract(c), and at least once if a move leads there. Listing each slot once on both sides is one way to keep
     * it; counting moves on both sides is another, but only where neither position has a symmetry of its own. */
    size_t (*retract)(const pp_kernel *self, pp_position position, pp_slot *slots);
    /* Everything about a run of `count` consecutive slots of one tier in one call, so that a kernel need not unrank
     * them and need not generate moves twice. Bit i of `wanted` stands for slot first + i; `count` is at most 64. For
     * each wanted slot, in ascending order:
     *
     *   codes   unless NULL, codes[i] becomes PP_LOST, PP_DRAWN or PP_WON where the game is over, PP_EMPTY_SLOT where
     *           the slot holds no position, PP_WINS_NOW where the mover can win at once (as wins_now says, if there is
     *           one), else PP_ONGOING. NULL: all wanted slots have been found PP_ONGOING before;
     *   slots   unless NULL, for a slot that is PP_ONGOING, what expand writes is appended (room for max_moves
     *           for each wanted slot), and ends[i] becomes how many have been written by then; for others too.
     *
     * Not asked of a game with scores. */
    void (*survey)(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                   uint32_t *ends);
};

#endif
