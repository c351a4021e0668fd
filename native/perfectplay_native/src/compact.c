/* Compact tables omit every value that follows from the rules within one move (compact.py). This file finds these
 * values, and packs the sorted keys of enumerated games. */
#include <stdlib.h>

#include "compact_api.h"
#include "moves.h"
#include "positions_api.h"

/* ---- values from the rules ---- */

/* The value by the best move, if the rules settle all children. Nearly always one of the first is open. */
static value_code code_by_moves(const pp_kernel *kernel, pp_position position, pp_move *moves) {
    const size_t count = kernel->moves(kernel, position, moves);
    value_code best = CODE_ENDLESS;
    int64_t best_worth = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, position, moves[i]);
        const value_code code = rule_code(kernel, child);
        const bool keeps = keeps_turn(kernel, position, child);
        if (code == CODE_ENDLESS) return CODE_ENDLESS;
        if (worth_to_parent(code, keeps) <= best_worth) continue;
        best_worth = worth_to_parent(code, keeps);
        best = value_by_move(code, keeps);
    }
    return best;
}

int pp_one_ply_codes(const pp_kernel *kernel, const pp_position *positions, size_t count, uint32_t *codes) {
    pp_move *moves = malloc((kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        codes[i] = rule_code(kernel, positions[i]);
        if (codes[i] == CODE_ENDLESS) codes[i] = code_by_moves(kernel, positions[i], moves);
    }
    free(moves);
    return PP_OK;
}

/* The code of a stored value of `width` bytes. */
static value_code stored_code(const void *values, unsigned width, size_t index) {
    if (width == 1) return ((const uint8_t *)values)[index];
    return width == 2 ? ((const uint16_t *)values)[index] : ((const uint32_t *)values)[index];
}

/* Whether a value can follow from children that the rules settle. These have a remoteness of at most 1. */
static bool may_follow_from_rules(value_code code) { return code != CODE_ENDLESS && remoteness_of(code) <= 2; }

/* pp_mark_kept for at most RUN_SLOTS slots. The stored values tell which positions need not be evaluated by their
 * moves, which takes most of the time; without them (NULL) all are. Returns the number of wrong values. */
static uint64_t mark_run(pp_engine *engine, pp_slot first, unsigned count, const pp_position *positions,
                         const value_code *stored, uint8_t *kept, pp_move *moves) {
    value_code codes[RUN_SLOTS];
    pp_position unranked[RUN_SLOTS];
    uint64_t candidates = 0, wrong = 0;
    if (positions) pp_rule_codes(engine->kernel, positions, count, codes);
    else pp_rule_codes_of_slots(engine, first, count, codes);
    for (unsigned i = 0; i < count; i++)
        candidates |= (uint64_t)(codes[i] == CODE_ENDLESS && (!stored || may_follow_from_rules(stored[i]))) << i;
    if (candidates && !positions) {
        pp_positions_of_slots(engine, first, count, unranked);
        positions = unranked;
    }
    for (; candidates; candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(candidates);
        codes[i] = code_by_moves(engine->kernel, positions[i], moves);
    }
    for (unsigned i = 0; i < count; i++) {
        kept[i] = codes[i] == CODE_ENDLESS;
        wrong += stored && !kept[i] && codes[i] != stored[i];
    }
    return wrong;
}

int pp_mark_kept(pp_engine *engine, pp_slot first, size_t count, const pp_position *positions, const void *values,
                 unsigned width, uint8_t *kept, uint64_t *wrong) {
    pp_move *moves = malloc((engine->kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    *wrong = 0;
    for (size_t done = 0; done < count; done += RUN_SLOTS) {
        const unsigned run = count - done < RUN_SLOTS ? (unsigned)(count - done) : RUN_SLOTS;
        value_code stored[RUN_SLOTS];
        for (unsigned i = 0; i < run; i++) stored[i] = stored_code(values, width, done + i);
        *wrong += mark_run(engine, first + done, run, positions ? positions + done : NULL, stored, kept + done, moves);
    }
    free(moves);
    return PP_OK;
}

int pp_count_kept(pp_engine *engine, pp_slot first, size_t count, const pp_position *positions, uint64_t *kept) {
    pp_move *moves = malloc((engine->kernel->max_moves + 1) * sizeof *moves);
    if (!moves) return PP_OUT_OF_MEMORY;
    *kept = 0;
    for (size_t done = 0; done < count; done += RUN_SLOTS) {
        const unsigned run = count - done < RUN_SLOTS ? (unsigned)(count - done) : RUN_SLOTS;
        uint8_t marks[RUN_SLOTS];
        mark_run(engine, first + done, run, positions ? positions + done : NULL, NULL, marks, moves);
        for (unsigned i = 0; i < run; i++) *kept += marks[i];
    }
    free(moves);
    return PP_OK;
}

/* ---- keys ----
 *
 * Each key is stored as the difference to the previous one: a byte below LONG_DIFFERENCE is the difference itself,
 * LONG_DIFFERENCE + n is followed by n + 1 bytes of it, the lowest first. */

enum { LONG_DIFFERENCE = 248 };

size_t pp_pack_keys(const uint64_t *keys, size_t count, uint8_t *bytes) {
    uint8_t *next = bytes;
    for (size_t i = 0; i < count; i++) {
        uint64_t difference = i ? keys[i] - keys[i - 1] : 0;
        if (difference < LONG_DIFFERENCE) {
            *next++ = (uint8_t)difference;
            continue;
        }
        const unsigned length = (64 - (unsigned)__builtin_clzll(difference) + 7) / 8;
        *next++ = (uint8_t)(LONG_DIFFERENCE + length - 1);
        for (unsigned k = 0; k < length; k++, difference >>= 8) *next++ = (uint8_t)difference;
    }
    return (size_t)(next - bytes);
}

/* The bytes of a long difference, the lowest first. */
static inline uint64_t read_bytes(const uint8_t *bytes, size_t length) {
    uint64_t number = 0;
    for (size_t k = 0; k < length; k++) number |= (uint64_t)bytes[k] << 8 * k;
    return number;
}

int pp_unpack_keys(const uint8_t *bytes, size_t size, uint64_t first, uint64_t *keys, size_t count) {
    const uint8_t *const end = bytes + size;
    uint64_t key = first;
    for (size_t i = 0; i < count; i++) {
        if (bytes == end) return 0;
        uint64_t difference = *bytes++;
        if (difference >= LONG_DIFFERENCE) {
            const size_t length = (size_t)(difference - LONG_DIFFERENCE + 1);
            if ((size_t)(end - bytes) < length) return 0;
            if (length == 2) difference = read_bytes(bytes, 2); /* by far the most frequent */
            else difference = read_bytes(bytes, length);
            bytes += length;
        }
        keys[i] = key += difference;
    }
    return bytes == end;
}
