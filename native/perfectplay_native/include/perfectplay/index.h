/* A dense index of piece placements up to symmetry: rank and unrank without gaps, for any board, group and pieces.
 *
 * A placement puts pieces of several kinds on cells, at most one piece per cell. A tier has all placements with the same
 * number of pieces of each kind, and its slots are the orbits of these placements under the symmetry group. The slots are
 * numbered from 0 without gaps, and there are as many as Burnside's lemma counts.
 *
 * The method goes back to R. de Man and R. Halbersma (talkchess.com, thread 85908, 2026). Take the orbits of *cells* in
 * order. Among the images of a placement choose the one that is least on the first orbit; the symmetries that keep it there
 * form a subgroup H, which alone may act on the next orbit, and so on. The number of completions depends only on the
 * orbit, H and the pieces left, so a table of these counts gives the number of every placement. Once H is trivial, the
 * remaining pieces are numbered directly (subsets.h); this is the usual case after one or two orbits.
 *
 *     Tic-tac-toe has three orbits of cells under its 8 symmetries,    a b a
 *     the corners a, the edges b and the centre c:                     b c b
 *                                                                      a b a
 *     One X in a corner and one O on an adjacent edge: the least corner pattern has the X in the first corner. Only the
 *     reflection through that corner keeps it. It swaps the two edges next to the corner, so they are one slot.
 *
 * Tables are built once and never change, so threads may share an index. There is no global state. */
#ifndef PERFECTPLAY_INDEX_H
#define PERFECTPLAY_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "masks.h"
#include "subsets.h"

enum {
    PP_INDEX_CELLS = 64,
    PP_INDEX_KINDS = 8,
    PP_INDEX_GROUP = 4096,       /* symmetries, at most */
    PP_INDEX_CODES = 1 << 16,    /* patterns of one step, at most; so an orbit has at most 16 cells */
    PP_INDEX_TIERS = 1 << 16,    /* tiers, at most */
    PP_INDEX_MEMORY = 256 << 20, /* default bound for all tables, in bytes */
};

typedef enum {
    PP_INDEX_OK,
    PP_INDEX_BAD_SPEC,     /* cells, kinds or counts out of range, or a generator that is not a permutation */
    PP_INDEX_LARGE_GROUP,  /* more than PP_INDEX_GROUP symmetries */
    PP_INDEX_LARGE_ORBIT,  /* an orbit of more than 16 cells */
    PP_INDEX_LARGE_TABLES, /* more tables than the memory bound allows, or more slots than 64 bits can number */
    PP_INDEX_NO_MEMORY,
} pp_index_result;

typedef struct {
    unsigned cells, kinds;
    uint8_t least[PP_INDEX_KINDS], most[PP_INDEX_KINDS]; /* pieces of each kind on the board */
    unsigned generators;                                 /* of the symmetry group; none for no symmetry */
    const uint8_t (*generator)[PP_INDEX_CELLS];          /* generator[i][c] is the image of cell c */
    size_t memory;                                       /* bound in bytes; 0 for PP_INDEX_MEMORY */
} pp_index_spec;

/* ---- the tables ---- */

/* A step decides which cells of one orbit hold each of some kinds. The pattern of these kinds on the orbit is a code, a
 * number in base kinds + 1 with one digit per cell. All kinds fit in one step unless the orbit is large. */
typedef struct {
    uint8_t start, cells;      /* the orbit, in the internal numbering of cells */
    uint8_t first_kind, kinds; /* kinds first_kind … first_kind + kinds - 1 */
    uint32_t codes;            /* (kinds + 1) to the power of cells */
    uint32_t *spread;          /* by subset of the orbit: the sum of (kinds + 1)^i over its cells i */
} pp_index_step;

/* The patterns of a step up to a subgroup. A representative is the least code of its orbit. Representatives with the same
 * number of pieces of each kind and the same stabiliser have equally many completions; they form a class. Where an orbit
 * takes several steps, each representative is a class, because the next step depends on the cells that are taken. */
