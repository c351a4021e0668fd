/* The headers of the kernel toolkit: subsets, placements, orbits, grids and the dense index, compared with slow counts.
 *
 * Slots are counted a second way by Burnside's lemma. The program prints one line per game. Its argument is the number of
 * random slots for each large game. */
#include <stdio.h>
#include <stdlib.h>

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
            CHECK(pp_subset_size(&s, mask, 2) == count && (count > 2 || pp_one_or_two(mask) == count));
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
    CHECK(!pp_placement_size(&s, 5, 3, counts) && pp_placement_size(&s, 64, 2, (uint8_t[]){32, 16}) == UINT64_MAX);
    CHECK(pp_subset_first(64) == UINT64_MAX && !pp_subset_next(UINT64_MAX) && !pp_subset_next(0));
    CHECK(pp_subset_unrank(&s, 64, 64, 0) == UINT64_MAX && !pp_subset_rank(&s, UINT64_MAX, 8));
    pp_subsets_free(&s);
}

/* ---- orbits and edges ---- */

static uint32_t turn_mask(const void *context, unsigned symmetry, uint32_t config) {
    const uint8_t (*image)[64] = context;
    uint32_t mask = 0;
    for (unsigned cell = 0; cell < 9; cell++) mask |= (config >> cell & 1) << image[symmetry][cell];
    return mask;
}

static const char *const grid_images[8] = {"012345678", "210543876", "678345012", "876543210",
                                           "036147258", "258147036", "630741852", "852741630"};

static void check_orbits(void) {
    uint8_t image[8][64];
    CHECK(pp_grid_symmetries(4, 2, image) == 4 && image[1][0] == 3 && image[2][1] == 5 && image[3][0] == 7);
    CHECK(pp_grid_symmetries(3, 3, image) == 8);
    for (unsigned cell = 0; cell < 72; cell++)
        CHECK(image[cell / 9][cell % 9] == (uint8_t)(grid_images[cell / 9][cell % 9] - '0'));
    pp_orbits o;
    CHECK(pp_orbits_build(&o, 512, 8, turn_mask, image));
    CHECK(o.orbits == 102); /* colourings of the 3 × 3 board with two colours, by Burnside's lemma */
    for (uint32_t config = 0; config < 512; config++) {
        const uint32_t orbit = pp_orbit_of(o.entry[config]), least = (uint32_t)o.representative[orbit];
        CHECK(least <= config && turn_mask(image, pp_symmetry_of(o.entry[config]), config) == least);
        CHECK((o.stabilizer[orbit] != 1) == pp_is_symmetric(o.entry[config]));
    }
    pp_orbits_free(&o);
    pp_subsets s;
    pp_permutation turn[8];
    CHECK(pp_subsets_build(&s, 9));
    for (unsigned i = 0; i < 8; i++) pp_permutation_fill(&turn[i], 9, image[i]);
    CHECK(pp_least_image(turn, 8, 0400, 2) == 1 && pp_least_image(turn, 8, 0220, 2) == 022);
    memset(&o, 255, sizeof o); /* too many configurations: an error, and nothing to free */
    CHECK(!pp_orbits_of_subsets(&o, &s, 64, 32, 8, turn));
    pp_orbits_free(&o);
    uint32_t orbits = 0;
    for (unsigned count = 0; count <= 9; count++) {
        CHECK(pp_orbits_of_subsets(&o, &s, 9, count, 8, turn));
        orbits += o.orbits;
        uint64_t mask = (1u << count) - 1;
        for (uint64_t number = 0; number < pp_choose(9, count); number++, mask = pp_subset_next(mask)) {
            const uint32_t orbit = pp_orbit_of(o.entry[number]);
            CHECK(pp_permute(&turn[pp_symmetry_of(o.entry[number])], mask, 2) == o.representative[orbit]);
            CHECK((o.stabilizer[orbit] != 1) == pp_is_symmetric(o.entry[number]));
        }
        pp_orbits_free(&o);
    }
    CHECK(orbits == 102);
    pp_subsets_free(&s);
    uint64_t sets[2];
    unsigned count = 0;
    CHECK(pp_number_set(7, sets, &count) == 0 && pp_number_set(5, sets, &count) == 1 &&
          pp_number_set(7, sets, &count) == 0 && count == 2);
    const uint64_t offsets[4] = {0, 5, 5, 9};
    CHECK(pp_last_at_most(offsets, 8, 4, 4) == 0 && pp_last_at_most(offsets, 8, 4, 5) == 2 &&
          pp_last_at_most(offsets, 8, 4, 99) == 3 && pp_last_at_most(offsets, 24, 2, 9) == 1);
    pp_slot slots[4];
    pp_edges edges = {.slots = slots};
    pp_edges_add(&edges, 7, 0), pp_edges_add(&edges, 7, 0), pp_edges_add(&edges, 7, 1), pp_edges_add(&edges, 8, 1);
    CHECK(edges.count == 3);
}

