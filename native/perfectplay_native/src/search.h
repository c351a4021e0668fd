/* The state of a search, which alphabeta.c and search.c share. */
#ifndef PP_SEARCH_H
#define PP_SEARCH_H

#include "moves.h"
#include "path.h"
#include "search_api.h"

enum { PUBLISHED_COUNTS = sizeof(pp_search_counts) / sizeof(uint64_t), NO_HOLDER = -1 };

/* A position on the path. */
typedef struct {
    pp_position position;   /* canonical */
    uint64_t open_start;    /* its unexplored moves are those of `open_moves` from here on */
    depth_range dependency; /* the dependency that a draw would have */
    uint32_t draw_mark;     /* number of provisional draws when it was entered */
    uint8_t best;           /* the best outcome so far, certain or provisional, a pp_status for its mover */
    bool holds;             /* its mover is the holder */
} frame;

/* A move to be explored. */
typedef struct {
    pp_position child;
    uint32_t replies; /* the number of moves that do not lose at once */
    uint16_t number;  /* of the move */
} candidate;

/* tablebase.c: values of an engine, with a cache of recent probes. */
typedef struct tablebase tablebase;
/* Writes the outcomes of at most max_moves canonical positions, 0 for a position without a value. */
void pp_tablebase_probe(tablebase *t, const pp_position *positions, size_t count, uint8_t *outcomes);
void pp_tablebase_free(tablebase *t);

struct pp_search {
    const pp_kernel *kernel;
    tablebase *tablebase; /* or NULL */
    int holder;           /* the player for whom a draw is enough, or NO_HOLDER */
    int failure;          /* a pp_result that ends the search */
    pp_position error_position;
    unsigned root_mover; /* 0 if the kernel has no `mover` */
    transposition_table table;
    search_path path;

    frame *frames; /* the path */
    uint32_t depth;
    size_t frame_capacity;
    uint16_t *open_moves; /* of all frames; the best move of each frame is its last one */
    size_t open_count, open_capacity;

    pp_move *moves, *replies; /* buffers for one position each */
    candidate *candidates;
    pp_position *children;
    pp_position *probes; /* positions to probe in the tablebase, */
    uint8_t *outcomes;   /* and the results */

    pp_search_counts counts;
    _Atomic uint64_t published[PUBLISHED_COUNTS];
    _Atomic int stop;
};

/* Starts the proof of a canonical position. The path must be empty. */
void pp_begin_proof(pp_search *search, pp_position root);
/* Searches until the path is empty, when the outcome is stored. Returns a pp_result. */
int pp_finish_proof(pp_search *search);
/* Makes the counts visible to other threads. */
void pp_publish_counts(pp_search *search);

#endif
