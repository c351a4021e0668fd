/* Step 3 of a solve: level by level, decided positions update their parents.
 *
 * At level n the entries that are win(n), or loss(n) without open children, are final, because nothing that is found
 * later can be quicker. A lost position makes each undecided parent win(n+1). A won position closes one of its parent's
 * open children; when the last one is closed, the parent is lost, one ply after the longest of them. If the move keeps
 * the turn, won and lost are exchanged. A move that wins never closes a child, so no entry is decided both as a win and
 * as a loss, and the result of a level does not depend on the order of its updates (component.h explains the races).
 *
 * Entries that no level reaches are draws. Among them ties spread in the same way: a parent of a tie that has nothing
 * better is a tie one ply later. The rest are endless.
 *
 * Parents come from the kernel's retract or from a reverse graph. Without either, every level evaluates all undecided
 * positions again (forward propagation). */
#include "containers.h"
#include "evaluate.h"
#include "update_queue.h"
#include "updates.h"

enum { WORDS_PER_RANGE = 1024, CHUNKS_PER_RANGE = 32 };

/* The work of the threads at one level. */
typedef struct {
    component *c;
    round_level at;
    update_queue *queue;  /* NULL: updates are applied at once */
    uint64_t range;       /* of the queue, whose updates are applied */
    uint64_t first_chunk; /* of the entries that are propagated */
} level_work;

/* ---- a buffer of updates ----
 *
 * The parents lie all over memory. So updates are collected in a buffer, and all entries in it are prefetched before
 * the first one is changed. The contents of a buffered update, besides PARENT_WINS, depend on where parents come from
 * and where updates go:
 *
 *     parents from      updates go to                     the parent is given by
 *     retract           entries                           its local number
 *     retract           the update queue                  its local number
 *     retract           a share: entries and batches      its slot
 *     reverse graph     entries                           its entry number
 *     reverse graph     a share: entries and batches      its slot
 */

enum { DIRECT_UPDATES = 128, QUEUE_UPDATES = 4096 };

typedef struct {
    scratch room;
    size_t count, limit; /* the buffer is flushed when it has `limit` updates */
    uint64_t *updates;
    union {
        entry **parents;
        queued_update *queued;
    };
    unsigned last_due;
} update_buffer;

static bool begin_buffer(pp_engine *engine, update_buffer *b, size_t limit) {
    *b = (update_buffer){.limit = limit};
    if (!pp_scratch_new(engine, &b->room)) return false;
    const size_t capacity = limit + (size_t)engine->kernel->max_parents;
    b->updates = malloc(capacity * (sizeof *b->updates + sizeof *b->parents));
    if (!b->updates) {
        pp_scratch_free(&b->room);
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    b->parents = (entry **)(b->updates + capacity);
    return true;
}

static void end_buffer(update_buffer *b) {
    free(b->updates);
    pp_scratch_free(&b->room);
}

/* Applies the updates in the buffer to the entries of this component, and empties it. */
WITH_POPCOUNT static void apply_buffer(const level_work *work, update_buffer *b) {
    const component *c = work->c;
    const bool numbered = c->source.propagation == PP_PROPAGATE_GRAPH && !c->share;
    size_t open = 0;
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t number = b->updates[i] & ~PARENT_WINS;
        entry *parent = numbered ? &c->open.entries[number] : entry_of(c, number);
        if (!parent) continue;
        __builtin_prefetch(parent, 1);
        b->updates[open] = b->updates[i];
        b->parents[open++] = parent;
    }
    for (size_t i = 0; i < open; i++) {
        const unsigned due = apply_update(work->at, b->parents[i], b->updates[i] >= PARENT_WINS);
        if (!due) continue;
        note_due(c, (uint64_t)(b->parents[i] - c->open.entries), due);
        if (due > b->last_due) b->last_due = due;
    }
    b->count = 0;
}

/* Moves the updates in the buffer to the queues of their ranges, by a counting sort (containers.h). */
static void queue_buffer(pp_engine *engine, update_queue *q, update_buffer *b) {
    const uint64_t offset = ((uint64_t)1 << q->shift) - 1;
    uint64_t first[MAX_RANGES + 1] = {0};
    for (size_t i = 0; i < b->count; i++) first[(b->updates[i] & ~PARENT_WINS) >> q->shift]++;
    end_groups(first, q->ranges);
    for (size_t i = b->count; i-- > 0;) {
        const queued_update wins = b->updates[i] >= PARENT_WINS ? QUEUED_PARENT_WINS : 0;
        b->queued[--first[(b->updates[i] & ~PARENT_WINS) >> q->shift]] = (queued_update)(b->updates[i] & offset) | wins;
    }
    for (uint64_t range = 0; range < q->ranges; range++)
        if (first[range + 1] > first[range])
            pp_queue_append(engine, q, range, b->queued + first[range], first[range + 1] - first[range]);
    b->count = 0;
}

