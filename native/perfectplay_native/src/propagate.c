/* Step 3 of a solve: level by level, positions just decided inform their parents.
 *
 * At level n the entries that are win(n), or loss(n) with no open child, are final: nothing that comes later can be
 * sooner. A lost position makes each undecided parent win(n+1). A won one closes one of the parent's open children;
 * with the last one closed the parent is lost, one ply after the longest of them. Where the move keeps the turn, won
 * and lost change places. A move that wins never closes, so no entry is claimed from both sides, and what a level
 * leaves behind does not depend on the order within it (engine.h tells about the races).
 *
 * Entries that no level reaches are draws. Among them ties spread in the same way: a parent of a tie that has nothing
 * better is a tie one ply later. What remains is endless.
 *
 * Parents come from the kernel's retract, from a reverse graph, or not at all: then every level looks at the children
 * of everything undecided again. */
#include "engine.h"
#include "evaluate.h"
#include "mail.h"
#include "updates.h"

enum { WORDS_A_RANGE = 1024, CHUNKS_A_RANGE = 32 };

typedef struct {
    component *c;
    round_level at;
    mail *mail;           /* NULL: parents are told at once */
    uint64_t range;       /* whose mail is read */
    uint64_t first_chunk; /* where the entries begin that inform their parents */
} round_state;

/* ---- whom to inform ----
 *
 * What decided positions tell their parents is gathered in batches: the parents lie all over memory, and a batch has
 * been asked for (prefetched) by the time that its first parent is read. */

enum { BATCH = 128, MAIL_BATCH = 4096 };
#define CHILD_LOST ((uint64_t)1 << 63) /* or, where the move keeps the turn, won; else the other way round */

typedef struct {
    scratch room;
    size_t count, full;
    /* Parents, with CHILD_LOST: by their entry's number in a graph, by their slot in a share, else by their place among
     * the slots. */
    uint64_t *updates;
    union {
        entry **parents;
        letter *letters;
    };
    unsigned last_due;
} batch;

static bool begin_batch(pp_engine *engine, batch *b, size_t full) {
    *b = (batch){.full = full};
    if (!new_scratch(engine, &b->room)) return false;
    const size_t most = full + (size_t)engine->kernel->max_parents;
    b->updates = malloc(most * (sizeof *b->updates + sizeof *b->parents));
    if (!b->updates) {
        free_scratch(&b->room);
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    b->parents = (entry **)(b->updates + most);
    return true;
}

static void end_batch(batch *b) {
    free(b->updates);
    free_scratch(&b->room);
}

/* Tells the parents of a batch, of a share all its own, and empties it. */
WITH_POPCOUNT static void inform_all(const round_state *round, batch *b) {
    const component *c = round->c;
    const bool numbered = c->propagation == PP_PROPAGATE_GRAPH && !c->share;
    size_t found = 0;
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t place = b->updates[i] & ~CHILD_LOST;
        entry *parent = numbered ? &c->entries[place] : entry_of(c, place);
        if (!parent) continue;
        __builtin_prefetch(parent, 1);
        b->updates[found] = b->updates[i];
        b->parents[found++] = parent;
    }
    for (size_t i = 0; i < found; i++) {
        const unsigned due = inform(round->at, b->parents[i], b->updates[i] >= CHILD_LOST ? KIND_LOSS : KIND_WIN, 0);
        if (!due) continue;
        note_due(c, (uint64_t)(b->parents[i] - c->entries), due);
        if (due > b->last_due) b->last_due = due;
    }
    b->count = 0;
}

static void deliver(const round_state *round, batch *b) {
    const component *c = round->c;
    if (c->share) b->count = keep_own_updates(c->share, b->updates, b->count);
    inform_all(round, b);
}

/* Sends each update of the batch to the range of its parent, and empties it. */
static void post(pp_engine *engine, mail *m, batch *b) {
    const uint64_t place = ((uint64_t)1 << m->shift) - 1;
    size_t next[MOST_RANGES + 1] = {0}; /* a counting sort */
    for (size_t i = 0; i < b->count; i++) next[((b->updates[i] & ~CHILD_LOST) >> m->shift) + 1]++;
    for (uint64_t range = 0; range < m->ranges; range++) next[range + 1] += next[range];
    for (size_t i = 0; i < b->count; i++) {
        const letter lost = b->updates[i] >= CHILD_LOST ? LETTER_LOST : 0;
        b->letters[next[(b->updates[i] & ~CHILD_LOST) >> m->shift]++] = (letter)(b->updates[i] & place) | lost;
    }
    for (uint64_t range = 0; range < m->ranges; range++) { /* next[range] has become the end of the range's letters */
        const size_t begin = range ? next[range - 1] : 0;
        if (next[range] > begin) send_letters(engine, m, range, b->letters + begin, next[range] - begin);
    }
    b->count = 0;
}

