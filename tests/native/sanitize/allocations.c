/* Makes every request for memory, a map, a thread or a file fail once, in small solves of every kind and in all other
 * functions of the engine and of the games' boards. Each time there must be an error or the right result (with fewer
 * threads, for example), and nothing may leak. test_sanitizers.py builds it with sanitizers, so that an invalid access
 * or a leak ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "lookup_api.h"
#include "memo_api.h"
#include "morris.h"
#include "positions_api.h"
#include "quixo.h"
#include "random_graph.h"
#include "search_api.h"
#include "verify_api.h"

enum { NODES = 3000, MANY_NODES = 20000, LINE = 600, STAIRS = 100 };

static random_graph *cyclic, *many, *scored, *line, *stairs;
static const char *scratch_directory;

/* ---- the functions under test: each returns a pp_result, and writes a hash of its results ---- */

static int define_all(pp_engine *engine, const pp_kernel *k, uint64_t *keys) {
    const graph *g = k->context;
    for (uint32_t tier = 0; tier < k->tier_count; tier++) { /* keys for one tier only */
        const uint64_t *blocks[] = {keys};
        const uint64_t size = g->first_slot[tier + 1] - g->first_slot[tier];
        const int result = pp_tier_define(engine, tier, size, keys ? blocks : NULL);
        if (result) {
            (void)pp_find(engine, graph_start(k)); /* must not crash */
            return result;
        }
    }
    return PP_OK;
}

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001B3ULL; }

static int prove_and_hash(pp_engine *engine, const pp_kernel *k, uint64_t *hash) {
    const graph *g = k->context;
    for (uint32_t tier = 0; tier < k->tier_count; tier++) {
        uint64_t wrong;
        pp_fault fault;
        const int result = pp_verify(engine, tier, &wrong, &fault, 1);
        if (result) return result;
        const uint64_t bytes = (uint64_t)(g->first_slot[tier + 1] - g->first_slot[tier]) * pp_tier_width(engine, tier);
        const uint8_t *values = pp_tier_values(engine, tier);
        *hash = mix(*hash, wrong);
        for (uint64_t i = 0; i < bytes; i++) *hash = mix(*hash, values[i]);
    }
    return PP_OK;
}

typedef struct {
    pp_kernel kernel;
    uint64_t *keys; /* NULL for a kernel with an index */
    int acyclic, way;
    uint64_t budget;
} kind;

static int solve_all(pp_engine *engine, const kind *how) {
    int result = define_all(engine, &how->kernel, how->keys);
    for (uint32_t tier = 0; !result && tier < how->kernel.tier_count; tier++)
        result = pp_solve(engine, &tier, 1, !how->acyclic, how->way, 0);
    return result;
}

static int solve_over(const pp_kernel *kernel, unsigned threads, const kind *how, uint64_t *hash) {
    pp_engine *engine = pp_engine_new(kernel, kernel->tier_count, threads);
    if (!engine) return PP_OUT_OF_MEMORY;
    int result = how->budget ? pp_engine_memory(engine, how->budget, scratch_directory) : PP_OK;
    if (!result) result = solve_all(engine, how);
    if (!result) result = prove_and_hash(engine, &how->kernel, hash);
    pp_engine_free(engine);
    return result;
}

static int solve(const kind *how, uint64_t *hash) { return solve_over(&how->kernel, 2, how, hash); }

static int solve_with_index(uint64_t *hash) { return solve(&(kind){.kernel = cyclic->ranked}, hash); }

static int solve_with_threads(uint64_t *hash) { return solve(&(kind){.kernel = many->ranked}, hash); }

static int solve_without_index(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->enumerated, .keys = cyclic->keys}, hash);
}

static int solve_by_graph(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->enumerated, .keys = cyclic->keys, .way = PP_PROPAGATE_GRAPH}, hash);
}

static int solve_forward(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->ranked, .way = PP_PROPAGATE_FORWARD}, hash);
}

static int solve_with_scores(uint64_t *hash) { return solve(&(kind){.kernel = scored->ranked}, hash); }

static int solve_in_files(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->enumerated, .keys = cyclic->keys, .way = PP_PROPAGATE_GRAPH, .budget = 1},
                 hash);
}

/* With one byte per value and four per entry, the entries do not fit: three ranges. */
static int solve_with_queue(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->ranked, .budget = 3 * NODES}, hash);
}

