/* Builds the tables of index.h. Include index.h instead. */
#ifndef PERFECTPLAY_INDEX_BUILD_H
#define PERFECTPLAY_INDEX_BUILD_H

#include "index.h"

/* ---- memory within the bound ---- */

/* Whether the bound allows this many bytes more. */
static inline int pp_index_allows(pp_index *x, uint64_t count, size_t size) {
    if (count <= (x->memory - x->used) / size) return 1;
    x->failure = PP_INDEX_LARGE_TABLES;
    return 0;
}

/* Zeroed memory, or NULL with x->failure set. */
static inline void *pp_index_new(pp_index *x, uint64_t count, size_t size) {
    if (!pp_index_allows(x, count, size)) return NULL;
    void *memory = calloc(count ? count : 1, size);
    if (memory) x->used += count * size;
    else x->failure = PP_INDEX_NO_MEMORY;
    return memory;
}

/* Room for at least one more element in an array that grows by half; 0 with x->failure set otherwise. */
static inline int pp_index_grow(pp_index *x, void **array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return 1;
    const uint32_t larger = *room ? *room + *room / 2 : 64;
    if (!pp_index_allows(x, larger - *room, size)) return 0;
    void *moved = realloc(*array, size * larger);
    if (!moved) {
        x->failure = PP_INDEX_NO_MEMORY;
        return 0;
    }
    memset((char *)moved + size * *room, 0, size * (larger - *room));
    x->used += size * (larger - *room);
    *array = moved;
    *room = larger;
    return 1;
}

static inline uint64_t pp_index_hash(const void *bytes, size_t size) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

/* ---- the group ---- */

static inline int pp_index_is_permutation(const uint8_t *image, unsigned cells) {
    uint64_t reached = 0;
    for (unsigned cell = 0; cell < cells; cell++) {
        if (image[cell] >= cells) return 0;
        reached |= UINT64_C(1) << image[cell];
    }
    return (unsigned)__builtin_popcountll(reached) == cells;
}

/* All products of the generators, in x->images. */
static inline pp_index_result pp_index_close_group(pp_index *x, const pp_index_spec *spec) {
    enum { BUCKETS = 4 * PP_INDEX_GROUP };
    uint16_t *bucket = calloc(BUCKETS, sizeof *bucket); /* element + 1 */
    x->images = calloc(PP_INDEX_GROUP, sizeof *x->images);
    if (!bucket || !x->images) {
        free(bucket);
        return PP_INDEX_NO_MEMORY;
    }
    for (unsigned cell = 0; cell < x->cells; cell++) x->images[0][cell] = (uint8_t)cell;
    bucket[pp_index_hash(x->images[0], x->cells) % BUCKETS] = 1;
    x->group = 1;
    pp_index_result result = PP_INDEX_OK;
    for (unsigned element = 0; element < x->group && result == PP_INDEX_OK; element++)
        for (unsigned g = 0; g < spec->generators && result == PP_INDEX_OK; g++) {
            uint8_t product[PP_INDEX_CELLS];
            for (unsigned cell = 0; cell < x->cells; cell++)
                product[cell] = spec->generator[g][x->images[element][cell]];
            uint64_t place = pp_index_hash(product, x->cells) % BUCKETS;
            while (bucket[place] && memcmp(x->images[bucket[place] - 1], product, x->cells))
                place = (place + 1) % BUCKETS;
            if (bucket[place]) continue;
            if (x->group == PP_INDEX_GROUP) result = PP_INDEX_LARGE_GROUP;
            else {
                memcpy(x->images[x->group], product, x->cells);
                bucket[place] = (uint16_t)++x->group;
            }
        }
    free(bucket);
    return result;
}

/* The codes of the subsets of a kind on an orbit, of which other kinds leave 0, 1, … cells free. */
static inline int pp_index_fill_codes(pp_index *x, pp_index_step *step) {
    step->first_code = pp_index_new(x, step->cells + UINT64_C(1), sizeof *step->first_code);
    if (!step->first_code) return 0;
    for (unsigned cells = 0; cells <= step->cells; cells++) {
        uint64_t codes = 0;
        for (unsigned size = 0; size <= PP_INDEX_CELLS; size++) {
            step->first_code[cells][size] = (uint32_t)codes;
            codes += size <= x->most[step->first_kind] ? pp_choose(cells, size) : 0;
            if (codes > UINT32_MAX || codes > (x->memory - x->used) / (sizeof(pp_index_entry))) {
                x->failure = PP_INDEX_LARGE_ORBIT;
                return 0;
            }
        }
        step->first_code[cells][PP_INDEX_CELLS + 1] = (uint32_t)codes;
    }
    return 1;
}

