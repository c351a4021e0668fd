/* What Python calls: solving, verifying and enumerating a game's positions. cffi reads the part between the marks.
 *
 * One engine serves one game. It knows its tiers by number; a tier's values are either owned by the engine (while it
 * is being solved, and after, until they are given away) or attached: memory of the table's, such as LMDB's map.
 *
 * Threads: one call at a time on an engine, except pp_engine_stop and reading `progress`, which any thread may do
 * while a call runs. The calls make their own threads inside. */
#ifndef PP_API_H
#define PP_API_H

#include "perfectplay.h"

/* cdef */
typedef struct pp_engine pp_engine;

enum pp_result {
    PP_OK = 0,
    PP_STOPPED = 1,         /* pp_engine_stop was called */
    PP_OUT_OF_MEMORY = 2,   /* neither the budget nor the scratch directory has room */
    PP_MISSING_CHILD = 3,   /* a child of `error_position` is in no tier: the kernel contradicts itself */
    PP_TOO_REMOTE = 4,      /* a remoteness above PP_LARGEST_REMOTENESS */
    PP_SCRATCH_FAILED = 5,  /* the scratch file could not be made; see `error_number` */
    PP_STUCK = 6,           /* `error_position` is ONGOING and has no move */
    PP_BAD_SCORE = 7,       /* the score of `error_position` contradicts its status, or is out of range */
    PP_TOO_MANY = 8,        /* more positions at once than a reverse graph, or a worker's share, can number */
    PP_BAD_BATCH = 9,       /* another worker's batch speaks of a position that is not open here */
    PP_OTHER_CHILDREN = 10, /* asked again, `error_position` has more children: the kernel's functions are not pure */
};

/* How newly decided positions reach their parents. All give the same table. */
enum pp_propagation {
    PP_PROPAGATE_AUTO = 0,
    PP_PROPAGATE_RETRACT = 1, /* the kernel names the parents */
    PP_PROPAGATE_GRAPH = 2,   /* a reverse graph is built */
    PP_PROPAGATE_FORWARD = 3, /* parents look at their children again, level by level */
};

/* Values are stored in blocks of this many positions (the last of a tier may be shorter). */
enum { PP_BLOCK_BITS = 20 };

/* A table can store no remoteness above this; the next one stands in codes of a table of outcomes, which has none. */
enum { PP_LARGEST_REMOTENESS = 16382, PP_UNKNOWN_REMOTENESS = 16383 };

typedef struct {
    uint64_t positions; /* slots finished by the current step */
    uint32_t level;     /* the remoteness being propagated */
    uint64_t used;      /* bytes of anonymous memory held */
} pp_progress;

/* NULL when memory runs out. Tiers 0 .. tier_count-1 exist, all empty. */
pp_engine *pp_engine_new(const pp_kernel *kernel, uint32_t tier_count, unsigned threads);
void pp_engine_free(pp_engine *engine);
/* Anonymous memory up to `budget` bytes (0: no bound); beyond it files in `directory` (NULL: refuse). A pp_result. */
int pp_engine_memory(pp_engine *engine, uint64_t budget, const char *directory);
void pp_engine_stop(pp_engine *engine, int stop);
pp_progress pp_engine_progress(const pp_engine *engine);
pp_position pp_engine_error_position(const pp_engine *engine);
int pp_engine_error_number(const pp_engine *engine);

/* Gives a tier its size, and for an enumerated game its sorted keys in blocks of 2^PP_BLOCK_BITS
 * (the memory stays the caller's). Returns a pp_result; the tier is empty unless that is PP_OK. */
int pp_tier_define(pp_engine *engine, uint32_t tier, uint64_t size, const uint64_t *const *key_blocks);
/* Attaches finished values: one pointer a block, `width` bytes (1, 2 or 4) a position, or 0 for outcomes of two bits, the
 * first in the lowest; frees what the engine owned. */
int pp_tier_attach(pp_engine *engine, uint32_t tier, unsigned width, void *const *blocks);
/* The values the engine owns for a tier it has solved, contiguous; NULL if it owns none. */
void *pp_tier_values(pp_engine *engine, uint32_t tier);
unsigned pp_tier_width(const pp_engine *engine, uint32_t tier);
/* Forgets a tier: keys, values, size. */
void pp_tier_drop(pp_engine *engine, uint32_t tier);

