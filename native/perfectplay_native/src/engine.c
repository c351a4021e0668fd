/* Creates and frees engines and their tiers; memory under a budget; threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash_api.h"
#include "engine.h"

/* ---- engines ---- */

pp_engine *pp_engine_new(const pp_kernel *kernel, uint32_t tier_count, unsigned threads) {
    pp_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return NULL;
    engine->kernel = kernel;
    engine->tier_count = tier_count;
    engine->threads = threads ? threads : 1;
    engine->tiers = calloc(tier_count ? tier_count : 1, sizeof *engine->tiers);
    if (engine->tiers) return engine;
    free(engine);
    return NULL;
}

void pp_engine_free(pp_engine *engine) {
    if (engine->share) pp_share_free(engine->share);
    pp_free_decision_order(engine);
    for (uint32_t tier = 0; tier < engine->tier_count; tier++) pp_tier_drop(engine, tier);
    free(engine->tiers);
    free(engine->directory);
    free(engine);
}

int pp_engine_memory(pp_engine *engine, uint64_t budget, const char *directory) {
    char *copy = directory ? strdup(directory) : NULL;
    if (directory && !copy) return PP_OUT_OF_MEMORY;
    engine->budget = budget;
    free(engine->directory);
    engine->directory = copy;
    return PP_OK;
}

void pp_engine_stop(pp_engine *engine, int stop) { engine->stop = stop; }
pp_position pp_engine_error_position(const pp_engine *engine) { return engine->error_position; }
int pp_engine_error_number(const pp_engine *engine) { return engine->error_number; }

/* ---- progress ---- */

void pp_reset_progress(pp_engine *engine) {
    engine->failure = PP_OK;
    engine->progress_level = 0;
    engine->progress_positions = engine->progress_slots = 0;
    engine->progress_marked = engine->progress_steps_done = 0;
}

/* The work done so far in slots, assuming that the slots not yet settled have the same share of marked positions. */
static uint64_t finished_slots(const pp_engine *engine) {
    enum { STEP = 8 }; /* a step of a marked position takes about ten times as long as settling a slot */
    const double settled = (double)engine->progress_positions, slots = (double)engine->progress_slots;
    if (settled == 0 || slots == 0) return engine->progress_positions;
    const double steps = (double)engine->progress_marked / settled * slots * engine->progress_steps;
    const double done = (double)engine->progress_steps_done < steps ? (double)engine->progress_steps_done : steps;
    return (uint64_t)(slots * (settled + STEP * done) / (slots + STEP * steps));
}

pp_progress pp_engine_progress(const pp_engine *engine) {
    return (pp_progress){.positions = finished_slots(engine), .level = engine->progress_level, .used = engine->used};
}

/* ---- tiers ---- */

void pp_drop_values(pp_engine *engine, tier_state *tier) {
    pp_release(engine, &tier->owned);
    free(tier->blocks);
    tier->blocks = NULL;
}

void pp_tier_drop(pp_engine *engine, uint32_t number) {
    tier_state *tier = &engine->tiers[number];
    pp_drop_values(engine, tier);
    pp_release(engine, &tier->tree.memory);
    free((void *)tier->key_blocks);
    *tier = (tier_state){0};
}

int pp_tier_define(pp_engine *engine, uint32_t number, uint64_t size, const uint64_t *const *key_blocks) {
    tier_state *tier = &engine->tiers[number];
    pp_tier_drop(engine, number);
    tier->size = size;
    if (!key_blocks) return PP_OK;
    const size_t bytes = block_count(size) * sizeof *key_blocks;
    tier->key_blocks = malloc(bytes ? bytes : 1);
    if (tier->key_blocks) memcpy(tier->key_blocks, key_blocks, bytes);
    const int result = tier->key_blocks ? pp_build_key_tree(engine, tier) : PP_OUT_OF_MEMORY;
    if (result) pp_tier_drop(engine, number); /* an incomplete index would find nothing, or crash */
    return result;
}