typedef struct {
    uint32_t *entry;      /* by code: class << 12 | symmetry that leads to the representative */
    uint32_t *place;      /* by code: the place of the representative within its class */
    uint32_t *code;       /* the representatives, class by class */
    uint32_t *first;      /* by class: its first representative in `code` */
    uint32_t *stabilizer; /* by class: the subgroup that keeps a representative */
    uint32_t classes;
} pp_index_fold;

typedef struct {
    uint64_t offset; /* placements with representatives of earlier classes */
    uint32_t next;   /* node */
} pp_index_branch;

/* A state of the counting: a step, a subgroup and the pieces left. At a leaf the subgroup is trivial or no step is left. */
typedef struct {
    uint64_t size;           /* placements up to the subgroup */
    uint32_t fold, branches; /* places of the fold, and of the first branch */
    uint16_t stabilizer;     /* order of the subgroup */
    uint8_t step, leaf;
    uint8_t left[PP_INDEX_KINDS];
    uint64_t taken;                   /* cells of the orbit that earlier steps have filled */
    uint64_t domain[PP_INDEX_KINDS];  /* of a leaf: cells that each kind may use, if no other kind does */
    uint64_t choices[PP_INDEX_KINDS]; /* of a leaf: subsets for each kind, given those of the kinds before it */
} pp_index_node;

typedef struct {
    unsigned cells, kinds, bytes;
    uint8_t least[PP_INDEX_KINDS], most[PP_INDEX_KINDS];
    unsigned group;                 /* order of the symmetry group */
    pp_permutation *symmetry;       /* each element, in the internal numbering; the first is the identity */
    pp_permutation inward, outward; /* from the author's cells to the internal ones and back */
    pp_subsets subsets;
    pp_index_step steps[PP_INDEX_CELLS * PP_INDEX_KINDS];
    unsigned step_count;
    pp_index_fold *folds;
    pp_index_branch *branches;
    pp_index_node *nodes;
    uint32_t *roots; /* by tier: its node */
    unsigned tiers;
    /* while building */
    size_t memory, used;
    uint8_t (*images)[PP_INDEX_CELLS]; /* symmetries as lists */
    uint16_t *inverse;
    uint64_t *subgroups; /* as sets of elements */
    unsigned words, subgroup_count, subgroup_room;
    uint32_t *fold_of; /* by subgroup and step: place of the fold + 1 */
    uint32_t fold_count, fold_room, branch_count, branch_room, node_count, node_room, bucket_count;
    uint32_t *buckets; /* hash table of nodes: place + 1 */
} pp_index;

/* ---- ranking ---- */

/* The tier of these counts, all of them within the declared bounds. */
static inline unsigned pp_index_tier(const pp_index *x, const uint8_t *counts) {
    unsigned tier = 0;
    for (unsigned kind = 0; kind < x->kinds; kind++)
        tier = tier * (x->most[kind] - x->least[kind] + 1u) + (counts[kind] - x->least[kind]);
    return tier;
}

/* The counts of a tier. */
static inline void pp_index_counts(const pp_index *x, unsigned tier, uint8_t *counts) {
    for (unsigned kind = x->kinds; kind--;) {
        const unsigned radix = x->most[kind] - x->least[kind] + 1u;
        counts[kind] = (uint8_t)(x->least[kind] + tier % radix);
        tier /= radix;
    }
}

/* The number of slots in a tier. */
static inline uint64_t pp_index_size(const pp_index *x, unsigned tier) { return x->nodes[x->roots[tier]].size; }

/* The slot of the placement masks[kind], and in *stabilizer the number of symmetries that leave it unchanged. The masks
 * must be disjoint and their counts within the declared bounds. */