static void hand_over(pp_engine *engine, const round_state *round, batch *b) {
    if (round->mail) post(engine, round->mail, b);
    else deliver(round, b);
}

static inline uint64_t update_of(uint64_t parent, unsigned child_kind, bool keeps_turn) {
    return wins_by(child_kind, keeps_turn) ? parent | CHILD_LOST : parent;
}

static inline void add_by_retract(pp_engine *engine, const component *c, batch *b, pp_slot slot, unsigned kind) {
    pp_position position;
    positions_of_slots(engine, slot, 1, &position);
    const size_t count = parent_slots(engine, position, &b->room);
    for (size_t i = 0; i < count; i++) {
        const pp_slot parent = b->room.slots[i];
        const tier_state *tier = tier_of(engine, parent);
        if (!tier->being_solved) continue;
        uint64_t place = parent & ~PP_KEEPS_TURN;
        if (c->share) {
            __builtin_prefetch(value_address(tier, pp_slot_index(parent)));
        } else {
            place = local_index(tier, parent);
            __builtin_prefetch(&c->markers[place >> 6]);
        }
        b->updates[b->count++] = update_of(place, kind, parent >= PP_KEEPS_TURN);
    }
}

static inline void add_by_graph(const round_state *round, batch *b, uint64_t number, unsigned kind) {
    const component *c = round->c;
    for (uint64_t i = c->graph_first[number]; i < c->graph_first[number + 1]; i++) {
        if (c->share) {
            const pp_slot slot = c->graph_slots[i];
            b->updates[b->count++] = update_of(slot & ~PP_KEEPS_TURN, kind, slot >= PP_KEEPS_TURN);
            if (b->count >= b->full) deliver(round, b);
            continue;
        }
        const uint32_t parent = c->graph_parents[i] & ~GRAPH_KEEPS_TURN;
        b->updates[b->count++] = update_of(parent, kind, c->graph_parents[i] >= GRAPH_KEEPS_TURN);
        if (b->count >= b->full) deliver(round, b);
    }
}

/* ---- one level ---- */

/* Goes along the marked positions: the lowest of `bits`, what is left of a word, is that of entry `number`. */
typedef struct {
    uint64_t word, number, bits;
} marker_cursor;

static inline marker_cursor first_of_chunk(const component *c, uint64_t chunk) {
    const uint64_t word = c->chunks[chunk].first_word;
    return (marker_cursor){.word = word, .number = c->markers[word].before, .bits = c->markers[word].bits};
}

static inline void advance(const component *c, marker_cursor *at, uint64_t number) {
    while (at->number + (unsigned)__builtin_popcountll(at->bits) <= number) {
        at->word++;
        at->number = c->markers[at->word].before;
        at->bits = c->markers[at->word].bits;
    }
    for (; at->number < number; at->number++) at->bits &= at->bits - 1;
}

/* Those of 64 entries whose remoteness is the level, modulo 64: nearly all of the others are done with at once. */
static inline uint64_t candidates(const entry *entries, uint64_t count, unsigned level) {
    uint64_t found = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t state = atomic_load_explicit(&entries[i], memory_order_relaxed);
        found |= (uint64_t)(((state ^ code_of(0, level)) & code_of(0, 63)) == 0) << i;
    }
    return found;
}

