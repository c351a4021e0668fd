/* The reverse graph of the open positions, for games that cannot list a position's parents. The children of every open
 * position are listed, and the list is then sorted by child. */
#include "containers.h"
#include "evaluate.h"

enum { WORDS_PER_RANGE = 256 };
#define NO_CHILD UINT32_MAX

/* The children of entry i are those from first[i] to first[i + 1]. The number of open children determines the room for
 * them. An entry with drawn children counts these as one more, and that place contains NO_CHILD. */
typedef struct {
    component *c;
    uint64_t *first;
    uint32_t *children; /* entry numbers, with GRAPH_KEEPS_TURN */
} forward_edges;

static uint64_t node_bytes(const component *c) { return (c->open.count + 1) * sizeof(uint64_t); }
static uint64_t edge_bytes(const component *c) { return (c->source.edges * sizeof(uint32_t) + 7) & ~(uint64_t)7; }

uint64_t pp_reverse_graph_bytes(const component *c) { return 2 * (node_bytes(c) + edge_bytes(c)); }

static inline uint32_t turn_bit(pp_slot edge) { return edge >= PP_KEEPS_TURN ? GRAPH_KEEPS_TURN : 0; }

WITH_POPCOUNT static void list_children(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const forward_edges *edges = context;
    component *c = edges->c;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->open.markers[word].before;
        for (uint64_t bits = c->open.markers[word].bits; bits; bits &= bits - 1, number++) {
            if (!expand_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            uint64_t next = edges->first[number];
            const uint64_t end = edges->first[number + 1];
            for (size_t i = 0; i < ahead.ends[0]; i++) {
                const pp_slot slot = ahead.slots[i];
                const tier_state *tier = tier_of(engine, slot);
                const entry *child = tier->being_solved ? entry_of(c, local_index(tier, slot)) : NULL;
                if (!child) continue;
                if (next == end) {
                    fail_at(engine, PP_OTHER_CHILDREN, ahead.first);
                    break;
                }
                edges->children[next++] = (uint32_t)(child - c->open.entries) | turn_bit(slot);
            }
            while (next < end) edges->children[next++] = NO_CHILD;
        }
        engine->progress_steps_done += number - c->open.markers[word].before;
    }
    end_look_ahead(&ahead);
}

/* A counting sort (containers.h). */
static void sort_by_child(component *c, const forward_edges *edges) {
    uint64_t *first = c->source.first;
    const uint64_t listed = edges->first[c->open.count];
    for (uint64_t i = 0; i < listed; i++)
        if (edges->children[i] != NO_CHILD) first[edges->children[i] & ~GRAPH_KEEPS_TURN]++;
    end_groups(first, c->open.count);
    for (uint64_t parent = c->open.count; parent-- > 0;)
        for (uint64_t i = edges->first[parent]; i < edges->first[parent + 1]; i++) {
            const uint32_t child = edges->children[i], turn = child & GRAPH_KEEPS_TURN;
            if (child != NO_CHILD) c->source.parents[--first[child & ~GRAPH_KEEPS_TURN]] = (uint32_t)parent | turn;
        }
}

int pp_build_reverse_graph(pp_engine *engine, component *c) {
    buffer forward;
    if (c->open.count >= GRAPH_LIMIT) return PP_TOO_MANY;
    int result = pp_allocate(engine, node_bytes(c) + edge_bytes(c), &c->source.memory);
    if (result) return result;
    result = pp_allocate(engine, node_bytes(c) + edge_bytes(c), &forward);
    if (result) return result;
    c->source.first = c->source.memory.bytes;
    c->source.parents = (uint32_t *)(c->source.first + c->open.count + 1);
    forward_edges edges = {.c = c, .first = forward.bytes};
    edges.children = (uint32_t *)(edges.first + c->open.count + 1);
    for (uint64_t i = 0; i < c->open.count; i++) edges.first[i + 1] = edges.first[i] + entry_open(c->open.entries[i]);
    result = pp_parallel(engine, list_children, &edges, word_count(c), WORDS_PER_RANGE);
    if (!result) sort_by_child(c, &edges);
    pp_release(engine, &forward);
    return result;
}
