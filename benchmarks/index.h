/* The benchmark's functions for Python. */
typedef struct {
    double hand_rank, hand_unrank;       /* nanoseconds per position, morris's own index */
    double generic_rank, generic_unrank; /* the same for perfectplay/index.h */
} index_times;

/* Measures one sub-space of a board of Morris with a number of random positions. `kernel` has the board in its context.
 * Returns 0 if the generic index cannot be built or a rank is not the inverse of unrank. */
int measure_index(const pp_kernel *kernel, uint32_t mover, uint32_t other, size_t positions, index_times *times);
