/* Builds the tables of layers.h, and walks the index in order. */
#include "layers.h"

uint64_t planes_of_cell[64];
uint16_t line_completions[512];
uint16_t common_line_cells[512];
uint16_t ternary[512];
const uint16_t power_of_3[CELLS] = {1, 3, 9, 27, 81, 243, 729, 2187, 6561};

uint16_t config_of_code[CODES];
uint64_t bits_of_config[CONFIGS];
uint16_t image[SYMMETRIES][CONFIGS];
uint16_t type_first[TYPES + 1];

uint16_t orbit[SUBGROUPS][CONFIGS];
uint8_t to_representative[SUBGROUPS][CONFIGS];
subgroup stabilizer[SUBGROUPS][CONFIGS];
uint16_t orbit_count[SUBGROUPS][TYPES];
uint16_t representative[SUBGROUPS][TYPES][LARGEST_TYPE];

uint32_t *outer_offset[TIERS];
uint32_t *inner_offset[SUBGROUPS][TYPES][TYPES];

/* ---- masks ---- */

static const uint16_t lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

static void build_masks(void) {
    for (unsigned bits = 0; bits < 64; bits++)
        for (unsigned plane = 0; plane < 6; plane++)
            planes_of_cell[bits] |= (uint64_t)(bits >> plane & 1) << (9 * plane);
    for (unsigned mask = 0; mask < 512; mask++) {
        common_line_cells[mask] = ALL_CELLS;
        for (int i = 0; i < 8; i++) {
            const unsigned missing = lines[i] & ~mask;
            if (!missing) common_line_cells[mask] &= lines[i];
            if (__builtin_popcount(missing) == 1) line_completions[mask] |= (uint16_t)missing;
        }
        for (int cell = 0; cell < CELLS; cell++)
            if (mask >> cell & 1) ternary[mask] = (uint16_t)(ternary[mask] + power_of_3[cell]);
    }
}

/* ---- configurations ---- */

uint16_t mover_mask[CONFIGS], other_mask[CONFIGS];

static uint64_t spread(unsigned mask) {
    uint64_t bits = 0;
    for (int cell = 0; cell < CELLS; cell++) bits |= (uint64_t)(mask >> cell & 1) << (6 * cell);
    return bits;
}

static void build_configs(void) {
    unsigned config = 0;
    for (layer_type type = 0; type < TYPES; type++) {
        type_first[type] = (uint16_t)config;
        for (unsigned mover = 0; mover < 512; mover++)
            for (unsigned other = 0; other < 512; other++) {
                if ((mover & other) || __builtin_popcount(mover) != type / 3 || __builtin_popcount(other) != type % 3)
                    continue;
                mover_mask[config] = (uint16_t)mover;
                other_mask[config] = (uint16_t)other;
                bits_of_config[config] = spread(mover) | spread(other) << 1;
                config_of_code[code_of_masks(mover, other)] = (uint16_t)config++;
            }
    }
    type_first[TYPES] = (uint16_t)config;
}

/* ---- the symmetries of the square, as a group ---- */

static uint8_t cell_image[SYMMETRIES][CELLS];   /* bit 2: transpose first; bit 1: flip rows; bit 0: flip columns */
static uint8_t product[SYMMETRIES][SYMMETRIES]; /* first the right one, then the left one */
static uint8_t members[SUBGROUPS];              /* bit i: symmetry i belongs to it */

static void build_symmetries(void) {
    for (unsigned s = 0; s < SYMMETRIES; s++)
        for (unsigned cell = 0; cell < CELLS; cell++) {
            unsigned row = cell / 3, column = cell % 3;
            if (s & 4) {
                const unsigned swap = row;
                row = column;
                column = swap;
            }
            if (s & 2) row = 2 - row;
            if (s & 1) column = 2 - column;
            cell_image[s][cell] = (uint8_t)(3 * row + column);
        }
    for (unsigned after = 0; after < SYMMETRIES; after++)
        for (unsigned before = 0; before < SYMMETRIES; before++)
            for (uint8_t s = 0; s < SYMMETRIES; s++) /* two corners tell a symmetry */
                if (cell_image[s][0] == cell_image[after][cell_image[before][0]] &&
                    cell_image[s][2] == cell_image[after][cell_image[before][2]])
                    product[after][before] = s;
}

static int is_subgroup(unsigned set) {
    if (!(set & 1)) return 0;
    for (unsigned a = 0; a < SYMMETRIES; a++)
        for (unsigned b = 0; b < SYMMETRIES; b++)
            if ((set >> a & 1) && (set >> b & 1) && !(set >> product[a][b] & 1)) return 0;
    return 1;
}

static void build_subgroups(void) { /* in the order of their member sets: TRIVIAL is first, SQUARE last */
    unsigned count = 0;
    for (unsigned set = 1; set < 256; set++)
        if (is_subgroup(set)) members[count++] = (uint8_t)set;
}

static subgroup subgroup_of(unsigned set) {
    subgroup group = 0;
    while (members[group] != set) group++;
    return group;
}

static unsigned mask_image(unsigned s, unsigned mask) {
    unsigned result = 0;
    for (unsigned cell = 0; cell < CELLS; cell++) result |= (mask >> cell & 1) << cell_image[s][cell];
    return result;
}

