/* Graphs as games, for the programs in this folder: random ones, and a long line. */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include "graph_kernel.h"

uint64_t random_bits(void);
uint32_t random_below(uint32_t bound);

/* A graph, the kernels that play it, with an index and without, and the keys of the one without: in the order of the
 * index, so that both have the same table. */
typedef struct {
    graph graph;
    pp_kernel enumerated, ranked;
    uint64_t *keys;
    uint8_t *movers;
} random_graph;

/* In one tier, with cycles. NULL when memory runs out, as of the next. */
random_graph *random_graph_new(uint32_t nodes);
/* Each node leads to the one before it, and the first is lost; a tier for each node, or one for all. */
random_graph *line_new(uint32_t nodes, int tier_each);
/* Lets a kernel of the graph say who is to move, and by how much a game is won. */
void add_turns_and_scores(random_graph *r, pp_kernel *kernel);
void random_graph_free(random_graph *r);

#endif