/* Add the steps of the next orbit: one step if all kinds together have few patterns, else one step per kind. */
static inline int pp_index_add_steps(pp_index *x, unsigned start, unsigned cells) {
    const uint64_t all = x->cells == 64 ? UINT64_MAX : (UINT64_C(1) << x->cells) - 1;
    uint64_t codes = 1;
    for (unsigned cell = 0; cell < cells && codes <= PP_INDEX_CODES; cell++) codes *= x->kinds + 1u;
    const unsigned together = codes <= PP_INDEX_CODES;
    x->whole = together && (x->whole || !start);
    for (unsigned kind = 0; kind < x->kinds; kind += x->steps[x->step_count++].kinds) {
        pp_index_step *step = &x->steps[x->step_count];
        *step = (pp_index_step){.start = (uint8_t)start, .cells = (uint8_t)cells, .first_kind = (uint8_t)kind};
        step->kinds = (uint8_t)(together ? x->kinds : 1);
        step->from = all >> start << start;
        step->orbit = cells == 64 ? UINT64_MAX : (UINT64_C(1) << cells) - 1;
        step->after = start + cells < x->cells ? all >> (start + cells) << (start + cells) : 0;
        if (!together) {
            if (pp_index_fill_codes(x, step)) continue;
            x->step_count++; /* to be freed */
            return 0;
        }
        step->spread = pp_index_new(x, UINT64_C(1) << cells, sizeof *step->spread);
        if (!step->spread) return 0;
        for (uint32_t subset = 1; subset < 1u << cells; subset++) {
            uint32_t power = 1;
            for (int cell = 0; cell < __builtin_ctz(subset); cell++) power *= step->kinds + 1u;
            step->spread[subset] = step->spread[subset & (subset - 1)] + power;
        }
    }
    return 1;
}

/* Number the cells orbit by orbit, the largest first, and rewrite the symmetries in these numbers. */
static inline int pp_index_order_cells(pp_index *x) {
    uint64_t orbits[PP_INDEX_CELLS], reached = 0;
    unsigned count = 0;
    for (unsigned cell = 0; cell < x->cells; cell++) {
        if (reached >> cell & 1) continue;
        uint64_t orbit = 0;
        for (unsigned element = 0; element < x->group; element++) orbit |= UINT64_C(1) << x->images[element][cell];
        reached |= orbit;
        unsigned place = count++;
        for (; place && __builtin_popcountll(orbits[place - 1]) < __builtin_popcountll(orbit); place--)
            orbits[place] = orbits[place - 1];
        orbits[place] = orbit;
    }
    uint8_t to[PP_INDEX_CELLS], from[PP_INDEX_CELLS];
    unsigned next = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!pp_index_add_steps(x, next, (unsigned)__builtin_popcountll(orbits[i]))) return 0;
        for (uint64_t cells = orbits[i]; cells; cells &= cells - 1, next++) {
            from[next] = (uint8_t)__builtin_ctzll(cells);
            to[from[next]] = (uint8_t)next;
        }
    }
    pp_permutation_fill(&x->outward, x->cells, from);
    x->symmetry = pp_index_new(x, x->group, sizeof *x->symmetry);
    x->inward = pp_index_new(x, x->group, sizeof *x->inward);
    if (!x->symmetry || !x->inward) return 0;
    for (unsigned cell = 0; cell < x->cells; cell++)
        for (unsigned bits = 0; bits < 256; bits++) {
            if (!(bits >> cell % 8 & 1)) continue;
            const int first = x->steps->spread && to[cell] < x->steps->cells;
            x->first_step[cell / 8][bits] += UINT64_C(1) << 32 | (first ? x->steps->spread[1u << to[cell]] : 0);
        }
    for (unsigned element = 0; element < x->group; element++) {
        uint8_t image[PP_INDEX_CELLS], inward[PP_INDEX_CELLS];
        for (unsigned cell = 0; cell < x->cells; cell++) {
            inward[cell] = to[x->images[element][cell]];
            image[cell] = to[x->images[element][from[cell]]];
        }
        memcpy(x->images[element], image, x->cells);
        pp_permutation_fill(&x->symmetry[element], x->cells, image);
        pp_permutation_fill(&x->inward[element], x->cells, inward);
    }
    return 1;
}

