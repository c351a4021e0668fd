/* Scores in tiers that play may go round in: one score after the other, the highest first.
 *
 * Whoever can win by t or more is found as whoever can win is: with t as the only score that counts (seen_at in
 * values.h). What was won or lost by more is decided already; what is decided at t is won or lost by exactly t, in the
 * remoteness of best play for that score. It is stored, and takes no more part. What no score decides is a tie, or has
 * no end, and both are worth 0. */
#include "engine.h"
#include "evaluate.h"

enum { WORDS_A_RANGE = 256 };

static void note_score(component *c, value_code code) {
    const int score = score_of(code), size = score < 0 ? -score : score;
    if (size) __atomic_fetch_or(&c->scores[size / 64], (uint64_t)1 << size % 64, __ATOMIC_RELAXED);
}

static void collect_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    for (uint64_t word = first; word < last; word++) {
        begin_run(engine, &ahead, slot_of_word(engine, c, word), c->markers[word].bits, true);
        for (unsigned taken; (taken = gather(engine, &ahead));)
            for (uint32_t i = 0; i < ahead.ends[taken - 1]; i++)
                note_score(c, value_at(tier_of(engine, ahead.slots[i]), pp_slot_index(ahead.slots[i])));
    }
    end_look_ahead(&ahead);
}

int collect_scores(pp_engine *engine, component *c, uint64_t *scores) {
    c->scores = scores;
    return parallel(engine, collect_words, c, c->slots / RUN_SLOTS, WORDS_A_RANGE);
}

int propagate_scores(pp_engine *engine, component *c, const uint64_t *scores) {
    for (c->threshold = PP_MAX_SCORE; c->threshold > 0; c->threshold--) {
        if (!(scores[c->threshold / 64] >> c->threshold % 64 & 1)) continue;
        int result = expand_marked(engine, c);
        if (!result) result = propagate_wins(engine, c);
        if (!result) result = store_decided(engine, c);
        if (result) return result;
    }
    return propagate_ties(engine, c); /* at threshold 0: all scores are decided, and bad */
}
