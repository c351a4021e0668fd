/* The variant in the kernel's context. build_kernel.py also reads this file. */
typedef struct {
    uint32_t pits;          /* of each player */
    uint32_t seeds;         /* in each pit at the start */
    uint32_t empty_capture; /* whether a last seed is captured even if the opposite pit is empty */
    uint32_t either_row;    /* whether an empty row of either player ends the game, not only the mover's */
} kalah_variant;
