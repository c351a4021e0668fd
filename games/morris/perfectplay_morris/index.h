/* The kernel's functions for tiers and slots, as specified in perfectplay.h. */
#ifndef MORRIS_INDEX_H
#define MORRIS_INDEX_H

#include "perfectplay.h"

size_t morris_tier_children(const pp_kernel *self, uint32_t tier, uint32_t *tiers);
uint64_t morris_tier_size(const pp_kernel *self, uint32_t tier);
pp_slot morris_rank(const pp_kernel *self, pp_position position);
void morris_unrank(const pp_kernel *self, pp_slot slot, size_t count, pp_position *positions);
size_t morris_expand(const pp_kernel *self, pp_position position, pp_slot *slots);
size_t morris_retract(const pp_kernel *self, pp_position position, pp_slot *slots);

#endif
