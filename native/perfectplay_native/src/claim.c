/* An order for the proof of outcomes: in which step each position was decided, by another solve of its tiers.
 *
 * Where play may go round, values that agree with their children prove nothing: two positions may each be "won" by a
 * move to the other's "loss", for ever. There must be an order besides, in which every win and every loss rests on
 * positions before it. Remoteness is such an order, but a table of outcomes has no room for it; so it is made again.
 * Nothing is taken on trust: whether it is such an order is what verify.c finds out. */
#include <stdlib.h>

#include "claim.h"

struct claim {
    component c; /* its markers and entries; none where no move stays among the tiers */
    uint32_t tiers[];
};

void pp_claim_free(pp_engine *engine) {
    struct claim *claim = engine->claim;
    if (!claim) return;
    for (size_t i = 0; i < claim->c.tier_count; i++) engine->tiers[claim->tiers[i]].claimed = 0;
    release_component(engine, &claim->c);
    free(claim);
    engine->claim = NULL;
}

int pp_claim(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation) {
    pp_claim_free(engine);
    struct claim *claim = calloc(1, sizeof *claim + count * sizeof *tiers);
    if (!claim) return PP_OUT_OF_MEMORY;
    memcpy(claim->tiers, tiers, count * sizeof *tiers);
    claim->c = (component){.tiers = claim->tiers, .tier_count = count, .outcomes = true};
    engine->claim = claim;
    const int result = cyclic ? solve_component(engine, &claim->c, cyclic, propagation) : PP_OK;
    for (size_t i = 0; i < count; i++) {
        tier_state *tier = &engine->tiers[tiers[i]];
        tier->claimed = 1;
        drop_values(engine, tier); /* they are to be found again, from those that are stored */
    }
    if (result) pp_claim_free(engine);
    return result;
}

uint32_t rank_of(const pp_engine *engine, pp_slot slot) {
    const tier_state *tier = tier_of(engine, slot);
    if (!tier->claimed) return RANK_BEFORE;
    const component *c = &engine->claim->c;
    const entry *e = c->entries ? entry_of(c, local_index(tier, slot)) : NULL;
    if (!e) return RANK_BY_RULE;
    return entry_decided(*e) ? RANK_BY_RULE + remoteness_of(entry_code(*e)) : RANK_NEVER;
}