static inline uint64_t pp_index_rank(const pp_index *x, const uint64_t *masks, unsigned *stabilizer) {
    uint64_t at[PP_INDEX_KINDS], number = 0;
    uint8_t counts[PP_INDEX_KINDS];
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        at[kind] = pp_permute(&x->inward, masks[kind], x->bytes);
        counts[kind] = (uint8_t)__builtin_popcountll(masks[kind]);
    }
    const pp_index_node *node = &x->nodes[x->roots[pp_index_tier(x, counts)]];
    while (!node->leaf) {
        const pp_index_step *step = &x->steps[node->step];
        uint32_t code = 0;
        for (unsigned i = 0; i < step->kinds; i++)
            code += (i + 1) * step->spread[at[step->first_kind + i] >> step->start & ((1u << step->cells) - 1)];
        const pp_index_fold *fold = &x->folds[node->fold];
        const uint32_t entry = fold->entry[code];
        const pp_permutation *symmetry = &x->symmetry[entry & (PP_INDEX_GROUP - 1)];
        if (symmetry != x->symmetry)
            for (unsigned kind = 0; kind < x->kinds; kind++) at[kind] = pp_permute(symmetry, at[kind], x->bytes);
        const pp_index_branch *branch = &x->branches[node->branches + (entry >> 12)];
        node = &x->nodes[branch->next];
        number += branch->offset + fold->place[code] * node->size;
    }
    if (stabilizer) *stabilizer = node->stabilizer;
    const unsigned start = x->steps[node->step].start, bytes = (x->cells - start + 7) / 8;
    uint64_t within = 0, occupied = 0;
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        if (!node->left[kind]) continue;
        const uint64_t mine = at[kind] & node->domain[kind], free = node->domain[kind] & ~occupied;
        const uint64_t bits = pp_gather(&x->subsets, mine >> start, free >> start, bytes);
        within = within * node->choices[kind] + pp_subset_rank(&x->subsets, bits, bytes);
        occupied |= mine;
    }
    return number + within;
}

/* ---- unranking ---- */

/* Add the cells that a representative's code gives to each kind of a step. */
static inline void pp_index_decode(const pp_index_step *step, uint32_t code, uint64_t *at) {
    for (unsigned cell = 0; cell < step->cells; cell++, code /= step->kinds + 1u) {
        const unsigned digit = code % (step->kinds + 1u);
        if (digit) at[step->first_kind + digit - 1] |= UINT64_C(1) << (step->start + cell);
    }
}

/* The leaf of a slot. *number becomes the slot's number within the leaf; `at` gets the pieces placed on the way. */
static inline const pp_index_node *pp_index_descend(const pp_index *x, unsigned tier, uint64_t *number, uint64_t *at) {
    const pp_index_node *node = &x->nodes[x->roots[tier]];
    memset(at, 0, PP_INDEX_KINDS * sizeof *at);
    while (!node->leaf) {
        const pp_index_fold *fold = &x->folds[node->fold];
        const pp_index_branch *branch = x->branches + node->branches;
        uint32_t low = 0, high = fold->classes; /* the last branch whose offset is at most *number */
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (branch[middle].offset <= *number) low = middle;
            else high = middle;
        }
        const pp_index_node *next = &x->nodes[branch[low].next];
        const uint64_t place = (*number - branch[low].offset) / next->size;
        *number -= branch[low].offset + place * next->size;
        pp_index_decode(&x->steps[node->step], fold->code[fold->first[low] + place], at);
        node = next;
    }
    return node;
}

/* The placements of `count` slots from `first` on: masks[i * kinds + kind] for slot first + i. They are representatives of
 * their orbits: ranking one gives its slot. */
static inline void pp_index_unrank(const pp_index *x, unsigned tier, uint64_t first, size_t count, uint64_t *masks) {
    while (count) {
        uint64_t at[PP_INDEX_KINDS], fixed[PP_INDEX_KINDS], number = first;
        const pp_index_node *leaf = pp_index_descend(x, tier, &number, at);
        const unsigned start = x->steps[leaf->step].start, bytes = (x->cells - start + 7) / 8;
        unsigned last = x->kinds; /* the last kind with pieces left, which changes fastest */
        uint64_t digits[PP_INDEX_KINDS] = {0};
        for (unsigned kind = x->kinds; kind--;)
            if (leaf->left[kind]) {
                if (last == x->kinds) last = kind;
                digits[kind] = number % leaf->choices[kind];
                number /= leaf->choices[kind];
            }
        uint64_t occupied = 0, free = 0, bits = 0, run = 1;
        for (unsigned kind = 0; kind < x->kinds; kind++) {
            if (leaf->left[kind]) {
                free = leaf->domain[kind] & ~occupied;
                bits =
                    pp_subset_unrank(&x->subsets, (unsigned)__builtin_popcountll(free), leaf->left[kind], digits[kind]);
                if (kind == last) {
                    run = leaf->choices[kind] - digits[kind];
                    break;
                }
                const uint64_t placed = pp_scatter(&x->subsets, bits, free >> start, bytes) << start;
                at[kind] |= placed;
                occupied |= placed;
            }
        }
        for (unsigned kind = 0; kind < x->kinds; kind++) fixed[kind] = pp_permute(&x->outward, at[kind], x->bytes);
        if (run > count) run = count;
        first += run;
        count -= run;
        for (; run; run--, bits = pp_subset_next(bits), masks += x->kinds) {
            for (unsigned kind = 0; kind < x->kinds; kind++) masks[kind] = fixed[kind];
            if (last < x->kinds) {
                const uint64_t placed = pp_scatter(&x->subsets, bits, free >> start, bytes) << start;
                masks[last] |= pp_permute(&x->outward, placed, x->bytes);
            }
        }
    }
}

