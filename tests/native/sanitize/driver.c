/* Runs the kernels and complete small solves. test_sanitizers.py builds it with sanitizers, so every buffer has exactly
 * the size that the contract promises. Prints one line per step; the first failed check ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "positions_api.h"
#include "verify_api.h"

#include "check.h"
#include "quixo.h"
#include "random_graph.h"

extern const pp_kernel dobutsu_kernel, dobutsu_enumerated_kernel, gobblet_kernel, quantik_kernel, quixo_kernel;

/* ---- the laws of a kernel, on positions of random play ---- */

static int contains(const uint64_t *values, size_t count, uint64_t value) {
    for (size_t i = 0; i < count; i++)
        if (values[i] == value) return 1;
    return 0;
}

/* Surveys a run that begins with this ongoing slot, and checks the result for the first slot. */
static void check_survey(const pp_kernel *k, pp_slot slot, pp_position unranked) {
    pp_slot *expanded = room(k->max_moves, sizeof *expanded);
    const size_t expanded_count = k->expand(k, unranked, expanded);
    const uint64_t left = k->tier_size(k, pp_slot_tier(slot)) - pp_slot_index(slot);
    const unsigned count = left < 64 ? (unsigned)left : 64;
    const uint64_t wanted = (random_bits() >> (64 - count)) | 1;
    uint8_t *codes = room(count, sizeof *codes);
    uint32_t *ends = room(count, sizeof *ends);
    pp_slot *slots = room((size_t)__builtin_popcountll(wanted) * k->max_moves, sizeof *slots);
    k->survey(k, slot, count, wanted, codes, slots, ends);
    CHECK(codes[0] == PP_ONGOING || codes[0] == PP_WINS_NOW);
    CHECK(ends[0] == (codes[0] == PP_ONGOING ? expanded_count : 0));
    CHECK(!memcmp(slots, expanded, ends[0] * sizeof *slots));
    k->survey(k, slot, count, wanted, codes, NULL, NULL);
    free(slots);
    free(ends);
    free(codes);
    free(expanded);
}

static void check_ranks(const pp_kernel *k, pp_position position, pp_position child) {
    const pp_slot slot = k->rank(k, position), child_slot = k->rank(k, child);
    pp_position unranked;
    pp_slot *slots = room(k->max_moves, sizeof *slots);
    CHECK(pp_slot_tier(slot) == k->tier(k, position) && pp_slot_index(slot) < k->tier_size(k, pp_slot_tier(slot)));
    k->unrank(k, slot, 1, &unranked);
    CHECK(k->valid(k, unranked) && k->rank(k, unranked) == slot);
    CHECK(contains(slots, k->expand(k, position, slots), child_slot));
    if (k->survey) check_survey(k, slot, unranked);
    free(slots);
    slots = room(k->max_parents, sizeof *slots);
    const size_t parents = k->retract(k, child, slots);
    CHECK(parents <= k->max_parents);
    free(slots);
}

static void check_laws(const pp_kernel *k, int playouts) {
    pp_move *moves = room(k->max_moves, sizeof *moves);
    pp_position *children = room(k->max_moves, sizeof *children);
    for (int i = 0; i < playouts; i++) {
        pp_position position = k->start(k);
        for (int ply = 0; ply < 40; ply++) {
            CHECK(k->valid(k, position));
            CHECK(k->canonicalize(k, k->canonicalize(k, position)) == k->canonicalize(k, position));
            const size_t count = k->moves(k, position, moves);
            CHECK((count > 0) == (k->status(k, position) == PP_ONGOING));
            if (!count) break;
            (void)k->wins_now(k, position);
            const pp_move move = moves[random_below((uint32_t)count)];
            const pp_position child = k->apply(k, position, move);
            CHECK(k->undo(k, child, move) == position);
            if (k->children) CHECK(contains(children, k->children(k, position, children), k->canonicalize(k, child)));
            if (k->rank) check_ranks(k, position, child);
            position = child;
        }
    }
    for (int i = 0; i < 100000; i++) { /* `valid` accepts any 64 bits */
        const pp_position bits = random_bits() >> random_below(64);
        if (k->valid(k, bits)) (void)k->canonicalize(k, bits);
    }
    free(children);
    free(moves);
}

/* ---- kernels with a context: the laws on several boards ---- */

static void check_quixo(uint32_t width, uint32_t height) {
    quixo_board *board = quixo_board_new(width, height);
    CHECK(board);
    pp_kernel k = quixo_kernel;
    k.context = board;
    k.tier_count = (width * height + 1) * (width * height + 2) / 2;
    check_laws(&k, 200);
    quixo_board_free(board);
}

/* ---- solving and verifying ---- */

static const int ways[] = {PP_PROPAGATE_RETRACT, PP_PROPAGATE_GRAPH, PP_PROPAGATE_FORWARD};

