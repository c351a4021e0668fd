/* The perfect index of Gobblet, and the tables behind it.
 *
 * Each size is a layer of its own: a layer is two disjoint 9-bit masks, the mover's and the other's pieces of that
 * size. How many pieces each has on the board is the layer's type; the three types together are the tier. Within its
 * type a layer is one of at most 756 configurations, so a tier would be a plain product of three ranges, if it were
 * not for symmetry.
 *
 * Symmetry is taken out layer by layer. The large layer is turned into the representative of its orbit under all 8
 * symmetries of the square. The symmetries that leave that representative as it is form a subgroup; nearly always it
 * is trivial and the other two layers are free. Otherwise the medium layer is turned into its representative under
 * that subgroup, and what is left of the subgroup then acts on the small layer. Every position up to symmetry gets
 * one index, and there are no holes:
 *
 *     index = offset of the large representative + offset of the medium one under it + number of the small one
 *
 * All of this is tables of a few hundred kilobytes, built once when the library is loaded. */
#ifndef GOBBLET_LAYERS_H
#define GOBBLET_LAYERS_H

#include "perfectplay.h"

enum {
    CELLS = 9,
    ALL_CELLS = 0x1FF,
    CONFIGS = 1423, /* layers of all nine types */
    CODES = 19683,  /* 3^9 ternary codes of a layer */
    TYPES = 9,      /* mover's count * 3 + other's count */
    TIERS = 729,    /* large type * 81 + medium type * 9 + small type */
    SYMMETRIES = 8,
    SUBGROUPS = 10, /* of the symmetries of the square */
    TRIVIAL = 0,    /* the subgroup of the identity alone */
    SQUARE = 9,     /* the whole group */
    LARGEST_TYPE = 756,
};

typedef uint8_t layer_type;
typedef uint8_t subgroup;

/* ---- masks ---- */
extern uint64_t planes_of_cell[64];     /* a cell's six bits, spread nine apart */
extern uint16_t line_completions[512];  /* cells that would complete a line of the mask */
extern uint16_t common_line_cells[512]; /* cells that all lines of the mask share; every cell if it has no line */
extern uint16_t ternary[512];           /* the mask as a number in base 3 with digits 0 and 1 */
extern const uint16_t power_of_3[CELLS];

static inline int has_line(unsigned mask) { return common_line_cells[mask] != ALL_CELLS; }

/* ---- configurations ---- */
extern uint16_t config_of_code[CODES];
extern uint16_t mover_mask[CONFIGS], other_mask[CONFIGS];
extern uint64_t bits_of_config[CONFIGS]; /* as the small layer of an encoded position */
extern uint16_t image[SYMMETRIES][CONFIGS];
extern uint16_t type_first[TYPES + 1]; /* configurations are numbered type by type */

static inline unsigned code_of_masks(unsigned mover, unsigned other) {
    return (unsigned)ternary[mover] + 2u * ternary[other];
}

static inline layer_type swapped_type(layer_type type) { return (layer_type)(type % 3 * 3 + type / 3); }

/* ---- orbits of configurations under each subgroup ---- */
extern uint16_t orbit[SUBGROUPS][CONFIGS];            /* number of the orbit within the type */
extern uint8_t to_representative[SUBGROUPS][CONFIGS]; /* a symmetry of the subgroup that takes it there */
extern subgroup stabilizer[SUBGROUPS][CONFIGS];       /* what is left of the subgroup at the representative */
extern uint16_t orbit_count[SUBGROUPS][TYPES];
extern uint16_t representative[SUBGROUPS][TYPES][LARGEST_TYPE];

/* ---- offsets ---- */
extern uint32_t *outer_offset[TIERS];                   /* by large orbit; one more entry: the tier's size */
extern uint32_t *inner_offset[SUBGROUPS][TYPES][TYPES]; /* by medium orbit, for a small type; likewise */

static inline uint64_t tier_slots(uint32_t tier) { return outer_offset[tier][orbit_count[SQUARE][tier / 81]]; }

