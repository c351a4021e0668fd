/* Numbers at which things change, and functions that no solve comes by: run as driver.c is. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "mail.h"
#include "numbering.h"
#include "random_graph.h"

/* ---- mail for components of any size ---- */

static component of_slots(uint64_t slots) {
    return (component){.slots = slots,
                       .propagation = PP_PROPAGATE_RETRACT,
                       .marker_memory = {.size = slots / 4},
                       .entry_memory = {.size = slots}};
}

static void check_ranges(pp_engine *engine, uint64_t slots) {
    const component c = of_slots(slots);
    mail m;
    CHECK(begin_mail(engine, &c, &m) == PP_OK);
    const bool can_be = (slots - 1) >> PLACE_BITS < MOST_RANGES;
    CHECK(can_be == (m.ranges > 0));
    CHECK(m.ranges <= MOST_RANGES && m.shift <= PLACE_BITS);
    CHECK(!can_be || ((slots - 1) >> m.shift) + 1 == m.ranges);
    end_mail(engine, &m);
}

/* More letters than a block holds, in parts of any size, arrive as they were sent. */
static void check_letters(pp_engine *engine, uint64_t slots) {
    const component c = of_slots(slots);
    mail m;
    CHECK(begin_mail(engine, &c, &m) == PP_OK);
    const uint32_t sent = (uint32_t)(2 * m.block_letters + 5);
    letter *letters = room(sent, sizeof *letters);
    for (uint32_t i = 0; i < sent; i++) letters[i] = i | (i % 3 ? LETTER_LOST : 0);
    for (int turn = 0; turn < 2; turn++) { /* the second time in blocks that are used again */
        for (uint32_t i = 0, part; i < sent; i += part) {
            part = 1 + random_below(sent - i);
            send_letters(engine, &m, 0, letters + i, part);
        }
        CHECK(m.sent == sent && !engine->failure);
        turn_mail(&m);
        uint32_t read = 0;
        for (size_t block = 0; block < m.arriving[0].block_count; block++) {
            size_t count;
            const letter *found = letters_of_block(&m, &m.arriving[0], block, &count);
            CHECK(!memcmp(found, letters + read, count * sizeof *letters));
            read += (uint32_t)count;
        }
        CHECK(read == sent);
        empty_mailbox(engine, &m, 0);
    }
    end_mail(engine, &m);
    free(letters);
}

static void check_mail(const pp_kernel *kernel) {
    pp_engine *engine = pp_engine_new(kernel, 1, 1);
    CHECK(engine && pp_engine_memory(engine, 1 << 30, NULL) == PP_OK);
    for (unsigned bits = 6; bits < 41; bits++) {
        check_ranges(engine, (uint64_t)1 << bits);
        check_ranges(engine, ((uint64_t)1 << bits) + 64);
    }
    check_letters(engine, 1 << 10);
    check_letters(engine, (uint64_t)1 << 30);
    CHECK(!engine->used);
    pp_engine_free(engine);
    printf("mail\n");
}

/* ---- numbers ---- */

/* The table and the keys may have to grow at once: together they take no more than there is. */
static void check_numbering(void) {
    enum { COUNT = 5000 };
    for (uint64_t limit = 0; limit < 120000; limit += 997) {
        pp_numbering *n = pp_numbering_new();
        uint32_t number, given = 0;
        CHECK(n);
        n->room = 768; /* which is full when the first table is */
        CHECK((n->keys = room(n->room, sizeof *n->keys)));
        const uint64_t before = numbering_bytes(n);
        for (; given < COUNT; given++) {
            const uint64_t taken = numbering_bytes(n) - before;
            CHECK(taken <= limit);
            if (!numbering_enter(n, 3 * (uint64_t)given, limit - taken, &number)) break;
            CHECK(number == given);
        }
        CHECK(pp_numbering_count(n) == given);
        for (uint32_t i = 0; i < given; i++) CHECK(pp_numbering_find(n, 3 * (uint64_t)i) == i);
        CHECK(pp_numbering_find(n, 1) == PP_NO_NUMBER);
        pp_numbering_free(n);
    }
    printf("numbers\n");
}

static void check_many_numbers(void) {
    enum { COUNT = 3000 };
    pp_numbering *n = pp_numbering_new();
    pp_position *keys = room(COUNT, sizeof *keys);
    uint32_t *numbers = room(COUNT, sizeof *numbers), *again = room(COUNT, sizeof *again);
    uint32_t *fresh = room(COUNT, sizeof *fresh);
    CHECK(n);
    for (size_t i = 0; i < COUNT; i++) keys[i] = (uint64_t)random_below(COUNT) << 40;
    const size_t found = pp_numbering_enter(n, keys, COUNT, numbers, fresh);
    CHECK(found == pp_numbering_count(n));
    for (uint32_t i = 0; i < found; i++) CHECK(numbers[fresh[i]] == i && pp_numbering_keys(n)[i] == keys[fresh[i]]);
    CHECK(pp_numbering_enter(n, keys, COUNT, again, fresh) == 0 && !memcmp(numbers, again, COUNT * sizeof *again));
    pp_numbering_find_many(n, keys, COUNT, again);
    CHECK(!memcmp(numbers, again, COUNT * sizeof *again));
    pp_numbering_free(n);
    free(keys), free(numbers), free(again), free(fresh);
    printf("many numbers\n");
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

/* ---- a game that is remembered, by its slots ---- */

static void study(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    const graph *g = kernel->context;
    for (size_t i = 0; i < count; i++) {
        const uint32_t node = (uint32_t)(positions[i] >> 1), children = g->first_child[node + 1] - g->first_child[node];
        pp_position *found = room(children + 1, sizeof *found);
        const uint8_t status = g->status[node], mover = g->movers[node];
        const int16_t score = status == PP_ONGOING ? 0 : g->scores[node];
        for (uint32_t j = 0; j < children; j++) found[j] = (pp_position)g->children[g->first_child[node] + j] << 1;
        const pp_studied studied = {&status, &mover, &score, found, &children};
        pp_memo_enter((pp_kernel *)(uintptr_t)kernel, &positions[i], 1, &studied);
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
        pp_kernel *memo = pp_memo_new(&r->enumerated, study, NULL);
        CHECK(memo);
        pp_memo_open(memo, limit);
        size_t used;
        pp_position *children = room(memo->max_moves, sizeof *children);
        for (uint32_t i = 0; i < r->graph.nodes; i++)
            CHECK(pp_children_of_many(memo, &r->keys[i], 1, &used, children, memo->max_moves) <= memo->max_moves);
        CHECK(pp_memo_bytes(memo) <= limit);
        if (pp_memo_index(memo, 0, 0, r->keys, r->graph.nodes)) pp_memo_use_index(memo);
        uint32_t *found = solve(memo, r);
        CHECK(!memcmp(found, expected, r->graph.nodes * sizeof *found));
        pp_memo_close(memo);
        CHECK(!pp_memo_bytes(memo) && !memo->expand);
        pp_memo_free(memo);
        free(found), free(children);
    }
    free(expected);
    random_graph_free(r);
    printf("what is remembered\n");
}

int main(void) {
    random_graph *r = random_graph_new(10);
    CHECK(r);
    check_mail(&r->ranked);
    random_graph_free(r);
    check_numbering();
    check_many_numbers();
    check_outcomes();
    check_memo();
    printf("all limits hold\n");
    return 0;
}
