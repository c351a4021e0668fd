/* Images of bit masks under permutations of cells, with one table lookup per byte.
 *
 * For example, a quarter turn of 2 × 2 cells takes cell 0 to 1, 1 to 3, 2 to 0 and 3 to 2:
 *
 *     0 1     X X     . X     image = {1, 3, 0, 2}
 *     2 3     . .     . X     mask 0011 (cells 0 and 1) -> 1010 (cells 1 and 3) */
#ifndef PERFECTPLAY_MASKS_H
#define PERFECTPLAY_MASKS_H

#include <stdint.h>
#include <string.h>

/* The image of every byte of a mask: 2 KiB for each 8 cells. */
typedef struct {
    uint64_t byte[8][256];
    uint64_t padding[8]; /* one cache line, or the images of a mask under many permutations would share a cache set */
} pp_permutation;

/* Fill the table of the permutation that takes cell c to image[c]. */
static inline void pp_permutation_fill(pp_permutation *p, unsigned cells, const uint8_t *image) {
    memset(p, 0, sizeof *p);
    for (unsigned cell = 0; cell < cells; cell++)
        for (unsigned bits = 0; bits < 256; bits++)
            if (bits >> cell % 8 & 1) p->byte[cell / 8][bits] |= UINT64_C(1) << image[cell];
}

/* The image of a mask of at most 8 * bytes cells. */
static inline uint64_t pp_permute(const pp_permutation *p, uint64_t mask, unsigned bytes) {
    uint64_t image = p->byte[0][mask & 255];
    for (unsigned i = 1; i < bytes; i++) image |= p->byte[i][mask >> 8 * i & 255];
    return image;
}

/* The least of the images of a mask. */
static inline uint64_t pp_least_image(const pp_permutation *p, unsigned count, uint64_t mask, unsigned bytes) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t image = pp_permute(&p[i], mask, bytes);
        if (image < least) least = image;
    }
    return least;
}

#endif
