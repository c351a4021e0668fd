/* Boundary cases, and functions that no solve calls; run like driver.c. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "memo_api.h"
#include "numbering.h"
#include "random_graph.h"
#include "update_queue.h"

/* ---- update queues for components of any size ---- */

static component component_of(uint64_t slots) {
    return (component){.layout = {.slots = slots},
                       .source = {.propagation = PP_PROPAGATE_RETRACT},
                       .open = {.marker_memory = {.size = slots / 4}, .entry_memory = {.size = slots}}};
}

static void check_ranges(pp_engine *engine, uint64_t slots) {
    const component c = component_of(slots);
    update_queue q;
    CHECK(pp_queue_begin(engine, &c, &q) == PP_OK);
    const bool possible = (slots - 1) >> OFFSET_BITS < MAX_RANGES;
    CHECK(possible == (q.ranges > 0));
    CHECK(q.ranges <= MAX_RANGES && q.shift <= OFFSET_BITS);
    CHECK(!possible || ((slots - 1) >> q.shift) + 1 == q.ranges);
    pp_queue_end(engine, &q);
}

/* Queues more updates than a block holds, in parts of any size, and reads them back in order. */
static void check_updates(pp_engine *engine, uint64_t slots) {
    const component c = component_of(slots);
    update_queue q;
    CHECK(pp_queue_begin(engine, &c, &q) == PP_OK);
    const uint32_t total = (uint32_t)(2 * q.block_updates + 5);
    queued_update *updates = room(total, sizeof *updates);
    for (uint32_t i = 0; i < total; i++) updates[i] = i | (i % 3 ? QUEUED_PARENT_WINS : 0);
    for (int pass = 0; pass < 2; pass++) { /* the second pass reuses the blocks of the first */
        for (uint32_t i = 0, part; i < total; i += part) {
            part = 1 + random_below(total - i);
            pp_queue_append(engine, &q, 0, updates + i, part);
        }
        CHECK(q.queued == total && !engine->failure);
        pp_queue_swap(&q);
        uint32_t read = 0;
        for (size_t block = 0; block < q.current[0].block_count; block++) {
            size_t count;
            const queued_update *found = pp_queue_block(&q, &q.current[0], block, &count);
            CHECK(!memcmp(found, updates + read, count * sizeof *updates));
            read += (uint32_t)count;
        }
        CHECK(read == total);
        pp_queue_clear(engine, &q, 0);
    }
    pp_queue_end(engine, &q);
    free(updates);
}

static void check_update_queue(const pp_kernel *kernel) {
    pp_engine *engine = pp_engine_new(kernel, 1, 1);
    CHECK(engine && pp_engine_memory(engine, 1 << 30, NULL) == PP_OK);
    for (unsigned bits = 6; bits < 41; bits++) {
        check_ranges(engine, (uint64_t)1 << bits);
        check_ranges(engine, ((uint64_t)1 << bits) + 64);
    }
    check_updates(engine, 1 << 10);
    check_updates(engine, (uint64_t)1 << 30);
    CHECK(!engine->used);
    pp_engine_free(engine);
    printf("update queues\n");
}

/* ---- numbering ---- */

/* If the table and the keys grow in the same call, both together stay within the limit. */
static void check_numbering(void) {
    enum { COUNT = 5000 };
    for (uint64_t limit = 0; limit < 120000; limit += 997) {
        pp_numbering *n = pp_numbering_new();
        uint32_t number, count = 0;
        CHECK(n);
        n->capacity = 768; /* full at the same time as the first table */
        CHECK((n->keys = room(n->capacity, sizeof *n->keys)));
        const uint64_t before = pp_numbering_bytes(n);
        for (; count < COUNT; count++) {
            const uint64_t used = pp_numbering_bytes(n) - before;
            CHECK(used <= limit);
            if (!pp_numbering_add_key(n, 3 * (uint64_t)count, limit - used, &number)) break;
            CHECK(number == count);
        }
        CHECK(pp_numbering_count(n) == count);
        for (uint32_t i = 0; i < count; i++) CHECK(pp_numbering_find(n, 3 * (uint64_t)i) == i);
        CHECK(pp_numbering_find(n, 1) == PP_NO_NUMBER);
        pp_numbering_free(n);
    }
    printf("numbering\n");
}

