/* Creates the graphs. All lists of a graph are in one block of memory. */
#include "random_graph.h"

#include <stdlib.h>

enum { MAX_MOVES = 3, STEP = 40 };

static uint64_t random_state = 1;

uint64_t random_bits(void) { /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1DULL;
}

uint32_t random_below(uint32_t bound) { return (uint32_t)((random_bits() >> 32) * bound >> 32); }

/* The lists of a graph, while they are being filled. */
typedef struct {
    random_graph result;
    uint32_t *first_move, *targets, *sources, *children, *first_parent, *parents;
    uint32_t *tier, *index, *first_slot, *component, *slot_nodes;
    int16_t *scores;
    uint8_t *status;
    uint64_t numbers[];
} lists;

static lists *new_lists(uint32_t nodes) {
    const size_t edges = (size_t)nodes * MAX_MOVES, each = nodes + 2;
    const size_t words = 4 * edges + 7 * each;
    lists *l = calloc(1, sizeof *l + each * 8 + words * 4 + each * (2 + 1 + 1));
    if (!l) return NULL;
    l->result.keys = l->numbers;
    uint32_t *next = (uint32_t *)(l->numbers + each);
    uint32_t **const by_edge[] = {&l->targets, &l->sources, &l->children, &l->parents};
    uint32_t **const by_node[] = {&l->first_move, &l->first_parent, &l->tier,      &l->index,
                                  &l->first_slot, &l->component,    &l->slot_nodes};
    for (size_t i = 0; i < 4; i++, next += edges) *by_edge[i] = next;
    for (size_t i = 0; i < 7; i++, next += each) *by_node[i] = next;
    l->scores = (int16_t *)next;
    l->status = (uint8_t *)(l->scores + each);
    l->result.movers = l->status + each;
    l->result.graph.nodes = nodes;
    return l;
}

/* Derives everything else from moves, statuses and tiers. Nodes are in the order of their tiers. */
static random_graph *finish(lists *l, uint32_t tiers) {
    const uint32_t nodes = l->result.graph.nodes, edges = l->first_move[nodes];
    uint32_t max_parents = 0;
    for (uint32_t i = 0; i < edges; i++) l->children[i] = l->targets[i] >> 1, l->first_parent[l->children[i] + 2]++;
    for (uint32_t node = 0; node < nodes; node++) {
        if (l->first_parent[node + 2] > max_parents) max_parents = l->first_parent[node + 2];
        l->first_parent[node + 2] += l->first_parent[node + 1];
        l->first_slot[l->tier[node] + 1] = node + 1;
        l->index[node] = node - l->first_slot[l->tier[node]];
        l->slot_nodes[node] = node;
        l->component[l->tier[node]] = l->tier[node];
        l->result.keys[node] = (uint64_t)node << 1;
    }
    for (uint32_t i = 0; i < edges; i++) l->parents[l->first_parent[l->children[i] + 1]++] = l->sources[i];
    graph *g = &l->result.graph;
    g->start = nodes - 1;
    g->first_move = g->first_child = l->first_move;
    g->targets = l->targets, g->sources = l->sources, g->children = l->children;
    g->first_parent = l->first_parent, g->parents = l->parents;
    g->status = l->status, g->scores = l->scores;
    g->tier = l->tier, g->index = l->index, g->component = l->component;
    g->first_slot = l->first_slot, g->slot_nodes = l->slot_nodes;
    pp_kernel k = {.abi = PP_ABI,
                   .rules_version = 1,
                   .max_moves = MAX_MOVES,
                   .max_parents = max_parents,
                   .tier_count = tiers,
                   .context = g,
                   .valid = graph_valid,
                   .start = graph_start,
                   .moves = graph_moves,
                   .apply = graph_apply,
                   .undo = graph_undo,
                   .canonicalize = graph_canonicalize,
                   .status = graph_status,
                   .tier = graph_tier,
                   .parents = graph_parents};
    l->result.enumerated = k;
    k.tier_size = graph_tier_size, k.rank = graph_rank, k.unrank = graph_unrank;
    k.expand = graph_expand, k.retract = graph_retract, k.wins_now = graph_wins_now;
    l->result.ranked = k;
    return &l->result;
}

static uint32_t add_moves(lists *l, uint32_t node, uint32_t edges) {
    const uint32_t low = node < STEP ? 0 : node - STEP, start = edges, last = l->result.graph.nodes - 1;
    for (uint32_t i = 0; i <= random_below(MAX_MOVES); i++) {
        const uint32_t child = low + random_below(2 * STEP), target = (child < last ? child : last) << 1;
        int duplicate = 0;
        for (uint32_t j = start; j < edges; j++) duplicate |= l->targets[j] == target;
        if (!duplicate) l->sources[edges] = node, l->targets[edges++] = target;
    }
    return edges;
}

random_graph *random_graph_new(uint32_t nodes) {
    lists *l = new_lists(nodes);
    if (!l) return NULL;
    uint32_t edges = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        l->first_move[node] = edges;
        if (random_below(4)) edges = add_moves(l, node, edges);
        else l->status[node] = (uint8_t)(random_below(4) ? 1 + 2 * random_below(2) : PP_DRAWN);
        l->result.movers[node] = (uint8_t)random_below(2);
        if (l->status[node]) l->scores[node] = (int16_t)((l->status[node] - PP_DRAWN) * (int)(1 + random_below(3)));
    }
    l->first_move[nodes] = edges;
    return finish(l, 1);
}

random_graph *line_new(uint32_t nodes, int tier_each) {
    lists *l = new_lists(nodes);
    if (!l) return NULL;
    l->status[0] = PP_LOST;
    for (uint32_t node = 0; node < nodes; node++) {
        l->tier[node] = tier_each ? node : 0;
        if (node) l->first_move[node] = node - 1, l->sources[node - 1] = node, l->targets[node - 1] = (node - 1) << 1;
    }
    l->first_move[nodes] = nodes - 1;
    return finish(l, tier_each ? nodes : 1);
}

void add_turns_and_scores(random_graph *r, pp_kernel *kernel) {
    r->graph.movers = r->movers;
    kernel->mover = graph_mover;
    kernel->score = graph_score;
}

void random_graph_free(random_graph *r) { free(r); }