static void flush_buffer(pp_engine *engine, const level_work *work, update_buffer *b) {
    if (work->queue) {
        queue_buffer(engine, work->queue, b);
        return;
    }
    if (work->c->share) b->count = pp_share_route_updates(work->c->share, b->updates, b->count);
    apply_buffer(work, b);
}

/* ---- the parents of a position ---- */

static inline uint64_t update_of(uint64_t parent, unsigned child_kind, bool keeps_turn) {
    return wins_by(child_kind, keeps_turn) ? parent | PARENT_WINS : parent;
}

static inline void add_by_retract(pp_engine *engine, const component *c, update_buffer *b, pp_slot slot,
                                  unsigned kind) {
    pp_position position;
    pp_positions_of_slots(engine, slot, 1, &position);
    const size_t count = pp_parent_slots(engine, position, &b->room);
    for (size_t i = 0; i < count; i++) {
        const pp_slot parent = b->room.slots[i];
        const tier_state *tier = tier_of(engine, parent);
        if (!tier->being_solved) continue;
        uint64_t name = parent & ~PP_KEEPS_TURN;
        if (c->share) {
            __builtin_prefetch(value_address(tier, pp_slot_index(parent)));
        } else {
            name = local_index(tier, parent);
            __builtin_prefetch(&c->open.markers[name >> 6]);
        }
        b->updates[b->count++] = update_of(name, kind, parent >= PP_KEEPS_TURN);
    }
}

static inline void add_by_graph(pp_engine *engine, const level_work *work, update_buffer *b, uint64_t number,
                                unsigned kind) {
    const parent_source *graph = &work->c->source;
    for (uint64_t i = graph->first[number]; i < graph->first[number + 1]; i++) {
        if (work->c->share) {
            const pp_slot slot = graph->slots[i];
            b->updates[b->count++] = update_of(slot & ~PP_KEEPS_TURN, kind, slot >= PP_KEEPS_TURN);
        } else {
            const uint32_t parent = graph->parents[i];
            b->updates[b->count++] = update_of(parent & ~GRAPH_KEEPS_TURN, kind, parent >= GRAPH_KEEPS_TURN);
        }
        if (b->count >= b->limit) flush_buffer(engine, work, b);
    }
}

/* ---- one level ---- */

/* A position in the sequence of open positions: entry `number` is the lowest of `bits`, the rest of a marker word. */
typedef struct {
    uint64_t word, number, bits;
} marker_cursor;

static inline marker_cursor first_of_chunk(const component *c, uint64_t chunk) {
    const uint64_t word = c->open.chunks[chunk].first_word;
    return (marker_cursor){.word = word, .number = c->open.markers[word].before, .bits = c->open.markers[word].bits};
}

static inline void advance(const component *c, marker_cursor *at, uint64_t number) {
    while (at->number + (unsigned)__builtin_popcountll(at->bits) <= number) {
        at->word++;
        at->number = c->open.markers[at->word].before;
        at->bits = c->open.markers[at->word].bits;
    }
    for (; at->number < number; at->number++) at->bits &= at->bits - 1;
}

/* Those of 64 entries whose remoteness equals the level modulo 64. This quick test excludes nearly all others. */
static inline uint64_t candidates(const entry *entries, uint64_t count, unsigned level) {
    uint64_t found = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t state = atomic_load_explicit(&entries[i], memory_order_relaxed);
        found |= (uint64_t)(((state ^ code_of(0, level)) & code_of(0, 63)) == 0) << i;
    }
    return found;
}

/* Updates the parents of all entries of a chunk that are due. */
WITH_POPCOUNT static void propagate_chunk(pp_engine *engine, const level_work *work, update_buffer *b, uint64_t chunk) {
    const component *c = work->c;
    const uint64_t begin = chunk * CHUNK_ENTRIES, left = c->open.count - begin;
    const uint64_t end = begin + (left < CHUNK_ENTRIES ? left : CHUNK_ENTRIES);
    marker_cursor at = first_of_chunk(c, chunk);
    unsigned propagated = 0;
    bool again = false;
    atomic_fetch_and_explicit(&c->open.chunks[chunk].levels, ~level_bit(work->at.level), memory_order_relaxed);
    for (uint64_t first = begin; first < end; first += 64) {
        uint64_t found = candidates(&c->open.entries[first], end - first < 64 ? end - first : 64, work->at.level);
        for (; found; found &= found - 1) {
            const uint64_t number = first + (unsigned)__builtin_ctzll(found);
            const uint32_t state = load_entry(c, number);
            again |= remoteness_of(entry_code(state)) > work->at.level;
            if (!is_due(work->at, state)) continue;
            propagated++;
            if (c->source.propagation == PP_PROPAGATE_GRAPH) {
                add_by_graph(engine, work, b, number, kind_of(state));
                continue;
            }
            if (b->count >= b->limit) flush_buffer(engine, work, b);
            advance(c, &at, number);
            const pp_slot slot = slot_of_word(engine, c, at.word) + (unsigned)__builtin_ctzll(at.bits);
            add_by_retract(engine, c, b, slot, kind_of(state));
        }
    }
    if (again) note_due(c, begin, work->at.level);
    engine->progress_steps_done += propagated;
}

