/* Ranges of work over threads. A step's result never depends on which thread takes which range, or when. */
#include <pthread.h>

#include "engine.h"

enum { MAX_THREADS = 256 };

typedef struct {
    pp_engine *engine;
    range_work *work;
    void *context;
    uint64_t total, grain;
    _Atomic uint64_t next;
} job;

static void *take_ranges(void *argument) {
    job *j = argument;
    for (;;) {
        const uint64_t first = atomic_fetch_add(&j->next, j->grain);
        if (first >= j->total || j->engine->stop || j->engine->failure) return NULL;
        j->work(j->engine, j->context, first, j->total - first < j->grain ? j->total : first + j->grain);
    }
}

int parallel(pp_engine *engine, range_work *work, void *context, uint64_t total, uint64_t grain) {
    job j = {.engine = engine, .work = work, .context = context, .total = total, .grain = grain};
    pthread_t threads[MAX_THREADS];
    unsigned wanted = engine->threads < MAX_THREADS ? engine->threads : MAX_THREADS, started = 0;
    const uint64_t ranges = (total + grain - 1) / grain;
    if (wanted > ranges) wanted = (unsigned)ranges;
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, take_ranges, &j)) started++;
    take_ranges(&j); /* this thread works too; with fewer threads than wanted the work is done all the same */
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return engine->failure ? engine->failure : engine->stop ? PP_STOPPED : PP_OK;
}
