/* A dense index of piece placements up to symmetry: rank and unrank without gaps, for any board, group and pieces.
 *
 * A placement puts pieces of several kinds on cells, at most one piece per cell. A tier has all placements with the same
 * number of pieces of each kind, and its slots are the orbits of these placements under the symmetry group. The slots are
 * numbered from 0 without gaps, and there are as many as Burnside's lemma counts.
 *
 *     static pp_index index;
 *     const pp_index_spec spec = {.cells = 9, .kinds = 2, .most = {3, 3}, .generators = 8, .generator = symmetries};
 *     if (pp_index_build(&index, &spec) != PP_INDEX_OK) …
 *     slot = pp_index_rank(&index, masks, NULL);                       masks[kind]: the cells of this kind
 *     pp_index_unrank(&index, tier, slot, 1, masks);                   a placement of the slot
 *
 * The method goes back to R. de Man and R. Halbersma (talkchess.com, thread 85908, 2026). Take the orbits of *cells* in
 * order. Among the images of a placement choose the one that is least on the first orbit. The symmetries that keep it there
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
 * An orbit that has too many patterns of all kinds is decided kind by kind. Pieces of the first kind usually break the
 * symmetry. If a subgroup is left, it exchanges fewer cells, and its orbits are decided one after another. So an orbit may
 * have any number of cells, as long as the patterns of each kind on it fit into memory: C(cells, pieces) entries of 8 bytes
 * for each number of pieces.
 *
 * Two things are up to the caller. Pieces in hand are part of the tier: number the tiers by the pieces on the board and
 * in hand. If positions with swapped colours and the other player to move have the same value, pass the mover's pieces as
 * the first kind.
 *
 * Tables are built once and never change, so threads may share an index. There is no global state. The tables and the
 * memory needed to build them stay within the bound of the declaration, plus 2 MiB. */
#ifndef PERFECTPLAY_INDEX_H
#define PERFECTPLAY_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "masks.h"
#include "orbits.h"
#include "subsets.h"

enum {
    PP_INDEX_CELLS = 64,
    PP_INDEX_KINDS = 8,
    PP_INDEX_GROUP = 4096,          /* symmetries, at most */
    PP_INDEX_LEAF = PP_INDEX_GROUP, /* in pp_index_entry */
    PP_INDEX_CODES = 1 << 16,       /* patterns of several kinds on an orbit, at most */
    PP_INDEX_FEW_CODES = 1 << 10,   /* the same for several orbits in one table */
    PP_INDEX_TIERS = 1 << 16,       /* tiers, at most */
    PP_INDEX_MEMORY = 256 << 20,    /* default bound for all tables, in bytes */
};

