/* Preloaded into Python: makes the n-th request for memory by our code, LMDB, NumPy or cffi fail. Requests of Python
 * itself do not fail, because Python has its own tests for that. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static const char *const watched[] = {"perfectplay", "/lmdb/", "numpy", "cffi"};

enum { MAX_LIBRARIES = 64 };
static struct {
    uintptr_t first, last;
} libraries[MAX_LIBRARIES];
static int library_count;
static atomic_ulong wanted, requests;

static int add_library(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    int is_watched = 0;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        is_watched |= strstr(info->dlpi_name, watched[i]) != NULL;
    for (int i = 0; is_watched && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || library_count == MAX_LIBRARIES) continue;
        libraries[library_count].first = info->dlpi_addr + part->p_vaddr;
        libraries[library_count++].last = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

/* Start counting the requests of all loaded libraries; the `number`-th, counted from 1, fails. */
void fail_request(unsigned long number) {
    library_count = 0;
    dl_iterate_phdr(add_library, NULL);
    requests = 0;
    wanted = number;
}

/* Stop counting and return the number of requests. */
unsigned long end_failing(void) {
    wanted = 0;
    return requests;
}

static int should_fail(const void *caller) {
    if (!wanted) return 0;
    for (int i = 0; i < library_count; i++)
        if ((uintptr_t)caller >= libraries[i].first && (uintptr_t)caller < libraries[i].last) {
            if (++requests != wanted) return 0;
            errno = ENOMEM;
            return 1;
        }
    return 0;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) { return should_fail(CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return should_fail(CALLER) ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return should_fail(CALLER) ? NULL : __libc_realloc(memory, size); }

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (should_fail(CALLER)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}