/* ---- subgroups ---- */

/* The number of a subgroup given as a set of elements, or UINT32_MAX with x->failure set. */
static inline uint32_t pp_index_subgroup(pp_index *x, const uint64_t *elements) {
    for (uint32_t i = 0; i < x->subgroup_count; i++)
        if (!memcmp(x->subgroups + (size_t)i * x->words, elements, x->words * sizeof *elements)) return i;
    uint32_t room = x->subgroup_room, same_room = x->subgroup_room;
    if (!pp_index_grow(x, (void **)&x->subgroups, x->subgroup_count, &room, x->words * sizeof *elements) ||
        !pp_index_grow(x, (void **)&x->fold_of, x->subgroup_count, &same_room, x->step_count * sizeof *x->fold_of))
        return UINT32_MAX;
    x->subgroup_room = room;
    memcpy(x->subgroups + (size_t)x->subgroup_count * x->words, elements, x->words * sizeof *elements);
    return x->subgroup_count++;
}

static inline int pp_index_is_in(const pp_index *x, uint32_t subgroup, unsigned element) {
    return (int)(x->subgroups[(size_t)subgroup * x->words + element / 64] >> element % 64 & 1);
}

static inline unsigned pp_index_order(const pp_index *x, uint32_t subgroup) {
    unsigned order = 0;
    for (unsigned i = 0; i < x->words; i++)
        order += (unsigned)__builtin_popcountll(x->subgroups[(size_t)subgroup * x->words + i]);
    return order;
}

/* ---- folds ---- */

/* Write the mask that a code of a fold gives to each of its kinds, in the form of pp_index_fold.masks. */
static inline void pp_index_decode(const pp_index *x, const pp_index_step *step, const pp_index_fold *fold,
                                   uint32_t code, uint64_t *masks) {
    memset(masks, 0, fold->kinds * sizeof *masks);
    if (fold->one_kind) {
        unsigned size = 0;
        while (size < fold->open && step->first_code[fold->open][size + 1] <= code) size++;
        *masks = pp_subset_unrank(&x->subsets, fold->open, size, code - step->first_code[fold->open][size]);
        return;
    }
    const unsigned base = fold->kinds + 1u;
    uint64_t cells = step->spread ? step->orbit << step->start : fold->cells;
    for (; code; code /= base, cells &= cells - 1)
        if (code % base) masks[code % base - 1] |= cells & -cells;
}

/* The internal cells of a fold's masks. */
static inline void pp_index_place_masks(const pp_index *x, const pp_index_step *step, const pp_index_fold *fold,
                                        const uint64_t *masks, uint64_t *at) {
    const uint64_t open = pp_index_on_orbit(step, ~fold->decided);
    for (unsigned i = 0; i < fold->kinds; i++)
        at[step->first_kind + i] =
            step->spread ? masks[i] : pp_scatter(&x->subsets, masks[i], open, x->bytes) << step->start;
}

/* A representative while its fold is built. */
typedef struct {
    /* The pieces of each kind as one number. With the top bit set, the next fold and the pieces of one kind. */
    uint64_t counts;
    uint32_t stabilizer, code;
} pp_index_pattern;

static inline int pp_index_compare(const void *a, const void *b) {
    const pp_index_pattern *p = a, *q = b;
    if (p->counts != q->counts) return p->counts < q->counts ? -1 : 1;
    if (p->stabilizer != q->stabilizer) return p->stabilizer < q->stabilizer ? -1 : 1;
    return p->code < q->code ? -1 : p->code > q->code;
}

/* The step after a fold; *decided changes from the cells of its orbit that are decided before to those after the fold,
 * whose pieces are `at`. */
static inline unsigned pp_index_next_step(const pp_index *x, unsigned step_number, const pp_index_fold *fold,
                                          const uint64_t *at, uint64_t *decided) {
    const pp_index_step *step = &x->steps[step_number];
    unsigned next = step_number + fold->one_kind;
    *decided = pp_index_decide(x, step, fold, at, *decided);
    if (!step->spread && *decided != step->orbit << step->start && x->steps[next].cells &&
        x->steps[next].start == step->start)
        return next;
    *decided = 0;
    for (next = step_number + 1; x->steps[next].cells && x->steps[next].start == step->start; next++) {}
    return next;
}

