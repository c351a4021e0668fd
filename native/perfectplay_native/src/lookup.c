/* Finds the slots of positions, and reads the values of slots.
 *
 * A game without a rank function is indexed by its canonical positions, sorted by tier. The index of a position is its
 * place among them, found by a static search tree with 16 keys per node, which takes half a byte per position. A
 * look-up waits for memory once or twice. Therefore many look-ups are made together, level by level. */
#include <stdlib.h>

#include "moves.h"

/* ---- the search tree ---- */

/* A look-up of a key in a tier that has keys. */
typedef struct {
    const tier_state *tier;
    uint64_t key, index; /* index: the result, UINT64_MAX if the tier does not contain the key */
} key_lookup;

static inline uint64_t key_at(const tier_state *tier, uint64_t index) {
    return tier->key_blocks[index >> PP_BLOCK_BITS][index & (BLOCK_SLOTS - 1)];
}

int pp_build_key_tree(pp_engine *engine, tier_state *tier) {
    key_tree *tree = &tier->tree;
    size_t total = 0;
    tree->levels = 0;
    for (uint64_t length = tier->size; length > TREE_FANOUT && tree->levels < TREE_LEVELS;) {
        length = (length + TREE_FANOUT - 1) / TREE_FANOUT;
        tree->length[tree->levels++] = (size_t)length;
        total += (size_t)length;
    }
    const int result = pp_allocate(engine, total * sizeof(uint64_t), &tree->memory);
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

/* The number of a node's keys that are at most `key`. `left` is the number of keys from its first one on, at least
 * TREE_FANOUT except for the last node. A whole node is halved four times, without a branch to mispredict. */
static inline size_t count_at_most(const uint64_t *keys, uint64_t left, uint64_t key) {
    size_t n = 0;
    if (__builtin_expect(left < TREE_FANOUT, 0)) {
        for (size_t i = 0; i < left; i++) n += keys[i] <= key;
        return n;
    }
    for (size_t half = TREE_FANOUT / 2; half; half /= 2) n += keys[n + half - 1] <= key ? half : 0;
    return n + (keys[n] <= key);
}

/* 16 divides the block size, so the keys of a node are in one block. */
static inline const uint64_t *node_keys(const tier_state *tier, uint64_t node) {
    const uint64_t first = node * TREE_FANOUT;
    return &tier->key_blocks[first >> PP_BLOCK_BITS][first & (BLOCK_SLOTS - 1)];
}

/* Goes down one level: returns the node below that may contain the key, and prefetches it. */
static inline uint64_t descend(const tier_state *tier, int level, uint64_t node, uint64_t key) {
    const key_tree *tree = &tier->tree;
    const uint64_t first = node * TREE_FANOUT;
    const size_t n = count_at_most(tree->level[level] + first, tree->length[level] - first, key);
    if (!n) return UINT64_MAX; /* below the very first key */
    node = first + n - 1;
    const uint64_t *next = level ? tree->level[level - 1] + node * TREE_FANOUT : node_keys(tier, node);
    __builtin_prefetch(next);
    __builtin_prefetch(next + TREE_FANOUT / 2);
    return node;
}

static inline uint64_t index_in_node(const tier_state *tier, uint64_t node, uint64_t key) {
    if (node == UINT64_MAX || !tier->size) return UINT64_MAX;
    const uint64_t *keys = node_keys(tier, node);
    const size_t n = count_at_most(keys, tier->size - node * TREE_FANOUT, key);
    return n && keys[n - 1] == key ? node * TREE_FANOUT + n - 1 : UINT64_MAX;
}

static void find_keys(key_lookup *lookups, size_t count) {
    int top = 0;
    for (size_t i = 0; i < count; i++) {
        lookups[i].index = 0; /* the node, until the key is found */
        if (lookups[i].tier->tree.levels > top) top = lookups[i].tier->tree.levels;
    }
    for (int level = top - 1; level >= 0; level--)
        for (key_lookup *each = lookups; each < lookups + count; each++)
            if (level < each->tier->tree.levels && each->index != UINT64_MAX)
                each->index = descend(each->tier, level, each->index, each->key);
    for (key_lookup *each = lookups; each < lookups + count; each++)
        each->index = index_in_node(each->tier, each->index, each->key);
}

/* ---- positions and slots ---- */

void pp_find_slots(const pp_engine *engine, uint64_t *positions, size_t count) {
    enum { LOOKUPS = 64 };
    const pp_kernel *kernel = engine->kernel;
    key_lookup lookups[LOOKUPS];
    uint64_t *results[LOOKUPS];
    for (size_t next = 0; next < count && kernel->rank; next++) positions[next] = kernel->rank(kernel, positions[next]);
    for (size_t next = 0; next < count && !kernel->rank;) {
        size_t wanted = 0;
        for (; next < count && wanted < LOOKUPS; next++) {
            const uint32_t tier = tier_number(kernel, positions[next]);
            const bool has_keys = tier < engine->tier_count && engine->tiers[tier].key_blocks;
            lookups[wanted] = (key_lookup){.tier = &engine->tiers[has_keys ? tier : 0], .key = positions[next]};
            results[wanted] = &positions[next];
            positions[next] = UINT64_MAX;
            wanted += has_keys;
        }
        find_keys(lookups, wanted);
        for (size_t i = 0; i < wanted; i++)
            if (lookups[i].index != UINT64_MAX)
                *results[i] = pp_slot_of((uint32_t)(lookups[i].tier - engine->tiers), lookups[i].index);
    }
}

pp_slot pp_find(pp_engine *engine, pp_position position) {
    const pp_kernel *kernel = engine->kernel;
    if (kernel->rank) return kernel->rank(kernel, position);
    position = canonical(kernel, position);
    pp_find_slots(engine, &position, 1);
    return position;
}

pp_slot pp_find_checked(pp_engine *engine, pp_position position) {
    const pp_kernel *kernel = engine->kernel;
    const bool valid = position != PP_NO_POSITION && (!kernel->valid || kernel->valid(kernel, position));
    return valid ? pp_find(engine, position) : UINT64_MAX;
}

void pp_find_many(pp_engine *engine, const pp_position *positions, size_t count, pp_slot *slots) {
    for (size_t i = 0; i < count; i++) slots[i] = pp_find_checked(engine, positions[i]);
}

void pp_positions_of_slots(const pp_engine *engine, pp_slot first, size_t count, pp_position *positions) {
    if (engine->kernel->unrank) {
        engine->kernel->unrank(engine->kernel, first, count, positions);
        return;
    }
    const tier_state *tier = tier_of(engine, first);
    for (size_t i = 0; i < count; i++) positions[i] = key_at(tier, pp_slot_index(first) + i);
}

/* ---- values ---- */

uint32_t pp_value_of_slot(pp_engine *engine, pp_slot slot) {
    const tier_state *tier = pp_slot_tier(slot) < engine->tier_count ? tier_of(engine, slot) : NULL;
    const bool stored = tier && tier->blocks && pp_slot_index(slot) < tier->size;
    return stored ? public_value(tier, pp_slot_index(slot)) : (value_code)CODE_NO_POSITION;
}

void pp_values_of_slots(pp_engine *engine, const pp_slot *slots, size_t count, uint32_t *codes) {
    for (size_t i = 0; i < count; i++) codes[i] = pp_value_of_slot(engine, slots[i]);
}

int pp_best_moves(pp_engine *engine, const pp_position *positions, size_t count, int64_t *best) {
    const pp_kernel *kernel = engine->kernel;
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t best_worth = INT64_MIN;
        best[i] = -1;
        const size_t legal = kernel->moves(kernel, positions[i], moves);
        for (size_t m = 0; m < legal; m++) {
            const pp_position child = kernel->apply(kernel, positions[i], moves[m]);
            const value_code code = pp_value_of_slot(engine, pp_find(engine, child));
            if (code == CODE_NO_POSITION) continue;
            const int64_t worth = worth_to_parent(code, keeps_turn(kernel, positions[i], child));
            if (worth > best_worth) {
                best_worth = worth;
                best[i] = moves[m];
            }
        }
    }
    free(moves);
    return PP_OK;
}