/* ---- the index ---- */

enum { RUN = 100 };

static uint64_t random_slots; /* to check of each large tier set */

/* The placements with these counts that a symmetry keeps: each of its cycles holds one kind or nothing. `ways` counts
 * them by the pieces used, as a number in mixed radix. */
static uint64_t count_kept(const pp_index *x, const uint8_t *image, const uint8_t *counts) {
    static uint64_t ways[1 << 16];
    size_t radix[PP_INDEX_KINDS], size = 1;
    for (unsigned kind = 0; kind < x->kinds; size *= counts[kind++] + 1u) radix[kind] = size;
    memset(ways, 0, size * sizeof *ways);
    ways[0] = 1;
    uint64_t seen = 0;
    for (unsigned cell = 0; cell < x->cells; cell++) {
        unsigned length = 0;
        for (unsigned at = cell; !(seen >> at & 1); at = image[at], length++) seen |= UINT64_C(1) << at;
        for (size_t i = size; length && i--;)
            for (unsigned kind = 0; kind < x->kinds; kind++)
                if (i / radix[kind] % (counts[kind] + 1u) >= length) ways[i] += ways[i - length * radix[kind]];
    }
    return ways[size - 1];
}

/* The images of a slot's placement have its rank, and its stabiliser is counted. */
static void check_images(const pp_index *x, uint64_t slot, const uint64_t *masks) {
    uint64_t inner[PP_INDEX_KINDS], turned[PP_INDEX_KINDS];
    unsigned stabilizer, kept = 0;
    CHECK(pp_index_rank(x, masks, &stabilizer) == slot);
    for (unsigned kind = 0; kind < x->kinds; kind++) inner[kind] = pp_permute(x->inward, masks[kind], x->bytes);
    for (unsigned s = 0; s < x->group; s++) {
        int same = 1;
        for (unsigned kind = 0; kind < x->kinds; kind++) {
            turned[kind] = pp_permute(&x->symmetry[s], inner[kind], x->bytes);
            same &= turned[kind] == inner[kind];
            turned[kind] = pp_permute(&x->outward, turned[kind], x->bytes);
        }
        kept += (unsigned)same;
        CHECK(pp_index_rank(x, turned, NULL) == slot);
    }
    CHECK(kept == stabilizer);
}

/* Every slot of a tier, in runs; the images of every `step`-th slot. */
static void check_tier(const pp_index *x, unsigned tier, uint64_t step) {
    uint64_t masks[RUN * PP_INDEX_KINDS];
    const uint64_t size = pp_index_size(x, tier);
    for (uint64_t first = 0; first < size; first += RUN) {
        const size_t run = size - first < RUN ? (size_t)(size - first) : RUN;
        pp_index_unrank(x, tier, first, run, masks);
        for (size_t i = 0; i < run; i++) {
            CHECK(pp_index_rank(x, masks + i * x->kinds, NULL) == first + i);
            if ((first + i) % step == 0) check_images(x, first + i, masks + i * x->kinds);
        }
    }
}

static void check_random_slots(const pp_index *x, unsigned tier, uint64_t count) {
    const uint64_t size = pp_index_size(x, tier);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t masks[PP_INDEX_KINDS];
        const uint64_t slot = next_random() % size;
        pp_index_unrank(x, tier, slot, 1, masks);
        CHECK(pp_index_rank(x, masks, NULL) == slot);
        if (i % (8 * x->group) == 0) check_images(x, slot, masks);
    }
}

/* Check all tiers against Burnside's lemma, all slots of the small ones and random slots of the others. */
static uint64_t check_index(const pp_index *x) {
    uint64_t slots = 0;
    for (unsigned tier = 0; tier < x->tiers; tier++) {
        uint8_t counts[PP_INDEX_KINDS];
        uint64_t kept = 0;
        pp_index_counts(x, tier, counts);
        CHECK(pp_index_tier(x, counts) == tier);
        for (unsigned s = 0; s < x->group; s++) kept += count_kept(x, x->images[s], counts);
        const uint64_t size = pp_index_size(x, tier);
        CHECK(size * x->group == kept);
        slots += size;
        if (size <= 1000) check_tier(x, tier, 1 + x->group / 100);
        else if (size <= random_slots) check_tier(x, tier, 100);
        else check_random_slots(x, tier, random_slots / x->tiers);
    }
    return slots;
}

