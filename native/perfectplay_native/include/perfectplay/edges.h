/* The list of slots that `expand` and `retract` fill, under the counting rule stated at `retract` in perfectplay.h.
 *
 * An edge between two positions without symmetries counts as often as there are moves along it. Any other edge counts once,
 * because a symmetric position has several moves to one slot while there may be only one way back. For example, the empty
 * board of tic-tac-toe is symmetric, so its 9 moves are 3 edges:
 *
 *     a b a
 *     b c b     moves to a a a a b b b b c     slots listed: a b c
 *     a b a
 *
 * Contract: `slots` has room for every edge, the list is empty at first, and the caller sets `origin_symmetric`. */
#ifndef PERFECTPLAY_EDGES_H
#define PERFECTPLAY_EDGES_H

#include "perfectplay.h"

typedef struct {
    pp_slot *slots;
    size_t count;
    int origin_symmetric; /* whether a symmetry other than the identity keeps the position at this end */
} pp_edges;

/* Add the slot of a neighbour. `symmetric` tells whether a symmetry other than the identity keeps that neighbour. */
static inline void pp_edges_add(pp_edges *edges, pp_slot slot, int symmetric) {
    if (__builtin_expect(symmetric | edges->origin_symmetric, 0))
        for (size_t i = 0; i < edges->count; i++)
            if (edges->slots[i] == slot) return;
    edges->slots[edges->count++] = slot;
}

#endif
