/* The perfect index of Gobblet and its tables.
 *
 * The pieces of each size form a layer: two disjoint 9-bit masks, one for the mover and one for the other player. The
 * number of pieces in each mask is the layer's type, and the three types together are the tier. A layer of a given
 * type has at most 756 configurations. Without symmetry, a tier would be a plain product of three ranges.
 *
 * Symmetry is removed layer by layer. The large layer is mapped to the representative of its orbit under all 8
 * symmetries of the square. The stabilizer of that representative is a subgroup, nearly always the trivial one,
 * which leaves the other two layers free. Otherwise the medium layer is mapped to its representative under that
 * subgroup, and the stabilizer of the medium representative acts on the small layer. Every position up to symmetry
 * gets exactly one index, without gaps:
 *
 *     index = offset of the large representative + offset of the medium one under it + number of the small one
 *
 * Example: the mover has one large piece L, the other player one small piece s, and the medium layer is empty.
 *
 *     s . .     transpose,    . L .     types: large 1*3+0 = 3, medium 0, small 0*3+1 = 1
 *     . . L     flip rows     . . .     tier = 3*81 + 0*9 + 1 = 244
 *     . . .    ---------->    s . .
 *
 *     large:  A single piece has three orbits: corner (0), edge (1), centre (2). Six small orbits belong to a
 *             corner, so the edge begins at offset 6. The symmetry above takes L to the edge's representative, cell
 *             1, whose stabilizer is {identity, flip columns}.
 *     medium: The empty layer has one orbit, at offset 0, with the same stabilizer.
 *     small:  Under it the cells form the orbits 0,2  1  3,5  4  6,8  7. Cell 6 is in the fifth, which is number 4.
 *
 *     index = 6 + 0 + 4 = 10 of 15
 *
 * The tables take a few hundred kilobytes and are built when the library is loaded. */
#ifndef GOBBLET_INDEX_H
#define GOBBLET_INDEX_H

#include "perfectplay.h"
#include "perfectplay/subsets.h"

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
    SQUARE = 1,     /* the whole group */
    LARGEST_TYPE = 756,
};

typedef uint8_t layer_type;
typedef uint8_t subgroup;

/* ---- masks ---- */
extern uint64_t gobblet_planes_of_pair[4096];   /* six bits of a cell and six of the next, spread nine bits apart */
extern uint16_t gobblet_line_completions[512];  /* cells that would complete a line of the mask */
extern uint16_t gobblet_common_line_cells[512]; /* cells common to all lines of the mask; all cells without a line */
extern uint16_t gobblet_ternary[512];           /* the mask as a number in base 3 with digits 0 and 1 */
extern const uint16_t gobblet_power_of_3[CELLS];

static inline int has_line(unsigned mask) { return gobblet_common_line_cells[mask] != ALL_CELLS; }

/* ---- configurations ---- */
extern uint16_t gobblet_config_of_code[CODES];
extern uint16_t gobblet_mover_mask[CONFIGS], gobblet_other_mask[CONFIGS];
extern uint64_t gobblet_bits_of_config[CONFIGS]; /* as the small layer of an encoded position */
extern uint16_t gobblet_image[SYMMETRIES][CONFIGS];
extern uint16_t gobblet_type_first[TYPES + 1]; /* configurations are numbered type by type */

static inline unsigned code_of_masks(unsigned mover, unsigned other) {
    return (unsigned)gobblet_ternary[mover] + 2u * gobblet_ternary[other];
}

static inline layer_type swapped_type(layer_type type) { return (layer_type)(type % 3 * 3 + type / 3); }

/* ---- orbits of configurations under each subgroup ---- */
extern uint16_t gobblet_orbit[SUBGROUPS][CONFIGS];            /* number of the orbit within the type */
extern uint8_t gobblet_to_representative[SUBGROUPS][CONFIGS]; /* a symmetry of the subgroup that maps it there */
extern subgroup gobblet_stabilizer[SUBGROUPS][CONFIGS];       /* the subgroup that fixes the representative */
extern uint16_t gobblet_orbit_count[SUBGROUPS][TYPES];
extern uint16_t gobblet_representative[SUBGROUPS][TYPES][LARGEST_TYPE];

