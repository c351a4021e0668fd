/* What the weak solver knows only for now: the positions on the path, and draws that rest on some of them.
 * alphabeta.c says why and how. */
#ifndef PP_PROVISIONAL_H
#define PP_PROVISIONAL_H

#include "outcomes.h"

/* Depths of the path that a draw may rest on: none outside first .. last. Nothing at all: first > last. */
typedef struct {
    uint32_t first, last;
} span;

static const span NOTHING = {UINT32_MAX, 0};

static inline bool is_nothing(span s) { return s.first > s.last; }
static inline span joined(span a, span b) {
    return (span){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}
/* What is left once the path ends above `depth`. */
static inline span above(span s, uint32_t depth) {
    if (s.first >= depth) return NOTHING;
    return (span){s.first, s.last < depth ? s.last : depth - 1};
}

/* Draws that share a span: those from `start` on, up to the next group. */
typedef struct {
    uint32_t start;
    span rests_on;
} draw_group;

typedef struct {
    uint64_t key;             /* UINT64_MAX: free */
    uint32_t number, is_draw; /* the depth of a position on the path, or which draw it is */
} provisional_place;

typedef struct {
    provisional_place *places;
    uint64_t capacity, used; /* capacity is a power of two */
    uint64_t *draws;         /* their keys, the oldest first */
    uint32_t draw_count, draw_capacity;
    draw_group *groups;
    uint32_t group_count, group_capacity;
    uint64_t confirmed, forgotten;
} provisional;

/* Whether a key is on the path or a draw for now; what it rests on then. */
bool find_provisional(const provisional *p, uint64_t key, span *rests_on, bool *on_path);

/* `key` enters the path at `depth`. False when memory runs out. */
bool enter_path(provisional *p, uint64_t key, uint32_t depth);

/* The deepest key leaves the path. `mark` is draw_count when it was entered: all younger draws were found below it. */

/* Its outcome is decisive: what rests on it is forgotten. */
void leave_decided(provisional *p, uint64_t key, uint32_t depth, uint32_t mark);
/* It is a draw that rests on nothing above: so are those that rest on it alone, and all of them move to `table`. False
 * when memory runs out. */
bool leave_drawn(provisional *p, uint64_t key, uint32_t depth, uint32_t mark, outcome_table *table);
/* It is a draw that rests on positions above, and stays provisional. False when memory runs out. */
bool leave_provisional(provisional *p, uint64_t key, uint32_t depth, uint32_t mark, span rests_on);

uint64_t provisional_bytes(const provisional *p);
void free_provisional(provisional *p);

#endif
