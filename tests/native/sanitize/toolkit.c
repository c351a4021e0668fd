/* The headers of the kernel toolkit: subsets, placements, orbits, grids and the dense index, compared with slow counts.
 *
 * Slots are counted a second way by Burnside's lemma. The program prints one line per game. */
#include <stdio.h>

#include "check.h"
#include "perfectplay/edges.h"
#include "perfectplay/grid.h"
#include "perfectplay/index.h"
#include "perfectplay/orbits.h"
#include "perfectplay/placement.h"

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t next_random(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* ---- subsets and placements ---- */

static void check_subsets(void) {
    pp_subsets s;
    CHECK(pp_subsets_build(&s, 64));
    CHECK(pp_choose(64, 32) == UINT64_C(1832624140942590534) && pp_choose(3, 4) == 0);
    for (unsigned count = 0; count <= 6; count++) {
        uint64_t mask = (UINT64_C(1) << count) - 1;
        for (uint64_t number = 0; number < pp_choose(12, count); number++, mask = pp_subset_next(mask)) {
            CHECK(pp_subset_rank(&s, mask, 2) == number);
            CHECK(pp_subset_unrank(&s, 12, count, number) == mask);
        }
    }
    for (int i = 0; i < 10000; i++) {
        const uint64_t mask = next_random(), among = next_random() & next_random(),
                       bits = pp_gather(&s, mask, among, 8);
        CHECK(bits == pp_gather_bits(mask, among));
        CHECK(pp_scatter(&s, bits, among, 8) == (mask & among) && pp_scatter_bits(bits, among) == (mask & among));
    }
    const uint8_t counts[3] = {2, 1, 3};
    const uint64_t size = pp_placement_size(&s, 9, 3, counts);
    CHECK(size == 36 * 7 * 20);
    for (uint64_t number = 0; number < size; number++) {
        uint64_t masks[3];
        pp_placement_unrank(&s, 9, 3, counts, number, masks);
        CHECK(!(masks[0] & masks[1]) && !((masks[0] | masks[1]) & masks[2]) && (masks[0] | masks[1] | masks[2]) < 512);
        CHECK(pp_placement_rank(&s, 9, 3, masks) == number);
    }
    pp_subsets_free(&s);
}

/* ---- orbits and edges ---- */

static uint32_t turn_mask(const void *context, unsigned symmetry, uint32_t config) {
    const uint8_t (*image)[64] = context;
    uint32_t mask = 0;
    for (unsigned cell = 0; cell < 9; cell++) mask |= (config >> cell & 1) << image[symmetry][cell];
    return mask;
}

static void check_orbits(void) {
    uint8_t image[8][64];
    CHECK(pp_grid_symmetries(3, 3, image) == 8 && pp_grid_symmetries(4, 2, image) == 4);
    pp_grid_symmetries(3, 3, image);
    pp_orbits o;
    CHECK(pp_orbits_build(&o, 512, 8, turn_mask, image));
    CHECK(o.orbits == 102); /* colourings of the 3 × 3 board with two colours, by Burnside's lemma */
    for (uint32_t config = 0; config < 512; config++) {
        const uint32_t least = o.representative[o.orbit[config]];
        CHECK(least <= config && turn_mask(image, o.by[config], config) == least);
        CHECK(o.stabilizer[o.orbit[config]] & 1);
    }
    pp_orbits_free(&o);
    const uint64_t offsets[4] = {0, 5, 5, 9};
    CHECK(pp_last_at_most(offsets, 4, 4) == 0 && pp_last_at_most(offsets, 4, 5) == 2 &&
          pp_last_at_most(offsets, 4, 99) == 3);
    pp_slot slots[4];
    pp_edges edges = {.slots = slots};
    pp_edges_add(&edges, 7, 0), pp_edges_add(&edges, 7, 0), pp_edges_add(&edges, 7, 1), pp_edges_add(&edges, 8, 1);
    CHECK(edges.count == 3);
}

/* ---- the index ---- */

/* The placements of two kinds that a symmetry keeps: whole cycles hold the first kind, the second kind or nothing. */
static uint64_t count_kept(const uint8_t *image, unsigned cells, unsigned first, unsigned second) {
    uint64_t ways[65][65] = {{1}}, seen = 0;
    for (unsigned cell = 0; cell < cells; cell++) {
        unsigned length = 0;
        for (unsigned at = cell; !(seen >> at & 1); at = image[at], length++) seen |= UINT64_C(1) << at;
        if (!length) continue;
        for (unsigned a = first + 1; a--;)
            for (unsigned b = second + 1; b--;) {
                if (a >= length) ways[a][b] += ways[a - length][b];
                if (b >= length) ways[a][b] += ways[a][b - length];
            }
    }
    return ways[first][second];
}

static void check_slot(const pp_index *x, unsigned tier, uint64_t slot) {
    uint64_t masks[2], inner[2];
    unsigned stabilizer, kept = 0;
    pp_index_unrank(x, tier, slot, 1, masks);
    CHECK(pp_index_rank(x, masks, &stabilizer) == slot);
    for (int kind = 0; kind < 2; kind++) inner[kind] = pp_permute(&x->inward, masks[kind], x->bytes);
    for (unsigned s = 0; s < x->group; s++) {
        uint64_t turned[2];
        for (int kind = 0; kind < 2; kind++) turned[kind] = pp_permute(&x->symmetry[s], inner[kind], x->bytes);
        kept += turned[0] == inner[0] && turned[1] == inner[1];
        for (int kind = 0; kind < 2; kind++) turned[kind] = pp_permute(&x->outward, turned[kind], x->bytes);
        CHECK(pp_index_rank(x, turned, NULL) == slot);
    }
    CHECK(kept == stabilizer);
}

static void check_index(const char *name, unsigned cells, unsigned most, unsigned generators,
                        const uint8_t (*generator)[64]) {
    static pp_index x;
    const pp_index_spec spec = {.cells = cells,
                                .kinds = 2,
                                .most = {(uint8_t)most, (uint8_t)most},
                                .generators = generators,
                                .generator = generator};
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_OK);
    uint64_t slots = 0, masks[2 * 100];
    for (unsigned tier = 0; tier < x.tiers; tier++) {
        uint8_t counts[2];
        pp_index_counts(&x, tier, counts);
        CHECK(pp_index_tier(&x, counts) == tier);
        uint64_t kept = 0;
        for (unsigned s = 0; s < x.group; s++) kept += count_kept(x.images[s], cells, counts[0], counts[1]);
        const uint64_t size = pp_index_size(&x, tier);
        CHECK(size * x.group == kept);
        slots += size;
        for (uint64_t i = 0; i < (size < 100 ? size : 100); i++)
            check_slot(&x, tier, size < 100 ? i : next_random() % size);
        const uint64_t run = size < 100 ? size : 100, first = size - run;
        pp_index_unrank(&x, tier, first, run, masks);
        for (uint64_t i = 0; i < run; i++) CHECK(pp_index_rank(&x, masks + 2 * i, NULL) == first + i);
    }
    printf("%s: %u symmetries, %llu slots\n", name, x.group, (unsigned long long)slots);
    pp_index_free(&x);
}