/* ---- building ---- */

/* Build the tables. If the result is not PP_INDEX_OK, the index is empty. Call pp_index_free in any case. */
static inline pp_index_result pp_index_build(pp_index *x, const pp_index_spec *spec);
static inline void pp_index_free(pp_index *x);

/* Memory within the bound, zeroed; NULL beyond it. */
static inline void *pp_index_new(pp_index *x, size_t count, size_t size) {
    if (size && count > (x->memory - x->used) / size) return NULL;
    void *memory = calloc(count ? count : 1, size);
    if (memory) x->used += count * size;
    return memory;
}

/* Room for one more element in an array that doubles its size; 0 if the bound is reached. */
static inline int pp_index_grow(pp_index *x, void **array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return 1;
    const uint32_t larger = *room ? 2 * *room : 64;
    if (size * (larger - *room) > x->memory - x->used) return 0;
    void *moved = realloc(*array, size * larger);
    if (!moved) return 0;
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

/* Number the cells orbit by orbit, the largest first, and rewrite the symmetries in these numbers. */
static inline pp_index_result pp_index_order_cells(pp_index *x) {
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
        const unsigned size = (unsigned)__builtin_popcountll(orbits[i]);
        for (unsigned kind = 0; kind < x->kinds;) {
            pp_index_step *step = &x->steps[x->step_count++];
            *step = (pp_index_step){.start = (uint8_t)next, .cells = (uint8_t)size, .first_kind = (uint8_t)kind};
            for (; kind < x->kinds; kind++) { /* as many kinds as the codes allow */
                uint64_t codes = 1;
                for (unsigned cell = 0; cell < size && codes <= PP_INDEX_CODES; cell++) codes *= step->kinds + 2u;
                if (codes > PP_INDEX_CODES) break;
                step->codes = (uint32_t)codes;
                step->kinds++;
            }
            if (!step->kinds && x->group > 1) return PP_INDEX_LARGE_ORBIT;
            if (!step->kinds) break; /* without symmetry no step is taken */
        }
        for (uint64_t cells = orbits[i]; cells; cells &= cells - 1, next++) {
            from[next] = (uint8_t)__builtin_ctzll(cells);
            to[from[next]] = (uint8_t)next;
        }
    }
    x->steps[x->step_count].start = 0; /* of leaves after the last step, which have no pieces left */
    pp_permutation_fill(&x->inward, x->cells, to);
    pp_permutation_fill(&x->outward, x->cells, from);
    x->symmetry = pp_index_new(x, x->group, sizeof *x->symmetry);
    if (!x->symmetry) return PP_INDEX_LARGE_TABLES;
    for (unsigned element = 0; element < x->group; element++) {
        uint8_t image[PP_INDEX_CELLS];
        for (unsigned cell = 0; cell < x->cells; cell++) image[cell] = to[x->images[element][from[cell]]];
        memcpy(x->images[element], image, x->cells);
        pp_permutation_fill(&x->symmetry[element], x->cells, image);
    }
    return PP_INDEX_OK;
}

