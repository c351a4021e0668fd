/* Checks for the sanitizer programs, here and in games. The first failed check ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

/* Memory of exactly this size, so that a sanitizer reports one element too many. */
static inline void *room(size_t count, size_t size) {
    void *memory = malloc(count * size);
    CHECK(memory);
    return memory;
}

#endif