/* ---- offsets ---- */
extern uint32_t *gobblet_outer_offset[TIERS]; /* by large orbit, and last the tier's size */
extern uint32_t
    *gobblet_inner_offset[SUBGROUPS][TYPES][TYPES]; /* by medium orbit, for a small type, and last the sum */

static inline uint64_t tier_slots(uint32_t tier) {
    return gobblet_outer_offset[tier][gobblet_orbit_count[SQUARE][tier / 81]];
}

typedef struct {
    uint32_t tier;
    layer_type type[3];
    unsigned config[3]; /* by size */
} layer_set;

static inline layer_type type_of_masks(unsigned mover, unsigned other) {
    return (layer_type)(3 * pp_one_or_two(mover) + pp_one_or_two(other));
}

static inline uint32_t tier_of_masks(const unsigned mover[3], const unsigned other[3]) {
    return (uint32_t)type_of_masks(mover[2], other[2]) * 81 + (uint32_t)type_of_masks(mover[1], other[1]) * 9 +
           type_of_masks(mover[0], other[0]);
}

static inline layer_set layers_of(const unsigned mover[3], const unsigned other[3]) {
    layer_set layers;
    for (int size = 0; size < 3; size++) {
        layers.type[size] = type_of_masks(mover[size], other[size]);
        layers.config[size] = gobblet_config_of_code[code_of_masks(mover[size], other[size])];
    }
    layers.tier = (uint32_t)layers.type[2] * 81 + (uint32_t)layers.type[1] * 9 + layers.type[0];
    return layers;
}

/* Everything that depends on the large layer only. */
typedef struct {
    const uint16_t *image; /* of the other layers, under the symmetry that maps the large one */
    pp_slot base;          /* first slot under this large representative */
    subgroup symmetry;
} anchor;

static inline anchor anchor_of(uint32_t tier, unsigned large) {
    const anchor a = {gobblet_image[gobblet_to_representative[SQUARE][large]],
                      pp_slot_of(tier, gobblet_outer_offset[tier][gobblet_orbit[SQUARE][large]]),
                      gobblet_stabilizer[SQUARE][large]};
    return a;
}

/* Returns the slot. Sets `*symmetric` if a symmetry other than the identity fixes the whole position. */
static inline pp_slot slot_under_anchor(const anchor *a, const layer_set *layers, int *symmetric) {
    const unsigned medium = a->image[layers->config[1]];
    unsigned small = a->image[layers->config[0]];
    const layer_type medium_type = layers->type[1], small_type = layers->type[0];
    if (__builtin_expect(a->symmetry == TRIVIAL, 1)) {
        const unsigned row = (unsigned)(gobblet_type_first[small_type + 1] - gobblet_type_first[small_type]);
        *symmetric = 0;
        return a->base + (medium - gobblet_type_first[medium_type]) * row + (small - gobblet_type_first[small_type]);
    }
    const subgroup left = gobblet_stabilizer[a->symmetry][medium];
    small = gobblet_image[gobblet_to_representative[a->symmetry][medium]][small];
    *symmetric = gobblet_stabilizer[left][small] != TRIVIAL;
    return a->base + gobblet_inner_offset[a->symmetry][medium_type][small_type][gobblet_orbit[a->symmetry][medium]] +
           gobblet_orbit[left][small];
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

/* The layers of one slot. Slots that share their large and medium layers form a row. */
typedef struct {
    unsigned large_type, medium_type, small_type;
    unsigned i, j, k; /* numbers of the large, medium and small representative */
    unsigned large, medium;
    unsigned rows; /* of this large layer */
    const uint16_t *smalls;
    unsigned small_count;
} index_place;

index_place gobblet_place_of_slot(pp_slot slot);
/* Moves to the first slot of the next row, which must exist. */
void gobblet_next_row(index_place *place);

/* Writes the positions of `count` slots from `first` on, with player 1 to move, or PP_NO_POSITION if the mover already
 * has a line. */
void gobblet_unrank_layers(pp_slot first, size_t count, pp_position *positions);

#endif