static void propagate_chunks(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const level_work *work = context;
    component *c = work->c;
    update_buffer b = {0};
    for (uint64_t chunk = work->first_chunk + first; chunk < work->first_chunk + last; chunk++) {
        const uint64_t levels = atomic_load_explicit(&c->open.chunks[chunk].levels, memory_order_relaxed);
        if (!(levels & level_bit(work->at.level))) continue;
        if (!b.updates && !begin_buffer(engine, &b, work->queue ? QUEUE_UPDATES : DIRECT_UPDATES)) return;
        propagate_chunk(engine, work, &b, chunk);
    }
    flush_buffer(engine, work, &b);
    end_buffer(&b);
    atomic_max(&c->last_level, b.last_due);
}

int pp_propagate_level(pp_engine *engine, component *c, round_level at) {
    level_work work = {.c = c, .at = at};
    return pp_parallel(engine, propagate_chunks, &work, chunk_count(c), CHUNKS_PER_RANGE);
}

int pp_apply_updates(pp_engine *engine, component *c, round_level at, bool parent_wins, const uint32_t *locals,
                     uint64_t count) {
    level_work work = {.c = c, .at = at};
    update_buffer b;
    if (!begin_buffer(engine, &b, DIRECT_UPDATES)) return PP_OUT_OF_MEMORY;
    int result = PP_OK;
    for (uint64_t i = 0; i < count && !result; i++) {
        if (locals[i] >= c->layout.slots) result = PP_BAD_BATCH;
        else __builtin_prefetch(&c->open.markers[locals[i] >> 6]);
        b.updates[b.count++] = locals[i] | (parent_wins ? PARENT_WINS : 0);
        if (!result && (b.count == b.limit || i + 1 == count)) apply_buffer(&work, &b);
    }
    end_buffer(&b);
    atomic_max(&c->last_level, b.last_due);
    return result;
}

/* ---- one level with an update queue ---- */

/* Applies the updates of some blocks of a range's queue, which the previous level has queued. */
static void apply_blocks(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const level_work *work = context;
    component *c = work->c;
    const uint64_t begin = work->range << work->queue->shift;
    update_buffer b;
    if (!begin_buffer(engine, &b, DIRECT_UPDATES)) return;
    for (uint64_t block = first; block < last; block++) {
        size_t count;
        const queued_update *updates = pp_queue_block(work->queue, &work->queue->current[work->range], block, &count);
        for (size_t i = 0; i < count; i++) {
            const uint64_t local = begin + (updates[i] & ~QUEUED_PARENT_WINS);
            __builtin_prefetch(&c->open.markers[local >> 6]);
            b.updates[b.count++] = updates[i] >= QUEUED_PARENT_WINS ? local | PARENT_WINS : local;
            if (b.count == b.limit) apply_buffer(work, &b);
        }
    }
    apply_buffer(work, &b);
    end_buffer(&b);
    atomic_max(&c->last_level, b.last_due);
}

/* The first chunk of a range. A chunk with entries of two ranges belongs to the second one, because the updates of both
 * have been applied when that is processed. */
static uint64_t first_chunk(const component *c, const update_queue *q, uint64_t range) {
    return range < q->ranges ? c->open.markers[range << q->shift >> 6].before / CHUNK_ENTRIES : chunk_count(c);
}

static int run_pass(pp_engine *engine, component *c, round_level at, update_queue *q) {
    int result = PP_OK;
    pp_queue_swap(q);
    for (uint64_t range = 0; range < q->ranges && !result; range++) {
        level_work previous = {.c = c, .at = {.level = at.level - 1, .ties = at.ties}, .queue = q, .range = range};
        level_work present = {.c = c, .at = at, .queue = q, .first_chunk = first_chunk(c, q, range)};
        const uint64_t chunks = first_chunk(c, q, range + 1) - present.first_chunk;
        result = pp_parallel(engine, apply_blocks, &previous, q->current[range].block_count, 1);
        pp_queue_clear(engine, q, range);
        if (!result) result = pp_parallel(engine, propagate_chunks, &present, chunks, CHUNKS_PER_RANGE);
    }
    return result;
}

