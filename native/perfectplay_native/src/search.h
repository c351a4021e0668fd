/* A running proof: what alphabeta.c and prove_reachable.c share. */
#ifndef PP_SEARCH_H
#define PP_SEARCH_H

#include "engine.h"
#include "provisional.h"

enum { PUBLISHED_COUNTS = sizeof(pp_search_counts) / sizeof(uint64_t) };

typedef struct {
    pp_position position; /* canonical */
    uint64_t open_start;  /* its unexplored moves are the last of `open_moves`, from here on */
    span rests_on;        /* what a draw would rest on, of the path above it */
    uint32_t mark;        /* how many draws were provisional when it was entered */
    uint8_t best;         /* the best that is certain or provisional so far, a pp_status for its mover */
} frame;

typedef struct {
    pp_position child;
    uint32_t replies; /* moves that do not lose at once */
    uint16_t number;  /* of the move */
} candidate;

/* below.c: a table underneath, and what was asked of it lately. */
typedef struct below below;
/* The outcomes of at most max_moves canonical positions, 0 where the table does not know. */
void ask_below(below *b, const pp_position *positions, size_t count, uint8_t *outcomes);
void free_below(below *b);

struct pp_search {
    const pp_kernel *kernel;
    below *below; /* NULL where there is no table */
    bool naive;
    int failure; /* a pp_result: the search cannot go on */
    pp_position error_position;
    unsigned root_mover; /* 0 where the game does not tell */
    outcome_table table;
    provisional provisional;

    frame *frames; /* the path */
    uint32_t depth, frame_capacity;
    uint16_t *open_moves; /* of all frames; each frame's best move last */
    uint64_t open_count, open_capacity;

    pp_move *moves, *replies; /* room for one position each */
    candidate *candidates;
    pp_position *children;
    pp_position *asked; /* of the table underneath, */
    uint8_t *known;     /* and its answers */

    pp_search_counts counts;
    _Atomic uint64_t published[PUBLISHED_COUNTS];
    _Atomic int stop;
};

/* Looks at a canonical position of which nothing need be known; the path is empty. */
void begin_proof(pp_search *search, pp_position root);
/* Goes on until the path is empty: then the outcome is stored. Returns a pp_result. */
int finish_proof(pp_search *search);
/* Lets other threads see the counts. */
void publish(pp_search *search);

#endif
