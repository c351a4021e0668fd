/* Builds the tables of index.h and walks the index in order. */
#include "index.h"

#include "perfectplay/grid.h"
#include "perfectplay/masks.h"
#include "perfectplay/orbits.h"

uint64_t gobblet_planes_of_pair[4096];
uint16_t gobblet_line_completions[512];
uint16_t gobblet_common_line_cells[512];
uint16_t gobblet_ternary[512];
const uint16_t gobblet_power_of_3[CELLS] = {1, 3, 9, 27, 81, 243, 729, 2187, 6561};

uint16_t gobblet_config_of_code[CODES];
uint64_t gobblet_bits_of_config[CONFIGS];
uint16_t gobblet_image[SYMMETRIES][CONFIGS];
uint16_t gobblet_type_first[TYPES + 1];

uint16_t gobblet_orbit[SUBGROUPS][CONFIGS];
uint8_t gobblet_to_representative[SUBGROUPS][CONFIGS];
subgroup gobblet_stabilizer[SUBGROUPS][CONFIGS];
uint16_t gobblet_orbit_count[SUBGROUPS][TYPES];
uint16_t gobblet_representative[SUBGROUPS][TYPES][LARGEST_TYPE];

uint32_t *gobblet_outer_offset[TIERS];
uint32_t *gobblet_inner_offset[SUBGROUPS][TYPES][TYPES];

/* ---- masks ---- */

static const uint16_t lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

static void build_masks(void) {
    for (unsigned bits = 0; bits < 4096; bits++)
        for (unsigned plane = 0; plane < 6; plane++)
            gobblet_planes_of_pair[bits] |=
                (uint64_t)(bits >> plane & 1) << (9 * plane) | (uint64_t)(bits >> (6 + plane) & 1) << (9 * plane + 1);
    for (unsigned mask = 0; mask < 512; mask++) {
        gobblet_common_line_cells[mask] = ALL_CELLS;
        for (int i = 0; i < 8; i++) {
            const unsigned missing = lines[i] & ~mask;
            if (!missing) gobblet_common_line_cells[mask] &= lines[i];
            if (__builtin_popcount(missing) == 1) gobblet_line_completions[mask] |= (uint16_t)missing;
        }
        for (int cell = 0; cell < CELLS; cell++)
            if (mask >> cell & 1) gobblet_ternary[mask] = (uint16_t)(gobblet_ternary[mask] + gobblet_power_of_3[cell]);
    }
}

/* ---- configurations ---- */

uint16_t gobblet_mover_mask[CONFIGS], gobblet_other_mask[CONFIGS];

static uint64_t spread(unsigned mask) {
    uint64_t bits = 0;
    for (int cell = 0; cell < CELLS; cell++) bits |= (uint64_t)(mask >> cell & 1) << (6 * cell);
    return bits;
}

static void build_configs(void) {
    unsigned config = 0;
    for (layer_type type = 0; type < TYPES; type++) {
        gobblet_type_first[type] = (uint16_t)config;
        for (unsigned mover = 0; mover < 512; mover++)
            for (unsigned other = 0; other < 512; other++) {
                if ((mover & other) || __builtin_popcount(mover) != type / 3 || __builtin_popcount(other) != type % 3)
                    continue;
                gobblet_mover_mask[config] = (uint16_t)mover;
                gobblet_other_mask[config] = (uint16_t)other;
                gobblet_bits_of_config[config] = spread(mover) | spread(other) << 1;
                gobblet_config_of_code[code_of_masks(mover, other)] = (uint16_t)config++;
            }
    }
    gobblet_type_first[TYPES] = (uint16_t)config;
}

/* ---- orbits ---- */

static void build_images(void) {
    uint8_t cell_image[SYMMETRIES][64];
    pp_grid_symmetries(3, 3, cell_image);
    for (unsigned s = 0; s < SYMMETRIES; s++) {
        pp_permutation turn;
        pp_permutation_fill(&turn, CELLS, cell_image[s]);
        for (unsigned config = 0; config < CONFIGS; config++) {
            const unsigned mover = (unsigned)pp_permute(&turn, gobblet_mover_mask[config], 2);
            const unsigned other = (unsigned)pp_permute(&turn, gobblet_other_mask[config], 2);
            gobblet_image[s][config] = gobblet_config_of_code[code_of_masks(mover, other)];
        }
    }
}

/* A subgroup is numbered when it first occurs as the stabilizer of a representative. All ten occur. */
static void build_orbits(void) {
    uint64_t members[SUBGROUPS] = {[TRIVIAL] = 1, [SQUARE] = (1 << SYMMETRIES) - 1};
    unsigned groups = 2;
    for (unsigned group = 0; group < groups; group++)
        for (unsigned type = 0; type < TYPES; type++)
            for (unsigned config = gobblet_type_first[type]; config < gobblet_type_first[type + 1]; config++) {
                unsigned least = config;
                uint64_t fixing = 0;
                for (uint64_t set = members[group]; set; set &= set - 1) {
                    const unsigned s = (unsigned)__builtin_ctzll(set), image = gobblet_image[s][config];
                    if (image < least) least = image, gobblet_to_representative[group][config] = (uint8_t)s;
                    if (image == config) fixing |= set & -set;
                }
                if (least == config) { /* a representative is the first of its orbit */
                    gobblet_representative[group][type][gobblet_orbit_count[group][type]] = (uint16_t)config;
                    gobblet_orbit[group][config] = gobblet_orbit_count[group][type]++;
                    gobblet_stabilizer[group][config] = (subgroup)pp_number_set(fixing, members, &groups);
                } else {
                    gobblet_orbit[group][config] = gobblet_orbit[group][least];
                    gobblet_stabilizer[group][config] = gobblet_stabilizer[group][least];
                }
            }
}

