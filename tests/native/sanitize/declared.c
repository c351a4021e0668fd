/* declared_index.c: declarations that fit a small game, bad ones, and positions and slots outside the index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "declared_index_api.h"
#include "perfectplay/grid.h"

/* ---- the game: both players place three pieces on 3 × 3 cells; the player to move then loses ---- */

enum { CELLS = 9, TURN = 18, HANDS = 19, FREE_BIT = 63, SLOTS = 300 };

static int first_cell; /* the first cell that may be used: 1 for rules without the symmetries */

static unsigned value_at(pp_position position, unsigned cell) { return (unsigned)(position >> 2 * cell & 3); }
static unsigned hand_of(pp_position position, unsigned player) {
    return (unsigned)(position >> (HANDS + 2 * player) & 3);
}

static pp_position start(const pp_kernel *self) { return UINT64_C(15) << HANDS | UINT64_C(1) << FREE_BIT; }

static size_t moves(const pp_kernel *self, pp_position position, pp_move *list) {
    size_t count = 0;
    if (!hand_of(position, position >> TURN & 1)) return 0;
    for (unsigned cell = (unsigned)first_cell; cell < CELLS; cell++)
        if (!value_at(position, cell)) list[count++] = cell;
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const unsigned player = position >> TURN & 1;
    position -= UINT64_C(1) << (HANDS + 2 * player);
    return (position | (pp_position)(player + 1) << 2 * move) ^ UINT64_C(1) << TURN;
}

static int status(const pp_kernel *self, pp_position position) {
    return hand_of(position, position >> TURN & 1) ? PP_ONGOING : PP_LOST;
}

static const pp_kernel game = {.abi = PP_ABI,
                               .rules_version = 1,
                               .players = 2,
                               .max_moves = CELLS,
                               .tier_count = 1,
                               .start = start,
                               .moves = moves,
                               .apply = apply,
                               .status = status};

/* ---- declarations ---- */

/* A declaration with its arrays. They have exactly the size that the declaration states. */
typedef struct {
    pp_declaration d;
    uint8_t bits[2 * CELLS], values[2], least[2], most[2], swapped[2], generator[8][64];
    pp_declared_number number[3];
} declared;

static void declare(declared *x) {
    *x = (declared){.values = {1, 2}, .most = {3, 3}, .swapped = {1, 0}};
    for (unsigned i = 0; i < 2 * CELLS; i++) x->bits[i] = (uint8_t)i;
    for (uint8_t i = 0; i < 2; i++) x->number[i] = (pp_declared_number){(uint8_t)(HANDS + 2 * i), 2, (uint8_t)(1 - i)};
    x->d = (pp_declaration){.cells = CELLS,
                            .planes = 2,
                            .kinds = 2,
                            .generators = pp_grid_symmetries(3, 3, x->generator),
                            .numbers = 2,
                            .bits = x->bits,
                            .values = x->values,
                            .least = x->least,
                            .most = x->most,
                            .generator = x->generator[0],
                            .swapped = x->swapped,
                            .number = x->number,
                            .turn_bit = TURN};
}

static void check_refused(const declared *x, int reason) {
    int result = -1;
    CHECK(!pp_layout_new(&x->d, &result));
    CHECK(result == reason);
}

#define REFUSE(change, reason) \
    do { \
        declare(&x); \
        change; \
        check_refused(&x, reason); \
    } while (0)

