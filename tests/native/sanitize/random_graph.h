/* Graphs as games, for the programs in this directory: random graphs and a long line. */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include "graph_kernel.h"

uint64_t random_bits(void);
uint32_t random_below(uint32_t bound);

/* A graph, its kernels with and without an index, and the keys for the kernel without one. The keys are in the order of
 * the index, so that both kernels have the same table. */
typedef struct {
    graph graph;
    pp_kernel enumerated, ranked;
    uint64_t *keys;
    uint8_t *movers;
} random_graph;

/* A graph in one tier, with cycles. Both functions return NULL when memory runs out. */
random_graph *random_graph_new(uint32_t nodes);
/* A line: each node leads to the previous one, and the first is lost. With one tier per node, or one tier for all. */
random_graph *line_new(uint32_t nodes, int tier_each);
/* Adds `mover` and `score` to a kernel of the graph. */
void add_turns_and_scores(random_graph *r, pp_kernel *kernel);
void random_graph_free(random_graph *r);

#endif
