/* The index of a game without a rank function: each tier's canonical positions, sorted. A position's index is its
 * place among them, found by a static search tree of 16 keys a node: half a byte a position. A look-up waits for memory
 * once or twice; so many are made together, level by level, and wait together. */
#include "engine.h"

static inline uint64_t key_at(const tier_state *tier, uint64_t index) {
    return tier->key_blocks[index >> PP_BLOCK_BITS][index & (BLOCK_SLOTS - 1)];
}

int build_key_tree(pp_engine *engine, tier_state *tier) {
    key_tree *tree = &tier->tree;
    size_t total = 0;
    tree->levels = 0;
    for (uint64_t length = tier->size; length > TREE_FANOUT && tree->levels < TREE_LEVELS;) {
        length = (length + TREE_FANOUT - 1) / TREE_FANOUT;
        tree->length[tree->levels++] = (size_t)length;
        total += (size_t)length;
    }
    const int result = allocate(engine, total * sizeof(uint64_t), &tree->memory);
    if (result) return result;
    uint64_t *next = tree->memory.bytes;
    for (int level = 0; level < tree->levels; level++) {
        tree->level[level] = next;
        for (size_t i = 0; i < tree->length[level]; i++)
            next[i] = level ? tree->level[level - 1][i * TREE_FANOUT] : key_at(tier, (uint64_t)i * TREE_FANOUT);
        next += tree->length[level];
    }
    return PP_OK;
}

/* How many of a node's keys are at most `key`; `left` is how many there are from its first on, TREE_FANOUT or more in
 * every node but the last. A whole node is halved four times, without a branch that would be guessed wrong. */
static inline size_t at_most(const uint64_t *keys, uint64_t left, uint64_t key) {
    size_t n = 0;
    if (__builtin_expect(left < TREE_FANOUT, 0)) {
        for (size_t i = 0; i < left; i++) n += keys[i] <= key;
        return n;
    }
    for (size_t half = TREE_FANOUT / 2; half; half /= 2) n += keys[n + half - 1] <= key ? half : 0;
    return n + (keys[n] <= key);
}

/* 16 divides the block size, so a node's keys lie in one block. */
static inline const uint64_t *node_of_keys(const tier_state *tier, uint64_t node) {
    const uint64_t first = node * TREE_FANOUT;
    return &tier->key_blocks[first >> PP_BLOCK_BITS][first & (BLOCK_SLOTS - 1)];
}

/* One level down: which node below holds the key, if any does. That node is on its way from memory then. */
static inline uint64_t descend(const tier_state *tier, int level, uint64_t node, uint64_t key) {
    const key_tree *tree = &tier->tree;
    const uint64_t first = node * TREE_FANOUT;
    const size_t n = at_most(tree->level[level] + first, tree->length[level] - first, key);
    if (!n) return UINT64_MAX; /* below the very first key */
    node = first + n - 1;
    const uint64_t *next = level ? tree->level[level - 1] + node * TREE_FANOUT : node_of_keys(tier, node);
    __builtin_prefetch(next);
    __builtin_prefetch(next + TREE_FANOUT / 2);
    return node;
}

static inline uint64_t index_in_node(const tier_state *tier, uint64_t node, uint64_t key) {
    if (node == UINT64_MAX || !tier->size) return UINT64_MAX;
    const uint64_t *keys = node_of_keys(tier, node);
    const size_t n = at_most(keys, tier->size - node * TREE_FANOUT, key);
    return n && keys[n - 1] == key ? node * TREE_FANOUT + n - 1 : UINT64_MAX;
}

void find_keys(look_up *wanted, size_t count) {
    int top = 0;
    for (size_t i = 0; i < count; i++) {
        wanted[i].index = 0; /* the node, until it is found */
        if (wanted[i].tier->tree.levels > top) top = wanted[i].tier->tree.levels;
    }
    for (int level = top - 1; level >= 0; level--)
        for (look_up *each = wanted; each < wanted + count; each++)
            if (level < each->tier->tree.levels && each->index != UINT64_MAX)
                each->index = descend(each->tier, level, each->index, each->key);
    for (look_up *each = wanted; each < wanted + count; each++)
        each->index = index_in_node(each->tier, each->index, each->key);
}
