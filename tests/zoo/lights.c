/* Lights Out on five by five: pressing a light switches it and its neighbours; all off is solved.
 * A position is its own index: one bit for each light. Half of a press is the way back, so parents are children. */
#include <perfectplay.h>

enum { SIDE = 5, LIGHTS = SIDE * SIDE, EVERY = (1 << LIGHTS) - 1 };

static pp_position pressed(pp_position lights, unsigned at) {
    const pp_position here = (pp_position)1 << at;
    const unsigned column = at % SIDE;
    return (lights ^ here ^ here << SIDE ^ here >> SIDE ^ (column ? here >> 1 : 0) ^
            (column < SIDE - 1 ? here << 1 : 0)) &
           EVERY;
}

static int valid(const pp_kernel *self, pp_position lights) { return lights <= EVERY; }

static pp_position start(const pp_kernel *self) { return EVERY; }

static size_t moves(const pp_kernel *self, pp_position lights, pp_move *moves) {
    if (!lights) return 0;
    for (pp_move at = 0; at < LIGHTS; at++) moves[at] = at;
    return LIGHTS;
}

static pp_position apply(const pp_kernel *self, pp_position lights, pp_move move) { return pressed(lights, move); }

static int status(const pp_kernel *self, pp_position lights) { return lights ? PP_ONGOING : PP_WON; }

static uint64_t tier_size(const pp_kernel *self, uint32_t tier) { return (uint64_t)EVERY + 1; }

static pp_slot rank(const pp_kernel *self, pp_position lights) { return lights; }

static void unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    for (size_t i = 0; i < count; i++) positions[i] = pp_slot_index(first) + i;
}

static size_t expand(const pp_kernel *self, pp_position lights, pp_slot *slots) {
    for (unsigned at = 0; at < LIGHTS; at++) slots[at] = pressed(lights, at);
    return LIGHTS;
}

const pp_kernel lights_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .players = 1,
    .max_moves = LIGHTS,
    .max_parents = LIGHTS,
    .tier_count = 1,
    .start = start,
    .moves = moves,
    .apply = apply,
    .status = status,
    .valid = valid,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
    .expand = expand,
    .retract = expand,
};
