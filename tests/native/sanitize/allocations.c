/* Every request for memory, a map, a thread or a file fails once, in small solves of every kind and in everything else
 * that the engine and the games' boards do. Each time: an error, or the right answer all the same (with fewer threads,
 * say); nothing is kept. Built with sanitizers by test_sanitizers.py, so that what is touched after all, or not given
 * back, ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "failing.h"
#include "morris.h"
#include "quixo.h"
#include "random_graph.h"

enum { NODES = 3000, MANY_NODES = 20000, LINE = 600, STAIRS = 100 };

static random_graph *cyclic, *many, *scored, *line, *stairs;
static const char *scratch_directory;

/* ---- what is tried: each returns a pp_result, and writes what it found ---- */

static int define_all(pp_engine *engine, const pp_kernel *k, uint64_t *keys) {
    const graph *g = k->context;
    for (uint32_t tier = 0; tier < k->tier_count; tier++) { /* keys: of one tier only */
        const uint64_t *blocks[] = {keys};
        const uint64_t size = g->first_slot[tier + 1] - g->first_slot[tier];
        const int result = pp_tier_define(engine, tier, size, keys ? blocks : NULL);
        if (result) {
            (void)pp_find(engine, graph_start(k)); /* asked all the same, it must not crash */
            return result;
        }
    }
    return PP_OK;
}

static uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001B3ULL; }

static int prove_and_hash(pp_engine *engine, const pp_kernel *k, uint64_t *hash) {
    const graph *g = k->context;
    for (uint32_t tier = 0; tier < k->tier_count; tier++) {
        uint64_t wrong;
        pp_fault fault;
        const int result = pp_verify(engine, tier, &wrong, &fault, 1);
        if (result) return result;
        const uint64_t bytes = (uint64_t)(g->first_slot[tier + 1] - g->first_slot[tier]) * pp_tier_width(engine, tier);
        const uint8_t *values = pp_tier_values(engine, tier);
        *hash = mixed(*hash, wrong);
        for (uint64_t i = 0; i < bytes; i++) *hash = mixed(*hash, values[i]);
    }
    return PP_OK;
}

typedef struct {
    pp_kernel kernel;
    uint64_t *keys; /* NULL: it has an index of its own */
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

static int solve_looking_forward(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->ranked, .way = PP_PROPAGATE_FORWARD}, hash);
}

static int solve_with_scores(uint64_t *hash) { return solve(&(kind){.kernel = scored->ranked}, hash); }

static int solve_in_files(uint64_t *hash) {
    return solve(&(kind){.kernel = cyclic->enumerated, .keys = cyclic->keys, .way = PP_PROPAGATE_GRAPH, .budget = 1},
                 hash);
}

/* Of a byte a value, and four an entry, the entries are too many: three ranges. */
static int solve_by_mail(uint64_t *hash) { return solve(&(kind){.kernel = cyclic->ranked, .budget = 3 * NODES}, hash); }

/* Remoteness above 63 takes two bytes: values are moved, or found once more. */
static int solve_long_line(uint64_t *hash) { return solve(&(kind){.kernel = line->ranked}, hash); }
static int solve_stairs(uint64_t *hash) { return solve(&(kind){.kernel = stairs->ranked, .acyclic = 1}, hash); }

/* Outcomes alone, and the order that their proof needs. */
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
        result = pp_claim(engine, &tier, 1, 1, PP_PROPAGATE_GRAPH);
    }
    if (!result) result = pp_tier_attach(engine, 0, 0, (void *[]){copy});
    if (!result) result = pp_verify(engine, 0, &wrong, &fault, 1);
    if (!result) {
        *hash = mixed(*hash, wrong);
        for (size_t i = 0; i < sizeof copy; i++) *hash = mixed(*hash, copy[i]);
    }
    pp_engine_free(engine);
    return result;
}