/* Informs the parents of everything in a chunk that is due. */
WITH_POPCOUNT static void inform_chunk(pp_engine *engine, const round_state *round, batch *b, uint64_t chunk) {
    const component *c = round->c;
    const uint64_t begin = chunk * CHUNK_ENTRIES, left = c->entry_count - begin;
    const uint64_t end = begin + (left < CHUNK_ENTRIES ? left : CHUNK_ENTRIES);
    marker_cursor at = first_of_chunk(c, chunk);
    unsigned informed = 0;
    bool again = false;
    atomic_fetch_and_explicit(&c->chunks[chunk].levels, ~level_bit(round->at.level), memory_order_relaxed);
    for (uint64_t first = begin; first < end; first += 64) {
        uint64_t found = candidates(&c->entries[first], end - first < 64 ? end - first : 64, round->at.level);
        for (; found; found &= found - 1) {
            const uint64_t number = first + (unsigned)__builtin_ctzll(found);
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            again |= remoteness_of(entry_code(state)) > round->at.level;
            if (!is_due(round->at, state)) continue;
            informed++;
            if (c->propagation == PP_PROPAGATE_GRAPH) {
                add_by_graph(round, b, number, kind_of(state));
                continue;
            }
            if (b->count >= b->full) hand_over(engine, round, b);
            advance(c, &at, number);
            const pp_slot slot = slot_of_word(engine, c, at.word) + (unsigned)__builtin_ctzll(at.bits);
            add_by_retract(engine, c, b, slot, kind_of(state));
        }
    }
    if (again) note_due(c, begin, round->at.level);
    engine->progress_steps_done += informed;
}

static void inform_chunks(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    batch b = {0};
    for (uint64_t chunk = round->first_chunk + first; chunk < round->first_chunk + last; chunk++) {
        const uint64_t levels = atomic_load_explicit(&c->chunks[chunk].levels, memory_order_relaxed);
        if (!(levels & level_bit(round->at.level))) continue;
        if (!b.updates && !begin_batch(engine, &b, round->mail ? MAIL_BATCH : BATCH)) return;
        inform_chunk(engine, round, &b, chunk);
    }
    hand_over(engine, round, &b);
    end_batch(&b);
    atomic_max(&c->last_level, b.last_due);
}

/* Informs the entries to which letters of the level before have come. */
static void read_blocks(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    const uint64_t begin = round->range << round->mail->shift;
    batch b;
    if (!begin_batch(engine, &b, BATCH)) return;
    for (uint64_t block = first; block < last; block++) {
        size_t count;
        const letter *letters = letters_of_block(round->mail, &round->mail->arriving[round->range], block, &count);
        for (size_t i = 0; i < count; i++) {
            const uint64_t local = begin + (letters[i] & ~LETTER_LOST);
            __builtin_prefetch(&c->markers[local >> 6]);
            b.updates[b.count++] = letters[i] >= LETTER_LOST ? local | CHILD_LOST : local;
            if (b.count == b.full) inform_all(round, &b);
        }
    }
    inform_all(round, &b);
    end_batch(&b);
    atomic_max(&c->last_level, b.last_due);
}

/* Where the entries of a range begin. A chunk that lies in two ranges belongs to the second: by its turn, the mail of
 * both has been read. */
static uint64_t first_chunk(const component *c, const mail *m, uint64_t range) {
    return range < m->ranges ? c->markers[range << m->shift >> 6].before / CHUNK_ENTRIES : chunk_count(c);
}

/* One level by mail. */
static int tour(pp_engine *engine, component *c, round_level at, mail *m) {
    int result = PP_OK;
    turn_mail(m);
    for (uint64_t range = 0; range < m->ranges && !result; range++) {
        round_state before = {.c = c, .at = {.level = at.level - 1, .ties = at.ties}, .mail = m, .range = range};
        round_state now = {.c = c, .at = at, .mail = m, .first_chunk = first_chunk(c, m, range)};
        const uint64_t chunks = first_chunk(c, m, range + 1) - now.first_chunk;
        result = parallel(engine, read_blocks, &before, m->arriving[range].block_count, 1);
        empty_mailbox(engine, m, range);
        if (!result) result = parallel(engine, inform_chunks, &now, chunks, CHUNKS_A_RANGE);
    }
    return result;
}