static uint64_t verified_hash(pp_engine *engine, uint32_t tier, uint64_t size, uint64_t hash) {
    uint64_t wrong;
    pp_fault fault;
    if (!size) return hash;
    CHECK(pp_verify(engine, tier, &wrong, &fault, 1) == PP_OK);
    CHECK(wrong == 0);
    const uint8_t *bytes = pp_tier_values(engine, tier);
    for (uint64_t i = 0; i < size * pp_tier_width(engine, tier); i++) hash = (hash ^ bytes[i]) * 0x100000001B3ULL;
    return hash;
}

/* Gobblet with a few pieces on the board; with more, the game is a tie. */
enum { MAX_PIECES = 4 };

static unsigned pieces_of_tier(uint32_t tier) {
    unsigned pieces = 0;
    for (; tier; tier /= 3) pieces += tier % 3;
    return pieces;
}

static int short_status(const pp_kernel *self, pp_position position) {
    const int status = gobblet_kernel.status(self, position);
    return status == PP_ONGOING && pieces_of_tier(self->tier(self, position)) >= MAX_PIECES ? PP_DRAWN : status;
}

/* The tier with the players' pieces exchanged, which moves of pieces on the board lead to. */
static uint32_t swapped_tier(uint32_t tier) {
    uint32_t swapped = 0;
    for (uint32_t place = 1; place < 729; place *= 9) { /* two digits per size: the mover's pieces, the opponent's */
        const uint32_t mover = tier / (3 * place) % 3, other = tier / place % 3;
        swapped += other * 3 * place + mover * place;
    }
    return swapped;
}

static uint64_t solve_short_gobblet(int way, unsigned threads) {
    pp_kernel k = gobblet_kernel;
    k.status = short_status;
    k.survey = NULL; /* it implements the rules of the whole game */
    pp_engine *engine = pp_engine_new(&k, k.tier_count, threads);
    uint64_t hash = 0;
    CHECK(engine);
    for (unsigned pieces = MAX_PIECES + 1; pieces-- > 0;) {
        for (uint32_t tier = 0; tier < k.tier_count; tier++)
            if (pieces_of_tier(tier) == pieces)
                CHECK(pp_tier_define(engine, tier, k.tier_size(&k, tier), NULL) == PP_OK);
        for (uint32_t tier = 0; tier < k.tier_count; tier++)
            if (pieces_of_tier(tier) == pieces && tier <= swapped_tier(tier)) {
                const uint32_t tiers[] = {tier, swapped_tier(tier)};
                CHECK(pp_solve(engine, tiers, tiers[0] == tiers[1] ? 1 : 2, 1, way, 0) == PP_OK);
            }
    }
    for (uint32_t tier = 0; tier < k.tier_count; tier++)
        if (pieces_of_tier(tier) <= MAX_PIECES) hash = verified_hash(engine, tier, k.tier_size(&k, tier), hash);
    pp_engine_free(engine);
    return hash;
}

/* ---- a random graph, large enough for several threads ---- */

static const char *scratch_directory;

static uint64_t solve_within(uint64_t budget, const pp_kernel *k, const uint64_t *keys, int way, unsigned threads) {
    const uint64_t *blocks[] = {keys};
    pp_engine *engine = pp_engine_new(k, 1, threads);
    const uint32_t tier = 0;
    CHECK(engine);
    CHECK(pp_engine_memory(engine, budget, scratch_directory) == PP_OK);
    const uint64_t nodes = ((const graph *)k->context)->nodes;
    CHECK(pp_tier_define(engine, 0, nodes, keys ? blocks : NULL) == PP_OK);
    CHECK(pp_solve(engine, &tier, 1, 1, way, 0) == PP_OK);
    const uint64_t hash = verified_hash(engine, 0, nodes, 0);
    pp_engine_free(engine);
    return hash;
}

static uint64_t solve_graph(const pp_kernel *k, const uint64_t *keys, int way, unsigned threads) {
    return solve_within(0, k, keys, way, threads);
}

/* Solves for outcomes, and verifies a copy of them. */
static uint64_t solve_outcomes(uint64_t budget, const pp_kernel *k, const uint64_t *keys, int way, unsigned threads) {
    const uint64_t *blocks[] = {keys}, nodes = ((const graph *)k->context)->nodes, bytes = (nodes + 3) / 4;
    const uint32_t tier = 0;
    uint64_t wrong, hash = 0;
    pp_fault fault;
    uint8_t *copy = room(bytes, 1);
    pp_engine *engine = pp_engine_new(k, 1, threads);
    CHECK(engine);
    CHECK(pp_engine_memory(engine, budget, scratch_directory) == PP_OK);
    CHECK(pp_tier_define(engine, 0, nodes, keys ? blocks : NULL) == PP_OK);
    CHECK(pp_solve(engine, &tier, 1, 1, way, 1) == PP_OK);
    memcpy(copy, pp_tier_values(engine, 0), bytes);
    CHECK(pp_find_decision_order(engine, &tier, 1, 1, PP_PROPAGATE_AUTO) == PP_OK);
    CHECK(pp_tier_attach(engine, 0, 0, (void *[]){copy}) == PP_OK);
    CHECK(pp_verify(engine, 0, &wrong, &fault, 1) == PP_OK);
    CHECK(wrong == 0);
    copy[bytes / 2] ^= 3;
    CHECK(pp_verify(engine, 0, &wrong, &fault, 1) == PP_OK);
    CHECK(wrong > 0);
    copy[bytes / 2] ^= 3;
    for (uint64_t i = 0; i < bytes; i++) hash = (hash ^ copy[i]) * 0x100000001B3ULL;
    pp_engine_free(engine);
    free(copy);
    return hash;
}

