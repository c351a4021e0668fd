/* What programs for sanitizers check with, here and in games: the first thing that is wrong ends them. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

/* Memory of exactly this size, so that a sanitizer sees one element too many. */
static inline void *room(size_t count, size_t size) {
    void *memory = malloc(count * size);
    CHECK(memory);
    return memory;
}

#endif
