/* Queues for ranges of slots: growing lists of updates, in memory or in scratch files. */
#include "update_queue.h"

#include "containers.h"

static uint64_t entry_bytes(const component *c) { return c->open.marker_memory.size + c->open.entry_memory.size; }

/* The largest ranges of which one fits into half of the budget. */
static unsigned choose_shift(const pp_engine *engine, const component *c) {
    unsigned shift = 6; /* a marker word */
    while ((c->layout.slots - 1) >> shift >= MAX_RANGES) shift++;
    while (shift < OFFSET_BITS && entry_bytes(c) / word_count(c) * ((uint64_t)2 << (shift - 6)) <= engine->budget / 2)
        shift++;
    return shift;
}

/* Each block in a file takes one of the maps that a process may have, 65,530 on Linux. So a larger component has larger
 * blocks, but there must be enough of them for all threads. */
static size_t choose_block_updates(const component *c) {
    enum { MIN_UPDATES = 1 << 16, MAX_UPDATES = 1 << 22 };
    const uint64_t updates = c->layout.slots >> 12;
    return updates < MIN_UPDATES ? MIN_UPDATES : updates > MAX_UPDATES ? MAX_UPDATES : (size_t)updates;
}

int pp_queue_begin(pp_engine *engine, const component *c, update_queue *q) {
    *q = (update_queue){0};
    const uint64_t slots = c->layout.slots;
    const bool fits = c->open.marker_memory.anonymous && c->open.entry_memory.anonymous;
    if (c->source.propagation != PP_PROPAGATE_RETRACT || !slots || fits) return PP_OK;
    if ((slots - 1) >> OFFSET_BITS >= MAX_RANGES) return PP_OK; /* an offset would not fit into an update */
    q->shift = choose_shift(engine, c);
    q->block_updates = choose_block_updates(c);
    const uint64_t ranges = ((slots - 1) >> q->shift) + 1;
    q->queues = calloc(2 * ranges, sizeof *q->queues);
    if (!q->queues) return PP_OUT_OF_MEMORY;
    q->current = q->queues;
    q->next = q->queues + ranges;
    q->ranges = ranges;
    pthread_mutex_init(&q->lock, NULL);
    return PP_OK;
}

static void release_blocks(pp_engine *engine, range_queue *queue) {
    for (size_t i = 0; i < queue->block_count; i++) pp_release(engine, &queue->blocks[i]);
    free(queue->blocks);
    *queue = (range_queue){0};
}

void pp_queue_end(pp_engine *engine, update_queue *q) {
    if (!q->ranges) return;
    for (uint64_t i = 0; i < 2 * q->ranges; i++) release_blocks(engine, &q->queues[i]);
    release_blocks(engine, &q->spare);
    free(q->queues);
    pthread_mutex_destroy(&q->lock);
}

static bool add_block(range_queue *queue, buffer block) {
    if (!grow_array((void **)&queue->blocks, &queue->block_capacity, queue->block_count + 1, sizeof block))
        return false;
    queue->blocks[queue->block_count++] = block;
    return true;
}

/* Adds a block for more updates. Returns a pp_result. */
static int extend_queue(pp_engine *engine, update_queue *q, range_queue *queue) {
    buffer block;
    if (q->spare.block_count) {
        block = q->spare.blocks[--q->spare.block_count];
    } else {
        const int result = pp_allocate(engine, q->block_updates * sizeof(queued_update), &block);
        if (result) return result;
    }
    if (add_block(queue, block)) return PP_OK;
    pp_release(engine, &block);
    return PP_OUT_OF_MEMORY;
}

void pp_queue_append(pp_engine *engine, update_queue *q, uint64_t range, const queued_update *updates, size_t count) {
    range_queue *queue = &q->next[range];
    int result = PP_OK;
    pthread_mutex_lock(&q->lock);
    q->queued += count;
    while (count && !result) {
        const size_t used = queue->updates % q->block_updates;
        if (!used) result = extend_queue(engine, q, queue);
        if (result) break;
        const size_t part = count < q->block_updates - used ? count : q->block_updates - used;
        memcpy((queued_update *)queue->blocks[queue->block_count - 1].bytes + used, updates, part * sizeof *updates);
        queue->updates += part;
        updates += part;
        count -= part;
    }
    pthread_mutex_unlock(&q->lock);
    if (result) fail(engine, result, 0);
}

void pp_queue_swap(update_queue *q) {
    range_queue *next = q->next;
    q->next = q->current;
    q->current = next;
    q->queued = 0;
}

const queued_update *pp_queue_block(const update_queue *q, const range_queue *queue, size_t block, size_t *count) {
    const uint64_t left = queue->updates - (uint64_t)block * q->block_updates;
    *count = left < q->block_updates ? (size_t)left : q->block_updates;
    return queue->blocks[block].bytes;
}

void pp_queue_clear(pp_engine *engine, update_queue *q, uint64_t range) {
    range_queue *queue = &q->current[range];
    for (size_t i = 0; i < queue->block_count; i++)
        if (!add_block(&q->spare, queue->blocks[i])) pp_release(engine, &queue->blocks[i]);
    queue->block_count = 0;
    queue->updates = 0;
}
