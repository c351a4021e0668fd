/* Arrays of positions: kernel functions for many positions in one call, sorted sets, and dense numbering. */
#ifndef PP_POSITIONS_API_H
#define PP_POSITIONS_API_H

#include "perfectplay.h"

/* ---- kernel functions for many positions (bulk.c) ---- */

/* Writes the canonical children of the positions until `room` cannot hold those of one more position; finished
 * positions have none. `*used` is the number of positions expanded. Returns the number of children; SIZE_MAX when
 * memory runs out. */
size_t pp_children_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, size_t *used,
                           pp_position *children, size_t room);
void pp_tiers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *tiers);
/* Writes 0 or 1 for each position. Only for a kernel with `mover`. */
void pp_movers_of_many(const pp_kernel *kernel, const pp_position *positions, size_t count, int8_t *movers);
void pp_canonicalize_many(const pp_kernel *kernel, const pp_position *positions, size_t count, pp_position *images);
/* Applies several legal moves to one position: writes the positions after them, and the canonical forms of these. */
void pp_follow(const pp_kernel *kernel, pp_position position, const pp_move *moves, size_t count, pp_position *children,
               pp_position *images);
/* Writes the codes of positions that the rules alone settle (finished, won in one move, no position), else 0. */
void pp_rule_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes);
/* Returns the size of the largest tier of a ranked game; `*tier` is its number. */
uint64_t pp_largest_tier(const pp_kernel *kernel, uint32_t *tier);

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
/* Writes PP_DIGESTS numbers for each position: a hash of the results of each kernel function, 0 for a function that the
 * kernel does not have. Returns a pp_result. */
int pp_digests(const pp_kernel *kernel, const pp_position *positions, size_t count, uint64_t *digests);

/* ---- sorted sets (sorted_keys.c): arrays in ascending order without duplicates ---- */

/* Sorts `keys` in place and removes duplicates; `buffer` has room for as many keys. Returns the number left. */
size_t pp_sort_distinct(uint64_t *keys, size_t count, uint64_t *buffer);
/* Writes the union of two sets to `out`, which has room for a_count + b_count keys. Returns its size. */
size_t pp_union(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t *out);
/* Removes the members of `others` from `keys`, in place. Returns the number left. */
size_t pp_difference(uint64_t *keys, size_t count, const uint64_t *others, size_t other_count);

/* ---- numbering (numbering.c): positions numbered 0, 1, 2 ... in the order in which they are added ---- */

typedef struct pp_numbering pp_numbering;
#define PP_NO_NUMBER UINT32_MAX

/* Returns NULL when memory runs out. */
pp_numbering *pp_numbering_new(void);
void pp_numbering_free(pp_numbering *numbering);
size_t pp_numbering_count(const pp_numbering *numbering);
/* Returns the positions by number. Valid until the next position is added. */
const pp_position *pp_numbering_keys(const pp_numbering *numbering);
/* Returns the number of a position; PP_NO_NUMBER if it has none. */
uint32_t pp_numbering_find(const pp_numbering *numbering, pp_position key);
void pp_numbering_find_many(const pp_numbering *numbering, const pp_position *keys, size_t count, uint32_t *numbers);
/* Writes the number of each position, after numbering those that have none. Returns how many are new, and writes the
 * index in `keys` of each of these to `first`, which has room for `count`. Returns SIZE_MAX when memory runs out. */
size_t pp_numbering_add(pp_numbering *numbering, const pp_position *keys, size_t count, uint32_t *numbers,
                        uint32_t *first);

#endif