/* Solves tiers that reach each other, every tier they lead to being finished. `cyclic` is 0 only if no move stays
 * among them. With `outcomes` 1 only who wins is found and kept (width 0), and every attached tier must be of that kind.
 * The values stay owned by the engine. Returns a pp_result. */
int pp_solve(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation, int outcomes);

/* ---- tiers shared out between workers (shares.c) ----
 *
 * Several workers, each with an engine of its own, solve tiers that reach each other. The tiers are cut into units of
 * 2^unit_bits slots, numbered through all tiers; unit g belongs to worker g % workers. Every worker takes the same steps,
 * and between steps they exchange what each call's contract names. The table is the same as pp_solve's. All functions
 * that return an int return a pp_result. */
typedef struct pp_share pp_share;

/* What a worker has to tell another: owner-local slots (4 bytes) whose positions win by a move to a child just decided,
 * or have one open child fewer; and reverse edges, as owner-local children (4 bytes) and slots of their parents (8). */
enum pp_batch { PP_BATCH_WINS = 0, PP_BATCH_CLOSES = 1, PP_BATCH_CHILDREN = 2, PP_BATCH_PARENTS = 3 };
enum { PP_BATCHES = 4 };

typedef struct {
    uint64_t marked;     /* own positions that the rules leave open */
    uint32_t last_level; /* the highest level at which an own position is due */
    int has_ties;
} pp_share_state;

/* An engine has one share at a time, which is freed with it at the latest. Values take `width` bytes: 1, or 2 where a remoteness is above 63, or 4 for a game with scores. A worker's units have
 * fewer than 2^32 slots: else PP_TOO_MANY. Every tier that these lead to must be attached. */
int pp_share_new(pp_engine *engine, const uint32_t *tiers, size_t count, unsigned unit_bits, uint32_t worker,
                 uint32_t workers, unsigned width, pp_share **share);
void pp_share_free(pp_share *share);
pp_share_state pp_share_state_of(const pp_share *share);
/* The values of a block that is held here, to be read and (the others' units) written; NULL for any other. A block is
 * held by its owner, or by all where units are smaller than blocks. */
void *pp_share_block(pp_share *share, uint32_t tier, uint64_t block);
/* Lends the values of a block that is not held here. */
void pp_share_lend(pp_share *share, uint32_t tier, uint64_t block, void *values);
/* Tiers in which no move stays: everything in one step, after which the own units are finished. If last_level is above
 * 63 for some worker and the width is 1, all must begin again with width 2. */
int pp_share_solve(pp_share *share);
/* Step 1. The own units then hold what the rules say; all workers must see all of it before the next step. */
int pp_share_settle(pp_share *share);
/* Step 2. `threshold` is PP_MAX_SCORE + 1; of a game with scores after that each that occurs, the highest first.
 * With `edges` 1 (for a kernel that cannot retract; once) batches of reverse edges are made. */
int pp_share_expand(pp_share *share, int threshold, int edges);
/* Takes the batches of edges of all workers. */
int pp_share_learn(pp_share *share, size_t count, const uint32_t *const *children, const uint64_t *const *parents,
                   const uint64_t *lengths);
/* Step 3, for each level from 1 on: makes batches of updates. With `ties` 1 it is the second round. */
int pp_share_begin_ties(pp_share *share);
int pp_share_inform(pp_share *share, unsigned level, int ties);
/* Takes another worker's updates of a level, before the next one; in the second round both kinds say the same. */
int pp_share_apply(pp_share *share, unsigned level, int ties, int batch, const uint32_t *slots, uint64_t count);
/* The batch for a worker; valid until the next step. */
const void *pp_share_batch(const pp_share *share, uint32_t worker, int batch, uint64_t *count);
/* A checkpoint is the values of all units and the entries of what is open among them, taken between two levels, when
 * everything that was told is applied. This writes the entries of an own unit, by its number among the own, and returns
 * how many; `states` has room for as many as the unit has slots. */
