/* Verification: derives every stored value again from its children by the forward rules alone (verify.c). */
#ifndef PP_VERIFY_API_H
#define PP_VERIFY_API_H

#include "engine_api.h"

typedef struct {
    pp_slot slot;
    pp_position position;
    uint32_t stored, expected; /* codes; expected is UINT32_MAX if no value would be right */
} pp_fault;

/* Verifies a tier. Counts the wrong values and writes the first `room` of them in slot order. Returns a pp_result. */
int pp_verify(pp_engine *engine, uint32_t tier, uint64_t *wrong, pp_fault *faults, size_t room);
/* The same for `count` slots from `first` on. */
int pp_verify_slots(pp_engine *engine, uint32_t tier, uint64_t first, uint64_t count, uint64_t *wrong, pp_fault *faults,
                    size_t room);

/* Required before outcomes are verified: finds an order in which the positions of tiers that can reach each other may
 * have been decided. Every tier that they lead to must be attached. Afterwards the tiers' own values are attached and
 * verified tier by tier. The engine keeps the order until it finds another one. Returns a pp_result. */
int pp_find_decision_order(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation);
void pp_free_decision_order(pp_engine *engine);

#endif