static inline pp_index_result pp_index_fill_tables(pp_index *x) {
    if (!pp_subsets_build(&x->subsets, x->cells)) return PP_INDEX_NO_MEMORY;
    for (unsigned i = 0; i < x->step_count; i++) {
        pp_index_step *step = &x->steps[i];
        if (!step->kinds) continue;
        step->spread = pp_index_new(x, (size_t)1 << step->cells, sizeof *step->spread);
        if (!step->spread) return PP_INDEX_LARGE_TABLES;
        for (uint32_t subset = 1; subset < 1u << step->cells; subset++) {
            uint32_t power = 1;
            for (int cell = 0; cell < __builtin_ctz(subset); cell++) power *= step->kinds + 1u;
            step->spread[subset] = step->spread[subset & (subset - 1)] + power;
        }
    }
    return PP_INDEX_OK;
}

/* The number of a subgroup given as a set of elements, or UINT32_MAX beyond the memory bound. */
static inline uint32_t pp_index_subgroup(pp_index *x, const uint64_t *elements) {
    for (uint32_t i = 0; i < x->subgroup_count; i++)
        if (!memcmp(x->subgroups + (size_t)i * x->words, elements, x->words * sizeof *elements)) return i;
    uint32_t room = x->subgroup_room;
    if (!pp_index_grow(x, (void **)&x->subgroups, x->subgroup_count, &room, x->words * sizeof *elements))
        return UINT32_MAX;
    if (room != x->subgroup_room) {
        uint32_t before = x->subgroup_room;
        if (!pp_index_grow(x, (void **)&x->fold_of, x->subgroup_count, &before, x->step_count * sizeof *x->fold_of))
            return UINT32_MAX;
        x->subgroup_room = room;
    }
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

/* The code that a symmetry makes of a code. */
static inline uint32_t pp_index_image(const pp_index *x, const pp_index_step *step, uint32_t code, unsigned element) {
    uint32_t image = 0;
    const uint8_t *images = x->images[element] + step->start;
    for (unsigned cell = 0; code; cell++, code /= step->kinds + 1u)
        image += code % (step->kinds + 1u) * step->spread[1u << (images[cell] - step->start)];
    return image;
}

/* A representative while its fold is built: the pieces of each kind as one number, and its stabiliser. */
typedef struct {
    uint64_t counts;
    uint32_t stabilizer, code;
} pp_index_pattern;

static inline int pp_index_compare(const void *a, const void *b) {
    const pp_index_pattern *p = a, *q = b;
    if (p->counts != q->counts) return p->counts < q->counts ? -1 : 1;
    if (p->stabilizer != q->stabilizer) return p->stabilizer < q->stabilizer ? -1 : 1;
    return p->code < q->code ? -1 : p->code > q->code;
}

static inline int pp_index_shares_orbit(const pp_index *x, unsigned step_number) {
    return x->steps[step_number].kinds < x->kinds;
}

/* The least codes of all orbits, with the symmetry that leads to them in fold->entry and their number in fold->place. */
static inline uint32_t pp_index_find_patterns(pp_index *x, unsigned step_number, uint32_t subgroup, pp_index_fold *fold,
                                              pp_index_pattern *patterns, uint64_t *keeping) {
    const pp_index_step *step = &x->steps[step_number];
    uint32_t count = 0;
    memset(fold->place, 255, step->codes * sizeof *fold->place);
    for (uint32_t code = 0; code < step->codes; code++) {
        if (fold->place[code] != UINT32_MAX) continue;
        memset(keeping, 0, x->words * sizeof *keeping);
        for (unsigned element = 0; element < x->group; element++) {
            if (!pp_index_is_in(x, subgroup, element)) continue;
            const uint32_t image = pp_index_image(x, step, code, element);
            if (image == code) keeping[element / 64] |= UINT64_C(1) << element % 64;
            if (fold->place[image] != UINT32_MAX) continue;
            fold->place[image] = count;
            fold->entry[image] = x->inverse[element];
        }
        pp_index_pattern *pattern = &patterns[count++];
        *pattern = (pp_index_pattern){.stabilizer = pp_index_subgroup(x, keeping), .code = code};
        if (pattern->stabilizer == UINT32_MAX) return UINT32_MAX;
        for (uint32_t rest = code; rest; rest /= step->kinds + 1u)
            if (rest % (step->kinds + 1u)) pattern->counts += UINT64_C(1) << 8 * (rest % (step->kinds + 1u) - 1);
        if (pp_index_shares_orbit(x, step_number)) pattern->counts = code;
    }
    return count;
}

/* The fold of a step by a subgroup, or UINT32_MAX beyond the memory bound. */
static inline uint32_t pp_index_fold_by(pp_index *x, unsigned step_number, uint32_t subgroup) {
    const uint32_t known = x->fold_of[(size_t)subgroup * x->step_count + step_number];
    if (known) return known - 1;
    const uint32_t codes = x->steps[step_number].codes;
    if (!pp_index_grow(x, (void **)&x->folds, x->fold_count, &x->fold_room, sizeof *x->folds)) return UINT32_MAX;
    const uint32_t number = x->fold_count++;
    pp_index_fold *fold = &x->folds[number];
    fold->entry = pp_index_new(x, codes, sizeof *fold->entry);
    fold->place = pp_index_new(x, codes, sizeof *fold->place);
    pp_index_pattern *patterns = malloc(codes * sizeof *patterns);
    uint32_t *class_of = malloc(codes * sizeof *class_of); /* by number of the representative */
    uint64_t *keeping = malloc(x->words * sizeof *keeping);
    uint32_t *order = malloc(codes * sizeof *order); /* by number of the representative: its place in its class */
    uint32_t count = UINT32_MAX;
    if (fold->entry && fold->place && patterns && class_of && keeping && order)
        count = pp_index_find_patterns(x, step_number, subgroup, fold, patterns, keeping);
    fold->code = count == UINT32_MAX ? NULL : pp_index_new(x, count, sizeof *fold->code);
    fold->first = count == UINT32_MAX ? NULL : pp_index_new(x, count + 1, sizeof *fold->first);
    fold->stabilizer = count == UINT32_MAX ? NULL : pp_index_new(x, count, sizeof *fold->stabilizer);
    if (fold->code && fold->first && fold->stabilizer) {
        qsort(patterns, count, sizeof *patterns, pp_index_compare);
        for (uint32_t i = 0; i < count; i++) {
            const pp_index_pattern *p = &patterns[i];
            if (!i || p->counts != p[-1].counts || p->stabilizer != p[-1].stabilizer) {
                fold->first[fold->classes] = i;
                fold->stabilizer[fold->classes++] = p->stabilizer;
            }
            fold->code[i] = p->code;
            const uint32_t representative = fold->place[p->code];
            class_of[representative] = fold->classes - 1;
            order[representative] = i - fold->first[fold->classes - 1];
        }
        fold->first[fold->classes] = count;
        for (uint32_t code = 0; code < codes; code++) {
            fold->entry[code] |= class_of[fold->place[code]] << 12;
            fold->place[code] = order[fold->place[code]];
        }
    }
    const int complete = fold->code && fold->first && fold->stabilizer;
    free(patterns), free(class_of), free(keeping), free(order);
    x->fold_of[(size_t)subgroup * x->step_count + step_number] = number + 1;
    return complete ? number : UINT32_MAX;
}

static inline uint64_t pp_index_multiply(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* A leaf's domains, choices and size. */
static inline void pp_index_fill_leaf(const pp_index *x, pp_index_node *node) {
    const unsigned last = node->step == x->step_count;
    const pp_index_step *step = &x->steps[node->step];
    const uint64_t all = x->cells == 64 ? UINT64_MAX : (UINT64_C(1) << x->cells) - 1;
    const uint64_t from_orbit = last ? 0 : all >> step->start << step->start;
    const unsigned end = step->start + step->cells;
    const uint64_t after_orbit = last || end >= x->cells ? 0 : all >> end << end;
    unsigned placed = 0;
    node->leaf = 1;
    node->size = 1;
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        const int decided = !last && kind < step->first_kind; /* on this orbit, by an earlier step */
        node->domain[kind] = decided ? after_orbit : from_orbit & ~node->taken;
        const unsigned cells = (unsigned)__builtin_popcountll(node->domain[kind]);
        node->choices[kind] =
            cells >= placed ? x->subsets.choose[cells - placed][node->left[kind]] : node->left[kind] == 0;
        node->size = pp_index_multiply(node->size, node->choices[kind]);
        placed += node->left[kind];
    }
}

/* The node of a step, a subgroup, the pieces left and the cells taken; UINT32_MAX beyond the memory bound. */
static inline uint32_t pp_index_node_of(pp_index *x, unsigned step_number, uint32_t subgroup, const uint8_t *left,
                                        uint64_t taken) {
    struct {
        uint64_t taken;
        uint32_t step, subgroup;
        uint8_t left[PP_INDEX_KINDS];
    } key = {.taken = taken, .step = step_number, .subgroup = subgroup};
    memcpy(key.left, left, x->kinds);
    uint32_t bucket = (uint32_t)(pp_index_hash(&key, sizeof key) & (x->bucket_count - 1));
    for (; x->buckets[bucket]; bucket = (bucket + 1) & (x->bucket_count - 1)) {
        const pp_index_node *node = &x->nodes[x->buckets[bucket] - 1];
        /* until its branches are known, `fold` of a leaf and of an inner node alike is the subgroup's number */
        if (node->step == step_number && node->fold == subgroup && node->taken == taken &&
            !memcmp(node->left, key.left, sizeof key.left))
            return x->buckets[bucket] - 1;
    }
    if (x->node_count >= x->bucket_count / 2) return UINT32_MAX;
    if (!pp_index_grow(x, (void **)&x->nodes, x->node_count, &x->node_room, sizeof *x->nodes)) return UINT32_MAX;
    const uint32_t place = x->node_count++;
    x->buckets[bucket] = place + 1;
    pp_index_node node = {.fold = subgroup, .step = (uint8_t)step_number, .taken = taken};
    memcpy(node.left, key.left, sizeof key.left);
    node.stabilizer = (uint16_t)pp_index_order(x, subgroup);
    x->nodes[place] = node;
    if (node.stabilizer == 1 || step_number == x->step_count) {
        pp_index_fill_leaf(x, &x->nodes[place]);
        return place;
    }
    const uint32_t fold_place = pp_index_fold_by(x, step_number, subgroup);
    if (fold_place == UINT32_MAX) return UINT32_MAX;
    const pp_index_step *step = &x->steps[step_number];
    const uint32_t count = x->folds[fold_place].classes, first = x->branch_count;
    for (uint32_t i = 0; i < count; i++) {
        if (!pp_index_grow(x, (void **)&x->branches, x->branch_count, &x->branch_room, sizeof *x->branches))
            return UINT32_MAX;
        x->branch_count++;
    }
    const int same_orbit = step_number + 1 < x->step_count && x->steps[step_number + 1].start == step->start;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at[PP_INDEX_KINDS] = {0}, filled = 0;
        uint8_t rest[PP_INDEX_KINDS] = {0};
        int fits = 1;
        const uint32_t *starts = &x->folds[fold_place].first[i];
        const uint64_t members = starts[1] - starts[0];
        pp_index_decode(step, x->folds[fold_place].code[starts[0]], at);
        for (unsigned kind = 0; kind < x->kinds; kind++) {
            const unsigned used = (unsigned)__builtin_popcountll(at[kind]);
            fits &= used <= left[kind] && !(at[kind] & taken);
            rest[kind] = (uint8_t)(left[kind] - used);
            filled |= at[kind];
        }
        x->branches[first + i] = (pp_index_branch){.offset = node.size};
        if (!fits) continue;
        const uint32_t next = pp_index_node_of(x, step_number + 1, x->folds[fold_place].stabilizer[i], rest,
                                               same_orbit ? taken | filled : 0);
        if (next == UINT32_MAX) return UINT32_MAX;
        x->branches[first + i].next = next;
        const uint64_t size = pp_index_multiply(members, x->nodes[next].size);
        if (__builtin_add_overflow(node.size, size, &node.size)) return UINT32_MAX;
    }
    x->nodes[place].size = node.size;
    x->nodes[place].branches = first;
    return place;
}

