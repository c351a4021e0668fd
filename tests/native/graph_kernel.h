/* The data and functions of the graph game.. */
#ifndef GRAPH_KERNEL_H
#define GRAPH_KERNEL_H

#include "perfectplay.h"

#define NO_NODE UINT32_MAX

/* cdef */
typedef struct {
    uint32_t nodes, start;
    const uint32_t *first_move, *targets;   /* the moves of each node: child << 1 | image */
    const uint32_t *sources;                /* the node of each move */
    const uint32_t *first_child, *children; /* distinct */
    const uint32_t *first_parent, *parents; /* distinct */
    const uint8_t *status;
    const uint8_t *movers; /* NULL: turns alternate, or there is one player */
    const int16_t *scores; /* NULL: none */
    const uint32_t *tier;
    const uint32_t *first_tier_child, *tier_children;
    const uint32_t *component;               /* by tier: equal if the tiers can reach each other */
    const uint32_t *index;                   /* of each node in its tier */
    const uint32_t *first_slot, *slot_nodes; /* by tier: the node of each slot, NO_NODE if it is empty */
} graph;

int graph_valid(const pp_kernel *self, pp_position position);
pp_position graph_start(const pp_kernel *self);
size_t graph_moves(const pp_kernel *self, pp_position position, pp_move *moves);
pp_position graph_apply(const pp_kernel *self, pp_position position, pp_move move);
pp_position graph_undo(const pp_kernel *self, pp_position position, pp_move move);
pp_position graph_canonicalize(const pp_kernel *self, pp_position position);
int graph_status(const pp_kernel *self, pp_position position);
int graph_mover(const pp_kernel *self, pp_position position);
int graph_score(const pp_kernel *self, pp_position position);
uint32_t graph_tier(const pp_kernel *self, pp_position position);
size_t graph_tier_children(const pp_kernel *self, uint32_t tier, uint32_t *tiers);
int graph_wins_now(const pp_kernel *self, pp_position position);
size_t graph_children(const pp_kernel *self, pp_position position, pp_position *children);
size_t graph_parents(const pp_kernel *self, pp_position position, pp_position *parents);
uint64_t graph_tier_size(const pp_kernel *self, uint32_t tier);
pp_slot graph_rank(const pp_kernel *self, pp_position position);
void graph_unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions);
size_t graph_expand(const pp_kernel *self, pp_position position, pp_slot *slots);
size_t graph_retract(const pp_kernel *self, pp_position position, pp_slot *slots);
size_t graph_expand_moves(const pp_kernel *self, pp_position position, pp_slot *slots);
size_t graph_retract_all(const pp_kernel *self, pp_position position, pp_slot *slots);
void graph_survey(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                  uint32_t *ends);
size_t graph_retract_moves(const pp_kernel *self, pp_position position, pp_slot *slots);
/* end cdef */

#endif
