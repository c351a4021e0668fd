/* Measures the steps of a solve on this machine, for `solve plan`. Each step is done for a sample of the slots, and
 * nothing is stored. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdlib.h>
#include <time.h>

#include "moves.h"

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned run_length(const pp_engine *engine, pp_slot first) {
    const uint64_t left = tier_of(engine, first)->size - pp_slot_index(first);
    return left < RUN_SLOTS ? (unsigned)left : RUN_SLOTS;
}

/* Finds the open slots of each run. */
static void settle_runs(pp_engine *engine, const pp_slot *runs, size_t count, uint64_t *open, pp_sample *sample) {
    for (size_t run = 0; run < count; run++) {
        value_code codes[RUN_SLOTS];
        const unsigned length = run_length(engine, runs[run]);
        pp_rule_codes_of_slots(engine, runs[run], length, codes);
        open[run] = 0;
        for (unsigned i = 0; i < length; i++) {
            open[run] |= (uint64_t)(codes[i] == CODE_ENDLESS) << i;
            sample->positions += codes[i] != CODE_NO_POSITION;
        }
        sample->slots += length;
        sample->open += (unsigned)__builtin_popcountll(open[run]);
    }
}

static void expand_run(pp_engine *engine, pp_slot first, uint64_t open, scratch *room, pp_slot *slots,
                       pp_sample *sample) {
    const unsigned length = RUN_SLOTS - (unsigned)__builtin_clzll(open);
    if (has_survey(engine->kernel)) {
        uint32_t ends[RUN_SLOTS];
        engine->kernel->survey(engine->kernel, first, length, open, NULL, slots, ends);
        sample->children += ends[length - 1];
        return;
    }
    pp_position positions[RUN_SLOTS];
    uint32_t ends[RUN_SLOTS];
    unsigned count = 0;
    pp_positions_of_slots(engine, first, length, positions);
    for (; open; open &= open - 1) positions[count++] = positions[__builtin_ctzll(open)];
    pp_child_slots(engine, positions, count, slots, ends, room);
    sample->children += ends[count - 1];
}

static void retract_run(pp_engine *engine, pp_slot first, uint64_t open, scratch *room, pp_sample *sample) {
    for (; open; open &= open - 1) { /* one by one, as in a solve */
        pp_position position;
        pp_positions_of_slots(engine, first + (unsigned)__builtin_ctzll(open), 1, &position);
        sample->parents += pp_parent_slots(engine, position, room);
    }
}

int pp_measure(pp_engine *engine, const pp_slot *runs, size_t count, int parents, pp_sample *sample) {
    *sample = (pp_sample){0};
    engine->failure = PP_OK;
    scratch room;
    if (!pp_scratch_new(engine, &room)) return PP_OUT_OF_MEMORY;
    uint64_t *open = malloc((count + 1) * sizeof *open);
    pp_slot *slots = malloc(RUN_SLOTS * (engine->kernel->max_moves + (size_t)1) * sizeof *slots);
    if (open && slots) {
        const double began = thread_seconds();
        settle_runs(engine, runs, count, open, sample);
        const double settled = thread_seconds();
        for (size_t run = 0; run < count; run++)
            if (open[run]) expand_run(engine, runs[run], open[run], &room, slots, sample);
        const double expanded = thread_seconds();
        if (parents && can_retract(engine->kernel))
            for (size_t run = 0; run < count; run++) retract_run(engine, runs[run], open[run], &room, sample);
        sample->settle_seconds = settled - began;
        sample->expand_seconds = expanded - settled;
        sample->retract_seconds = thread_seconds() - expanded;
    }
    const int result = open && slots ? engine->failure : PP_OUT_OF_MEMORY;
    free(open);
    free(slots);
    pp_scratch_free(&room);
    return result;
}