static void check_game(const char *name, const pp_index_spec *spec) {
    static pp_index x;
    CHECK(pp_index_build(&x, spec) == PP_INDEX_OK);
    const uint64_t slots = check_index(&x);
    printf("%s: %u symmetries, %llu slots\n", name, x.group, (unsigned long long)slots);
    pp_index_free(&x);
}

typedef const uint8_t (*generators)[PP_INDEX_CELLS];

static void check_grid(const char *name, unsigned side, unsigned pieces) {
    uint8_t image[8][64];
    const unsigned count = pp_grid_symmetries(side, side, image);
    check_game(name, &(pp_index_spec){.cells = side * side,
                                      .kinds = 2,
                                      .most = {(uint8_t)pieces, (uint8_t)pieces},
                                      .generators = count,
                                      .generator = (generators)image});
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
    check_game(name, &(pp_index_spec){.cells = 8 * rings,
                                      .kinds = 2,
                                      .most = {(uint8_t)men, (uint8_t)men},
                                      .generators = 3,
                                      .generator = (generators)generator});
}

/* A ring of cells that may be turned and mirrored, and cells outside it. */
static void check_ring(const char *name, unsigned ring, pp_index_spec spec) {
    uint8_t generator[2][64];
    for (unsigned cell = 0; cell < spec.cells; cell++) {
        generator[0][cell] = (uint8_t)(cell < ring ? (cell + 1) % ring : cell);
        generator[1][cell] = (uint8_t)(cell < ring ? (ring - cell) % ring : cell);
    }
    spec.generators = 2;
    spec.generator = (generators)generator;
    check_game(name, &spec);
}

/* A square board whose opposite edges are joined: all cells form one orbit. */
static void check_torus(const char *name, unsigned side, pp_index_spec spec) {
    uint8_t generator[10][64];
    pp_grid_symmetries(side, side, generator);
    for (unsigned cell = 0; cell < side * side; cell++) {
        generator[8][cell] = (uint8_t)(cell / side * side + (cell + 1) % side);
        generator[9][cell] = (uint8_t)((cell + side) % (side * side));
    }
    spec.cells = side * side;
    spec.generators = 10;
    spec.generator = (generators)generator;
    check_game(name, &spec);
}

/* The corners of a cube of any dimension, with all its symmetries: exchange two axes, or mirror one. */
static void check_cube(const char *name, unsigned dimension, pp_index_spec spec) {
    uint8_t generator[6][64];
    for (unsigned corner = 0; corner < 1u << dimension; corner++) {
        for (unsigned axis = 0; axis + 1 < dimension; axis++) {
            const unsigned differ = (corner >> axis ^ corner >> (axis + 1)) & 1;
            generator[axis][corner] = (uint8_t)(corner ^ (differ * 3) << axis);
        }
        generator[dimension - 1][corner] = (uint8_t)(corner ^ 1);
    }
    spec.cells = 1u << dimension;
    spec.generators = dimension;
    spec.generator = (generators)generator;
    check_game(name, &spec);
}

/* A permutation of `cells` cells that moves at most `moved` of them: a cycle, or any. */
static void fill_permutation(uint8_t *image, unsigned cells, unsigned moved) {
    for (unsigned cell = 0; cell < cells; cell++) image[cell] = (uint8_t)cell;
    const unsigned first = (unsigned)(next_random() % (cells - moved + 1)), cycle = next_random() & 1;
    for (unsigned i = moved; i > 1; i--) {
        uint8_t *a = &image[first + i - 1], *b = cycle ? a - 1 : &image[first + next_random() % i], swap = *a;
        *a = *b, *b = swap;
    }
}