static void check_bad_declarations(void) {
    static declared x;
    REFUSE(x.d.cells = 0, PP_LAYOUT_BAD);
    REFUSE(x.d.cells = 65, PP_LAYOUT_BAD);
    REFUSE(x.d.planes = 9, PP_LAYOUT_BAD);
    REFUSE(x.d.kinds = 0, PP_LAYOUT_BAD);
    REFUSE(x.d.kinds = 9, PP_LAYOUT_BAD);
    REFUSE(x.d.numbers = 9, PP_LAYOUT_BAD);
    REFUSE(x.bits[3] = 64, PP_LAYOUT_BAD);
    REFUSE(x.bits[3] = 2, PP_LAYOUT_BAD);    /* the same bit twice */
    REFUSE(x.values[1] = 0, PP_LAYOUT_BAD);  /* the value of an empty cell */
    REFUSE(x.values[1] = 1, PP_LAYOUT_BAD);  /* the same kind twice */
    REFUSE(x.values[1] = 4, PP_LAYOUT_BAD);  /* more than two bits */
    REFUSE(x.swapped[1] = 2, PP_LAYOUT_BAD); /* there is no kind 2 */
    REFUSE(x.swapped[1] = 1, PP_LAYOUT_BAD); /* not the way back */
    REFUSE(x.least[0] = 4, PP_LAYOUT_BAD);
    REFUSE(x.most[0] = 10, PP_LAYOUT_BAD);
    REFUSE(x.number[0].width = 0, PP_LAYOUT_BAD);
    REFUSE(x.number[0].width = 17, PP_LAYOUT_BAD);
    REFUSE(x.number[0].shift = 255, PP_LAYOUT_BAD);
    REFUSE(x.number[0].shift = 4, PP_LAYOUT_BAD); /* bits of a cell */
    REFUSE(x.number[0].partner = 2, PP_LAYOUT_BAD);
    REFUSE(x.number[0].partner = 0, PP_LAYOUT_BAD); /* not the way back */
    REFUSE(x.d.turn_bit = 65, PP_LAYOUT_BAD);
    REFUSE(x.d.turn_bit = HANDS, PP_LAYOUT_BAD);
    REFUSE(x.generator[1][0] = 9, PP_LAYOUT_BAD);
    REFUSE(x.generator[1][0] = x.generator[1][1], PP_LAYOUT_BAD);
    REFUSE((x.d.numbers = 3, x.number[2] = (pp_declared_number){30, 16, 2}), PP_LAYOUT_LARGE_TABLES);
}

static void check_large_declarations(void) {
    static uint8_t bits[64], value = 1, none, most, self, generator[13][64];
    pp_declaration d = {.cells = 64, .planes = 1, .kinds = 1, .turn_bit = 64};
    d.bits = bits, d.values = &value, d.least = &none, d.most = &most, d.swapped = &self, d.generator = generator[0];
    int result;
    for (uint8_t i = 0; i < 64; i++) bits[i] = i;
    for (unsigned g = 0; g < 13; g++)
        for (uint8_t i = 0; i < 64; i++) generator[g][i] = i / 2 == g ? i ^ 1 : i;
    most = 32;
    CHECK(!pp_layout_new(&d, &result) && result == PP_LAYOUT_LARGE_TABLES); /* slots */
    most = 3, d.generators = 13;
    CHECK(!pp_layout_new(&d, &result) && result == PP_LAYOUT_LARGE_GROUP);
    for (uint8_t i = 0; i < 64; i++) generator[0][i] = (uint8_t)((i + 1) % 64);
    most = 8, d.generators = 1;
    CHECK(!pp_layout_new(&d, &result) && result == PP_LAYOUT_LARGE_ORBIT);
    most = 3; /* all 64 bits of a position are cells */
    pp_layout *layout = pp_layout_new(&d, &result);
    CHECK(layout && result == PP_LAYOUT_OK);
    pp_layout_free(layout);
}

/* ---- positions and slots ---- */

/* All slots of a tier: each position has its slot, and so does the position with the other player to move. */
static uint64_t check_tier(const pp_kernel *kernel, uint32_t tier) {
    const uint64_t size = kernel->tier_size(kernel, tier);
    CHECK(size <= SLOTS);
    pp_position *positions = room(size, sizeof *positions);
    kernel->unrank(kernel, pp_slot_of(tier, 0), size, positions);
    for (uint64_t i = 0; i < size; i++) {
        CHECK(kernel->tier(kernel, positions[i]) == tier && kernel->rank(kernel, positions[i]) == pp_slot_of(tier, i));
        CHECK(pp_declared_canonical(kernel, positions[i]) == positions[i]);
        pp_position swapped = start(kernel) & UINT64_C(1) << FREE_BIT, one;
        for (unsigned cell = 0; cell < CELLS; cell++)
            swapped |= (pp_position)((3 - value_at(positions[i], cell)) % 3) << 2 * cell;
        for (unsigned player = 0; player < 2; player++)
            swapped |= (pp_position)hand_of(positions[i], player) << (HANDS + 2 * (1 - player));
        CHECK(kernel->rank(kernel, swapped | UINT64_C(1) << TURN) == pp_slot_of(tier, i));
        kernel->unrank(kernel, pp_slot_of(tier, i), 1, &one);
        CHECK(one == positions[i]);
    }
    free(positions);
    return size;
}

