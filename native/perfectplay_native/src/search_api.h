/* The weak solver: proves one position (alphabeta.c), and everything reachable from it (search.c). */
#ifndef PP_SEARCH_API_H
#define PP_SEARCH_API_H

#include "engine_api.h"

typedef struct pp_search pp_search;

typedef struct {
    uint64_t evaluated;    /* positions whose moves were generated */
    uint64_t unique;       /* outcomes in the transposition table */
    uint64_t hits;         /* hits in the transposition table */
    uint64_t below;        /* hits in the tablebase */
    uint64_t cycles;       /* moves back to a position on the path */
    uint64_t terminals[3]; /* finished positions and wins in one move: for the player to move at the root, for the other
                              player, and draws. Of little use after pp_search_prove_reachable, where each position is a
                              root. */
    uint64_t expanded;     /* positions whose children are all in the table, by pp_search_prove_reachable */
    uint64_t provisional;  /* draws that currently depend on a repetition */
    uint64_t confirmed;    /* such draws that became certain */
    uint64_t forgotten;    /* such draws that were discarded */
    uint64_t depth;        /* current length of the path */
    uint64_t max_depth;
    uint64_t bytes; /* of memory allocated */
} pp_search_counts;

/* Returns NULL when memory runs out. */
pp_search *pp_search_new(const pp_kernel *kernel);
void pp_search_free(pp_search *search);
/* Probes an engine that has tiers of the same game attached, for every position that the search meets. The engine must
 * outlive the search and must not be used otherwise in the meantime. Returns a pp_result. */
int pp_search_use_tablebase(pp_search *search, pp_engine *engine);
/* Proves from now on only whether a player, 0 or 1, can avoid a loss: a draw in the table means yes. Only
 * for a kernel with `mover`, and before anything but wins and losses is in the table. */
void pp_search_set_holder(pp_search *search, int player);
/* Any thread may call these two at any time. */
void pp_search_stop(pp_search *search, int stop);
pp_search_counts pp_search_progress(const pp_search *search);
pp_position pp_search_error_position(const pp_search *search);

/* Proves a valid position, after which its outcome is in the table. After PP_STOPPED, the same call resumes. Returns a
 * pp_result. */
int pp_search_run(pp_search *search, pp_position root);
/* Proves every position that play can reach from a position in the table. Returns a pp_result. */
int pp_search_prove_reachable(pp_search *search);
/* Returns the outcome of a position in the table, a pp_status for the side to move; 0 if it is not there. */
int pp_search_outcome(const pp_search *search, pp_position position);
/* Writes all `unique` entries of the table. An outcome is a pp_status, plus 4 if the children of the position are in
 * the table, too; pp_search_prove_reachable skips such a position. */
void pp_search_entries(const pp_search *search, pp_position *positions, uint8_t *outcomes);
/* Adds proven outcomes of canonical positions, with or without that mark. Returns a pp_result. */
int pp_search_add(pp_search *search, const pp_position *positions, const uint8_t *outcomes, size_t count);

#endif
