/* The index of a game without a rank function: each tier's canonical positions, sorted. A position's index is its
 * place among them, found by a static search tree of 16 keys a node: half a byte a position, and one or two cache
 * misses a look-up. */
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

/* How many of the keys are at most `key`; 0 if none. At most TREE_FANOUT of them. */
static inline size_t at_most(const uint64_t *keys, size_t count, uint64_t key) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += keys[i] <= key;
    return n;
}

uint64_t find_key(const tier_state *tier, uint64_t key) {
    const key_tree *tree = &tier->tree;
    size_t node = 0; /* among the nodes of the level below the one just read */
    for (int level = tree->levels - 1; level >= 0; level--) {
        const size_t first = node * TREE_FANOUT, left = tree->length[level] - first;
        const size_t n = at_most(tree->level[level] + first, left < TREE_FANOUT ? left : TREE_FANOUT, key);
        if (!n) return UINT64_MAX; /* below the very first key */
        node = first + n - 1;
    }
    const uint64_t first = (uint64_t)node * TREE_FANOUT, left = tier->size - first;
    if (!tier->size) return UINT64_MAX;
    /* 16 divides the block size, so a node's keys lie in one block */
    const uint64_t *keys = &tier->key_blocks[first >> PP_BLOCK_BITS][first & (BLOCK_SLOTS - 1)];
    const size_t n = at_most(keys, left < TREE_FANOUT ? (size_t)left : TREE_FANOUT, key);
    return n && keys[n - 1] == key ? first + n - 1 : UINT64_MAX;
}
