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
    PP_STOPPED = 1,        /* pp_engine_stop was called */
    PP_OUT_OF_MEMORY = 2,  /* neither the budget nor the scratch directory has room */
    PP_MISSING_CHILD = 3,  /* a child of `error_position` is in no tier: the kernel contradicts itself */
    PP_TOO_REMOTE = 4,     /* a remoteness above PP_LARGEST_REMOTENESS */
    PP_SCRATCH_FAILED = 5, /* the scratch file could not be made; see `error_number` */
    PP_STUCK = 6,          /* `error_position` is ONGOING and has no move */
    PP_BAD_SCORE = 7,      /* the score of `error_position` contradicts its status, or is out of range */
    PP_TOO_MANY = 8,       /* more undecided positions in one component than a reverse graph can number */
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

/* A table can store no remoteness above this. */
enum { PP_LARGEST_REMOTENESS = 16382 };

typedef struct {
    uint64_t positions; /* slots finished by the current step */
    uint32_t level;     /* the remoteness being propagated */
    uint64_t used;      /* bytes of anonymous memory held */
} pp_progress;

/* NULL when memory runs out. Tiers 0 .. tier_count-1 exist, all empty. */
pp_engine *pp_engine_new(const pp_kernel *kernel, uint32_t tier_count, unsigned threads);
void pp_engine_free(pp_engine *engine);
/* Anonymous memory up to `budget` bytes (0: no bound); beyond it files in `directory` (NULL: refuse). */
void pp_engine_memory(pp_engine *engine, uint64_t budget, const char *directory);
void pp_engine_stop(pp_engine *engine, int stop);
pp_progress pp_engine_progress(const pp_engine *engine);
pp_position pp_engine_error_position(const pp_engine *engine);
int pp_engine_error_number(const pp_engine *engine);

/* Gives a tier its size, and for an enumerated game its sorted keys in blocks of 2^PP_BLOCK_BITS
 * (the memory stays the caller's). Returns a pp_result. */
int pp_tier_define(pp_engine *engine, uint32_t tier, uint64_t size, const uint64_t *const *key_blocks);
/* Attaches finished values: one pointer a block, `width` bytes (1, 2 or 4) a position; frees what the engine owned. */
int pp_tier_attach(pp_engine *engine, uint32_t tier, unsigned width, void *const *blocks);
/* The values the engine owns for a tier it has solved, contiguous; NULL if it owns none. */
void *pp_tier_values(pp_engine *engine, uint32_t tier);
unsigned pp_tier_width(const pp_engine *engine, uint32_t tier);
/* Forgets a tier: keys, values, size. */
void pp_tier_drop(pp_engine *engine, uint32_t tier);

/* Solves tiers that reach each other, every tier they lead to being finished. `cyclic` is 0 only if no move stays
 * among them. The values stay owned by the engine. Returns a pp_result. */
int pp_solve(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation);

/* The slot of a valid position, or UINT64_MAX where its tier has no such key. */
pp_slot pp_find(pp_engine *engine, pp_position position);
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
/* Of one- or two-byte values: adds to counts[code], for codes below 65536, how often each code stands among `count` values. */
void pp_histogram(const void *values, unsigned width, uint64_t count, uint64_t *counts);

typedef struct {
    pp_slot slot;
    pp_position position;
    uint32_t stored, expected; /* codes; expected is UINT32_MAX where no value would do */
} pp_fault;

/* Re-derives every value of a tier from its children by the forward rules. Counts what is wrong and writes the
 * first `room` faults in slot order. Returns a pp_result. */
int pp_verify(pp_engine *engine, uint32_t tier, uint64_t *wrong, pp_fault *faults, size_t room);

/* The size of the largest tier of a ranked game; `*tier` is which it is. */
uint64_t pp_largest_tier(const pp_kernel *kernel, uint32_t *tier);

/* Enumeration: writes the canonical children of positions[0 ..] until `room` is short of one more position's;
 * `*used` is how many positions were expanded. Finished positions have none. Returns how many children. */
size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room);
void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers);
/* 0 or 1 for each position; only where the kernel has `mover`. */
void pp_movers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, int8_t *movers);
void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *images);

/* Writes the first of each valid position's best moves; -1 where it has no move, or none whose value is known. */
void pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best);

/* Expands the slots of a tier that are marked in reached[tier] and not in `expanded`: marks them there, and their
 * children in `reached`, which has a bitmap for every tier (slot i is bit i % 64 of word i / 64). `*count` is how many
 * were expanded. All tiers must be defined. Returns a pp_result. */
int pp_mark_reachable(pp_engine *engine, uint32_t tier, uint64_t *const *reached, uint64_t *expanded, uint64_t *count);

/* ---- the weak solver: one position, proven (alphabeta.c) ---- */

typedef struct pp_search pp_search;

typedef struct {
    uint64_t evaluated;    /* positions looked at: their moves generated */
    uint64_t unique;       /* outcomes in the table */
    uint64_t hits;         /* times the table knew */
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