/* Number the open cells of an orbit in order; returns how many there are. */
static inline unsigned pp_index_number_cells(const pp_index_step *step, uint64_t decided, uint8_t *cell,
                                             uint8_t *number) {
    unsigned count = 0;
    for (unsigned at = step->start; at < (unsigned)step->start + step->cells; at++) {
        if (decided >> at & 1) continue;
        number[at] = (uint8_t)count;
        cell[count++] = (uint8_t)at;
    }
    return count;
}

/* Whether a subgroup moves the open cells of an orbit alike for two sets of decided cells: each element exchanges cells
 * with the same numbers. Then patterns on them fold in the same way. */
static inline int pp_index_is_alike(const pp_index *x, const pp_index_step *step, uint32_t subgroup, uint64_t decided,
                                    uint64_t other) {
    uint8_t cells[2][PP_INDEX_CELLS], numbers[2][PP_INDEX_CELLS];
    if (decided == other) return 1;
    const unsigned count = pp_index_number_cells(step, decided, cells[0], numbers[0]);
    if (pp_index_number_cells(step, other, cells[1], numbers[1]) != count) return 0;
    for (unsigned element = 0; element < x->group; element++) {
        if (!pp_index_is_in(x, subgroup, element)) continue;
        const uint8_t *image = x->images[element];
        for (unsigned i = 0; i < count; i++)
            if (numbers[0][image[cells[0][i]]] != numbers[1][image[cells[1][i]]]) return 0;
    }
    return 1;
}

/* Choose what a fold decides: all kinds on the largest orbits of open cells under the subgroup, or one kind on all open
 * cells if that has fewer patterns. */
static inline void pp_index_choose_cells(const pp_index *x, const pp_index_step *step, uint32_t subgroup,
                                         pp_index_fold *fold) {
    uint8_t cell[PP_INDEX_CELLS], number[PP_INDEX_CELLS];
    uint64_t orbit[PP_INDEX_CELLS] = {0};
    fold->kinds = step->kinds;
    if (step->spread) return;
    fold->open = (uint8_t)pp_index_number_cells(step, fold->decided, cell, number);
    for (unsigned i = 0; i < fold->open; i++)
        for (unsigned element = 0; element < x->group; element++)
            if (pp_index_is_in(x, subgroup, element)) orbit[i] |= UINT64_C(1) << number[x->images[element][cell[i]]];
    const unsigned kinds = x->kinds - step->first_kind;
    uint64_t codes = 1, most = step->first_code[fold->open][PP_INDEX_CELLS + 1];
    if (most > PP_INDEX_CODES) most = PP_INDEX_CODES;
    for (;; most = most < PP_INDEX_FEW_CODES ? most : PP_INDEX_FEW_CODES) {
        uint64_t largest = 0;
        for (unsigned i = 0; i < fold->open; i++)
            if (!(orbit[i] & fold->cells) && __builtin_popcountll(orbit[i]) > __builtin_popcountll(largest))
                largest = orbit[i];
        for (uint64_t left = largest; left && codes <= most; left &= left - 1) codes *= kinds + 1;
        if (!largest || codes > most) break;
        fold->cells |= largest;
        fold->codes = (uint32_t)codes;
    }
    fold->one_kind = !fold->cells;
    fold->kinds = (uint8_t)(fold->one_kind ? 1 : kinds);
}

/* The fold of a step by a subgroup, given the cells decided; it may not be filled. UINT32_MAX with x->failure set on an
 * error. */
static inline uint32_t pp_index_find_fold(pp_index *x, unsigned step_number, uint32_t subgroup, uint64_t decided) {
    const pp_index_step *step = &x->steps[step_number];
    uint32_t *head = &x->fold_of[(size_t)subgroup * x->step_count + step_number];
    for (uint32_t i = *head; i; i = x->folds[i - 1].next)
        if (pp_index_is_alike(x, step, subgroup, x->folds[i - 1].decided, decided)) return i - 1;
    if (!pp_index_grow(x, (void **)&x->folds, x->fold_count, &x->fold_room, sizeof *x->folds)) return UINT32_MAX;
    pp_index_fold *fold = &x->folds[x->fold_count];
    *fold = (pp_index_fold){.decided = decided, .next = *head};
    pp_index_choose_cells(x, step, subgroup, fold);
    return (*head = ++x->fold_count) - 1;
}