/* Adds the frequency of each byte to counts[byte]. */
static void count_bytes(const uint8_t *bytes, uint64_t count, uint64_t *counts) {
    uint64_t lanes[4][256] = {{0}}; /* neighbours are often equal, so four counters avoid waiting for each addition */
    for (uint64_t i = 0; i < count; i++) lanes[i & 3][bytes[i]]++;
    for (int lane = 0; lane < 4; lane++)
        for (int code = 0; code < 256; code++) counts[code] += lanes[lane][code];
}

static void count_outcomes(const uint8_t *packed, uint64_t count, uint64_t *counts) {
    uint64_t bytes[256] = {0};
    count_bytes(packed, count / 4, bytes);
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned i = 0; i < 4; i++) counts[outcome_code(byte >> outcome_shift(i))] += bytes[byte];
    for (uint64_t i = count & ~(uint64_t)3; i < count; i++)
        counts[outcome_code((unsigned)packed[i / 4] >> outcome_shift(i))]++;
}

void pp_histogram(const void *values, unsigned width, uint64_t count, uint64_t *counts) {
    if (width == 0) count_outcomes(values, count, counts);
    else if (width == 1) count_bytes(values, count, counts);
    else
        for (uint64_t i = 0; i < count; i++) counts[((const uint16_t *)values)[i]]++;
}

void pp_unpack_outcomes(const uint8_t *packed, uint64_t count, uint16_t *codes) {
    for (uint64_t i = 0; i < count; i++) codes[i] = (uint16_t)outcome_code((unsigned)packed[i / 4] >> outcome_shift(i));
}