/* Groups generated by one to three random permutations, which move all or only some cells. */
static void check_random_groups(unsigned wanted) {
    static pp_index x;
    unsigned built = 0, largest = 0, split = 0;
    while (built < wanted) {
        uint8_t generator[3][64];
        pp_index_spec spec = {.cells = 1 + (unsigned)(next_random() % 12),
                              .kinds = 1 + (unsigned)(next_random() % 3),
                              .generators = 1 + (unsigned)(next_random() % 2 * (next_random() % 3)),
                              .generator = (generators)generator};
        for (unsigned i = 0; i < spec.generators; i++)
            fill_permutation(generator[i], spec.cells, 1 + (unsigned)(next_random() % spec.cells));
        for (unsigned kind = 0; kind < spec.kinds; kind++) {
            spec.most[kind] = (uint8_t)(next_random() % (spec.cells + 1) % 5);
            spec.least[kind] = (uint8_t)(next_random() % (spec.most[kind] + 1u));
        }
        const pp_index_result result = pp_index_build(&x, &spec);
        if (result == PP_INDEX_OK) {
            check_index(&x);
            built++;
            largest = x.group > largest ? x.group : largest;
            split += !x.whole;
        } else CHECK(result == PP_INDEX_LARGE_GROUP);
        pp_index_free(&x);
    }
    CHECK(largest > 500 && split > 0);
    printf("%u random groups\n", built);
}

static void check_errors(void) {
    static pp_index x;
    uint8_t generator[2][64] = {{0, 0}};
    pp_index_spec spec = {.cells = 2, .kinds = 1, .most = {1}, .generators = 1, .generator = (generators)generator};
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_BAD_SPEC);
    spec.cells = 40;
    for (unsigned cell = 0; cell < 40; cell++) generator[0][cell] = (uint8_t)((cell + 1) % 40);
    spec.most[0] = 20; /* C(40, 20) patterns */
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_ORBIT);
    spec.most[0] = 3, spec.memory = 1 << 15;
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_ORBIT);
    spec.most[0] = 1;
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_TABLES);
    memcpy(generator[1], generator[0], 64);
    generator[1][0] = generator[0][1], generator[1][1] = generator[0][0];
    spec.generators = 2, spec.memory = 0; /* a cycle and a transposition generate all permutations */
    CHECK(pp_index_build(&x, &spec) == PP_INDEX_LARGE_GROUP);
    spec =
        (pp_index_spec){.cells = 20, .kinds = 2, .most = {3, 2}, .generators = 1, .generator = (generators)generator};
    for (unsigned cell = 0; cell < 20; cell++) generator[0][cell] = (uint8_t)((cell + 1) % 20);
    pp_index_result result = PP_INDEX_LARGE_TABLES; /* each bound stops the build at another place, without a leak */
    for (spec.memory = 1000; result != PP_INDEX_OK; spec.memory += spec.memory / 50) {
        result = pp_index_build(&x, &spec);
        CHECK(result == PP_INDEX_OK ||
              (!x.nodes && (result == PP_INDEX_LARGE_TABLES || result == PP_INDEX_LARGE_ORBIT)));
    }
    CHECK(spec.memory < 16 << 20);
    pp_index_free(&x);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    random_slots = strtoull(arguments[1], NULL, 10);
    check_subsets();
    check_orbits();
    check_errors();
    check_grid("tic-tac-toe", 3, 9);
    check_grid("three men's morris and tapatan", 3, 3);
    check_ring("mu torere", 8, (pp_index_spec){.cells = 9, .kinds = 2, .least = {4, 4}, .most = {4, 4}});
    check_ring("three kinds on a ring of 20", 20, (pp_index_spec){.cells = 21, .kinds = 3, .most = {2, 2, 2}});
    check_ring("64 cells", 62, (pp_index_spec){.cells = 64, .kinds = 2, .most = {3, 2}});
    check_ring("two kinds on a ring of 22", 22, (pp_index_spec){.cells = 22, .kinds = 2, .most = {11, 11}});
    check_torus("5x5 torus", 5, (pp_index_spec){.kinds = 2, .most = {5, 5}});
    check_torus("three kinds on a 5x5 torus", 5, (pp_index_spec){.kinds = 3, .most = {3, 2, 2}});
    check_torus("8x8 torus", 8, (pp_index_spec){.kinds = 2, .most = {3, 3}});
    check_torus("six kinds on an 8x8 torus", 8,
                (pp_index_spec){.kinds = 6, .least = {1, 1, 1, 1, 1, 1}, .most = {1, 1, 1, 1, 1, 1}});
    check_cube("six kinds on a cube of four dimensions", 4, (pp_index_spec){.kinds = 6, .most = {2, 2, 2, 1, 1, 1}});
    check_cube("a cube of five dimensions", 5, (pp_index_spec){.kinds = 2, .most = {3, 3}});
    check_random_groups(200);
    check_grid("quixo 4x4", 4, 16);
    check_morris("six men's morris", 2, 6);
    check_morris("nine men's morris", 3, 9);
    puts("toolkit: checked");
    return 0;
}