/* The points of `rings` squares inside each other, eight per ring in order; the squares may be turned, mirrored and swapped. */
static void check_morris(const char *name, unsigned rings, unsigned men) {
    uint8_t generator[3][64];
    for (unsigned point = 0; point < 8 * rings; point++) {
        const unsigned ring = point / 8, place = point % 8;
        generator[0][point] = (uint8_t)(8 * ring + (place + 2) % 8);
        generator[1][point] = (uint8_t)(8 * ring + (8 - place) % 8);
        generator[2][point] = (uint8_t)(8 * (rings - 1 - ring) + place);
    }
    check_index(name, 8 * rings, men, 3, (const uint8_t (*)[64])generator);
}

static void check_errors(void) {
    static pp_index x;
    const uint8_t wrong[1][64] = {{0, 0}};
    pp_index_spec spec = {.cells = 2, .kinds = 1, .most = {1}, .generators = 1, .generator = wrong};
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_BAD_SPEC);
    pp_index_free(&x);
    uint8_t cycle[1][64];
    for (unsigned cell = 0; cell < 20; cell++) cycle[0][cell] = (uint8_t)((cell + 1) % 20);
    spec = (pp_index_spec){
        .cells = 20, .kinds = 1, .most = {3}, .generators = 1, .generator = (const uint8_t (*)[64])cycle};
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_ORBIT);
    pp_index_free(&x);
    spec.cells = 16, spec.memory = 1 << 10;
    for (unsigned cell = 0; cell < 16; cell++) cycle[0][cell] = (uint8_t)((cell + 1) % 16);
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_TABLES);
    pp_index_free(&x);
}

int main(void) {
    uint8_t image[8][64];
    check_subsets();
    check_orbits();
    check_errors();
    pp_grid_symmetries(3, 3, image);
    check_index("tic-tac-toe", 9, 9, 8, (const uint8_t (*)[64])image);
    pp_grid_symmetries(4, 4, image);
    check_index("quixo 4x4", 16, 16, 8, (const uint8_t (*)[64])image);
    check_morris("three men's morris", 1, 3);
    check_morris("six men's morris", 2, 6);
    check_morris("nine men's morris", 3, 9);
    puts("toolkit: checked");
    return 0;
}
