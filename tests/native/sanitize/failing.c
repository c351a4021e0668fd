/* Replacements for system functions that fail on request; see failing.h. */
#include "failing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_ulong failing_request, requests;
static atomic_long resources;

void fail_request(unsigned long number) {
    requests = 0;
    failing_request = number;
}

int end_failing(void) {
    const int failed = failing_request && requests >= failing_request;
    failing_request = 0;
    return failed;
}

long open_resources(void) { return resources; }

static int fails(void) {
    if (++requests != failing_request) return 0;
    errno = ENOMEM;
    return 1;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size) { return fails() ? NULL : __real_realloc(memory, size); }

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    void *mapped = fails() ? MAP_FAILED : __real_mmap(address, size, protection, flags, file, offset);
    if (mapped != MAP_FAILED) resources++;
    return mapped;
}

int __real_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size) {
    resources--;
    return __real_munmap(address, size);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int file = fails() ? -1 : __real_open(path, flags, va_arg(rest, int));
    va_end(rest);
    if (file >= 0) resources++;
    return file;
}

int __real_close(int file);
int __wrap_close(int file) {
    resources--;
    return __real_close(file);
}

int __real_posix_fallocate(int file, off_t offset, off_t size);
int __wrap_posix_fallocate(int file, off_t offset, off_t size) {
    return fails() ? ENOSPC : __real_posix_fallocate(file, offset, size);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, work, argument);
}
