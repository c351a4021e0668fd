/* A queue of updates for entries that do not fit into the memory budget (external-memory propagation).
 *
 * The parents of a position lie all over memory. If their entries are in a scratch file, updating each at once would
 * read and write a page of the file for every move. So the slots are divided into ranges whose entries do fit, and an
 * update waits in the queue of its range until the range is processed. Queues are written and read sequentially, which
 * disks do well.
 *
 * A level is one pass over the ranges. Each range first applies the updates that the previous level queued for it,
 * after which all entries of the range that are due at this level are known. Then it queues the updates of their
 * parents. */
#ifndef PP_UPDATE_QUEUE_H
#define PP_UPDATE_QUEUE_H

#include <pthread.h>

#include "component.h"

enum { MAX_RANGES = 64 };

/* An update in a queue: the offset of a slot in its range, and bit 31 for PARENT_WINS. */
typedef uint32_t queued_update;
enum { OFFSET_BITS = 31 };
#define QUEUED_PARENT_WINS ((queued_update)1 << OFFSET_BITS)

/* The queue of one range, in blocks, all of which are full except the last. */
typedef struct {
    buffer *blocks;
    size_t block_count, block_capacity;
    uint64_t updates;
} range_queue;

typedef struct {
    unsigned shift; /* a range has 1 << shift slots */
    uint64_t ranges;
    size_t block_updates; /* capacity of a block */
    range_queue *queues;  /* two per range, which swap roles at every level: */
    range_queue *current; /* the updates of the previous level, and */
    range_queue *next;    /* those for the next one */
    range_queue spare;    /* blocks for reuse */
    uint64_t queued;      /* number of updates queued since the pass began */
    pthread_mutex_t lock; /* for `next` and `spare` */
} update_queue;

/* Prepares the queue if the entries do not fit into memory; otherwise sets `ranges` to 0. Returns a pp_result. */
int pp_queue_begin(pp_engine *engine, const component *c, update_queue *q);
void pp_queue_end(pp_engine *engine, update_queue *q);
/* Queues updates for a range. Thread-safe. A failure is noted in the engine. */
void pp_queue_append(pp_engine *engine, update_queue *q, uint64_t range, const queued_update *updates, size_t count);
/* Begins a pass: the queued updates become the current ones. */
void pp_queue_swap(update_queue *q);
/* Returns the updates in a block of a queue, `*count` of them. */
const queued_update *pp_queue_block(const update_queue *q, const range_queue *queue, size_t block, size_t *count);
/* Empties the current queue of a range. If a block cannot be kept for reuse, it is freed. */
void pp_queue_clear(pp_engine *engine, update_queue *q, uint64_t range);

#endif
