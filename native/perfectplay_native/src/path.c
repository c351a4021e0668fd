/* The path and the provisional draws: a hash map of both, and a stack of draws in groups. */
#include "path.h"

#include <stdlib.h>

#include "perfectplay.h"

/* ---- the map: linear probing; removing an entry moves back the entries that were displaced by it ---- */

static inline uint64_t next_place(const search_path *p, uint64_t i) { return (i + 1) & (p->capacity - 1); }
static inline uint64_t home(const search_path *p, uint64_t key) { return hash_key(key) >> 16 & (p->capacity - 1); }

/* The place of a key, or the free place where it belongs. */
static uint64_t place_of(const search_path *p, uint64_t key) {
    uint64_t i = home(p, key);
    while (p->map[i].key != key && p->map[i].key != PP_NO_POSITION) i = next_place(p, i);
    return i;
}

static bool grow_map(search_path *p) {
    path_entry *const old = p->map;
    const uint64_t old_capacity = p->capacity, capacity = old_capacity ? 2 * old_capacity : 1024;
    path_entry *const map = malloc(capacity * sizeof *map);
    if (!map) return false;
    p->map = map;
    p->capacity = capacity;
    for (uint64_t i = 0; i < capacity; i++) map[i].key = PP_NO_POSITION;
    for (uint64_t i = 0; i < old_capacity; i++)
        if (old[i].key != PP_NO_POSITION) map[place_of(p, old[i].key)] = old[i];
    free(old);
    return true;
}

static bool insert(search_path *p, uint64_t key, uint32_t number, uint32_t is_draw) {
    if (p->used >= p->capacity / 2 && !grow_map(p)) return false;
    const uint64_t i = place_of(p, key);
    p->used += p->map[i].key == PP_NO_POSITION;
    p->map[i] = (path_entry){key, number, is_draw};
    return true;
}

static void erase(search_path *p, uint64_t key) {
    uint64_t hole = place_of(p, key);
    for (uint64_t i = next_place(p, hole); p->map[i].key != PP_NO_POSITION; i = next_place(p, i)) {
        const uint64_t from_home = (i - home(p, p->map[i].key)) & (p->capacity - 1);
        if (from_home >= ((i - hole) & (p->capacity - 1))) {
            p->map[hole] = p->map[i];
            hole = i;
        }
    }
    p->map[hole].key = PP_NO_POSITION;
    p->used--;
}

bool pp_path_find(const search_path *p, uint64_t key, depth_range *dependency, bool *on_path) {
    if (!p->capacity) return false;
    const path_entry *entry = &p->map[place_of(p, key)];
    if (entry->key == PP_NO_POSITION) return false;
    *on_path = !entry->is_draw;
    if (*on_path) {
        *dependency = (depth_range){entry->number, entry->number};
        return true;
    }
    uint32_t low = 0, high = p->group_count; /* binary search for the last group that starts at or before the draw */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->groups[middle].start <= entry->number) low = middle;
        else high = middle;
    }
    *dependency = p->groups[low].dependency;
    return true;
}

/* ---- the stacks ---- */

static bool push_draw(search_path *p, uint64_t key) {
    const size_t wanted = (size_t)p->draw_count + 1;
    if (wanted > UINT32_MAX || !grow_array((void **)&p->draws, &p->draw_capacity, wanted, sizeof *p->draws))
        return false;
    p->draws[p->draw_count++] = key;
    return true;
}

static bool push_group(search_path *p, uint32_t start, depth_range dependency) {
    const size_t wanted = (size_t)p->group_count + 1;
    if (!grow_array((void **)&p->groups, &p->group_capacity, wanted, sizeof *p->groups)) return false;
    p->groups[p->group_count++] = (draw_group){start, dependency};
    return true;
}

/* The first group of the draws from `mark` on. No group contains draws before and after a mark. */
static uint32_t first_group(const search_path *p, uint32_t mark) {
    uint32_t group = p->group_count;
    while (group && p->groups[group - 1].start >= mark) group--;
    return group;
}

static void remove_draws(search_path *p, uint32_t start) {
    for (uint32_t i = start; i < p->draw_count; i++) erase(p, p->draws[i]);
    p->draw_count = start;
}

/* Merges the groups from `group` on, now that the path ends above `depth`, so that there are fewer groups to search. If
 * the dependency of a draw is no longer known exactly, it becomes the position just above. */
static void merge_groups(search_path *p, uint32_t group, uint32_t depth) {
    if (group == p->group_count) return;
    depth_range all = NO_DEPENDENCY;
    for (uint32_t i = group; i < p->group_count; i++) all = join(all, p->groups[i].dependency);
    all = clip(all, depth);
    if (is_empty(all)) all = (depth_range){depth - 1, depth - 1};
    p->groups[group].dependency = all;
    p->group_count = group + 1;
}

/* ---- the path ---- */

bool pp_path_enter(search_path *p, uint64_t key, uint32_t depth) { return insert(p, key, depth, 0); }

void pp_path_leave_decided(search_path *p, uint64_t key, uint32_t depth, uint32_t mark) {
    erase(p, key);
    const uint32_t first = first_group(p, mark);
    uint32_t kept = first;
    while (kept < p->group_count && p->groups[kept].dependency.last < depth) kept++;
    if (kept < p->group_count) {
        const uint32_t start = p->groups[kept].start;
        p->discarded += p->draw_count - start;
        remove_draws(p, start);
        p->group_count = kept;
    }
    merge_groups(p, first, depth);
}

bool pp_path_leave_drawn(search_path *p, uint64_t key, uint32_t depth, uint32_t mark, transposition_table *table) {
    erase(p, key);
    const uint32_t first = first_group(p, mark);
    uint32_t kept = p->group_count;
    while (kept > first && p->groups[kept - 1].dependency.first >= depth) kept--;
    if (kept < p->group_count) {
        const uint32_t start = p->groups[kept].start;
        for (uint32_t i = start; i < p->draw_count; i++)
            if (!pp_store_outcome(table, p->draws[i], PP_DRAWN)) return false;
        p->confirmed += p->draw_count - start;
        remove_draws(p, start);
        p->group_count = kept;
    }
    merge_groups(p, first, depth);
    return pp_store_outcome(table, key, PP_DRAWN);
}

bool pp_path_leave_provisional(search_path *p, uint64_t key, uint32_t depth, uint32_t mark, depth_range dependency) {
    const uint32_t first = first_group(p, mark), number = p->draw_count;
    if (!insert(p, key, number, 1) || !push_draw(p, key)) return false;
    if (!push_group(p, number, dependency)) return false;
    merge_groups(p, first, depth);
    return true;
}

uint64_t pp_path_bytes(const search_path *p) {
    return p->capacity * sizeof *p->map + p->draw_capacity * sizeof *p->draws + p->group_capacity * sizeof *p->groups;
}

void pp_path_free(search_path *p) {
    free(p->map);
    free(p->draws);
    free(p->groups);
}