typedef struct {
    uint32_t tier;
    layer_type type[3];
    unsigned config[3]; /* by size */
} layer_set;

/* How many cells a mask of at most two has: counting bits in general is slow on the oldest machines. */
static inline unsigned one_or_two(unsigned mask) { return (unsigned)(mask != 0) + ((mask & (mask - 1)) != 0); }

static inline layer_type type_of_masks(unsigned mover, unsigned other) {
    return (layer_type)(3 * one_or_two(mover) + one_or_two(other));
}

static inline uint32_t tier_of_masks(const unsigned mover[3], const unsigned other[3]) {
    return (uint32_t)type_of_masks(mover[2], other[2]) * 81 + (uint32_t)type_of_masks(mover[1], other[1]) * 9 +
           type_of_masks(mover[0], other[0]);
}

static inline layer_set layers_of(const unsigned mover[3], const unsigned other[3]) {
    layer_set layers;
    for (int size = 0; size < 3; size++) {
        layers.type[size] = type_of_masks(mover[size], other[size]);
        layers.config[size] = config_of_code[code_of_masks(mover[size], other[size])];
    }
    layers.tier = (uint32_t)layers.type[2] * 81 + (uint32_t)layers.type[1] * 9 + layers.type[0];
    return layers;
}

/* All that a large layer decides. */
typedef struct {
    const uint16_t *image; /* of the other layers, under the symmetry that makes the large one representative */
    pp_slot base;          /* first slot under this large representative */
    subgroup symmetry;
} anchor;

static inline anchor anchor_of(uint32_t tier, unsigned large) {
    const anchor a = {image[to_representative[SQUARE][large]],
                      pp_slot_of(tier, outer_offset[tier][orbit[SQUARE][large]]), stabilizer[SQUARE][large]};
    return a;
}

/* The slot, and whether some symmetry other than the identity leaves the whole position as it is. */
static inline pp_slot slot_under_anchor(const anchor *a, const layer_set *layers, int *symmetric) {
    const unsigned medium = a->image[layers->config[1]];
    unsigned small = a->image[layers->config[0]];
    const layer_type medium_type = layers->type[1], small_type = layers->type[0];
    if (__builtin_expect(a->symmetry == TRIVIAL, 1)) {
        const unsigned row = (unsigned)(type_first[small_type + 1] - type_first[small_type]);
        *symmetric = 0;
        return a->base + (medium - type_first[medium_type]) * row + (small - type_first[small_type]);
    }
    const subgroup left = stabilizer[a->symmetry][medium];
    small = image[to_representative[a->symmetry][medium]][small];
    *symmetric = stabilizer[left][small] != TRIVIAL;
    return a->base + inner_offset[a->symmetry][medium_type][small_type][orbit[a->symmetry][medium]] +
           orbit[left][small];
}

static inline int is_symmetric(const anchor *a, const layer_set *layers) {
    int symmetric;
    slot_under_anchor(a, layers, &symmetric);
    return symmetric;
}

static inline pp_slot slot_of_layers(const layer_set *layers, int *symmetric) {
    const anchor a = anchor_of(layers->tier, layers->config[2]);
    return slot_under_anchor(&a, layers, symmetric);
}

/* A place in the index: the layers of one slot. Those that share their large and medium layer are a row. */
typedef struct {
    unsigned large_type, medium_type, small_type;
    unsigned i, j, k; /* numbers of the large, medium and small representative */
    unsigned large, medium;
    unsigned rows; /* how many the large layer has */
    const uint16_t *smalls;
    unsigned small_count;
} index_place;

index_place place_of_slot(pp_slot slot);
/* To the first slot of the next row, which must be there. */
void next_row(index_place *place);

/* Writes the positions of `count` slots from `first` on, player 1 to move; PP_NO_POSITION where the mover shows a line. */
void unrank_layers(pp_slot first, size_t count, pp_position *positions);

#endif
