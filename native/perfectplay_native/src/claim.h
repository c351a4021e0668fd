/* The order that a claim gives positions (claim.c). */
#ifndef PP_CLAIM_H
#define PP_CLAIM_H

#include "engine.h"

/* Of tiers that were verified before; of positions that the rules settle; of the others 1 and the level; of draws. */
enum { RANK_BEFORE = 0, RANK_BY_RULE = 1 };
#define RANK_NEVER UINT32_MAX
uint32_t rank_of(const pp_engine *engine, pp_slot slot);

#endif
