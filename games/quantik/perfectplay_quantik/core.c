/* Conversion between the portable state (8 bitboards by colour) and the solver's position (mover first). */
#include "core.h"
#include "position.h"

uint64_t quantik_position(const uint16_t *state) {
    unsigned pieces[2] = {0, 0};
    for (unsigned i = 0; i < STATE_WORDS; i++) pieces[i / SHAPES] += count_bits(state[i]);
    if (pieces[1] > pieces[0]) return PP_NO_POSITION; /* colour 0 moves first */
    const unsigned mover = pieces[0] == pieces[1] ? 0 : SHAPES, other = SHAPES - mover;
    struct fields fields;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fields.pair[shape] = quantik_pair(state[mover + shape], state[other + shape]);
        if (fields.pair[shape] == NO_PAIR) return PP_NO_POSITION;
    }
    const pp_position position = position_of(fields);
    return quantik_kernel.valid(&quantik_kernel, position) ? position : PP_NO_POSITION;
}

void quantik_state(uint64_t position, uint16_t *state) {
    const struct fields fields = fields_of(position);
    const unsigned mover = count_bits(occupied(fields)) % 2 == 0 ? 0 : SHAPES, other = SHAPES - mover;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        state[mover + shape] = quantik_pairs.mover[fields.pair[shape]];
        state[other + shape] = quantik_pairs.other[fields.pair[shape]];
    }
}

void quantik_canonical_positions(const uint64_t *positions, uint64_t *canonical_positions, size_t count) {
    for (size_t i = 0; i < count; i++) canonical_positions[i] = canonical(fields_of(positions[i]));
}

uint64_t quantik_count_children(const uint64_t *positions, size_t count) {
    pp_position children[CELLS * SHAPES];
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += quantik_kernel.children(&quantik_kernel, positions[i], children);
    return sum;
}

unsigned quantik_symmetry(unsigned number, unsigned cell) { return symmetry_cell(number, cell); }

static int ended(struct fields fields) {
    if (finished_lines(fields)) return 1;
    const unsigned occupied_cells = occupied(fields);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        if (legal_cells(fields, shape, occupied_cells)) return 0;
    }
    return 1;
}

static uint64_t perft(struct fields fields, unsigned depth, uint64_t *finished) {
    if (depth == 0) {
        *finished += (unsigned)ended(fields);
        return 1;
    }
    if (finished_lines(fields)) return 0;
    const unsigned occupied_cells = occupied(fields);
    uint64_t leaves = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned cells = legal_cells(fields, shape, occupied_cells); cells; cells &= cells - 1) {
            leaves += perft(placed(fields, shape, lowest_bit(cells)), depth - 1, finished);
        }
    }
    return leaves;
}

uint64_t quantik_perft(uint64_t position, unsigned depth, uint64_t *finished) {
    *finished = 0;
    return perft(fields_of(position), depth, finished);
}