uint64_t pp_share_entries(const pp_share *share, uint64_t unit, uint32_t *states);
/* Back to a checkpoint, instead of step 1: the own units have been filled with their values. */
int pp_share_mark(pp_share *share);
/* Then, when all workers see all values, instead of step 2 (a kernel that cannot retract must expand first, for the
 * edges): the entries of all own units. The next level may follow. */
int pp_share_recall(pp_share *share, int threshold, int ties, const uint32_t *states, uint64_t count);
/* Adds the scores that own positions see to a bitmap of PP_MAX_SCORE + 1 bits. */
int pp_share_scores(pp_share *share, uint64_t *scores);
/* Stores what is decided at a threshold; all workers must see it before the next one. */
int pp_share_store_score(pp_share *share);
/* Sets wide[i] for the i-th tier if it has a value that one byte cannot hold. */
void pp_share_wide(const pp_share *share, uint8_t *wide);
/* Step 4: the own units are finished, with two bytes a value where wide[i] is set. */
int pp_share_store(pp_share *share, const uint8_t *wide);

/* The slot of a valid position, or UINT64_MAX where its tier has no such key. */
pp_slot pp_find(pp_engine *engine, pp_position position);
/* The slot of any position, UINT64_MAX where it is not valid or not in the index. */
pp_slot pp_look_up(pp_engine *engine, pp_position position);
/* The slots of `count` positions, UINT64_MAX where one is not valid or not in the index. */
void pp_find_many(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots);
/* The value codes of `count` slots; 4 where a slot has no value. */
void pp_values_of_slots(pp_engine *engine, const pp_slot *slots, size_t count, uint32_t *codes);
/* The positions of `count` slots of one tier from `first` on; UINT64_MAX where a slot holds none. */
void pp_positions_of_slots(pp_engine *engine, pp_slot first, size_t count, pp_position *positions);
/* The code of one slot; 4 where it has no value. */
uint32_t pp_value_of_slot(pp_engine *engine, pp_slot slot);
/* The codes that the rules alone give (finished, won at once, no position); 0 where they leave it open. */
void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes);
/* The same, and the value of what the rules leave open if they decide every move from there. A pp_result. */
int pp_foreseen_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes);
/* Of outcomes and of one- or two-byte values: adds to counts[code], for codes below 65536, how often each code stands among
 * `count` values. */
void pp_histogram(const void *values, unsigned width, uint64_t count, uint64_t *counts);
/* The codes of `count` outcomes. */
void pp_unpack_outcomes(const uint8_t *packed, uint64_t count, uint16_t *codes);

typedef struct {
    pp_slot slot;
    pp_position position;
    uint32_t stored, expected; /* codes; expected is UINT32_MAX where no value would do */
} pp_fault;

/* Before outcomes are verified (claim.c): finds an order in which the positions of tiers that reach each other may have
 * been decided, every tier they lead to being attached; then their own values are attached, and verified tier by tier.
 * The order is kept until another one is found, or it is freed. Returns a pp_result. */
int pp_claim(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation);
void pp_claim_free(pp_engine *engine);

/* Re-derives every value of a tier from its children by the forward rules. Counts what is wrong and writes the
 * first `room` faults in slot order. Returns a pp_result. */
int pp_verify(pp_engine *engine, uint32_t tier, uint64_t *wrong, pp_fault *faults, size_t room);
/* The same for `count` slots from `first` on. */
int pp_verify_slots(pp_engine *engine, uint32_t tier, uint64_t first, uint64_t count, uint64_t *wrong, pp_fault *faults,
                    size_t room);

typedef struct {
    uint64_t slots, positions, open;                        /* of the sample; open: what the rules leave undecided */
    uint64_t children, parents;                             /* of the open ones */
    double settle_seconds, expand_seconds, retract_seconds; /* of processor time */
} pp_sample;

/* Does the steps of a solve for `count` runs of at most 64 slots, each from its first slot on, and measures them; the
 * parents are asked for only where `parents` is not 0 and the kernel has them. These tiers and those that they lead to
 * must be defined, with their keys where the game has no index. Returns a pp_result. */