/* As Python answers for its games: about some positions at a time. */
static void study(const pp_kernel *kernel, const pp_position *positions, size_t count) {
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
    const pp_studied studied = {.statuses = statuses, .children = children, .ends = ends};
    pp_memo_enter((pp_kernel *)(uintptr_t)kernel, positions, count, &studied);
}

static int solve_remembering(uint64_t *hash) {
    const kind how = {.kernel = cyclic->enumerated, .keys = cyclic->keys, .way = PP_PROPAGATE_GRAPH};
    pp_kernel asked = how.kernel;
    asked.children = graph_children;
    pp_kernel *memo = pp_memo_new(&asked, study, NULL);
    if (!memo) return PP_OUT_OF_MEMORY;
    pp_memo_open(memo, 1 << 20);
    const int result = solve_over(memo, 1, &how, hash);
    pp_memo_free(memo);
    return result;
}

/* Reading: values lent, best moves, what is reachable. */
static int ask(uint64_t *hash) {
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
        *hash = mixed(mixed(*hash, (uint64_t)best[i]), pp_value_of_slot(engine, pp_find(engine, cyclic->keys[i])));
    *hash = mixed(*hash, count);
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
        for (size_t i = 0; i < count; i++) *hash = mixed(*hash, children[i]);
        if (!used) return PP_STUCK; /* it would go on for ever */
    }
    return PP_OK;
}

/* What a search knows, as a sum, for its order is its own. Asked after a failure too; there is room for no more than it
 * says it knows. */
static int read_search(const pp_search *search, uint64_t *hash) {
    const size_t count = pp_search_progress(search).unique;
    pp_position *positions = malloc((count + 1) * sizeof *positions);
    uint8_t *outcomes = malloc(count + 1);
    const int result = positions && outcomes ? PP_OK : PP_OUT_OF_MEMORY;
    if (!result) pp_search_entries(search, positions, outcomes);
    for (size_t i = 0; !result && i < count; i++) *hash += mixed(mixed(1, positions[i]), outcomes[i]);
    free(positions);
    free(outcomes);
    return result;
}

/* Whatever is in the table is as the first search, which nothing disturbed, left it. */
static int outcomes_hold(const pp_search *search, const random_graph *r, uint8_t *right) {
    int hold = 1;
    for (uint32_t node = 0; node < r->graph.nodes; node++) {
        const uint8_t outcome = (uint8_t)pp_search_outcome(search, r->keys[node]);
        if (!right[node]) right[node] = outcome;
        hold &= !outcome || outcome == right[node];
    }
    return hold;
}

static int prove_in(const random_graph *r, uint32_t step, uint8_t *right, uint64_t *hash) {
    pp_search *search = pp_search_new(&r->enumerated);
    if (!search) return PP_OUT_OF_MEMORY;
    int result = PP_OK;
    for (uint32_t node = step - 1; !result && node < r->graph.nodes; node += step)
        result = pp_search_run(search, r->keys[node], 0);
    if (!result) result = pp_search_prove_reachable(search);
    if (!outcomes_hold(search, r, right)) result = PP_BAD_SCORE;
    const int read = read_search(search, hash);
    pp_search_free(search);
    return result ? result : read;
}

static int prove(uint64_t *hash) {
    static uint8_t right[NODES];
    return prove_in(cyclic, 100, right, hash);
}

static int prove_deep_down(uint64_t *hash) {
    static uint8_t right[LINE];
    return prove_in(line, LINE, right, hash);
}

static int learn(uint64_t *hash) {
    static uint8_t outcomes[NODES];
    memset(outcomes, PP_DRAWN, sizeof outcomes);
    pp_search *search = pp_search_new(&cyclic->enumerated);
    if (!search) return PP_OUT_OF_MEMORY;
    const int result = pp_search_learn(search, cyclic->keys, outcomes, NODES), read = read_search(search, hash);
    pp_search_free(search);
    return result ? result : read;
}

