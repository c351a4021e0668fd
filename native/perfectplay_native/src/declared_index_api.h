/* An index from a declaration of cells and pieces, for kernels without their own (declared_index.c). */
#ifndef PP_DECLARED_INDEX_API_H
#define PP_DECLARED_INDEX_API_H

#include "perfectplay.h"

/* A number in adjacent bits of a position, such as the pieces in hand. Each of its values is a separate tier. */
typedef struct {
    uint8_t shift, width;
    uint8_t partner; /* the number that a colour swap exchanges it with, itself if none */
} pp_declared_number;

/* The declaration. A cell has `planes` bits, lowest first: bit b of cell c is bit bits[c * planes + b] of a position, or
 * always 0 if that is 255. A cell with value 0 is empty. */
typedef struct {
    uint32_t cells, planes, kinds, generators, numbers;
    const uint8_t *bits;
    const uint8_t *values; /* by kind: the value of a cell with such a piece */
    const uint8_t *least;  /* by kind: the number of pieces on the board, from `least` to `most` */
    const uint8_t *most;
    const uint8_t *generator; /* of the symmetry group: generator[64 * i + c] is the image of cell c */
    const uint8_t *swapped;   /* by kind: the kind that a colour swap makes of it, if turn_bit is used */
    const pp_declared_number *number;
    uint32_t turn_bit; /* positions with this bit set are indexed with swapped colours; 64 for none */
} pp_declaration;

typedef struct pp_layout pp_layout;

/* Builds the tables of an index. On failure it returns NULL, and *result is the reason, a pp_layout_result. */
enum pp_layout_result {
    PP_LAYOUT_OK = 0,
    PP_LAYOUT_BAD = 1,         /* out of range, or a generator that is not a permutation */
    PP_LAYOUT_LARGE_GROUP = 2, /* too many symmetries */
    PP_LAYOUT_LARGE_ORBIT = 3, /* a kind has too many patterns on cells that symmetries exchange */
    PP_LAYOUT_LARGE_TABLES = 4,
    PP_LAYOUT_NO_MEMORY = 5,
};
pp_layout *pp_layout_new(const pp_declaration *declaration, int *result);
void pp_layout_free(pp_layout *layout);

/* Returns a kernel that adds tiers and the index to `game`, which has none. Both arguments must outlive it. It calls
 * game->start. Returns NULL when memory runs out. A position that does not fit the declaration has tier_count as its tier
 * and UINT64_MAX as its rank. `tier_children` is NULL although play may lead to lower tiers; the host determines the
 * order of the tiers with pp_declared_child_tiers. */
pp_kernel *pp_declared_new(const pp_kernel *game, const pp_layout *layout);
void pp_declared_free(pp_kernel *kernel);
/* Returns the representative of all images of a position, or the position itself if it does not fit. */
pp_position pp_declared_canonical(const pp_kernel *kernel, pp_position position);
/* Sets reached[tier] to 1 for every tier that a move from `count` consecutive slots leads to. Also compares some of the
 * positions with an image. Returns a pp_scan_result. */
enum pp_scan_result {
    PP_SCAN_OK = 0,
    PP_SCAN_MISFIT = 1,     /* a move from position fault[0] leads to one that does not fit the declaration */
    PP_SCAN_ASYMMETRIC = 2, /* the rules treat fault[0] and its image fault[1] differently */
    PP_SCAN_NO_MEMORY = 3,
};
int pp_declared_child_tiers(const pp_kernel *kernel, pp_slot first, uint64_t count, uint8_t *reached,
                            pp_position *fault);

#endif