/* ---- one level forward ---- */

/* Decides at this level the positions whose children, decided at earlier levels, require it. */
WITH_POPCOUNT static void reevaluate_words(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    const level_work *work = context;
    component *c = work->c;
    const unsigned level = work->at.level;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    unsigned due = 0, decided = 0;
    for (uint64_t word = first; word < last; word++) {
        const marker_word marker = c->open.markers[word];
        uint64_t number = marker.before;
        for (uint64_t bits = marker.bits; bits; bits &= bits - 1, number++) {
            const uint32_t state = load_entry(c, number);
            if (entry_decided(state)) {
                decided += remoteness_of(entry_code(state)) == level;
                /* only a win or a tie that is due later can become quicker */
                if (remoteness_of(entry_code(state)) <= level ||
                    kind_of(state) != (work->at.ties ? KIND_TIE : KIND_WIN))
                    continue;
            }
            if (!expand_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, level);
            const value_code code = work->at.ties ? e.tie : decided_code(&e);
            if (!code) continue;
            if (remoteness_of(code) > due) due = remoteness_of(code);
            if (remoteness_of(code) != level) continue; /* a loss delayed by a finished child, due at a later level */
            atomic_store_explicit(&c->open.entries[number], code, memory_order_relaxed);
            decided++;
        }
    }
    end_look_ahead(&ahead);
    engine->progress_steps_done += decided;
    atomic_max(&c->last_level, decided && due <= level ? level + 1 : due);
}

static int reevaluate(pp_engine *engine, component *c, round_level at) {
    level_work work = {.c = c, .at = at};
    return pp_parallel(engine, reevaluate_words, &work, word_count(c), WORDS_PER_RANGE);
}

/* ---- all levels ---- */

static int run_level(pp_engine *engine, component *c, round_level at, update_queue *q) {
    engine->progress_level = at.level;
    if (c->source.propagation == PP_PROPAGATE_FORWARD) return reevaluate(engine, c, at);
    return q->ranges ? run_pass(engine, c, at, q) : pp_propagate_level(engine, c, at);
}

int pp_check_last_level(const component *c, unsigned level) {
    for (uint64_t i = 0; level == LAST_LEVEL && i < c->open.count; i++) {
        const uint32_t state = load_entry(c, i);
        if (entry_decided(state) && remoteness_of(entry_code(state)) > PP_LARGEST_REMOTENESS) return PP_TOO_REMOTE;
    }
    return PP_OK;
}

static int run_levels(pp_engine *engine, component *c, bool ties) {
    update_queue q;
    int result = pp_queue_begin(engine, c, &q);
    for (unsigned level = 1; level <= LAST_LEVEL && !result && (level <= c->last_level || q.queued); level++) {
        result = run_level(engine, c, (round_level){.level = level, .ties = ties}, &q);
        if (!result) result = pp_check_last_level(c, level);
    }
    pp_queue_end(engine, &q);
    return result;
}

/* ---- the two rounds ---- */

static void find_ties(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    component *c = context;
    look_ahead ahead;
    if (!begin_look_ahead(engine, &ahead)) return;
    unsigned due = 0;
    for (uint64_t word = first; word < last; word++) {
        uint64_t number = c->open.markers[word].before;
        for (uint64_t bits = c->open.markers[word].bits; bits; bits &= bits - 1, number++) {
            if (entry_decided(c->open.entries[number])) continue;
            if (!expand_one(engine, c, &ahead, word, (unsigned)__builtin_ctzll(bits))) break;
            const evaluation e = evaluate(engine, c, &ahead, 0, 0);
            if (!e.tie) continue;
            c->open.entries[number] = e.tie;
            note_due(c, number, remoteness_of(e.tie));
            if (remoteness_of(e.tie) > due) due = remoteness_of(e.tie);
        }
    }
    end_look_ahead(&ahead);
    atomic_max(&c->last_level, due);
}

int pp_propagate_wins(pp_engine *engine, component *c) { return run_levels(engine, c, false); }

int pp_begin_ties(pp_engine *engine, component *c) {
    c->last_level = 0;
    return pp_parallel(engine, find_ties, c, word_count(c), WORDS_PER_RANGE);
}

int pp_propagate_ties(pp_engine *engine, component *c) {
    if (!c->has_ties) return PP_OK;
    const int result = pp_begin_ties(engine, c);
    return result ? result : run_levels(engine, c, true);
}