/* A growing list of representatives. */
typedef struct {
    pp_index_pattern *pattern;
    uint32_t count, room;
} pp_index_patterns;

/* Collect the least codes of all orbits. An entry gets the symmetry that leads there, and as its place the number in the
 * list. Returns 0 with x->failure set if the memory bound is reached. */
static inline int pp_index_find_patterns(pp_index *x, unsigned step_number, uint32_t subgroup, pp_index_fold *fold,
                                         pp_index_patterns *list) {
    const pp_index_step *step = &x->steps[step_number];
    uint64_t keeping[PP_INDEX_GROUP / 64];
    for (uint32_t code = 0; code < fold->codes; code++) fold->entry[code].place = UINT32_MAX;
    for (uint32_t code = 0; code < fold->codes; code++) {
        if (fold->entry[code].place != UINT32_MAX) continue;
        if (!pp_index_grow(x, (void **)&list->pattern, list->count, &list->room, sizeof *list->pattern)) return 0;
        uint64_t masks[PP_INDEX_KINDS], at[PP_INDEX_KINDS], turned[PP_INDEX_KINDS];
        pp_index_decode(x, step, fold, code, masks);
        pp_index_place_masks(x, step, fold, masks, at);
        memset(keeping, 0, sizeof keeping);
        for (unsigned element = 0; element < x->group; element++) {
            if (!pp_index_is_in(x, subgroup, element)) continue;
            for (unsigned kind = step->first_kind; kind < (unsigned)step->first_kind + fold->kinds; kind++)
                turned[kind] = pp_permute(&x->symmetry[element], at[kind], x->bytes);
            const uint32_t image = pp_index_code(x, step, fold, turned, fold->decided);
            if (image == code) keeping[element / 64] |= UINT64_C(1) << element % 64;
            if (fold->entry[image].place != UINT32_MAX) continue;
            fold->entry[image] = (pp_index_entry){.branch = x->inverse[element], .place = list->count};
        }
        pp_index_pattern *pattern = &list->pattern[list->count++];
        *pattern = (pp_index_pattern){.stabilizer = pp_index_subgroup(x, keeping), .code = code};
        if (pattern->stabilizer == UINT32_MAX) return 0;
        for (unsigned kind = step->first_kind; kind < (unsigned)step->first_kind + fold->kinds; kind++)
            pattern->counts += (uint64_t)__builtin_popcountll(at[kind]) << 7 * kind;
        if (!fold->one_kind || pp_index_order(x, pattern->stabilizer) == 1) continue;
        uint64_t decided = fold->decided;
        const unsigned step_after = pp_index_next_step(x, step_number, fold, at, &decided);
        if (!decided) continue; /* nothing placed, or the orbit is complete */
        const uint32_t after = pp_index_find_fold(x, step_after, pattern->stabilizer, decided);
        if (after == UINT32_MAX) return 0;
        pattern->counts = UINT64_C(1) << 63 | (uint64_t)after << 7 | (unsigned)__builtin_popcountll(*masks);
    }
    return 1;
}

/* Sort the representatives into classes and complete the fold. `numbers` has room for two numbers per representative. */
static inline int pp_index_make_classes(pp_index *x, unsigned step_number, pp_index_fold *fold, pp_index_patterns *list,
                                        uint32_t *numbers) {
    const pp_index_step *step = &x->steps[step_number];
    uint32_t *branch_of = numbers, *place_of = numbers + list->count;
    qsort(list->pattern, list->count, sizeof *list->pattern, pp_index_compare);
    for (uint32_t i = 0; i < list->count; i++) {
        const pp_index_pattern *p = &list->pattern[i];
        if (!i || p->counts != p[-1].counts || p->stabilizer != p[-1].stabilizer) {
            fold->first[fold->classes] = i;
            fold->stabilizer[fold->classes++] = p->stabilizer;
        }
        uint64_t at[PP_INDEX_KINDS], decided = fold->decided, *masks = fold->masks + (size_t)i * fold->kinds;
        pp_index_decode(x, step, fold, p->code, masks);
        pp_index_place_masks(x, step, fold, masks, at);
        const unsigned after = pp_index_next_step(x, step_number, fold, at, &decided);
        const int leaf = after == x->step_count || pp_index_order(x, p->stabilizer) == 1;
        branch_of[fold->entry[p->code].place] = (fold->classes - 1) << 13 | (leaf ? PP_INDEX_LEAF : 0);
        place_of[fold->entry[p->code].place] = i - fold->first[fold->classes - 1];
    }
    fold->first[fold->classes] = list->count;
    if (fold->classes > UINT32_MAX / (2 * PP_INDEX_GROUP)) {
        x->failure = PP_INDEX_LARGE_TABLES;
        return 0;
    }
    for (uint32_t code = 0; code < fold->codes; code++) {
        pp_index_entry *entry = &fold->entry[code];
        *entry = (pp_index_entry){entry->branch | branch_of[entry->place], place_of[entry->place]};
    }
    return 1;
}