/* A remoteness above 63 needs two bytes: the values are copied, or computed again. */
static int solve_long_line(uint64_t *hash) { return solve(&(kind){.kernel = line->ranked}, hash); }
static int solve_stairs(uint64_t *hash) { return solve(&(kind){.kernel = stairs->ranked, .acyclic = 1}, hash); }

/* Outcomes, and the decision order for their verification. */
static int prove_outcomes(uint64_t *hash) {
    const uint32_t tier = 0;
    const kind how = {.kernel = cyclic->enumerated, .keys = cyclic->keys};
    uint64_t wrong;
    pp_fault fault;
    uint8_t copy[(NODES + 3) / 4];
    pp_engine *engine = pp_engine_new(&how.kernel, 1, 2);
    if (!engine) return PP_OUT_OF_MEMORY;
    int result = define_all(engine, &how.kernel, how.keys);
    if (!result) result = pp_solve(engine, &tier, 1, 1, PP_PROPAGATE_GRAPH, 1);
    if (!result) {
        memcpy(copy, pp_tier_values(engine, 0), sizeof copy);
        result = pp_find_decision_order(engine, &tier, 1, 1, PP_PROPAGATE_GRAPH);
    }
    if (!result) result = pp_tier_attach(engine, 0, 0, (void *[]){copy});
    if (!result) result = pp_verify(engine, 0, &wrong, &fault, 1);
    if (!result) {
        *hash = mix(*hash, wrong);
        for (size_t i = 0; i < sizeof copy; i++) *hash = mix(*hash, copy[i]);
    }
    pp_engine_free(engine);
    return result;
}

/* Like the callback of a Python game: several positions per call. */
static void expand_many(const pp_kernel *kernel, const pp_position *positions, size_t count) {
    static uint8_t statuses[NODES];
    static uint32_t ends[NODES];
    static pp_position children[NODES];
    const pp_kernel *game = &cyclic->enumerated;
    uint32_t written = 0;
    for (size_t i = 0; i < count; i++) {
        statuses[i] = (uint8_t)game->status(game, positions[i]);
        if (!statuses[i]) written += (uint32_t)graph_children(game, positions[i], children + written);
        ends[i] = written;
    }
    const pp_position_batch batch = {.statuses = statuses, .children = children, .ends = ends};
    pp_memo_add((pp_kernel *)(uintptr_t)kernel, positions, count, &batch);
}

static int solve_with_memo(uint64_t *hash) {
    const kind how = {.kernel = cyclic->enumerated, .keys = cyclic->keys, .way = PP_PROPAGATE_GRAPH};
    pp_kernel game = how.kernel;
    game.children = graph_children;
    pp_kernel *memo = pp_memo_new(&game, expand_many, NULL);
    if (!memo) return PP_OUT_OF_MEMORY;
    pp_memo_start(memo, 1 << 20);
    const int result = solve_over(memo, 1, &how, hash);
    pp_memo_free(memo);
    return result;
}

/* Reading: attached values, best moves, reachable slots. */
static int read_values(uint64_t *hash) {
    const kind how = {.kernel = cyclic->enumerated, .keys = cyclic->keys};
    const uint32_t nodes = cyclic->graph.nodes;
    static uint8_t values[NODES];
    static int64_t best[NODES];
    static uint64_t reached[NODES / 64 + 1], expanded[NODES / 64 + 1];
    uint64_t *const bitmaps[] = {reached};
    uint64_t count = 0;
    pp_engine *engine = pp_engine_new(&how.kernel, 1, 2);
    if (!engine) return PP_OUT_OF_MEMORY;
    int result = solve_all(engine, &how);
    if (!result) {
        memcpy(values, pp_tier_values(engine, 0), nodes);
        result = pp_tier_attach(engine, 0, 1, (void *[]){values});
    }
    if (!result) result = pp_best_moves(engine, cyclic->keys, nodes, best);
    memset(reached, 0, sizeof reached);
    memset(expanded, 0, sizeof expanded);
    reached[0] = UINT64_MAX;
    if (!result) result = pp_mark_reachable(engine, 0, bitmaps, expanded, &count);
    for (uint32_t i = 0; !result && i < nodes; i++)
        *hash = mix(mix(*hash, (uint64_t)best[i]), pp_value_of_slot(engine, pp_find(engine, cyclic->keys[i])));
    *hash = mix(*hash, count);
    pp_engine_free(engine);
    return result;
}

