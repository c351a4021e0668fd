/* Compact tables: the values that follow from the rules, and sorted keys as differences. */
#ifndef PP_COMPACT_API_H
#define PP_COMPACT_API_H

#include "engine_api.h"

/* Writes the codes of positions that the rules alone settle, as pp_rule_codes does, and the values of positions whose
 * children the rules all settle; 0 for all others. Returns a pp_result. */
int pp_one_ply_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes);
/* Finds the values that a compact table must keep: kept[i] becomes 1 if pp_one_ply_codes gives 0 for the slot
 * first + i, else 0. `positions` are the positions of the slots; NULL for a ranked game. `values` are their stored
 * values of `width` bytes each. `*wrong` is the number of values that differ from those by the rules. Returns a
 * pp_result. */
int pp_mark_kept(pp_engine *engine, pp_slot first, size_t count, const pp_position *positions, const void *values,
                 unsigned width, uint8_t *kept, uint64_t *wrong);
/* Counts the values that pp_mark_kept keeps, without their stored values. Returns a pp_result. */
int pp_count_kept(pp_engine *engine, pp_slot first, size_t count, const pp_position *positions, uint64_t *kept);

/* Writes the differences between ascending keys, the first of which counts as 0. Needs room for PP_KEY_BYTES per key.
 * Returns the number of bytes written. */
enum { PP_KEY_BYTES = 9 };
size_t pp_pack_keys(const uint64_t *keys, size_t count, uint8_t *bytes);
/* Writes `count` keys from `first` on. Returns 1, or 0 if `bytes` are not the differences of `count` keys. */
int pp_unpack_keys(const uint8_t *bytes, size_t size, uint64_t first, uint64_t *keys, size_t count);

#endif
