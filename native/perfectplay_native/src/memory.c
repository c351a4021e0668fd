/* Memory under a budget. What the budget allows is anonymous; what goes beyond lives in scratch files that have no
 * name from the moment they are open, so that nothing is left behind however the process ends. Their space is
 * reserved first: a full disk is an error here, not a fault in the middle of the solve. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"

/* A file without a name in a directory; -1 and errno where there can be none. */
static int open_unnamed(const char *directory) {
#ifdef O_TMPFILE
    const int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
#endif
    char path[4096]; /* not every file system can */
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

/* Solving reads all over its arrays: with pages of 4 KiB nearly every read misses the TLB too. Only a wish. */
static void ask_for_large_pages(void *bytes, size_t size) {
#ifdef MADV_HUGEPAGE
    enum { WORTH_IT = 4 << 20 };
    if (size >= WORTH_IT) madvise(bytes, size, MADV_HUGEPAGE);
#else
    (void)bytes, (void)size;
#endif
}

int allocate(pp_engine *engine, size_t size, buffer *out) {
    out->size = size ? size : 1;
    out->anonymous = !engine->budget || engine->used + out->size <= engine->budget;
    if (!out->anonymous) return engine->directory ? map_file(engine, out->size, &out->bytes) : PP_OUT_OF_MEMORY;
    out->bytes = mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out->bytes == MAP_FAILED) {
        out->bytes = NULL;
        return PP_OUT_OF_MEMORY;
    }
    ask_for_large_pages(out->bytes, out->size);
    engine->used += out->size;
    return PP_OK;
}

void release(pp_engine *engine, buffer *memory) {
    if (!memory->bytes) return;
    munmap(memory->bytes, memory->size);
    if (memory->anonymous) engine->used -= memory->size;
    *memory = (buffer){0};
}
