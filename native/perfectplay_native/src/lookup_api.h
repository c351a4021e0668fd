/* Reading values: slots of positions, values of slots, best moves, reachable slots. */
#ifndef PP_LOOKUP_API_H
#define PP_LOOKUP_API_H

#include "engine_api.h"

/* Returns the slot of a valid position; UINT64_MAX if its tier has no such key. */
pp_slot pp_find(pp_engine *engine, pp_position position);
/* Returns the slot of any 64 bits; UINT64_MAX if they are not a valid position in the index. */
pp_slot pp_find_checked(pp_engine *engine, pp_position position);
/* pp_find_checked for `count` positions. */
void pp_find_many(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots);
/* Returns the value code of a slot; 4 if the slot has no value. */
uint32_t pp_value_of_slot(pp_engine *engine, pp_slot slot);
/* pp_value_of_slot for `count` slots. */
void pp_values_of_slots(pp_engine *engine, const pp_slot *slots, size_t count, uint32_t *codes);
/* Writes the positions of `count` slots of one tier from `first` on; UINT64_MAX for an empty slot. */
void pp_positions_of_slots(const pp_engine *engine, pp_slot first, size_t count, pp_position *positions);

/* Writes the first best move of each valid position; -1 if it has no move with a stored value. Returns a pp_result. */
int pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best);

/* Counts outcomes (width 0) or values of one or two bytes: adds the frequency of each code to counts[code], for codes
 * below 65536. */
void pp_histogram(const void *values, unsigned width, uint64_t count, uint64_t *counts);
/* Writes the codes of `count` packed outcomes. */
void pp_unpack_outcomes(const uint8_t *packed, uint64_t count, uint16_t *codes);

/* Expands the slots of a tier that are marked in reached[tier] but not in `expanded`. Marks them in `expanded`, and
 * their children in `reached`, which has a bitmap for every tier (slot i is bit i % 64 of word i / 64). `*count` is the
 * number of slots expanded. All tiers must be defined. Returns a pp_result. */
int pp_mark_reachable(pp_engine *engine, uint32_t tier, uint64_t *const *reached, uint64_t *expanded, uint64_t *count);

#endif