/* Without parents: decide at this level what its children, decided at earlier ones, say. */
WITH_POPCOUNT static void look_again_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    const unsigned level = round->at.level;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    unsigned due = 0, decided = 0;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->markers[word];
        uint64_t number = marker.before;
        for (uint64_t bits = marker.bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = atomic_load_explicit(&c->entries[number], memory_order_relaxed);
            if (entry_decided(state)) {
                decided += remoteness_of(entry_code(state)) == level;
                /* only a win or a tie that is due later can still come sooner */
                if (remoteness_of(entry_code(state)) <= level ||
                    kind_of(state) != (round->at.ties ? KIND_TIE : KIND_WIN))
                    continue;
            }
            if (!gather_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, level);
            const value_code code = round->at.ties ? e.tie : decided_code(&e);
            if (!code) continue;
            if (remoteness_of(code) > due) due = remoteness_of(code);
            if (remoteness_of(code) != level) continue; /* a loss that a finished child delays: its level will come */
            atomic_store_explicit(&c->entries[number], code, memory_order_relaxed);
            decided++;
        }
    }
    end_look_ahead(&ahead);
    engine->progress_steps_done += decided;
    atomic_max(&c->last_level, decided && due <= level ? level + 1 : due);
}

int inform_level(pp_engine *engine, component *c, round_level at) {
    round_state round = {.c = c, .at = at};
    return parallel(engine, inform_chunks, &round, chunk_count(c), CHUNKS_A_RANGE);
}

int apply_updates(pp_engine *engine, component *c, round_level at, bool child_lost, const uint32_t *places,
                  uint64_t count) {
    round_state round = {.c = c, .at = at};
    batch b;
    if (!begin_batch(engine, &b, BATCH)) return PP_OUT_OF_MEMORY;
    int result = PP_OK;
    for (uint64_t i = 0; i < count && !result; i++) {
        if (places[i] >= c->slots) result = PP_BAD_BATCH;
        else __builtin_prefetch(&c->markers[places[i] >> 6]);
        b.updates[b.count++] = places[i] | (child_lost ? CHILD_LOST : 0);
        if (!result && (b.count == BATCH || i + 1 == count)) inform_all(&round, &b);
    }
    end_batch(&b);
    atomic_max(&c->last_level, b.last_due);
    return result;
}

static int look_again(pp_engine *engine, component *c, round_level at) {
    round_state round = {.c = c, .at = at};
    return parallel(engine, look_again_words, &round, c->slots / 64, WORDS_A_RANGE);
}

static int run_level(pp_engine *engine, component *c, round_level at, mail *m) {
    engine->progress_level = at.level;
    if (c->propagation == PP_PROPAGATE_FORWARD) return look_again(engine, c, at);
    return m->ranges ? tour(engine, c, at, m) : inform_level(engine, c, at);
}

int check_last_level(const component *c, unsigned level) {
    for (uint64_t i = 0; level == LAST_LEVEL && i < c->entry_count; i++) {
        const uint32_t state = atomic_load_explicit(&c->entries[i], memory_order_relaxed);
        if (entry_decided(state) && remoteness_of(entry_code(state)) > PP_LARGEST_REMOTENESS) return PP_TOO_REMOTE;
    }
    return PP_OK;
}

static int run_levels(pp_engine *engine, component *c, bool ties) {
    mail m;
    int result = begin_mail(engine, c, &m);
    for (unsigned level = 1; level <= LAST_LEVEL && !result && (level <= c->last_level || m.sent); level++) {
        result = run_level(engine, c, (round_level){.level = level, .ties = ties}, &m);
        if (!result) result = check_last_level(c, level);
    }
    end_mail(engine, &m);
    return result;
}

/* ---- the two rounds ---- */

static void find_ties(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const round_state *round = context;
    component *c = round->c;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    unsigned due = 0;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->markers[word].before;
        for (uint64_t bits = c->markers[word].bits; bits; bits &= bits - 1, number++) {
            if (entry_decided(c->entries[number])) continue;
            if (!gather_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, 0);
            if (!e.tie) continue;
            c->entries[number] = e.tie;
            note_due(c, number, remoteness_of(e.tie));
            if (remoteness_of(e.tie) > due) due = remoteness_of(e.tie);
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, due);
}

int propagate_wins(pp_engine *engine, component *c) { return run_levels(engine, c, false); }

int begin_ties(pp_engine *engine, component *c) {
    round_state round = {.c = c, .at = {.ties = true}};
    c->last_level = 0;
    return parallel(engine, find_ties, &round, c->slots / 64, WORDS_A_RANGE);
}

int propagate_ties(pp_engine *engine, component *c) {
    if (!c->has_ties) return PP_OK;
    const int result = begin_ties(engine, c);
    return result ? result : run_levels(engine, c, true);
}
