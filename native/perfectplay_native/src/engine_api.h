/* The engine: tiers, solving, and the cost of solving.
 *
 * One engine serves one game. Its tiers are identified by number. The values of a tier are either owned by the engine
 * (while the tier is being solved, and afterwards until other values are attached) or attached: memory of the caller,
 * such as LMDB's map.
 *
 * Threads: one call at a time per engine, except pp_engine_stop and pp_engine_progress, which any thread may call at
 * any time. The calls create their own threads internally.
 *
 * The headers *_api.h are what Python sees; build.py passes them to cffi. */
#ifndef PP_ENGINE_API_H
#define PP_ENGINE_API_H

#include "perfectplay.h"

typedef struct pp_engine pp_engine;

enum pp_result {
    PP_OK = 0,
    PP_STOPPED = 1,         /* pp_engine_stop was called */
    PP_OUT_OF_MEMORY = 2,   /* neither the budget nor the scratch directory has room */
    PP_MISSING_CHILD = 3,   /* a child of `error_position` is in no tier: the kernel contradicts itself */
    PP_TOO_REMOTE = 4,      /* a remoteness above PP_LARGEST_REMOTENESS */
    PP_SCRATCH_FAILED = 5,  /* a scratch file could not be created; see `error_number` */
    PP_STUCK = 6,           /* `error_position` is ONGOING but has no move */
    PP_BAD_SCORE = 7,       /* the score of `error_position` contradicts its status, or is out of range */
    PP_TOO_MANY = 8,        /* more open positions than a reverse graph, or a worker's share, can number */
    PP_BAD_BATCH = 9,       /* another worker's batch names a position that is not open here */
    PP_OTHER_CHILDREN = 10, /* a second call for `error_position` gave more children: the kernel is not pure */
};

/* How decided positions update their parents. The resulting table is the same. */
enum pp_propagation {
    PP_PROPAGATE_AUTO = 0,
    PP_PROPAGATE_RETRACT = 1, /* the kernel lists the parents */
    PP_PROPAGATE_GRAPH = 2,   /* a reverse graph is built */
    PP_PROPAGATE_FORWARD = 3, /* undecided positions look at their children again at every level */
};

/* Values are stored in blocks of this many positions (the last block of a tier may be shorter). */
enum { PP_BLOCK_BITS = 20 };

/* The largest remoteness that a table can store. The next number means "unknown" in the codes of outcomes. */
enum { PP_LARGEST_REMOTENESS = 16382, PP_UNKNOWN_REMOTENESS = 16383 };

typedef struct {
    uint64_t positions; /* slots finished by the current step */
    uint32_t level;     /* the remoteness being propagated */
    uint64_t used;      /* bytes of anonymous memory allocated */
} pp_progress;

/* Creates an engine with empty tiers 0 .. tier_count-1. Returns NULL when memory runs out. */
pp_engine *pp_engine_new(const pp_kernel *kernel, uint32_t tier_count, unsigned threads);
void pp_engine_free(pp_engine *engine);
/* Limits anonymous memory to `budget` bytes (0: no limit). Beyond that the engine uses files in `directory`, or fails
 * if it is NULL. Returns a pp_result. */
int pp_engine_memory(pp_engine *engine, uint64_t budget, const char *directory);
void pp_engine_stop(pp_engine *engine, int stop);
pp_progress pp_engine_progress(const pp_engine *engine);
pp_position pp_engine_error_position(const pp_engine *engine);
int pp_engine_error_number(const pp_engine *engine);

/* ---- tiers ---- */

/* Sets the size of a tier and, for an enumerated game, its sorted keys in blocks of 2^PP_BLOCK_BITS, whose memory still
 * belongs to the caller. Returns a pp_result; unless it is PP_OK, the tier is empty. */
int pp_tier_define(pp_engine *engine, uint32_t tier, uint64_t size, const uint64_t *const *key_blocks);
/* Attaches finished values: one pointer per block, and `width` bytes (1, 2 or 4) per position, or 0 for outcomes of two
 * bits, the first in the lowest bits. Frees the values that the engine owned. Returns a pp_result. */
int pp_tier_attach(pp_engine *engine, uint32_t tier, unsigned width, void *const *blocks);
/* Returns the contiguous values of a tier that the engine has solved; NULL if it owns none. */
void *pp_tier_values(pp_engine *engine, uint32_t tier);
unsigned pp_tier_width(const pp_engine *engine, uint32_t tier);
/* Removes a tier's keys, values and size. */
void pp_tier_drop(pp_engine *engine, uint32_t tier);

/* ---- solving ---- */

/* Solves tiers that can reach each other; every other tier that they lead to must be finished. `cyclic` is 0 only if no
 * move stays among them. With `outcomes` 1 the values are outcomes without a remoteness (width 0), and every attached
 * tier must be of that kind. The engine owns the values afterwards. Returns a pp_result. */
int pp_solve(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation, int outcomes);

/* ---- measuring ---- */

typedef struct {
    uint64_t slots, positions, open;                        /* of the sample; open: not settled by the rules alone */
    uint64_t children, parents;                             /* of the open positions */
    double settle_seconds, expand_seconds, retract_seconds; /* of processor time */
} pp_sample;

/* Measures the steps of a solve on `count` runs of at most 64 slots, each given by its first slot. Parents are listed
 * only if `parents` is not 0 and the kernel can list them. These tiers and those that they lead to must be defined,
 * with their keys if the game has no index. Returns a pp_result. */
int pp_measure(pp_engine *engine, const pp_slot *runs, size_t count, int parents, pp_sample *sample);

#endif