/* Over a solved table, of which every other value is taken away. */
static int prove_over_table(uint64_t *hash) {
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
    if (!result) result = pp_search_use(search, engine);
    for (uint32_t node = 0; !result && node < cyclic->graph.nodes; node++)
        result = pp_search_run(search, cyclic->keys[node], 0);
    if (!result && !pp_search_progress(search).below) result = PP_STUCK;
    if (search && !outcomes_hold(search, cyclic, right)) result = PP_BAD_SCORE;
    if (!result) result = read_search(search, hash);
    if (search) pp_search_free(search);
    if (engine) pp_engine_free(engine);
    return result;
}

/* What a plan measures; how long it took is another matter each time. */
static int measure(uint64_t *hash) {
    const pp_slot runs[] = {0, 64, 128};
    pp_sample sample;
    pp_engine *engine = pp_engine_new(&cyclic->ranked, 1, 1);
    if (!engine) return PP_OUT_OF_MEMORY;
    int result = pp_tier_define(engine, 0, cyclic->graph.nodes, NULL);
    if (!result) result = pp_measure(engine, runs, 3, 1, &sample);
    if (!result) *hash = mixed(mixed(mixed(*hash, sample.positions), sample.children), sample.parents);
    pp_engine_free(engine);
    return result;
}

static int make_quixo(uint64_t *hash) {
    quixo_board *board = quixo_board_new(3, 3);
    *hash = board != NULL;
    quixo_board_free(board);
    return board ? PP_OK : PP_OUT_OF_MEMORY;
}

static int make_morris(uint64_t *hash) { /* three points in a row, and a man each */
    const morris_rules rules = {.points = 3, .men = 1, .symmetry_count = 1, .symmetries = {{0, 1, 2}}};
    morris_board *board = morris_new(&rules);
    if (!board) return PP_OUT_OF_MEMORY;
    *hash = morris_tier_count(board);
    morris_free(board);
    return PP_OK;
}

/* ---- trying ---- */

static void complain(const char *name, unsigned long number, const char *what) {
    fprintf(stderr, "%s, request %lu: %s\n", name, number, what);
    exit(1);
}

static void try(const char *name, int (*work)(uint64_t *hash)) {
    uint64_t right = 0;
    unsigned long number = 1, errors = 0;
    fail_request(0);
    if (work(&right) != PP_OK) complain(name, 0, "does not work at all");
    for (;; number++) {
        uint64_t found = 0;
        fail_request(number);
        const int result = work(&found);
        const int failed = end_failing();
        if (held()) complain(name, number, "something is kept");
        if (result == PP_OK && found != right) complain(name, number, "no error, and a wrong answer");
        if (result != PP_OK && result != PP_OUT_OF_MEMORY && result != PP_SCRATCH_FAILED)
            complain(name, number, "another error, or something wrong in the table");
        if (!failed) break; /* there are not so many */
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
    try("solve with an index", solve_with_index);
    try("solve with threads", solve_with_threads);
    try("solve without an index", solve_without_index);
    try("solve by a reverse graph", solve_by_graph);
    try("solve looking forward", solve_looking_forward);
    try("solve remembering answers", solve_remembering);
    try("solve with scores", solve_with_scores);
    try("solve in scratch files", solve_in_files);
    try("solve by mail", solve_by_mail);
    try("solve a long line", solve_long_line);
    try("solve tier after tier", solve_stairs);
    try("solve and prove outcomes", prove_outcomes);
    try("ask", ask);
    try("enumerate", enumerate);
    try("prove", prove);
    try("prove deep down", prove_deep_down);
    try("prove over a table", prove_over_table);
    try("learn", learn);
    try("measure", measure);
    try("make a Quixo board", make_quixo);
    try("make a Morris board", make_morris);
    random_graph_free(cyclic);
    random_graph_free(many);
    random_graph_free(scored);
    random_graph_free(line);
    random_graph_free(stairs);
    return 0;
}