/* Fill a fold; 0 with x->failure set on an error. */
static inline int pp_index_fill_fold(pp_index *x, unsigned step_number, uint32_t subgroup, pp_index_fold *fold) {
    const pp_index_step *step = &x->steps[step_number];
    pp_index_patterns list = {0};
    if (step->spread) fold->codes = x->kinds * step->spread[(1u << step->cells) - 1] + 1;
    else if (fold->one_kind) fold->codes = step->first_code[fold->open][PP_INDEX_CELLS + 1];
    fold->entry = pp_index_new(x, fold->codes, sizeof *fold->entry);
    int complete = fold->entry && pp_index_find_patterns(x, step_number, subgroup, fold, &list);
    if (complete) {
        uint32_t *numbers = pp_index_new(x, 2 * (uint64_t)list.count, sizeof *numbers);
        fold->masks = pp_index_new(x, (uint64_t)list.count * fold->kinds, sizeof *fold->masks);
        fold->first = pp_index_new(x, list.count + UINT64_C(1), sizeof *fold->first);
        fold->stabilizer = pp_index_new(x, list.count, sizeof *fold->stabilizer);
        complete = numbers && fold->masks && fold->first && fold->stabilizer &&
                   pp_index_make_classes(x, step_number, fold, &list, numbers);
        if (numbers) x->used -= 2 * (size_t)list.count * sizeof *numbers;
        free(numbers);
    }
    x->used -= list.room * sizeof *list.pattern;
    free(list.pattern);
    return complete;
}

/* The same as pp_index_find_fold, and the fold is filled. */
static inline uint32_t pp_index_fold_by(pp_index *x, unsigned step_number, uint32_t subgroup, uint64_t decided) {
    const uint32_t number = pp_index_find_fold(x, step_number, subgroup, decided);
    if (number == UINT32_MAX || x->folds[number].entry) return number;
    pp_index_fold fold = x->folds[number]; /* the array may move */
    const int complete = pp_index_fill_fold(x, step_number, subgroup, &fold);
    x->folds[number] = fold;
    return complete ? number : UINT32_MAX;
}

/* ---- nodes ---- */

static inline uint64_t pp_index_multiply(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* A leaf's choices and size. */
static inline void pp_index_fill_leaf(const pp_index *x, pp_index_node *node) {
    const pp_index_step *step = &x->steps[node->step];
    unsigned placed = 0;
    node->leaf = 1;
    node->size = 1;
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        const unsigned filled = placed + (kind < step->first_kind ? 0 : (unsigned)node->decided);
        const unsigned cells = (unsigned)__builtin_popcountll(pp_index_domain(step, kind));
        node->choices[kind] = cells >= filled ? x->subsets.choose[cells - filled][node->left[kind]] : !node->left[kind];
        node->size = pp_index_multiply(node->size, node->choices[kind]);
        placed += node->left[kind];
    }
}

static inline uint32_t pp_index_node_of(pp_index *x, unsigned step, uint32_t subgroup, const uint8_t *left,
                                        uint64_t decided);

