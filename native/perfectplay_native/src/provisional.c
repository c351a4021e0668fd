/* The path and the draws that rest on it: a hash map of both, and a stack of draws in groups. */
#include "provisional.h"

#include <stdlib.h>

#include "perfectplay.h"

/* ---- the map: linear probing, a hole is closed by moving back what was pushed over it ---- */

static inline uint64_t next_place(const provisional *p, uint64_t i) { return (i + 1) & (p->capacity - 1); }
static inline uint64_t home(const provisional *p, uint64_t key) { return hash_of(key) >> 16 & (p->capacity - 1); }

static uint64_t seek(const provisional *p, uint64_t key) {
    uint64_t i = home(p, key);
    while (p->places[i].key != key && p->places[i].key != PP_NO_POSITION) i = next_place(p, i);
    return i;
}

static bool resize_map(provisional *p) {
    const provisional_place *old = p->places;
    const uint64_t old_capacity = p->capacity;
    p->capacity = old_capacity ? 2 * old_capacity : 1024;
    p->places = malloc(p->capacity * sizeof *p->places);
    if (!p->places) {
        p->places = (provisional_place *)(uintptr_t)old;
        p->capacity = old_capacity;
        return false;
    }
    for (uint64_t i = 0; i < p->capacity; i++) p->places[i].key = PP_NO_POSITION;
    for (uint64_t i = 0; i < old_capacity; i++)
        if (old[i].key != PP_NO_POSITION) p->places[seek(p, old[i].key)] = old[i];
    free((void *)(uintptr_t)old);
    return true;
}

static bool put(provisional *p, uint64_t key, uint32_t number, uint32_t is_draw) {
    if (p->used >= p->capacity / 2 && !resize_map(p)) return false;
    const uint64_t i = seek(p, key);
    p->used += p->places[i].key == PP_NO_POSITION;
    p->places[i] = (provisional_place){key, number, is_draw};
    return true;
}

static void take_out(provisional *p, uint64_t key) {
    uint64_t hole = seek(p, key);
    for (uint64_t i = next_place(p, hole); p->places[i].key != PP_NO_POSITION; i = next_place(p, i)) {
        const uint64_t from_home = (i - home(p, p->places[i].key)) & (p->capacity - 1);
        if (from_home >= ((i - hole) & (p->capacity - 1))) {
            p->places[hole] = p->places[i];
            hole = i;
        }
    }
    p->places[hole].key = PP_NO_POSITION;
    p->used--;
}

bool find_provisional(const provisional *p, uint64_t key, span *rests_on, bool *on_path) {
    if (!p->capacity) return false;
    const provisional_place *found = &p->places[seek(p, key)];
    if (found->key == PP_NO_POSITION) return false;
    *on_path = !found->is_draw;
    if (*on_path) {
        *rests_on = (span){found->number, found->number};
        return true;
    }
    uint32_t low = 0, high = p->group_count; /* the last group that starts no later */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->groups[middle].start <= found->number) low = middle;
        else high = middle;
    }
    *rests_on = p->groups[low].rests_on;
    return true;
}

/* ---- the stacks ---- */

/* Makes room for one more. */
static bool ensure_room(void **array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return true;
    if (*capacity > UINT32_MAX / 2) return false;
    const uint32_t larger = *capacity ? 2 * *capacity : 1024;
    void *moved = realloc(*array, larger * size);
    if (!moved) return false;
    *array = moved;
    *capacity = larger;
    return true;
}

static bool push_group(provisional *p, uint32_t start, span rests_on) {
    if (!ensure_room((void **)&p->groups, p->group_count, &p->group_capacity, sizeof *p->groups)) return false;
    p->groups[p->group_count++] = (draw_group){start, rests_on};
    return true;
}

/* Where the groups of the draws from `mark` on begin: no group reaches across a mark. */
static uint32_t first_group(const provisional *p, uint32_t mark) {
    uint32_t group = p->group_count;
    while (group && p->groups[group - 1].start >= mark) group--;
    return group;
}

static void drop_draws(provisional *p, uint32_t start) {
    for (uint32_t i = start; i < p->draw_count; i++) take_out(p, p->draws[i]);
    p->draw_count = start;
}

/* Makes one group of those from `group` on, now that the path ends above `depth`. Fewer groups, fewer to look through
 * later; where the reason for a draw is no longer told apart, it counts as resting on the position just above. */
static void merge_groups(provisional *p, uint32_t group, uint32_t depth) {
    if (group == p->group_count) return;
    span all = NOTHING;
    for (uint32_t i = group; i < p->group_count; i++) all = joined(all, p->groups[i].rests_on);
    all = above(all, depth);
    if (is_nothing(all)) all = (span){depth - 1, depth - 1};
    p->groups[group].rests_on = all;
    p->group_count = group + 1;
}

/* ---- the path ---- */

bool enter_path(provisional *p, uint64_t key, uint32_t depth) { return put(p, key, depth, 0); }

void leave_decided(provisional *p, uint64_t key, uint32_t depth, uint32_t mark) {
    take_out(p, key);
    const uint32_t first = first_group(p, mark);
    uint32_t kept = first;
    while (kept < p->group_count && p->groups[kept].rests_on.last < depth) kept++;
    if (kept < p->group_count) {
        const uint32_t start = p->groups[kept].start;
        p->forgotten += p->draw_count - start;
        drop_draws(p, start);
        p->group_count = kept;
    }
    merge_groups(p, first, depth);
}

bool leave_drawn(provisional *p, uint64_t key, uint32_t depth, uint32_t mark, outcome_table *table) {
    take_out(p, key);
    const uint32_t first = first_group(p, mark);
    uint32_t kept = p->group_count;
    while (kept > first && p->groups[kept - 1].rests_on.first >= depth) kept--;
    if (kept < p->group_count) {
        const uint32_t start = p->groups[kept].start;
        for (uint32_t i = start; i < p->draw_count; i++)
            if (!put_outcome(table, p->draws[i], PP_DRAWN)) return false;
        p->confirmed += p->draw_count - start;
        drop_draws(p, start);
        p->group_count = kept;
    }
    merge_groups(p, first, depth);
    return put_outcome(table, key, PP_DRAWN);
}

bool leave_provisional(provisional *p, uint64_t key, uint32_t depth, uint32_t mark, span rests_on) {
    if (!ensure_room((void **)&p->draws, p->draw_count, &p->draw_capacity, sizeof *p->draws)) return false;
    if (!put(p, key, p->draw_count, 1)) return false;
    const uint32_t first = first_group(p, mark);
    if (!push_group(p, p->draw_count, rests_on)) return false;
    p->draws[p->draw_count++] = key;
    merge_groups(p, first, depth);
    return true;
}

uint64_t provisional_bytes(const provisional *p) {
    return p->capacity * sizeof *p->places + (uint64_t)p->draw_capacity * sizeof *p->draws +
           (uint64_t)p->group_capacity * sizeof *p->groups;
}

void free_provisional(provisional *p) {
    free(p->places);
    free(p->draws);
    free(p->groups);
}