static void build_orbits(void) {
    for (unsigned s = 0; s < SYMMETRIES; s++)
        for (unsigned config = 0; config < CONFIGS; config++)
            image[s][config] =
                config_of_code[code_of_masks(mask_image(s, mover_mask[config]), mask_image(s, other_mask[config]))];
    for (unsigned group = 0; group < SUBGROUPS; group++)
        for (unsigned type = 0; type < TYPES; type++)
            for (unsigned config = type_first[type]; config < type_first[type + 1]; config++) {
                unsigned least = config, by = 0, fixing = 0;
                for (unsigned s = 0; s < SYMMETRIES; s++)
                    if ((members[group] >> s & 1) && image[s][config] < least) least = image[s][config], by = s;
                for (unsigned s = 0; s < SYMMETRIES; s++)
                    if ((members[group] >> s & 1) && image[s][least] == least) fixing |= 1u << s;
                if (least == config) { /* a representative: the first of its orbit to be met */
                    representative[group][type][orbit_count[group][type]] = (uint16_t)config;
                    orbit[group][config] = orbit_count[group][type]++;
                } else {
                    orbit[group][config] = orbit[group][least];
                }
                to_representative[group][config] = (uint8_t)by;
                stabilizer[group][config] = subgroup_of(fixing);
            }
}

/* ---- offsets ---- */

/* Room for all of them, to the word: a library that is being loaded cannot say that memory has run out. */
static uint32_t offset_room[78012];

static uint32_t *new_offsets(unsigned count) {
    static uint32_t *next = offset_room;
    uint32_t *offsets = next;
    next += count + 1;
    return offsets;
}

static void build_offsets(void) {
    for (unsigned group = 0; group < SUBGROUPS; group++)
        for (unsigned medium = 0; medium < TYPES; medium++)
            for (unsigned small = 0; small < TYPES; small++) {
                const unsigned count = orbit_count[group][medium];
                uint32_t *offsets = inner_offset[group][medium][small] = new_offsets(count), sum = 0;
                for (unsigned i = 0; i < count; i++) {
                    offsets[i] = sum;
                    sum += orbit_count[stabilizer[group][representative[group][medium][i]]][small];
                }
                offsets[count] = sum;
            }
    for (unsigned tier = 0; tier < TIERS; tier++) {
        const unsigned large = tier / 81, medium = tier / 9 % 9, small = tier % 9;
        const unsigned count = orbit_count[SQUARE][large];
        uint32_t *offsets = outer_offset[tier] = new_offsets(count), sum = 0;
        for (unsigned i = 0; i < count; i++) {
            const subgroup left = stabilizer[SQUARE][representative[SQUARE][large][i]];
            offsets[i] = sum;
            sum += inner_offset[left][medium][small][orbit_count[left][medium]];
        }
        offsets[count] = sum;
    }
}

__attribute__((constructor)) static void build_tables(void) {
    build_masks();
    build_configs();
    build_symmetries();
    build_subgroups();
    build_orbits();
    build_offsets();
}

/* ---- walking the index ---- */

/* The last i with offsets[i] <= value, of `count` entries. */
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
    place->large = representative[SQUARE][place->large_type][place->i];
    const subgroup group = stabilizer[SQUARE][place->large];
    place->medium = representative[group][place->medium_type][place->j];
    place->rows = orbit_count[group][place->medium_type];
    const subgroup left = stabilizer[group][place->medium];
    place->smalls = representative[left][place->small_type];
    place->small_count = orbit_count[left][place->small_type];
}

index_place place_of_slot(pp_slot slot) {
    const uint32_t tier = pp_slot_tier(slot);
    index_place place = {.large_type = tier / 81, .medium_type = tier / 9 % 9, .small_type = tier % 9};
    const uint64_t index = pp_slot_index(slot);
    place.i = last_at_most(outer_offset[tier], orbit_count[SQUARE][place.large_type], index);
    const subgroup group = stabilizer[SQUARE][representative[SQUARE][place.large_type][place.i]];
    const uint32_t *rows = inner_offset[group][place.medium_type][place.small_type];
    const uint64_t inside = index - outer_offset[tier][place.i];
    place.j = last_at_most(rows, orbit_count[group][place.medium_type], inside);
    place.k = (unsigned)(inside - rows[place.j]);
    enter_row(&place);
    return place;
}

void next_row(index_place *place) {
    place->k = 0;
    if (++place->j == place->rows) {
        place->j = 0;
        place->i++;
    }
    enter_row(place);
}

void unrank_layers(pp_slot first, size_t count, pp_position *positions) {
    index_place place = place_of_slot(first);
    for (;;) {
        const unsigned large = place.large, medium = place.medium;
        const uint64_t above = bits_of_config[large] << 4 | bits_of_config[medium] << 2;
        const unsigned under_large = (unsigned)(mover_mask[large] | other_mask[large]);
        const unsigned covered = under_large | mover_mask[medium] | other_mask[medium];
        const unsigned visible = mover_mask[large] | (mover_mask[medium] & ~under_large);
        for (; place.k < place.small_count && count; place.k++, count--) {
            const unsigned small = place.smalls[place.k];
            const int line = has_line(visible | (mover_mask[small] & ~covered));
            *positions++ = line ? PP_NO_POSITION : above | bits_of_config[small];
        }
        if (!count) return;
        next_row(&place);
    }
}