/* Fill the branches of a node, one per class of its fold. Returns 0 with x->failure set on an error. */
static inline int pp_index_fill_branches(pp_index *x, uint32_t place, const pp_index_fold *shared) {
    const pp_index_fold fold = *shared; /* the array of folds may move */
    const pp_index_node node = x->nodes[place];
    const pp_index_step *step = &x->steps[node.step];
    const uint32_t first = x->branch_count;
    uint64_t size = 0;
    for (uint32_t class = 0; class < fold.classes; class ++, x->branch_count++)
        if (!pp_index_grow(x, (void **)&x->branches, x->branch_count, &x->branch_room, sizeof *x->branches)) return 0;
    for (uint32_t class = 0; class < fold.classes; class ++) {
        const uint64_t *masks = fold.masks + (size_t)fold.first[class] * fold.kinds;
        uint64_t at[PP_INDEX_KINDS], decided = fold.decided;
        uint8_t left[PP_INDEX_KINDS];
        int fits = 1;
        memcpy(left, node.left, sizeof left);
        for (unsigned i = 0; i < fold.kinds; i++) {
            const unsigned used = (unsigned)__builtin_popcountll(masks[i]), kind = step->first_kind + i;
            fits &= used <= left[kind];
            left[kind] = (uint8_t)(left[kind] - used);
        }
        x->branches[first + class].offset = size;
        if (!fits) continue;
        pp_index_place_masks(x, step, &fold, masks, at);
        const unsigned after = pp_index_next_step(x, node.step, &fold, at, &decided);
        const uint32_t next = pp_index_node_of(x, after, fold.stabilizer[class], left, decided);
        if (next == UINT32_MAX) return 0;
        x->branches[first + class].next = next;
        const uint64_t members = fold.first[class + 1] - fold.first[class];
        if (__builtin_add_overflow(size, pp_index_multiply(members, x->nodes[next].size), &size)) {
            x->failure = PP_INDEX_LARGE_TABLES;
            return 0;
        }
    }
    x->nodes[place].size = size;
    x->nodes[place].branches = first;
    return 1;
}

/* The node of a step, a subgroup, the pieces left and the cells decided; UINT32_MAX with x->failure set on an error. */
static inline uint32_t pp_index_node_of(pp_index *x, unsigned step, uint32_t subgroup, const uint8_t *left,
                                        uint64_t decided) {
    pp_index_node node = {.fold = subgroup, .step = (uint16_t)step};
    node.stabilizer = (uint16_t)pp_index_order(x, subgroup);
    node.leaf = node.stabilizer == 1 || step == x->step_count;
    if (node.leaf) node.decided = (uint64_t)__builtin_popcountll(decided);
    else {
        const uint32_t fold = pp_index_find_fold(x, step, subgroup, decided);
        if (fold == UINT32_MAX) return UINT32_MAX;
        node.decided = x->folds[fold].decided;
    }
    memcpy(node.left, left, x->kinds);
    struct {
        uint64_t decided;
        uint32_t step, subgroup;
        uint8_t left[PP_INDEX_KINDS];
    } key = {.decided = node.decided, .step = step, .subgroup = subgroup};
    memcpy(key.left, node.left, sizeof key.left);
    uint32_t bucket = (uint32_t)(pp_index_hash(&key, sizeof key) & (x->bucket_count - 1));
    for (; x->buckets[bucket]; bucket = (bucket + 1) & (x->bucket_count - 1)) {
        const pp_index_node *other = &x->nodes[x->buckets[bucket] - 1];
        if (other->step == step && other->fold == subgroup && other->decided == node.decided &&
            !memcmp(other->left, node.left, sizeof node.left))
            return x->buckets[bucket] - 1;
    }
    if (x->node_count >= x->bucket_count / 2) {
        x->failure = PP_INDEX_LARGE_TABLES;
        return UINT32_MAX;
    }
    if (!pp_index_grow(x, (void **)&x->nodes, x->node_count, &x->node_room, sizeof *x->nodes)) return UINT32_MAX;
    const uint32_t place = x->node_count++;
    x->buckets[bucket] = place + 1;
    x->nodes[place] = node;
    if (node.leaf) {
        pp_index_fill_leaf(x, &x->nodes[place]);
        return place;
    }
    const uint32_t fold = pp_index_fold_by(x, step, subgroup, node.decided);
    return fold != UINT32_MAX && pp_index_fill_branches(x, place, &x->folds[fold]) ? place : UINT32_MAX;
}

/* ---- all together ---- */

