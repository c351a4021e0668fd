/* The engine's state: memory, threads, tiers, and access to stored values. */
#ifndef PP_ENGINE_H
#define PP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lookup_api.h"
#include "share_api.h"
#include "values.h"
#include "verify_api.h"

/* ---- memory within the budget, and in files beyond it ---- */

typedef struct {
    void *bytes; /* zeroed */
    size_t size;
    bool anonymous;
} buffer;

/* ---- tiers ---- */

enum { BLOCK_SLOTS = 1 << PP_BLOCK_BITS };
enum { SHIFT_OUTCOME = 1, SHIFT_NARROW = 3, SHIFT_WIDE = 4, SHIFT_SCORED = 5 };

/* A static search tree over sorted keys. Level 0 holds every 16th key, each higher level every 16th of the one
 * below. */
enum { TREE_FANOUT = 16, TREE_LEVELS = 10 };
typedef struct {
    uint64_t *level[TREE_LEVELS];
    size_t length[TREE_LEVELS];
    int levels;
    buffer memory;
} key_tree;

typedef struct {
    uint64_t size;
    void **blocks;               /* values, one pointer per block; NULL if there are none */
    const uint64_t **key_blocks; /* NULL for a ranked game */
    key_tree tree;
    buffer owned;         /* the values, if the engine owns them */
    uint64_t local_first; /* the tier's first slot in the component being solved, counting all workers' units */
    uint8_t shift;        /* a value takes 1 << shift bits, one of the SHIFT_ constants */
    uint8_t being_solved;
    uint8_t ordered; /* belongs to the engine's decision order (verify.c) */
} tier_state;

struct pp_engine {
    const pp_kernel *kernel;
    unsigned threads;
    uint32_t tier_count;
    tier_state *tiers;
    pp_share *share;              /* the present share, or NULL; freed with the engine */
    struct decision_order *order; /* the present decision order, or NULL (verify.c) */

    uint64_t budget;
    char *directory;
    _Atomic uint64_t used;

    _Atomic int stop;
    _Atomic int failure; /* a pp_result of a parallel step */
    _Atomic uint64_t error_position;
    int error_number;

    _Atomic uint64_t progress_positions;
    _Atomic uint32_t progress_level;
    /* If positions may repeat, settling the slots is the smaller part of the work. Every marked position is then
     * expanded, listed in the reverse graph if there is one, and propagated. pp_engine_progress combines the counts. */
    uint64_t progress_slots; /* in all; 0 unless such tiers are being solved */
    unsigned progress_steps; /* of every marked position */
    _Atomic uint64_t progress_marked, progress_steps_done;
};

/* Starts the counts of pp_engine_progress again, and clears the failure. */
void pp_reset_progress(pp_engine *engine);
void pp_drop_values(pp_engine *engine, tier_state *tier);

/* Allocates zeroed memory. Returns a pp_result. */
int pp_allocate(pp_engine *engine, size_t size, buffer *out);
void pp_release(pp_engine *engine, buffer *memory);

/* Calls work(engine, context, first, last) on ranges that cover 0 .. total, each at most `grain` long, from all threads
 * and in any order. Returns PP_OK, PP_STOPPED or the failure of a range. */
typedef void range_work(pp_engine *engine, void *context, uint64_t first, uint64_t last);
int pp_parallel(pp_engine *engine, range_work *work, void *context, uint64_t total, uint64_t grain);
static inline void fail(pp_engine *engine, int result, pp_position position) {
    engine->error_position = position;
    engine->failure = result;
}

/* ---- the index (lookup.c) ---- */

int pp_build_key_tree(pp_engine *engine, tier_state *tier);
/* Replaces each canonical position by its slot, UINT64_MAX if it is not in the index. Many together are faster. */
void pp_find_slots(const pp_engine *engine, uint64_t *positions, size_t count);

/* ---- stored values ---- */

static inline uint64_t block_count(uint64_t size) { return (size + BLOCK_SLOTS - 1) >> PP_BLOCK_BITS; }
static inline const tier_state *tier_of(const pp_engine *engine, pp_slot slot) {
    return &engine->tiers[pp_slot_tier(slot)];
}
/* The size of `count` values in bytes. */
static inline uint64_t value_bytes(uint64_t count, unsigned shift) { return ((count << shift) + 7) >> 3; }
static inline const void *value_address(const tier_state *tier, uint64_t index) {
    const char *block = tier->blocks[index >> PP_BLOCK_BITS];
    return block + ((index & (BLOCK_SLOTS - 1)) << tier->shift >> 3);
}
static inline unsigned outcome_shift(uint64_t index) { return 2 * (index & 3); } /* within its byte */
static inline unsigned outcome_bits(const tier_state *tier, uint64_t index) {
    return (unsigned)*(const uint8_t *)value_address(tier, index) >> outcome_shift(index);
}
static inline value_code value_at(const tier_state *tier, uint64_t index) {
    const void *address = value_address(tier, index);
    if (tier->shift == SHIFT_NARROW) return *(const uint8_t *)address;
    if (tier->shift == SHIFT_OUTCOME) return unpacked_outcome(outcome_bits(tier, index));
    return tier->shift == SHIFT_WIDE ? *(const uint16_t *)address : *(const uint32_t *)address;
}
/* The value as the API returns it. */
static inline value_code public_value(const tier_state *tier, uint64_t index) {
    if (tier->shift != SHIFT_OUTCOME) return value_at(tier, index);
    return outcome_code(outcome_bits(tier, index));
}
/* Four outcomes share a byte. So threads must write disjoint groups of 64 slots that begin at a multiple of 64. */
static inline void set_value(tier_state *tier, uint64_t index, value_code code) {
    void *address = (void *)(uintptr_t)value_address(tier, index);
    if (tier->shift == SHIFT_NARROW) {
        *(uint8_t *)address = (uint8_t)code;
    } else if (tier->shift == SHIFT_OUTCOME) {
        uint8_t *byte = address;
        const unsigned shift = outcome_shift(index);
        *byte = (uint8_t)((*byte & ~(3u << shift)) | packed_outcome(code) << shift);
    } else if (tier->shift == SHIFT_WIDE) {
        *(uint16_t *)address = (uint16_t)code;
    } else {
        *(uint32_t *)address = code;
    }
}
static inline uint8_t shift_of_width(unsigned width) {
    return width == 0 ? SHIFT_OUTCOME : width == 1 ? SHIFT_NARROW : width == 2 ? SHIFT_WIDE : SHIFT_SCORED;
}

#endif
