/* The memo: stored results of the functions of a game in Python (memo.c). */
#ifndef PP_MEMO_API_H
#define PP_MEMO_API_H

#include "perfectplay.h"

/* The results for several positions: the status, mover and score of each (NULL if the game has none), and the end of
 * its canonical children in `children`. The children need not be sorted or distinct, and may be reordered. */
typedef struct {
    const uint8_t *statuses, *movers;
    const int16_t *scores;
    pp_position *children;
    const uint32_t *ends;
} pp_position_batch;

/* Calls the game's functions for several positions and adds the results (pp_memo_add); adds nothing on an error. */
typedef void pp_expand_callback(const pp_kernel *kernel, const pp_position *positions, size_t count);
/* Writes the tiers of positions; returns 0 on an error. */
typedef int pp_tiers_callback(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers);

/* Returns a kernel that calls `game`, which must have `children`, and stores its results while the memo is started.
 * Returns NULL when memory runs out. */
pp_kernel *pp_memo_new(const pp_kernel *game, pp_expand_callback *expand_many, pp_tiers_callback *tiers_of_many);
void pp_memo_free(pp_kernel *kernel);
/* Stores results from now on, in at most `limit` bytes. When it is full, the game is called again. */
void pp_memo_start(pp_kernel *kernel, uint64_t limit);
/* Frees all stored results, and stores no more. */
void pp_memo_clear(pp_kernel *kernel);
uint64_t pp_memo_bytes(const pp_kernel *kernel);
/* Stores the slots of a tier, from `first` on, with their positions. Returns 0 if the memo lacks one of them. */
int pp_memo_index(pp_kernel *kernel, uint32_t tier, uint64_t first, const pp_position *keys, size_t count);
/* Finds children by these slots from now on. Every position must have one. */
void pp_memo_use_index(pp_kernel *kernel);
void pp_memo_add(pp_kernel *kernel, const pp_position *positions, size_t count, const pp_position_batch *batch);

#endif
