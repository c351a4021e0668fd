/* The path of the weak solver, and the draws that depend on positions of the path. alphabeta.c explains why and how. */
#ifndef PP_PATH_H
#define PP_PATH_H

#include "transposition_table.h"

/* The dependency of a draw: a range of depths of the path. The draw depends on no position outside first .. last. An
 * empty dependency has first > last. */
typedef struct {
    uint32_t first, last;
} depth_range;

static const depth_range NO_DEPENDENCY = {UINT32_MAX, 0};

static inline bool is_empty(depth_range r) { return r.first > r.last; }
static inline depth_range join(depth_range a, depth_range b) {
    return (depth_range){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}
/* The part of a range above `depth`. */
static inline depth_range clip(depth_range r, uint32_t depth) {
    if (r.first >= depth) return NO_DEPENDENCY;
    return (depth_range){r.first, r.last < depth ? r.last : depth - 1};
}

/* Provisional draws with the same dependency: those from `start` on, up to the next group. */
typedef struct {
    uint32_t start;
    depth_range dependency;
} draw_group;

typedef struct {
    uint64_t key;             /* UINT64_MAX: free */
    uint32_t number, is_draw; /* the depth of a position on the path, or the number of a draw */
} path_entry;

typedef struct {
    path_entry *map;         /* a hash map of positions on the path and of provisional draws */
    uint64_t capacity, used; /* of the map; capacity is a power of two */
    uint64_t *draws;         /* the keys of the provisional draws, the oldest first */
    size_t draw_capacity;
    uint32_t draw_count;
    uint32_t group_count;
    draw_group *groups;
    size_t group_capacity;
    uint64_t confirmed, discarded; /* counts of draws */
} search_path;

/* Whether a key is on the path or a provisional draw. Writes its dependency. */
bool pp_path_find(const search_path *p, uint64_t key, depth_range *dependency, bool *on_path);

/* Adds `key` to the path at `depth`. Returns false when memory runs out. */
bool pp_path_enter(search_path *p, uint64_t key, uint32_t depth);

/* The following functions remove the deepest key from the path. `mark` is the value of draw_count when the key was
 * added; all later draws were found below it. */

/* The outcome of the key is decisive: draws that depend on it are discarded. */
void pp_path_leave_decided(search_path *p, uint64_t key, uint32_t depth, uint32_t mark);
/* The key is a draw without a dependency: so are the draws that depend on it alone, and all of them move to `table`.
 * Returns false when memory runs out. */
bool pp_path_leave_drawn(search_path *p, uint64_t key, uint32_t depth, uint32_t mark, transposition_table *table);
/* The key is a draw that depends on positions above it, and becomes provisional. Returns false when memory runs out. */
bool pp_path_leave_provisional(search_path *p, uint64_t key, uint32_t depth, uint32_t mark, depth_range dependency);

uint64_t pp_path_bytes(const search_path *p);
void pp_path_free(search_path *p);

#endif