static inline pp_index_result pp_index_build_nodes(pp_index *x) {
    x->words = (x->group + 63) / 64;
    x->inverse = pp_index_new(x, x->group, sizeof *x->inverse);
    x->bucket_count = 1 << 20;
    x->buckets = pp_index_new(x, x->bucket_count, sizeof *x->buckets);
    uint64_t *whole = pp_index_new(x, x->words, sizeof *whole);
    if (!x->inverse || !x->buckets || !whole) {
        free(whole);
        return PP_INDEX_LARGE_TABLES;
    }
    for (unsigned a = 0; a < x->group; a++)
        for (unsigned b = 0; b < x->group; b++) {
            unsigned cell = 0;
            while (cell < x->cells && x->images[b][x->images[a][cell]] == cell) cell++;
            if (cell == x->cells) x->inverse[a] = (uint16_t)b;
        }
    for (unsigned element = 0; element < x->group; element++) whole[element / 64] |= UINT64_C(1) << element % 64;
    const uint32_t group = pp_index_subgroup(x, whole);
    free(whole);
    x->roots = pp_index_new(x, x->tiers, sizeof *x->roots);
    if (group == UINT32_MAX || !x->roots) return PP_INDEX_LARGE_TABLES;
    for (unsigned tier = 0; tier < x->tiers; tier++) {
        uint8_t counts[PP_INDEX_KINDS] = {0};
        pp_index_counts(x, tier, counts);
        x->roots[tier] = pp_index_node_of(x, 0, group, counts, 0);
        if (x->roots[tier] == UINT32_MAX || pp_index_size(x, tier) == UINT64_MAX) return PP_INDEX_LARGE_TABLES;
    }
    for (uint32_t i = 0; i < x->node_count; i++)
        if (!x->nodes[i].leaf)
            x->nodes[i].fold = x->fold_of[(size_t)x->nodes[i].fold * x->step_count + x->nodes[i].step] - 1;
    return PP_INDEX_OK;
}

