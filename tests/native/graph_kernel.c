/* A game given by an explicit graph, as a kernel with every function that a kernel can have. The tests and the
 * sanitizer programs use it to run the engine on graphs of any shape.
 *
 * Every node has two images that are the same up to symmetry:
 *
 *     position   node << 1 | image
 *     move       its number in `targets`        leads to target ^ image
 *
 * So two moves may lead to the two images of one child, which are different positions with one slot. */
#include "graph_kernel.h"

static const graph *graph_of(const pp_kernel *self) { return self->context; }
static uint32_t node_of(pp_position position) { return (uint32_t)(position >> 1); }

int graph_valid(const pp_kernel *self, pp_position position) { return position >> 1 < graph_of(self)->nodes; }

pp_position graph_start(const pp_kernel *self) { return (pp_position)graph_of(self)->start << 1; }

size_t graph_moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position), count = g->first_move[node + 1] - g->first_move[node];
    for (uint32_t i = 0; i < count; i++) moves[i] = g->first_move[node] + i;
    return count;
}

pp_position graph_apply(const pp_kernel *self, pp_position position, pp_move move) {
    return graph_of(self)->targets[move] ^ (position & 1);
}

pp_position graph_undo(const pp_kernel *self, pp_position position, pp_move move) {
    const graph *g = graph_of(self);
    return (pp_position)g->sources[move] << 1 | ((position ^ g->targets[move]) & 1);
}

pp_position graph_canonicalize(const pp_kernel *self, pp_position position) { return position & ~(pp_position)1; }

int graph_status(const pp_kernel *self, pp_position position) { return graph_of(self)->status[node_of(position)]; }

int graph_mover(const pp_kernel *self, pp_position position) { return graph_of(self)->movers[node_of(position)]; }

int graph_score(const pp_kernel *self, pp_position position) { return graph_of(self)->scores[node_of(position)]; }

/* PP_KEEPS_TURN, if both nodes have the same mover. */
static pp_slot turn_of(const graph *g, uint32_t a, uint32_t b) {
    return g->movers && g->movers[a] == g->movers[b] ? PP_KEEPS_TURN : 0;
}

uint32_t graph_tier(const pp_kernel *self, pp_position position) { return graph_of(self)->tier[node_of(position)]; }

size_t graph_tier_children(const pp_kernel *self, uint32_t tier, uint32_t *tiers) {
    const graph *g = graph_of(self);
    size_t count = 0;
    for (uint32_t i = g->first_tier_child[tier]; i < g->first_tier_child[tier + 1]; i++)
        tiers[count++] = g->tier_children[i];
    return count;
}

int graph_wins_now(const pp_kernel *self, pp_position position) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    for (uint32_t i = g->first_move[node]; i < g->first_move[node + 1]; i++) {
        const uint32_t child = g->targets[i] >> 1;
        const int keeps = self->players == 1 || turn_of(g, node, child);
        if (g->status[child] == (keeps ? PP_WON : PP_LOST)) return 1;
    }
    return 0;
}

size_t graph_children(const pp_kernel *self, pp_position position, pp_position *children) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_child[node]; i < g->first_child[node + 1]; i++)
        children[count++] = (pp_position)g->children[i] << 1;
    return count;
}

size_t graph_parents(const pp_kernel *self, pp_position position, pp_position *parents) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_parent[node]; i < g->first_parent[node + 1]; i++)
        parents[count++] = (pp_position)g->parents[i] << 1;
    return count;
}

uint64_t graph_tier_size(const pp_kernel *self, uint32_t tier) {
    const graph *g = graph_of(self);
    return g->first_slot[tier + 1] - g->first_slot[tier];
}

static pp_slot slot_of_node(const graph *g, uint32_t node) { return pp_slot_of(g->tier[node], g->index[node]); }

pp_slot graph_rank(const pp_kernel *self, pp_position position) {
    return slot_of_node(graph_of(self), node_of(position));
}

void graph_unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    const graph *g = graph_of(self);
    const uint32_t *nodes = g->slot_nodes + g->first_slot[pp_slot_tier(first)] + pp_slot_index(first);
    for (size_t i = 0; i < count; i++)
        positions[i] = nodes[i] == NO_NODE ? PP_NO_POSITION : (pp_position)nodes[i] << 1 | 1;
}

size_t graph_expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_child[node]; i < g->first_child[node + 1]; i++)
        slots[count++] = slot_of_node(g, g->children[i]) | turn_of(g, node, g->children[i]);
    return count;
}

size_t graph_retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_parent[node]; i < g->first_parent[node + 1]; i++)
        if (g->component[g->tier[g->parents[i]]] == g->component[g->tier[node]])
            slots[count++] = slot_of_node(g, g->parents[i]) | turn_of(g, node, g->parents[i]);
    return count;
}

/* Includes parents in other tiers, which the engine does not need. */
size_t graph_retract_all(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_parent[node]; i < g->first_parent[node + 1]; i++)
        slots[count++] = slot_of_node(g, g->parents[i]) | turn_of(g, node, g->parents[i]);
    return count;
}

void graph_survey(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                  uint32_t *ends) {
    uint32_t written = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(wanted >> i & 1)) continue;
        pp_position position;
        graph_unrank(self, first + i, 1, &position);
        int code = position == PP_NO_POSITION ? PP_EMPTY_SLOT : graph_status(self, position);
        if (code == PP_ONGOING && codes && self->wins_now && self->wins_now(self, position)) code = PP_WINS_NOW;
        if (codes) codes[i] = (uint8_t)code;
        if (slots && code == PP_ONGOING) written += (uint32_t)self->expand(self, position, slots + written);
        if (slots) ends[i] = written;
    }
}

/* Variants that count moves: a slot is listed once per move, on both sides. */

size_t graph_expand_moves(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_move[node]; i < g->first_move[node + 1]; i++)
        slots[count++] = slot_of_node(g, g->targets[i] >> 1) | turn_of(g, node, g->targets[i] >> 1);
    return count;
}

size_t graph_retract_moves(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const graph *g = graph_of(self);
    const uint32_t node = node_of(position);
    size_t count = 0;
    for (uint32_t i = g->first_parent[node]; i < g->first_parent[node + 1]; i++) {
        const uint32_t parent = g->parents[i];
        if (g->component[g->tier[parent]] != g->component[g->tier[node]]) continue;
        for (uint32_t j = g->first_move[parent]; j < g->first_move[parent + 1]; j++)
            if (g->targets[j] >> 1 == node) slots[count++] = slot_of_node(g, parent) | turn_of(g, node, parent);
    }
    return count;
}