static void check_outside(const pp_kernel *kernel) {
    const pp_position outside[] = {
        start(kernel) ^ UINT64_C(1) << FREE_BIT, /* a bit that the declaration does not cover */
        start(kernel) | UINT64_C(1) << 40,
        start(kernel) | 3,          /* no kind has the value 3 */
        start(kernel) | 0x55,       /* four pieces of a kind */
        start(kernel) | 0xAA << 10, /* and of the other */
    };
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        CHECK(kernel->tier(kernel, outside[i]) == kernel->tier_count);
        CHECK(kernel->rank(kernel, outside[i]) == UINT64_MAX);
        CHECK(pp_declared_canonical(kernel, outside[i]) == outside[i]);
    }
    CHECK(kernel->tier_size(kernel, kernel->tier_count) == 0);
    pp_position positions[4] = {0};
    const uint64_t size = kernel->tier_size(kernel, 0);
    kernel->unrank(kernel, pp_slot_of(0, size - 1), 3, positions); /* the last slot, and two beyond it */
    CHECK(positions[0] != PP_NO_POSITION && positions[1] == PP_NO_POSITION && positions[2] == PP_NO_POSITION);
    CHECK(positions[3] == 0);
    kernel->unrank(kernel, pp_slot_of(0, pp_slot_index(UINT64_MAX)), 2, positions);
    CHECK(positions[0] == PP_NO_POSITION && positions[1] == PP_NO_POSITION);
    kernel->unrank(kernel, pp_slot_of(kernel->tier_count, 0), 1, positions);
    CHECK(positions[0] == PP_NO_POSITION);
}

/* The tiers of children, and the position at fault where the rules do not fit the declaration. */
static void check_scans(const declared *x, int expected) {
    int result;
    pp_layout *layout = pp_layout_new(&x->d, &result);
    CHECK(layout && result == PP_LAYOUT_OK);
    pp_kernel *kernel = pp_declared_new(&game, layout);
    CHECK(kernel && kernel->tier_count == (uint32_t)(x->most[0] + 1) * (uint32_t)(x->most[1] + 1) << 4);
    uint8_t *reached = calloc(kernel->tier_count, 1);
    pp_position fault[2];
    uint32_t tier = kernel->tier(kernel, start(kernel)), tiers = 0;
    int scanned = PP_SCAN_OK;
    reached[tier] = 1;
    for (int changed = 1; changed && scanned == PP_SCAN_OK;) {
        changed = 0;
        for (tier = 0; tier < kernel->tier_count && scanned == PP_SCAN_OK; tier++) {
            if (reached[tier] != 1) continue;
            reached[tier] = 2;
            uint8_t *next = calloc(kernel->tier_count, 1);
            scanned =
                pp_declared_child_tiers(kernel, pp_slot_of(tier, 0), kernel->tier_size(kernel, tier), next, fault);
            for (uint32_t i = 0; i < kernel->tier_count; i++)
                if (next[i] && !reached[i]) reached[i] = 1, changed = 1;
            free(next);
        }
    }
    CHECK(scanned == expected);
    for (tier = 0; tier < kernel->tier_count; tier++) tiers += reached[tier] && check_tier(kernel, tier);
    if (expected == PP_SCAN_OK) {
        CHECK(tiers == 7); /* 0 to 6 pieces */
        check_outside(kernel);
        printf("%u tiers\n", tiers);
    }
    free(reached);
    pp_declared_free(kernel);
    pp_layout_free(layout);
}

int main(void) {
    static declared x;
    check_bad_declarations();
    check_large_declarations();
    declare(&x);
    check_scans(&x, PP_SCAN_OK);
    x.most[0] = x.most[1] = 2;
    check_scans(&x, PP_SCAN_MISFIT);
    declare(&x);
    first_cell = 1;
    check_scans(&x, PP_SCAN_ASYMMETRIC);
    puts("declared index: checked");
    return 0;
}