static inline pp_index_result pp_index_build(pp_index *x, const pp_index_spec *spec) {
    *x = (pp_index){.cells = spec->cells, .kinds = spec->kinds, .bytes = (spec->cells + 7) / 8, .tiers = 1};
    x->memory = spec->memory ? spec->memory : PP_INDEX_MEMORY;
    if (!x->cells || x->cells > PP_INDEX_CELLS || !x->kinds || x->kinds > PP_INDEX_KINDS) return PP_INDEX_BAD_SPEC;
    for (unsigned kind = 0; kind < x->kinds; kind++) {
        x->least[kind] = spec->least[kind];
        x->most[kind] = spec->most[kind];
        if (x->least[kind] > x->most[kind] || x->most[kind] > x->cells) return PP_INDEX_BAD_SPEC;
        if ((x->tiers *= x->most[kind] - x->least[kind] + 1u) > PP_INDEX_TIERS) return PP_INDEX_LARGE_TABLES;
    }
    for (unsigned g = 0; g < spec->generators; g++)
        if (!pp_index_is_permutation(spec->generator[g], x->cells)) return PP_INDEX_BAD_SPEC;
    pp_index_result result = pp_index_close_group(x, spec);
    if (result == PP_INDEX_OK) result = pp_index_order_cells(x);
    if (result == PP_INDEX_OK) result = pp_index_fill_tables(x);
    if (result == PP_INDEX_OK) result = pp_index_build_nodes(x);
    return result;
}

static inline void pp_index_free(pp_index *x) {
    for (unsigned i = 0; i < x->step_count; i++) free(x->steps[i].spread);
    for (uint32_t i = 0; i < x->fold_count; i++) {
        free(x->folds[i].entry), free(x->folds[i].place), free(x->folds[i].code);
        free(x->folds[i].first), free(x->folds[i].stabilizer);
    }
    pp_subsets_free(&x->subsets);
    free(x->symmetry), free(x->folds), free(x->branches);
    free(x->nodes), free(x->roots), free(x->images), free(x->inverse), free(x->subgroups), free(x->fold_of);
    free(x->buckets);
    *x = (pp_index){0};
}

#endif