/* ---- offsets ---- */

/* Exactly the space that all offsets need. It is static because a library constructor cannot report an allocation
 * failure. */
static uint32_t offset_storage[78012];

static uint32_t *new_offsets(unsigned count) {
    static uint32_t *next = offset_storage;
    uint32_t *offsets = next;
    next += count + 1;
    return offsets;
}

static void build_offsets(void) {
    for (unsigned group = 0; group < SUBGROUPS; group++)
        for (unsigned medium = 0; medium < TYPES; medium++)
            for (unsigned small = 0; small < TYPES; small++) {
                const unsigned count = gobblet_orbit_count[group][medium];
                uint32_t *offsets = gobblet_inner_offset[group][medium][small] = new_offsets(count), sum = 0;
                for (unsigned i = 0; i < count; i++) {
                    offsets[i] = sum;
                    sum +=
                        gobblet_orbit_count[gobblet_stabilizer[group][gobblet_representative[group][medium][i]]][small];
                }
                offsets[count] = sum;
            }
    for (unsigned tier = 0; tier < TIERS; tier++) {
        const unsigned large = tier / 81, medium = tier / 9 % 9, small = tier % 9;
        const unsigned count = gobblet_orbit_count[SQUARE][large];
        uint32_t *offsets = gobblet_outer_offset[tier] = new_offsets(count), sum = 0;
        for (unsigned i = 0; i < count; i++) {
            const subgroup left = gobblet_stabilizer[SQUARE][gobblet_representative[SQUARE][large][i]];
            offsets[i] = sum;
            sum += gobblet_inner_offset[left][medium][small][gobblet_orbit_count[left][medium]];
        }
        offsets[count] = sum;
    }
}

__attribute__((constructor)) static void build_tables(void) {
    build_masks();
    build_configs();
    build_images();
    build_orbits();
    build_offsets();
}

/* ---- walking the index ---- */

/* Returns the last of `count` entries i with offsets[i] <= value. */
static unsigned last_at_most(const uint32_t *offsets, unsigned count, uint64_t value) {
    unsigned low = 0, high = count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (offsets[middle] <= value) low = middle;
        else high = middle;
    }
    return low;
}

static void enter_row(index_place *place) {
    place->large = gobblet_representative[SQUARE][place->large_type][place->i];
    const subgroup group = gobblet_stabilizer[SQUARE][place->large];
    place->medium = gobblet_representative[group][place->medium_type][place->j];
    place->rows = gobblet_orbit_count[group][place->medium_type];
    const subgroup left = gobblet_stabilizer[group][place->medium];
    place->smalls = gobblet_representative[left][place->small_type];
    place->small_count = gobblet_orbit_count[left][place->small_type];
}

index_place gobblet_place_of_slot(pp_slot slot) {
    const uint32_t tier = pp_slot_tier(slot);
    index_place place = {.large_type = tier / 81, .medium_type = tier / 9 % 9, .small_type = tier % 9};
    const uint64_t index = pp_slot_index(slot);
    place.i = last_at_most(gobblet_outer_offset[tier], gobblet_orbit_count[SQUARE][place.large_type], index);
    const subgroup group = gobblet_stabilizer[SQUARE][gobblet_representative[SQUARE][place.large_type][place.i]];
    const uint32_t *rows = gobblet_inner_offset[group][place.medium_type][place.small_type];
    const uint64_t inside = index - gobblet_outer_offset[tier][place.i];
    place.j = last_at_most(rows, gobblet_orbit_count[group][place.medium_type], inside);
    place.k = (unsigned)(inside - rows[place.j]);
    enter_row(&place);
    return place;
}

void gobblet_next_row(index_place *place) {
    place->k = 0;
    if (++place->j == place->rows) {
        place->j = 0;
        place->i++;
    }
    enter_row(place);
}

void gobblet_unrank_layers(pp_slot first, size_t count, pp_position *positions) {
    index_place place = gobblet_place_of_slot(first);
    for (;;) {
        const unsigned large = place.large, medium = place.medium;
        const uint64_t above = gobblet_bits_of_config[large] << 4 | gobblet_bits_of_config[medium] << 2;
        const unsigned under_large = (unsigned)(gobblet_mover_mask[large] | gobblet_other_mask[large]);
        const unsigned covered = under_large | gobblet_mover_mask[medium] | gobblet_other_mask[medium];
        const unsigned visible = gobblet_mover_mask[large] | (gobblet_mover_mask[medium] & ~under_large);
        for (; place.k < place.small_count && count; place.k++, count--) {
            const unsigned small = place.smalls[place.k];
            const int line = has_line(visible | (gobblet_mover_mask[small] & ~covered));
            *positions++ = line ? PP_NO_POSITION : above | gobblet_bits_of_config[small];
        }
        if (!count) return;
        gobblet_next_row(&place);
    }
}