int pp_measure(pp_engine *engine, const pp_slot *runs, size_t count, int parents, pp_sample *sample);

/* What a kernel's functions say of a position, each as one number; 0 for those that it does not have. */
enum {
    PP_DIGEST_MOVES,
    PP_DIGEST_APPLY,
    PP_DIGEST_CANONICALIZE,
    PP_DIGEST_STATUS,
    PP_DIGEST_RANK,
    PP_DIGEST_EXPAND,
    PP_DIGEST_RETRACT,
    PP_DIGEST_PARENTS,
    PP_DIGESTS
};
/* Writes PP_DIGESTS numbers for each position. Returns a pp_result. */
int pp_digests(const pp_kernel *kernel, const pp_position *positions, size_t count, uint64_t *digests);

/* The size of the largest tier of a ranked game; `*tier` is which it is. */
uint64_t pp_largest_tier(const pp_kernel *kernel, uint32_t *tier);

/* Enumeration: writes the canonical children of positions[0 ..] until `room` is short of one more position's;
 * `*used` is how many positions were expanded. Finished positions have none. Returns how many children; SIZE_MAX when
 * memory runs out. */
size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room);
/* Sets of positions as arrays, sorted, each position once. All return how many positions the result has.
 * Sorts `keys` in place and drops repetitions; `room` is for as many keys. */
size_t pp_sort_distinct(uint64_t *keys, size_t count, uint64_t *room);
/* Writes what is in either; `out` is for a_count + b_count keys. */
size_t pp_union(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t *out);
/* Takes out of `keys`, in place, what is in `known` too. */
size_t pp_without(uint64_t *keys, size_t count, const uint64_t *known, size_t known_count);
void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers);
/* 0 or 1 for each position; only where the kernel has `mover`. */
void pp_movers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, int8_t *movers);
void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *images);
/* The positions that legal moves of a position lead to, and their canonical forms. */
void pp_follow(const pp_kernel *kernel, pp_position position, const pp_move *moves, size_t count, pp_position *children,
               pp_position *images);

/* Writes the first of each valid position's best moves; -1 where it has no move, or none whose value is known. Returns a
 * pp_result. */
int pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best);

/* Expands the slots of a tier that are marked in reached[tier] and not in `expanded`: marks them there, and their
 * children in `reached`, which has a bitmap for every tier (slot i is bit i % 64 of word i / 64). `*count` is how many
 * were expanded. All tiers must be defined. Returns a pp_result. */
int pp_mark_reachable(pp_engine *engine, uint32_t tier, uint64_t *const *reached, uint64_t *expanded, uint64_t *count);

/* ---- positions numbered as they are met (numbering.c) ---- */

typedef struct pp_numbering pp_numbering;
#define PP_NO_NUMBER 0xFFFFFFFF

/* NULL when memory runs out. */
pp_numbering *pp_numbering_new(void);
void pp_numbering_free(pp_numbering *numbering);
size_t pp_numbering_count(const pp_numbering *numbering);
/* By number, until the next one is given. */
const pp_position *pp_numbering_keys(const pp_numbering *numbering);
/* The number of a position; PP_NO_NUMBER where it has none. */
uint32_t pp_numbering_find(const pp_numbering *numbering, pp_position key);
void pp_numbering_find_many(const pp_numbering *numbering, const pp_position *keys, size_t count, uint32_t *numbers);
/* The number of each position, which gets the next one if it has none. Returns how many are new, and in `fresh`, which
 * has room for `count`, where each of them first stands; SIZE_MAX when memory runs out. */
size_t pp_numbering_enter(pp_numbering *numbering, const pp_position *keys, size_t count, uint32_t *numbers,
                          uint32_t *fresh);

/* ---- a game in Python: what it has said (memo.c) ---- */

/* What a game says of some positions: by position the status, the mover and the score (NULL where the game has none),
 * and where the canonical children end; these need be neither sorted nor distinct, and are changed. */
typedef struct {
    const uint8_t *statuses, *movers;
    const int16_t *scores;
    pp_position *children;
    const uint32_t *ends;
} pp_studied;

