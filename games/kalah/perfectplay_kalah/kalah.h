/* The variant, as the kernel's context has it; build_kernel.py reads this file too. */
typedef struct {
    uint32_t pits;          /* of each player */
    uint32_t seeds;         /* in each pit at the start */
    uint32_t empty_capture; /* whether a last seed is captured that has nothing opposite */
    uint32_t either_row;    /* whether an empty row ends the game even if it is not that of the player to move */
} kalah_variant;
