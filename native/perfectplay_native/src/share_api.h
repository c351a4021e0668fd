/* Shares: tiers that several workers solve together (share.c).
 *
 * Each worker has its own engine. The tiers are cut into units of 2^unit_bits slots, numbered through all tiers; unit g
 * belongs to worker g % workers. All workers take the same steps, and exchange data between steps as described for each
 * call. The table is the same as that of pp_solve. All functions that return an int return a pp_result. */
#ifndef PP_SHARE_API_H
#define PP_SHARE_API_H

#include "engine_api.h"

typedef struct pp_share pp_share;

/* The batches that a worker sends to another one. The receiver's positions are given by their local slots, that is
 * their places among the receiver's units (4 bytes each). */
enum pp_batch {
    PP_BATCH_WINS = 0,     /* parents that win by a move to a child just decided */
    PP_BATCH_CLOSES = 1,   /* parents with one open child fewer */
    PP_BATCH_CHILDREN = 2, /* reverse edges: the children, */
    PP_BATCH_PARENTS = 3,  /* and the slots of their parents (8 bytes each) */
};
enum { PP_BATCHES = 4 };

typedef struct {
    uint64_t marked;     /* own positions that the rules alone do not settle */
    uint32_t last_level; /* the highest level at which an own position is due */
    int has_ties;
} pp_share_state;

/* Creates the share of one worker. An engine has one share at a time, and frees it at the latest when it is freed.
 * Values take `width` bytes: 1, or 2 if a remoteness is above 63, or 4 for a game with scores. A worker's units may
 * have fewer than 2^32 slots, else the result is PP_TOO_MANY. Every tier that these tiers lead to must be attached. */
int pp_share_new(pp_engine *engine, const uint32_t *tiers, size_t count, unsigned unit_bits, uint32_t worker,
                 uint32_t workers, unsigned width, pp_share **share);
void pp_share_free(pp_share *share);
pp_share_state pp_share_state_of(const pp_share *share);

/* ---- values ---- */

/* Returns the values of a block that is stored in this share, for reading and, in other workers' units, writing; NULL
 * for any other block. A block is stored by its owner, or by all workers if units are smaller than blocks. */
void *pp_share_block(pp_share *share, uint32_t tier, uint64_t block);
/* Sets the address of the values of a block that is not stored in this share. */
void pp_share_attach_block(pp_share *share, uint32_t tier, uint64_t block, void *values);

/* ---- steps ---- */

/* Solves tiers in which no move stays in a single step, after which the own units are finished. If last_level is above
 * 63 for some worker and the width is 1, all workers must start again with width 2. */
int pp_share_solve(pp_share *share);
/* Step 1: settles the own units. All workers must see all values before the next step. */
int pp_share_settle(pp_share *share);
/* Step 2: expands the own open positions. `threshold` is PP_MAX_SCORE + 1 first, and then, for a game with scores, each
 * score that occurs, the highest first. With `edges` 1 (once, for a kernel that cannot retract) it fills the batches of
 * reverse edges. */
int pp_share_expand(pp_share *share, int threshold, int edges);
/* Builds the reverse graph from the batches of edges of all workers. */
int pp_share_receive_edges(pp_share *share, size_t count, const uint32_t *const *children,
                           const uint64_t *const *parents, const uint64_t *lengths);
/* Step 3, for each level from 1 on: propagates the own positions that are due, and fills the batches of updates. With
 * `ties` 1 it is the second round, which pp_share_begin_ties begins. */
int pp_share_begin_ties(pp_share *share);
int pp_share_propagate(pp_share *share, unsigned level, int ties);
/* Applies another worker's updates of a level, before the next level. In the second round the kind does not matter. */
int pp_share_apply(pp_share *share, unsigned level, int ties, int batch, const uint32_t *slots, uint64_t count);
/* Returns the batch for a worker, valid until the next step. */
const void *pp_share_batch(const pp_share *share, uint32_t worker, int batch, uint64_t *count);

/* ---- checkpoints ----
 *
 * A checkpoint consists of the values of all units and the entries of their open positions, taken between two levels
 * when all updates are applied. */

/* Writes the entries of an own unit, given by its number among the own units, and returns how many there are. `states`
 * has room for as many as the unit has slots. */
uint64_t pp_share_entries(const pp_share *share, uint64_t unit, uint32_t *states);
/* Replaces step 1 after the own units have been filled with the values of a checkpoint. */
int pp_share_restore_values(pp_share *share);
/* Replaces step 2 when all workers see all values: restores the entries of all own units. (A kernel that cannot retract
 * must expand first, for the edges.) The next level may follow. */
int pp_share_restore_entries(pp_share *share, int threshold, int ties, const uint32_t *states, uint64_t count);

/* ---- scores, and the end ---- */

/* Adds the scores of the children of own positions to a bitmap of PP_MAX_SCORE + 1 bits. */
int pp_share_collect_scores(pp_share *share, uint64_t *scores);
/* Stores the values decided at a threshold. All workers must see them before the next threshold. */
int pp_share_store_score(pp_share *share);
/* Sets wide[i] if the i-th tier has a value that does not fit in one byte. */
void pp_share_wide_tiers(const pp_share *share, uint8_t *wide);
/* Step 4: finishes the own units, with two bytes per value where wide[i] is set. */
int pp_share_store(pp_share *share, const uint8_t *wide);

#endif