/* Asks the game about positions and enters what it says (pp_memo_enter); nothing, where it makes a mistake. */
typedef void pp_study(const pp_kernel *kernel, const pp_position *positions, size_t count);
/* Writes the tiers of positions; 0 where the game makes a mistake. */
typedef int pp_tiers(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers);

/* A kernel that asks another one, of whose `children` it has need, and while it is open remembers what it said. NULL
 * when memory runs out. */
pp_kernel *pp_memo_new(const pp_kernel *asked, pp_study *study, pp_tiers *tiers);
void pp_memo_free(pp_kernel *kernel);
/* Remembers from now on, in at most `limit` bytes; what has no room is asked again. */
void pp_memo_open(pp_kernel *kernel, uint64_t limit);
/* Forgets everything. */
void pp_memo_close(pp_kernel *kernel);
uint64_t pp_memo_bytes(const pp_kernel *kernel);
/* Gives the slots from `first` on of a tier to positions; 0 where not all that there is to say of them is remembered. */
int pp_memo_index(pp_kernel *kernel, uint32_t tier, uint64_t first, const pp_position *keys, size_t count);
/* Finds children by these slots from now on; every position must have one. */
void pp_memo_use_index(pp_kernel *kernel);
void pp_memo_enter(pp_kernel *kernel, const pp_position *positions, size_t count, const pp_studied *studied);

/* ---- the weak solver: one position, proven (alphabeta.c) ---- */

typedef struct pp_search pp_search;

typedef struct {
    uint64_t evaluated;    /* positions looked at: their moves generated */
    uint64_t unique;       /* outcomes in the table */
    uint64_t hits;         /* times the table knew */
    uint64_t below;        /* times a table underneath knew */
    uint64_t cycles;       /* times a move led back to the path */
    uint64_t terminals[3]; /* positions met that are over, or won at once: for the player to move at the root, for the
                              other, for nobody. Of pp_search_prove_reachable it says little: each position is a root. */
    uint64_t expanded;     /* positions whose children are all in the table, by pp_search_prove_reachable */
    uint64_t provisional;  /* draws that now rest on a repetition */
    uint64_t confirmed;    /* such draws that became certain */
    uint64_t forgotten;    /* such draws that had to be searched again */
    uint64_t depth;        /* of the path, now */
    uint64_t max_depth;
    uint64_t bytes; /* of memory held */
} pp_search_counts;

/* NULL when memory runs out. */
pp_search *pp_search_new(const pp_kernel *kernel);
void pp_search_free(pp_search *search);
/* Lets a search ask the engine, which has the tiers of a table of the same game attached, of every position that it
 * comes to; the engine must outlive the search, and nobody else use it meanwhile. Returns a pp_result. */
int pp_search_use(pp_search *search, pp_engine *engine);
/* Any thread may call these two while pp_search_run runs. */
void pp_search_stop(pp_search *search, int stop);
pp_search_counts pp_search_progress(const pp_search *search);
pp_position pp_search_error_position(const pp_search *search);

/* Proves a valid position, or resumes after PP_STOPPED: then with the same arguments. `naive` 1 is for tests:
 * it stores draws by repetition at once, and is wrong. Returns a pp_result; the outcome is then in the table. */
int pp_search_run(pp_search *search, pp_position root, int naive);
/* Proves every position that play can reach from one in the table, and from these in turn. Returns a pp_result. */
int pp_search_prove_reachable(pp_search *search);
/* A pp_status for the side to move; 0 if not known. */
int pp_search_outcome(const pp_search *search, pp_position position);
/* Writes everything in the table, `unique` of each. An outcome is a pp_status, plus 4 where the children of the position
 * are in the table too: a mark that spares pp_search_prove_reachable the position. */
void pp_search_entries(const pp_search *search, pp_position *positions, uint8_t *outcomes);
/* Takes certain outcomes of canonical positions, marked or not, for known. Returns a pp_result. */
int pp_search_learn(pp_search *search, const pp_position *positions, const uint8_t *outcomes, size_t count);
/* end cdef */

#endif