int pp_tier_attach(pp_engine *engine, uint32_t number, unsigned width, void *const *blocks) {
    tier_state *tier = &engine->tiers[number];
    const size_t bytes = block_count(tier->size) * sizeof *blocks;
    void **copy = malloc(bytes ? bytes : 1);
    if (!copy) return PP_OUT_OF_MEMORY;
    memcpy(copy, blocks, bytes);
    pp_drop_values(engine, tier);
    tier->blocks = copy;
    tier->shift = shift_of_width(width);
    return PP_OK;
}

void *pp_tier_values(pp_engine *engine, uint32_t number) { return engine->tiers[number].owned.bytes; }
unsigned pp_tier_width(const pp_engine *engine, uint32_t number) { return (1u << engine->tiers[number].shift) / 8; }

/* ---- memory ----
 *
 * Memory within the budget is anonymous. Memory beyond it is in scratch files, which have no name once they are open,
 * so that nothing is left behind however the process ends. Their space is reserved at once, so that a full disk is an
 * error here instead of a fault in the middle of the solve. */

/* Opens a file without a name in a directory. Returns -1 and sets errno on failure. */
static int open_unnamed(const char *directory) {
#ifdef O_TMPFILE
    const int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
#endif
    char path[4096]; /* for file systems without O_TMPFILE */
    if (snprintf(path, sizeof path, "%s/scratch-XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0) unlink(path);
    return named;
}

static int map_file(pp_engine *engine, size_t size, void **bytes) {
    const int file = open_unnamed(engine->directory);
    if (file < 0) {
        engine->error_number = errno;
        return PP_SCRATCH_FAILED;
    }
    const int error = posix_fallocate(file, 0, (off_t)size);
    void *const mapped = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    engine->error_number = error ? error : errno;
    close(file);
    if (mapped == MAP_FAILED) return PP_SCRATCH_FAILED;
    *bytes = mapped;
    return PP_OK;
}

/* Solving accesses its arrays at random. With pages of 4 KiB nearly every access would also miss the TLB. */
static void request_large_pages(void *bytes, size_t size) {
#ifdef MADV_HUGEPAGE
    enum { MIN_SIZE = 4 << 20 };
    if (size >= MIN_SIZE) madvise(bytes, size, MADV_HUGEPAGE);
#else
    (void)bytes, (void)size;
#endif
}

int pp_allocate(pp_engine *engine, size_t size, buffer *out) {
    out->size = size ? size : 1;
    out->anonymous = !engine->budget || engine->used + out->size <= engine->budget;
    if (!out->anonymous) return engine->directory ? map_file(engine, out->size, &out->bytes) : PP_OUT_OF_MEMORY;
    out->bytes = mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out->bytes == MAP_FAILED) {
        out->bytes = NULL;
        return PP_OUT_OF_MEMORY;
    }
    request_large_pages(out->bytes, out->size);
    engine->used += out->size;
    return PP_OK;
}

void pp_release(pp_engine *engine, buffer *memory) {
    if (!memory->bytes) return;
    munmap(memory->bytes, memory->size);
    if (memory->anonymous) engine->used -= memory->size;
    *memory = (buffer){0};
}

/* ---- threads ---- */

enum { MAX_THREADS = 256 };

typedef struct {
    pp_engine *engine;
    range_work *work;
    void *context;
    uint64_t total, grain;
    _Atomic uint64_t next;
} job;

static void *process_ranges(void *argument) {
    job *j = argument;
    pp_use_signal_stack();
    for (;;) {
        const uint64_t first = atomic_fetch_add(&j->next, j->grain);
        if (first >= j->total || j->engine->stop || j->engine->failure) return NULL;
        j->work(j->engine, j->context, first, j->total - first < j->grain ? j->total : first + j->grain);
    }
}

int pp_parallel(pp_engine *engine, range_work *work, void *context, uint64_t total, uint64_t grain) {
    job j = {.engine = engine, .work = work, .context = context, .total = total, .grain = grain};
    pthread_t threads[MAX_THREADS];
    unsigned wanted = engine->threads < MAX_THREADS ? engine->threads : MAX_THREADS, started = 0;
    const uint64_t ranges = (total + grain - 1) / grain;
    if (wanted > ranges) wanted = (unsigned)ranges;
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, process_ranges, &j)) started++;
    process_ranges(&j); /* this thread works, too, so the work is done even if no other thread could be started */
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return engine->failure ? engine->failure : engine->stop ? PP_STOPPED : PP_OK;
}