static void check_many_numbers(void) {
    enum { COUNT = 3000 };
    pp_numbering *n = pp_numbering_new();
    pp_position *keys = room(COUNT, sizeof *keys);
    uint32_t *numbers = room(COUNT, sizeof *numbers), *again = room(COUNT, sizeof *again);
    uint32_t *first = room(COUNT, sizeof *first);
    CHECK(n);
    for (size_t i = 0; i < COUNT; i++) keys[i] = (uint64_t)random_below(COUNT) << 40;
    const size_t found = pp_numbering_add(n, keys, COUNT, numbers, first);
    CHECK(found == pp_numbering_count(n));
    for (uint32_t i = 0; i < found; i++) CHECK(numbers[first[i]] == i && pp_numbering_keys(n)[i] == keys[first[i]]);
    CHECK(pp_numbering_add(n, keys, COUNT, again, first) == 0 && !memcmp(numbers, again, COUNT * sizeof *again));
    pp_numbering_find_many(n, keys, COUNT, again);
    CHECK(!memcmp(numbers, again, COUNT * sizeof *again));
    pp_numbering_free(n);
    free(keys), free(numbers), free(again), free(first);
    printf("numbering many positions\n");
}

/* ---- outcomes ---- */

static void check_outcomes(void) {
    uint64_t *counts = room(1 << 16, sizeof *counts);
    for (uint64_t count = 0; count < 70; count++) {
        uint8_t *packed = room((size_t)(count + 3) / 4, 1);
        uint16_t *codes = room((size_t)count, sizeof *codes);
        uint64_t total = 0;
        for (size_t i = 0; i < (count + 3) / 4; i++) packed[i] = (uint8_t)random_bits();
        memset(counts, 0, (1 << 16) * sizeof *counts);
        pp_unpack_outcomes(packed, count, codes);
        pp_histogram(packed, 0, count, counts);
        for (uint64_t i = 0; i < count; i++) CHECK(counts[codes[i]] > 0);
        for (size_t code = 0; code < 1 << 16; code++) total += counts[code];
        CHECK(total == count);
        free(packed), free(codes);
    }
    free(counts);
    printf("outcomes\n");
}

/* ---- a memo, with and without an index ---- */

static void expand_many(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    const graph *g = kernel->context;
    for (size_t i = 0; i < count; i++) {
        const uint32_t node = (uint32_t)(positions[i] >> 1), children = g->first_child[node + 1] - g->first_child[node];
        pp_position *found = room(children + 1, sizeof *found);
        const uint8_t status = g->status[node], mover = g->movers[node];
        const int16_t score = status == PP_ONGOING ? 0 : g->scores[node];
        for (uint32_t j = 0; j < children; j++) found[j] = (pp_position)g->children[g->first_child[node] + j] << 1;
        const pp_position_batch batch = {&status, &mover, &score, found, &children};
        pp_memo_add((pp_kernel *)(uintptr_t)kernel, &positions[i], 1, &batch);
        free(found);
    }
}

static uint32_t *solve(const pp_kernel *kernel, const random_graph *r) {
    const uint64_t *keys = r->keys;
    const uint32_t nodes = r->graph.nodes, tier = 0;
    pp_engine *engine = pp_engine_new(kernel, 1, 1);
    uint32_t *values = room(nodes, sizeof *values);
    CHECK(engine && pp_tier_define(engine, tier, nodes, &keys) == PP_OK);
    CHECK(pp_solve(engine, &tier, 1, 1, PP_PROPAGATE_AUTO, 0) == PP_OK);
    CHECK(pp_tier_width(engine, tier) == sizeof *values);
    memcpy(values, pp_tier_values(engine, tier), nodes * sizeof *values);
    pp_engine_free(engine);
    return values;
}

static void check_memo(void) {
    random_graph *r = random_graph_new(700);
    CHECK(r);
    add_turns_and_scores(r, &r->enumerated);
    r->enumerated.children = graph_children;
    uint32_t *expected = solve(&r->enumerated, r);
    for (uint64_t limit = 0; limit < 70000; limit += 4999) {
        pp_kernel *memo = pp_memo_new(&r->enumerated, expand_many, NULL);
        CHECK(memo);
        pp_memo_start(memo, limit);
        size_t used;
        pp_position *children = room(memo->max_moves, sizeof *children);
        for (uint32_t i = 0; i < r->graph.nodes; i++)
            CHECK(pp_children_of_many(memo, &r->keys[i], 1, &used, children, memo->max_moves) <= memo->max_moves);
        CHECK(pp_memo_bytes(memo) <= limit);
        if (pp_memo_index(memo, 0, 0, r->keys, r->graph.nodes)) pp_memo_use_index(memo);
        uint32_t *found = solve(memo, r);
        CHECK(!memcmp(found, expected, r->graph.nodes * sizeof *found));
        pp_memo_clear(memo);
        CHECK(!pp_memo_bytes(memo) && !memo->expand);
        pp_memo_free(memo);
        free(found), free(children);
    }
    free(expected);
    random_graph_free(r);
    printf("memo\n");
}

int main(void) {
    random_graph *r = random_graph_new(10);
    CHECK(r);
    check_update_queue(&r->ranked);
    random_graph_free(r);
    check_numbering();
    check_many_numbers();
    check_outcomes();
    check_memo();
    printf("all limits hold\n");
    return 0;
}