static int enumerate(uint64_t *hash) {
    static pp_position children[NODES];
    size_t used, done = 0;
    for (; done < cyclic->graph.nodes; done += used) {
        const size_t left = cyclic->graph.nodes - done;
        const size_t count =
            pp_children_of_many(&cyclic->enumerated, cyclic->keys + done, left, &used, children, NODES);
        if (count == SIZE_MAX) return PP_OUT_OF_MEMORY;
        for (size_t i = 0; i < count; i++) *hash = mix(*hash, children[i]);
        if (!used) return PP_STUCK; /* it would never end */
    }
    return PP_OK;
}

/* Hashes the entries of a search as a sum, because they are in no particular order. Also called after a failure. There
 * is room for exactly as many entries as the counts promise. */
static int read_search(const pp_search *search, uint64_t *hash) {
    const size_t count = pp_search_progress(search).unique;
    pp_position *positions = malloc((count + 1) * sizeof *positions);
    uint8_t *outcomes = malloc(count + 1);
    const int result = positions && outcomes ? PP_OK : PP_OUT_OF_MEMORY;
    if (!result) pp_search_entries(search, positions, outcomes);
    for (size_t i = 0; !result && i < count; i++) *hash += mix(mix(1, positions[i]), outcomes[i]);
    free(positions);
    free(outcomes);
    return result;
}

/* Whether all outcomes in the table equal those of the first, undisturbed search. */
static int outcomes_agree(const pp_search *search, const random_graph *r, uint8_t *right) {
    int equal = 1;
    for (uint32_t node = 0; node < r->graph.nodes; node++) {
        const uint8_t outcome = (uint8_t)pp_search_outcome(search, r->keys[node]);
        if (!right[node]) right[node] = outcome;
        equal &= !outcome || outcome == right[node];
    }
    return equal;
}

static int prove_in(const random_graph *r, uint32_t step, uint8_t *right, uint64_t *hash) {
    pp_search *search = pp_search_new(&r->enumerated);
    if (!search) return PP_OUT_OF_MEMORY;
    int result = PP_OK;
    for (uint32_t node = step - 1; !result && node < r->graph.nodes; node += step)
        result = pp_search_run(search, r->keys[node]);
    if (!result) result = pp_search_prove_reachable(search);
    if (!outcomes_agree(search, r, right)) result = PP_BAD_SCORE;
    const int read = read_search(search, hash);
    pp_search_free(search);
    return result ? result : read;
}

static int prove(uint64_t *hash) {
    static uint8_t right[NODES];
    return prove_in(cyclic, 100, right, hash);
}

static int prove_long_line(uint64_t *hash) {
    static uint8_t right[LINE];
    return prove_in(line, LINE, right, hash);
}

static int add_entries(uint64_t *hash) {
    static uint8_t outcomes[NODES];
    memset(outcomes, PP_DRAWN, sizeof outcomes);
    pp_search *search = pp_search_new(&cyclic->enumerated);
    if (!search) return PP_OUT_OF_MEMORY;
    const int result = pp_search_add(search, cyclic->keys, outcomes, NODES), read = read_search(search, hash);
    pp_search_free(search);
    return result ? result : read;
}

/* With a solved table as the tablebase, in which every other value is missing. */
static int prove_with_tablebase(uint64_t *hash) {
    static uint8_t right[NODES], values[NODES];
    const kind how = {.kernel = cyclic->enumerated, .keys = cyclic->keys};
    pp_engine *engine = pp_engine_new(&how.kernel, 1, 1);
    pp_search *search = engine ? pp_search_new(&how.kernel) : NULL;
    int result = search ? solve_all(engine, &how) : PP_OUT_OF_MEMORY;
    if (!result) {
        memcpy(values, pp_tier_values(engine, 0), cyclic->graph.nodes);
        for (uint32_t node = 0; node < cyclic->graph.nodes; node += 2) values[node] = 4; /* no value */
        result = pp_tier_attach(engine, 0, 1, (void *[]){values});
    }
    if (!result) result = pp_search_use_tablebase(search, engine);
    for (uint32_t node = 0; !result && node < cyclic->graph.nodes; node++)
        result = pp_search_run(search, cyclic->keys[node]);
    if (!result && !pp_search_progress(search).below) result = PP_STUCK;
    if (search && !outcomes_agree(search, cyclic, right)) result = PP_BAD_SCORE;
    if (!result) result = read_search(search, hash);
    if (search) pp_search_free(search);
    if (engine) pp_engine_free(engine);
    return result;
}

