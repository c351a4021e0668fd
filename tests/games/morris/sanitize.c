/* Exercises the Morris kernel under sanitizers. test_sanitizers.py builds it and writes the boards into boards.inc.
 * Every buffer has exactly the size that the contract promises. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "morris.h"

extern const pp_kernel morris_kernel;

static const morris_rules boards[] = {
#include "boards.inc"
};

static uint32_t random_below(uint32_t bound) {
    static uint64_t state = 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)((state >> 32) * bound >> 32);
}

static void check_slots(const pp_kernel *k, pp_position position, pp_position child) {
    pp_slot *slots = malloc(k->max_moves * sizeof *slots), *parents = malloc(k->max_parents * sizeof *parents);
    CHECK(slots && parents);
    const size_t count = k->expand(k, position, slots);
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) listed += slots[i] == k->rank(k, child);
    CHECK(listed && count <= k->max_moves && k->retract(k, child, parents) <= k->max_parents);
    free(slots);
    free(parents);
}

static void play(const pp_kernel *k) {
    pp_move *moves = malloc(k->max_moves * sizeof *moves);
    CHECK(moves);
    pp_position position = k->start(k);
    for (int ply = 0; ply < 120; ply++) {
        const size_t count = k->moves(k, position, moves);
        CHECK(k->valid(k, position) && (count > 0) == (k->status(k, position) == PP_ONGOING));
        if (!count) break;
        const pp_move move = moves[random_below((uint32_t)count)];
        const pp_position child = k->apply(k, position, move);
        CHECK(k->undo(k, child, move) == position);
        (void)k->wins_now(k, position);
        (void)k->canonicalize(k, position);
        check_slots(k, position, child);
        position = child;
    }
    free(moves);
}

/* Checks the first and the last slots of a tier. */
static void check_ends(const pp_kernel *k, uint32_t tier) {
    const uint64_t size = k->tier_size(k, tier), count = size < 1000 ? size : 1000;
    pp_position *positions = malloc(count * sizeof *positions);
    CHECK(positions);
    for (int end = 0; end < 2; end++) {
        const pp_slot first = pp_slot_of(tier, end ? size - count : 0);
        k->unrank(k, first, count, positions);
        for (uint64_t i = 0; i < count; i++)
            CHECK(positions[i] == PP_NO_POSITION || k->rank(k, positions[i]) == first + i);
    }
    free(positions);
}

int main(void) {
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        morris_board *board = morris_new(&boards[i]);
        CHECK(board);
        pp_kernel k = morris_kernel;
        k.context = board;
        k.tier_count = morris_tier_count(board);
        for (uint32_t tier = 0; tier < k.tier_count; tier++) check_ends(&k, tier);
        for (int game = 0; game < 300; game++) play(&k);
        for (int bits = 0; bits < 100000; bits++) {
            const pp_position any = ((uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX)) >> bits % 64;
            if (k.valid(&k, any)) (void)k.rank(&k, any);
        }
        morris_free(board);
    }
    puts("all boards are clean");
    return 0;
}