static inline int pp_index_build_nodes(pp_index *x) {
    uint64_t whole[PP_INDEX_GROUP / 64] = {0};
    x->words = (x->group + 63) / 64;
    x->bucket_count = 1 << 20;
    x->inverse = pp_index_new(x, x->group, sizeof *x->inverse);
    x->buckets = pp_index_new(x, x->bucket_count, sizeof *x->buckets);
    x->roots = pp_index_new(x, x->tiers, sizeof *x->roots);
    if (!x->inverse || !x->buckets || !x->roots) return 0;
    for (unsigned a = 0; a < x->group; a++)
        for (unsigned b = 0; b < x->group; b++) {
            unsigned cell = 0;
            while (cell < x->cells && x->images[b][x->images[a][cell]] == cell) cell++;
            if (cell == x->cells) x->inverse[a] = (uint16_t)b;
        }
    for (unsigned element = 0; element < x->group; element++) whole[element / 64] |= UINT64_C(1) << element % 64;
    const uint32_t group = pp_index_subgroup(x, whole);
    if (group == UINT32_MAX) return 0;
    for (unsigned tier = 0; tier < x->tiers; tier++) {
        uint8_t counts[PP_INDEX_KINDS] = {0};
        pp_index_counts(x, tier, counts);
        x->roots[tier] = pp_index_node_of(x, 0, group, counts, 0);
        if (x->roots[tier] == UINT32_MAX) return 0;
        if (pp_index_size(x, tier) == UINT64_MAX) {
            x->failure = PP_INDEX_LARGE_TABLES;
            return 0;
        }
    }
    for (uint32_t i = 0; i < x->node_count; i++) {
        pp_index_node *node = &x->nodes[i];
        if (node->leaf) continue;
        node->fold = pp_index_fold_by(x, node->step, node->fold, node->decided);
        node->entry = x->folds[node->fold].entry;
        node->branch = x->branches + node->branches;
    }
    if (x->steps->spread) x->first_entry = x->nodes[*x->roots].entry;
    return 1;
}

/* Check the declaration and copy it. */
static inline pp_index_result pp_index_read_spec(pp_index *x, const pp_index_spec *spec) {
    *x = (pp_index){.cells = spec->cells, .kinds = spec->kinds, .bytes = (spec->cells + 7) / 8, .tiers = 1};
    x->memory = spec->memory ? spec->memory : PP_INDEX_MEMORY;
    if (!x->cells || x->cells > PP_INDEX_CELLS || !x->kinds || x->kinds > PP_INDEX_KINDS) return PP_INDEX_BAD_SPEC;
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        x->least[kind] = spec->least[kind];
        x->most[kind] = spec->most[kind];
        if (x->least[kind] > x->most[kind] || x->most[kind] > x->cells) return PP_INDEX_BAD_SPEC;
        if ((x->tiers *= x->most[kind] - x->least[kind] + 1u) > PP_INDEX_TIERS) return PP_INDEX_LARGE_TABLES;
    }
    for (unsigned kind = x->kinds, weight = 1; kind--; weight *= x->most[kind] - x->least[kind] + 1u) {
        x->weight[kind] = weight;
        x->first_tier += weight * x->least[kind];
    }
    for (unsigned g = 0; g < spec->generators; g++)
        if (!pp_index_is_permutation(spec->generator[g], x->cells)) return PP_INDEX_BAD_SPEC;
    return PP_INDEX_OK;
}

static inline void pp_index_free_scratch(pp_index *x) {
    free(x->inverse), free(x->subgroups), free(x->fold_of), free(x->buckets);
    x->inverse = NULL, x->subgroups = NULL, x->fold_of = NULL, x->buckets = NULL;
}

static inline pp_index_result pp_index_build(pp_index *x, const pp_index_spec *spec) {
    pp_index_result result = pp_index_read_spec(x, spec);
    if (result == PP_INDEX_OK) result = pp_index_close_group(x, spec);
    if (result == PP_INDEX_OK && !pp_subsets_build(&x->subsets, x->cells < 24 ? 24 : x->cells))
        result = PP_INDEX_NO_MEMORY;
    if (result == PP_INDEX_OK && !(pp_index_order_cells(x) && pp_index_build_nodes(x))) result = x->failure;
    pp_index_free_scratch(x);
    if (result != PP_INDEX_OK) pp_index_free(x);
    return result;
}

static inline void pp_index_free(pp_index *x) {
    for (unsigned i = 0; i < x->step_count; i++) free(x->steps[i].spread), free(x->steps[i].first_code);
    for (uint32_t i = 0; i < x->fold_count; i++) {
        free(x->folds[i].entry), free(x->folds[i].masks), free(x->folds[i].first), free(x->folds[i].stabilizer);
    }
    pp_subsets_free(&x->subsets);
    free(x->symmetry), free(x->inward), free(x->folds), free(x->branches), free(x->nodes), free(x->roots),
        free(x->images);
    pp_index_free_scratch(x);
    *x = (pp_index){0};
}

#endif