/* Measuring; the times differ, so they are not hashed. */
static int measure(uint64_t *hash) {
    const pp_slot runs[] = {0, 64, 128};
    pp_sample sample;
    pp_engine *engine = pp_engine_new(&cyclic->ranked, 1, 1);
    if (!engine) return PP_OUT_OF_MEMORY;
    int result = pp_tier_define(engine, 0, cyclic->graph.nodes, NULL);
    if (!result) result = pp_measure(engine, runs, 3, 1, &sample);
    if (!result) *hash = mix(mix(mix(*hash, sample.positions), sample.children), sample.parents);
    pp_engine_free(engine);
    return result;
}

static int make_quixo(uint64_t *hash) {
    quixo_board *board = quixo_board_new(3, 3);
    *hash = board != NULL;
    quixo_board_free(board);
    return board ? PP_OK : PP_OUT_OF_MEMORY;
}

static int make_morris(uint64_t *hash) { /* three points in a row, one man each */
    const morris_rules rules = {.points = 3, .men = 1, .symmetry_count = 1, .symmetries = {{0, 1, 2}}};
    morris_board *board = morris_new(&rules);
    if (!board) return PP_OUT_OF_MEMORY;
    *hash = morris_tier_count(board);
    morris_free(board);
    return PP_OK;
}

/* ---- running ---- */

static void report(const char *name, unsigned long number, const char *what) {
    fprintf(stderr, "%s, request %lu: %s\n", name, number, what);
    exit(1);
}

static void try_requests(const char *name, int (*work)(uint64_t *hash)) {
    uint64_t right = 0;
    unsigned long number = 1, errors = 0;
    fail_request(0);
    if (work(&right) != PP_OK) report(name, 0, "fails without a failing request");
    for (;; number++) {
        uint64_t found = 0;
        fail_request(number);
        const int result = work(&found);
        const int failed = end_failing();
        if (open_resources()) report(name, number, "a map or file is not released");
        if (result == PP_OK && found != right) report(name, number, "wrong result without an error");
        if (result != PP_OK && result != PP_OUT_OF_MEMORY && result != PP_SCRATCH_FAILED)
            report(name, number, "unexpected error, or a wrong entry in the table");
        if (!failed) break; /* there were fewer requests */
        errors += result != PP_OK;
    }
    printf("%s: %lu requests failed, %lu errors\n", name, number - 1, errors);
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_directory = count > 1 ? arguments[1] : "/tmp";
    cyclic = random_graph_new(NODES);
    many = random_graph_new(MANY_NODES);
    scored = random_graph_new(NODES);
    line = line_new(LINE, 0);
    stairs = line_new(STAIRS, 1);
    if (!cyclic || !many || !scored || !line || !stairs) return 1;
    add_turns_and_scores(scored, &scored->ranked);
    try_requests("solve with an index", solve_with_index);
    try_requests("solve with threads", solve_with_threads);
    try_requests("solve without an index", solve_without_index);
    try_requests("solve by a reverse graph", solve_by_graph);
    try_requests("solve by forward propagation", solve_forward);
    try_requests("solve with a memo", solve_with_memo);
    try_requests("solve with scores", solve_with_scores);
    try_requests("solve in scratch files", solve_in_files);
    try_requests("solve with an update queue", solve_with_queue);
    try_requests("solve a long line", solve_long_line);
    try_requests("solve one tier after the other", solve_stairs);
    try_requests("solve and prove outcomes", prove_outcomes);
    try_requests("read values", read_values);
    try_requests("enumerate", enumerate);
    try_requests("prove", prove);
    try_requests("prove a long line", prove_long_line);
    try_requests("prove with a tablebase", prove_with_tablebase);
    try_requests("add entries", add_entries);
    try_requests("measure", measure);
    try_requests("make a Quixo board", make_quixo);
    try_requests("make a Morris board", make_morris);
    random_graph_free(cyclic);
    random_graph_free(many);
    random_graph_free(scored);
    random_graph_free(line);
    random_graph_free(stairs);
    return 0;
}