/* The index is the order of the keys, so both kernels have the same table. */
static void solve_every_way(pp_kernel enumerated, pp_kernel ranked, const uint64_t *keys) {
    const uint64_t hash = solve_graph(&ranked, NULL, PP_PROPAGATE_RETRACT, 1);
    for (size_t way = 0; way < 3; way++) {
        CHECK(solve_graph(&enumerated, keys, ways[way], 2) == hash);
        CHECK(solve_graph(&ranked, NULL, ways[way], 2) == hash);
    }
}

static void solve_both_kernels(pp_kernel enumerated, pp_kernel ranked, const uint64_t *keys) {
    const uint64_t hash = solve_graph(&ranked, NULL, PP_PROPAGATE_RETRACT, 2);
    CHECK(solve_within(1, &ranked, NULL, PP_PROPAGATE_RETRACT, 2) ==
          hash); /* with an update queue of as many ranges as possible */
    CHECK(solve_within(200000, &ranked, NULL, PP_PROPAGATE_RETRACT, 2) == hash);
    CHECK(solve_graph(&enumerated, keys, PP_PROPAGATE_GRAPH, 2) == hash);
    const uint64_t outcomes = solve_outcomes(0, &ranked, NULL, PP_PROPAGATE_RETRACT, 1);
    CHECK(solve_outcomes(1, &ranked, NULL, PP_PROPAGATE_RETRACT, 2) == outcomes);
    for (size_t way = 0; way < 3; way++) CHECK(solve_outcomes(0, &enumerated, keys, ways[way], 2) == outcomes);
}

static void solve_graphs(void) {
    random_graph *r = random_graph_new(100000);
    CHECK(r);
    pp_kernel k = r->enumerated, ranked = r->ranked;
    solve_every_way(k, ranked, r->keys);
    ranked.survey = graph_survey;
    solve_both_kernels(k, ranked, r->keys);
    k.players = ranked.players = 1;
    solve_both_kernels(k, ranked, r->keys);
    k.players = ranked.players = 2;
    add_turns_and_scores(r, &k);
    add_turns_and_scores(r, &ranked);
    solve_both_kernels(k, ranked, r->keys);
    random_graph_free(r);
}

/* Sets of keys of many sizes, in memory of exactly the right size. */
static void check_sorted_sets(void) {
    for (size_t count = 0; count < 200; count += 1 + count / 8) {
        uint64_t *some = room(count ? count : 1, sizeof *some), *scratch = room(count ? count : 1, sizeof *scratch);
        uint64_t *more = room(2 * count + 1, sizeof *more), *both = room(3 * count + 1, sizeof *both);
        for (size_t i = 0; i < count; i++) some[i] = random_bits() % (2 * count) << (i % 2 ? 50 : 0);
        for (size_t i = 0; i <= 2 * count; i++) more[i] = i;
        const size_t distinct_count = pp_sort_distinct(some, count, scratch);
        for (size_t i = 1; i < distinct_count; i++) CHECK(some[i - 1] < some[i]);
        const size_t joined = pp_union(some, distinct_count, more, 2 * count + 1, both);
        const size_t rest = pp_difference(some, distinct_count, more, 2 * count + 1);
        CHECK(joined == 2 * count + 1 + rest && pp_difference(both, joined, more, 2 * count + 1) == rest);
        for (size_t i = 0; i < rest; i++) CHECK(some[i] == both[i] && some[i] > 2 * count);
        free(some), free(scratch), free(more), free(both);
    }
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    scratch_directory = arguments[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_sorted_sets();
    puts("sorted sets");
    check_laws(&dobutsu_kernel, 2000);
    check_laws(&dobutsu_enumerated_kernel, 2000);
    puts("Dōbutsu shōgi: kernel laws");
    check_laws(&gobblet_kernel, 2000);
    puts("Gobblet: kernel laws");
    check_laws(&quantik_kernel, 2000);
    puts("Quantik: kernel laws");
    check_quixo(3, 3);
    check_quixo(4, 4);
    check_quixo(5, 4);
    check_quixo(4, 5);
    check_quixo(5, 5);
    puts("Quixo: kernel laws");
    const uint64_t hash = solve_short_gobblet(PP_PROPAGATE_RETRACT, 1);
    for (size_t way = 0; way < 3; way++) CHECK(solve_short_gobblet(ways[way], 2) == hash);
    puts("short Gobblet: solved and verified");
    solve_graphs();
    puts("large graphs: solved and verified");
    return 0;
}