typedef enum {
    PP_INDEX_OK,
    PP_INDEX_BAD_SPEC,     /* cells, kinds or counts out of range, or a generator that is not a permutation */
    PP_INDEX_LARGE_GROUP,  /* more than PP_INDEX_GROUP symmetries */
    PP_INDEX_LARGE_ORBIT,  /* an orbit with more patterns of one kind than the memory bound allows */
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

/* A step decides which cells of one orbit hold which kinds. If all kinds together form few patterns on the orbit, there is
 * one step for it, and a pattern's code is a number in base kinds + 1 with one digit per cell. Otherwise there is a step for
 * each kind from which on kinds are to be placed, and its folds decide the orbit part by part. */
typedef struct {
    uint8_t start, cells;      /* the orbit, in the internal numbering of cells */
    uint8_t first_kind, kinds; /* kinds first_kind … first_kind + kinds - 1 */
    uint64_t from, after;      /* the cells of this and later orbits, and of later orbits only */
    uint64_t orbit;            /* the cells of the orbit, moved to bit 0 */
    /* For all kinds, by subset of the orbit: the sum of (kinds + 1)^i over its cells i. Otherwise NULL. */
    uint32_t *spread;
    /* Otherwise, for one kind by number of open cells and pieces: the first code; last, the number of codes. */
    uint32_t (*first_code)[PP_INDEX_CELLS + 2];
} pp_index_step;

/* How a code leads to the representative of its orbit. */
typedef struct {
    uint32_t branch; /* class << 13 | a leaf follows << 12 | symmetry that takes the code to the representative */
    uint32_t place;  /* of the representative within its class */
} pp_index_entry;

/* The patterns of a step up to a subgroup, given the cells of the orbit that are decided; the others are open. A
 * representative is the least code of its orbit. Representatives with the same number of pieces of each kind, the same
 * stabiliser and alike open cells afterwards have equally many completions; they form a class.
 *
 * A fold of a step for one kind decides one of two things:
 *
 *     this kind on all open cells          the code is the number of a subset, in order of size
 *     this and all later kinds on some     the code is a number in base kinds + 1; the cells are
 *     open cells, the others stay open     orbits under the subgroup, if these have few patterns
 *
 * Its cells and masks refer to the open cells moved together. So it serves all sets of decided cells that leave open cells
 * which the subgroup moves alike. */
typedef struct {
    uint64_t decided, cells; /* the decided cells, and those that a fold for several kinds decides */
    uint8_t open, kinds;     /* number of open cells; kinds that the fold decides */
    uint8_t one_kind;        /* whether it decides one kind on all open cells */
    uint32_t codes, next;    /* number of codes; another fold of the same step and subgroup + 1, or 0 */
    pp_index_entry *entry;   /* by code */
    uint64_t *masks;         /* the representatives, class by class: a mask for each kind of the fold */
    uint32_t *first;         /* by class: its first representative */
    uint32_t *stabilizer;    /* by class: the subgroup that keeps a representative */
    uint32_t classes;
} pp_index_fold;

typedef struct {
    uint64_t offset; /* placements with representatives of earlier classes */
    uint32_t next;   /* node */
} pp_index_branch;

/* A state of the counting: a step, a subgroup and the pieces left. At a leaf the subgroup is trivial or no step is left.
 * What ranking needs comes first, to be in one cache line. */
typedef struct {
    uint64_t size;                 /* placements up to the subgroup */
    const pp_index_entry *entry;   /* of the fold */
    const pp_index_branch *branch; /* of its first class */
    uint16_t stabilizer;           /* order of the subgroup */
    uint16_t step;
    uint8_t leaf;
    uint64_t choices[PP_INDEX_KINDS]; /* of a leaf: subsets for each kind, given those of the kinds before it */
    uint8_t left[PP_INDEX_KINDS];
    uint64_t decided;        /* cells of the orbit; at a leaf only their number */
    uint32_t fold, branches; /* places of the fold, or while building of the subgroup, and of the first branch */
    uint64_t padding;        /* to 128 bytes */
} pp_index_node;

typedef struct {
    unsigned cells, kinds, bytes;
    uint8_t least[PP_INDEX_KINDS], most[PP_INDEX_KINDS];
    unsigned group;                    /* order of the symmetry group */
    uint8_t (*images)[PP_INDEX_CELLS]; /* each element as a list of cells, in the internal numbering */
    pp_permutation *symmetry;          /* the same as tables; the first is the identity */
    pp_permutation *inward;            /* from the author's cells to the internal ones, then a symmetry */
    pp_permutation outward;            /* from the internal cells to the author's */
    uint64_t first_step[8][256];     /* by byte of an author's mask: count << 32 | sum of `spread` of the first step */
    uint32_t weight[PP_INDEX_KINDS]; /* of each kind in the number of a tier, */
    uint32_t first_tier;             /* from which this is subtracted: the weighted least counts */
    pp_subsets subsets;
    pp_index_step steps[PP_INDEX_CELLS * PP_INDEX_KINDS + 1]; /* the last one has no cells */
    unsigned step_count;
    int whole; /* whether every step is for all kinds */
    pp_index_fold *folds;
    pp_index_branch *branches;
    pp_index_node *nodes;
    uint32_t *roots;                   /* by tier: its node */
    const pp_index_entry *first_entry; /* of the first step, the same for all tiers; NULL if it is not for all kinds */
    unsigned tiers;
    /* while building */
    size_t memory, used;
    pp_index_result failure;
    uint16_t *inverse;
    uint64_t *subgroups; /* as sets of elements */
    unsigned words, subgroup_count, subgroup_room;
    uint32_t *fold_of; /* by subgroup and step: place of the fold + 1 */
    uint32_t fold_count, fold_room, branch_count, branch_room, node_count, node_room, bucket_count;
    uint32_t *buckets; /* hash table of nodes: place + 1 */
} pp_index;

/* Build the tables. If the result is not PP_INDEX_OK, the index is empty. Call pp_index_free in any case. */
static inline pp_index_result pp_index_build(pp_index *x, const pp_index_spec *spec);
static inline void pp_index_free(pp_index *x);

/* ---- tiers ---- */

/* The tier of these counts, all of them within the declared bounds. */
static inline unsigned pp_index_tier(const pp_index *x, const uint8_t *counts) {
    unsigned tier = 0u - x->first_tier;
    for (unsigned kind = 0; kind < x->kinds; kind++) tier += x->weight[kind] * counts[kind];
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

/* ---- patterns of a step ---- */

/* The cells of the step's orbit in a mask, moved to bit 0. */
static inline uint64_t pp_index_on_orbit(const pp_index_step *step, uint64_t mask) {
    return mask >> step->start & step->orbit;
}

/* The code of the pattern that the masks of all kinds form on the orbit of a step for all kinds. */
static inline uint32_t pp_index_whole_code(const pp_index_step *step, const uint64_t *at, unsigned kinds) {
    uint32_t code = 0;
    for (unsigned kind = 0; kind < kinds; kind++) code += (kind + 1) * step->spread[pp_index_on_orbit(step, at[kind])];
    return code;
}

/* The same for any fold of a step, given the cells that are decided. */
static inline uint32_t pp_index_code(const pp_index *x, const pp_index_step *step, const pp_index_fold *fold,
                                     const uint64_t *at, uint64_t decided) {
    if (step->spread) return pp_index_whole_code(step, at, x->kinds);
    const uint64_t open = pp_index_on_orbit(step, ~decided);
    uint64_t subset[PP_INDEX_KINDS];
    for (unsigned i = 0; i < fold->kinds; i++)
        subset[i] = pp_gather(&x->subsets, pp_index_on_orbit(step, at[step->first_kind + i]), open, x->bytes);
    if (fold->one_kind) {
        const unsigned size = pp_subset_size(&x->subsets, *subset, x->bytes);
        return step->first_code[fold->open][size] + (uint32_t)pp_subset_rank(&x->subsets, *subset, x->bytes);
    }
    uint32_t code = 0, power = 1;
    for (uint64_t cells = fold->cells; cells; cells &= cells - 1, power *= fold->kinds + 1u)
        for (unsigned i = 0; i < fold->kinds; i++)
            if (subset[i] & cells & -cells) code += (i + 1) * power;
    return code;
}

/* The decided cells of the orbit after a fold. */
static inline uint64_t pp_index_decide(const pp_index *x, const pp_index_step *step, const pp_index_fold *fold,
                                       const uint64_t *at, uint64_t decided) {
    if (step->spread) return 0;
    if (fold->one_kind) return decided | (at[step->first_kind] & step->orbit << step->start);
    return decided | pp_scatter(&x->subsets, fold->cells, pp_index_on_orbit(step, ~decided), x->bytes) << step->start;
}

/* The cells that a leaf may give to a kind, where no other kind is. */
static inline uint64_t pp_index_domain(const pp_index_step *step, unsigned kind) {
    return kind < step->first_kind ? step->after : step->from;
}

/* ---- ranking ---- */

/* Follow the branch of an entry from an inner node, and add the placements before it. */
static inline void pp_index_follow(const pp_index *x, const pp_index_node **node, pp_index_entry entry,
                                   uint64_t *number) {
    const pp_index_branch *branch = &(*node)->branch[entry.branch >> 13];
    *node = &x->nodes[branch->next];
    *number += branch->offset + entry.place * (*node)->size;
}

/* The number of the pieces of a leaf, whose cells are in at most `bytes` bytes. */
static inline __attribute__((always_inline)) uint64_t pp_index_rank_leaf(const pp_index *x, const pp_index_node *leaf,
                                                                         const uint64_t *at, uint64_t decided,
                                                                         unsigned kinds, unsigned bytes, int whole) {
    const pp_index_step *step = &x->steps[leaf->step];
    uint64_t number = 0, occupied = whole ? 0 : decided;
    for (unsigned kind = 0; kind < kinds; kind++) {
        const uint64_t domain = whole ? step->from : pp_index_domain(step, kind), mine = at[kind] & domain;
        unsigned first = step->start;
        if (!whole && kind < step->first_kind) first = (first + step->cells) % 64; /* 64: the domain is empty */
        uint64_t bits = mine >> first; /* the domain's cells are consecutive */
        if (kind || (!whole && decided)) bits = pp_gather(&x->subsets, bits, (domain & ~occupied) >> first, bytes);
        number = number * leaf->choices[kind] + pp_subset_rank(&x->subsets, bits, bytes);
        occupied |= mine;
    }
    return number;
}

/* pp_index_rank for masks of at most `bytes` bytes; `whole` if every step is for all kinds. If these are constants, the
 * compiler unrolls the loops. */
static inline __attribute__((always_inline)) uint64_t pp_index_rank_masks(const pp_index *x, const uint64_t *masks,
                                                                          unsigned *stabilizer, unsigned kinds,
                                                                          unsigned bytes, int whole) {
    uint64_t at[PP_INDEX_KINDS], number = 0, decided = 0;
    uint32_t code = 0, tier = 0u - x->first_tier;
    for (unsigned kind = 0; kind < kinds; kind++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < bytes; i++) sum += x->first_step[i][masks[kind] >> 8 * i & 255];
        code += (kind + 1) * (uint32_t)sum;
        tier += x->weight[kind] * (uint32_t)(sum >> 32);
    }
    const pp_index_node *node = &x->nodes[x->roots[tier]];
    pp_index_entry entry = {.branch = node->leaf ? PP_INDEX_LEAF : 0};
    if (x->first_entry) {
        entry = x->first_entry[code];
        pp_index_follow(x, &node, entry, &number);
    }
    const pp_permutation *inward = &x->inward[entry.branch % PP_INDEX_GROUP];
    for (unsigned kind = 0; kind < kinds; kind++) at[kind] = pp_permute(inward, masks[kind], bytes);
    while (!(entry.branch & PP_INDEX_LEAF)) { /* the entry is loaded before the node, so the processor waits less */
        const pp_index_step *step = &x->steps[node->step];
        const pp_index_fold *fold = &x->folds[node->fold];
        entry = node->entry[whole ? pp_index_whole_code(step, at, kinds) : pp_index_code(x, step, fold, at, decided)];
        pp_index_follow(x, &node, entry, &number);
        const pp_permutation *symmetry = &x->symmetry[entry.branch % PP_INDEX_GROUP];
        if (symmetry != x->symmetry)
            for (unsigned kind = 0; kind < kinds; kind++) at[kind] = pp_permute(symmetry, at[kind], bytes);
        if (whole) continue;
        decided = pp_index_decide(x, step, fold, at, decided);
        if (x->steps[node->step].start != step->start) decided = 0;
    }
    if (stabilizer) *stabilizer = node->stabilizer;
    if (x->steps[node->step].start >= 8)
        return number + pp_index_rank_leaf(x, node, at, decided, kinds, bytes - 1, whole);
    return number + pp_index_rank_leaf(x, node, at, decided, kinds, bytes, whole);
}

/* The slot of the placement masks[kind], and in *stabilizer the number of symmetries that leave it unchanged. The masks
 * must be disjoint and their counts within the declared bounds. */
static inline uint64_t pp_index_rank(const pp_index *x, const uint64_t *masks, unsigned *stabilizer) {
    if (x->kinds == 2 && x->bytes <= 3 && x->whole) return pp_index_rank_masks(x, masks, stabilizer, 2, 3, 1);
    return pp_index_rank_masks(x, masks, stabilizer, x->kinds, x->bytes, 0);
}

/* ---- unranking ---- */

/* The way to a leaf: at each inner node the class and, within it, the representatives from `masks` to `end`. */
typedef struct {
    const pp_index_node *node;
    const uint64_t *masks, *end;
    uint64_t decided; /* cells before this level */
    uint32_t class;
} pp_index_level;

typedef struct {
    const pp_index_node *leaf;
    unsigned depth;
    uint64_t at[PP_INDEX_KINDS]; /* the pieces placed on the way */
    uint64_t decided;            /* cells of the leaf's orbit */
    pp_index_level level[PP_INDEX_CELLS * PP_INDEX_KINDS];
} pp_index_path;

/* Place the pieces of the level's representative, or take them away. */
static inline void pp_index_toggle(const pp_index *x, pp_index_path *path, const pp_index_level *level) {
    const pp_index_step *step = &x->steps[level->node->step];
    if (step->spread) {
        for (unsigned i = 0; i < step->kinds; i++) path->at[i] ^= level->masks[i];
        return;
    }
    const uint64_t open = pp_index_on_orbit(step, ~level->decided);
    for (unsigned i = 0; i < x->folds[level->node->fold].kinds; i++)
        path->at[step->first_kind + i] ^= pp_scatter(&x->subsets, level->masks[i], open, x->bytes) << step->start;
}

/* Place the pieces of the level's representative and go to the node behind it. */
static inline void pp_index_go(const pp_index *x, pp_index_path *path, const pp_index_level *level) {
    const pp_index_step *step = &x->steps[level->node->step];
    pp_index_toggle(x, path, level);
    path->leaf = &x->nodes[level->node->branch[level->class].next];
    path->decided = 0;
    if (x->steps[path->leaf->step].start == step->start)
        path->decided = pp_index_decide(x, step, &x->folds[level->node->fold], path->at, level->decided);
}

/* Go from path->leaf to a class of its fold and the representative with this place in it. */
static inline void pp_index_enter(const pp_index *x, pp_index_path *path, uint32_t class, uint64_t place) {
    const pp_index_node *node = path->leaf;
    const pp_index_fold *fold = &x->folds[node->fold];
    pp_index_level *level = &path->level[path->depth++];
    *level = (pp_index_level){.node = node, .decided = path->decided, .class = class};
    level->masks = fold->masks + (fold->first[class] + place) * fold->kinds;
    level->end = fold->masks + (size_t)fold->first[class + 1] * fold->kinds;
    pp_index_go(x, path, level);
}

/* The way from path->leaf, at first the root, to the leaf of a slot. Returns the slot's number within the leaf. */
static inline uint64_t pp_index_descend(const pp_index *x, pp_index_path *path, uint64_t number) {
    while (!path->leaf->leaf) {
        const pp_index_branch *branch = path->leaf->branch;
        const uint32_t classes = x->folds[path->leaf->fold].classes;
        const uint32_t class = pp_last_at_most(&branch->offset, sizeof *branch, classes, number);
        const uint64_t size = x->nodes[branch[class].next].size, place = (number - branch[class].offset) / size;
        number -= branch[class].offset + place * size;
        pp_index_enter(x, path, class, place);
    }
    return number;
}

/* The way to the next leaf, which exists. */
static inline void pp_index_enter_next(const pp_index *x, pp_index_path *path) {
    for (;;) {
        pp_index_level *level = &path->level[path->depth - 1];
        const pp_index_node *node = level->node;
        pp_index_toggle(x, path, level);
        level->masks += x->folds[node->fold].kinds;
        if (level->masks != level->end) {
            pp_index_go(x, path, level);
            break;
        }
        /* the first slot of the next class with slots, which is the number of slots up to this class */
        const uint32_t classes = x->folds[node->fold].classes;
        uint32_t class = level->class + 1;
        while (class + 1 < classes && node->branch[class + 1].offset == node->branch[class].offset) class ++;
        path->depth--;
        path->decided = level->decided;
        if (class < classes && node->branch[class].offset < node->size) {
            path->leaf = node;
            pp_index_enter(x, path, class, 0);
            break;
        }
    }
    pp_index_descend(x, path, 0);
}

/* The next choice of the kinds before `last` in a leaf, in the order of the digits. Returns 0 after the last choice. */
static inline int pp_index_advance(const pp_index_node *leaf, unsigned last, uint64_t *digits, uint64_t *bits) {
    for (unsigned kind = last; kind--;) {
        if (!leaf->left[kind]) continue;
        bits[kind] = pp_subset_next(bits[kind]);
        if (++digits[kind] < leaf->choices[kind]) return 1;
        digits[kind] = 0;
        bits[kind] = pp_subset_first(leaf->left[kind]);
    }
    return 0;
}

/* The author's cells of the subset `bits` of the internal cells `free`, which are in the bytes from `from` to `to`. */
static inline __attribute__((always_inline)) uint64_t pp_index_place(const pp_index *x, uint64_t bits, uint64_t free,
                                                                     unsigned from, unsigned to) {
    uint64_t image = 0;
    for (unsigned i = from; i < to; i++) { /* pp_scatter and pp_permute in one */
        const unsigned among = free >> 8 * i & 255;
        image |= x->outward.byte[i][x->subsets.scattered[among][bits & 255]];
        bits >>= x->subsets.ones[among];
    }
    return image;
}

/* Consecutive placements that differ in the kind `last` only. */
typedef struct {
    uint64_t count;
    unsigned last;
    uint64_t fixed[PP_INDEX_KINDS]; /* the author's cells of the pieces that stay */
    uint64_t free, bits;            /* the internal cells of the kind `last`, and its first subset of them */
} pp_index_run;

static inline __attribute__((always_inline)) void pp_index_write_run(const pp_index *x, const pp_index_run *run,
                                                                     uint64_t *masks, unsigned kinds, unsigned from,
                                                                     unsigned to) {
    uint64_t bits = run->bits;
    for (uint64_t i = 0; i < run->count; i++, bits = pp_subset_next(bits), masks += kinds) {
        for (unsigned kind = 0; kind < kinds; kind++) masks[kind] = run->fixed[kind];
        masks[run->last] = run->fixed[run->last] | pp_index_place(x, bits, run->free, from, to);
    }
}

/* pp_index_unrank for masks of at most `bytes` bytes. If kinds and bytes are constants, the compiler unrolls the loops. */
static inline __attribute__((always_inline)) void pp_index_unrank_masks(const pp_index *x, unsigned tier,
                                                                        uint64_t first, size_t count, uint64_t *masks,
                                                                        unsigned kinds, unsigned bytes) {
    uint64_t digits[PP_INDEX_KINDS], bits[PP_INDEX_KINDS];
    pp_index_path path;
    path.leaf = &x->nodes[x->roots[tier]];
    path.depth = 0;
    path.decided = 0;
    memset(path.at, 0, sizeof path.at);
    uint64_t number = pp_index_descend(x, &path, first);
    for (unsigned kind = kinds; kind--; number /= path.leaf->choices[kind])
        digits[kind] = number % path.leaf->choices[kind];
    for (unsigned kind = 0, cells = x->cells - x->steps[path.leaf->step].start; kind < kinds; kind++)
        bits[kind] = pp_subset_unrank(&x->subsets, cells, path.leaf->left[kind], digits[kind]);
    for (;;) { /* a leaf */
        const pp_index_node *leaf = path.leaf;
        const pp_index_step *step = &x->steps[leaf->step];
        unsigned last = kinds - 1; /* the last kind with pieces left, whose digit changes fastest */
        while (last && !leaf->left[last]) last--;
        uint64_t at[PP_INDEX_KINDS];
        for (unsigned kind = 0; kind < kinds; kind++) at[kind] = pp_permute(&x->outward, path.at[kind], bytes);
        do {
            pp_index_run run = {.count = leaf->choices[last] - digits[last], .last = last, .bits = bits[last]};
            uint64_t occupied = path.decided;
            if (run.count > count) run.count = count;
            memcpy(run.fixed, at, sizeof at);
            for (unsigned kind = 0; kind < last; kind++) {
                const uint64_t free = pp_index_domain(step, kind) & ~occupied;
                const uint64_t placed = pp_scatter(&x->subsets, bits[kind], free, bytes);
                run.fixed[kind] |= pp_permute(&x->outward, placed, bytes);
                occupied |= placed;
            }
            run.free = pp_index_domain(step, last) & ~occupied;
            if (step->start < 8) pp_index_write_run(x, &run, masks, kinds, 0, bytes);
            else pp_index_write_run(x, &run, masks, kinds, 1, bytes);
            masks += run.count * kinds;
            count -= run.count;
            digits[last] = 0;
            bits[last] = pp_subset_first(leaf->left[last]);
        } while (count && pp_index_advance(leaf, last, digits, bits));
        if (!count) return;
        pp_index_enter_next(x, &path);
        for (unsigned kind = 0; kind < kinds; kind++) {
            digits[kind] = 0;
            bits[kind] = pp_subset_first(path.leaf->left[kind]);
        }
    }
}

/* The placements of `count` slots from `first` on: masks[i * kinds + kind] for slot first + i. They are representatives of
 * their orbits: ranking one gives its slot. */
static inline void pp_index_unrank(const pp_index *x, unsigned tier, uint64_t first, size_t count, uint64_t *masks) {
    if (!count) return;
    if (x->kinds == 2 && x->bytes <= 3) pp_index_unrank_masks(x, tier, first, count, masks, 2, 3);
    else pp_index_unrank_masks(x, tier, first, count, masks, x->kinds, x->bytes);
}

#include "index_build.h"

#endif
