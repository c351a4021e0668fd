/* The variant, as the kernel's context has it; build_kernel.py reads this file too. */
typedef struct {
    uint32_t pits;          /* of each player */
    uint32_t seeds;         /* in each pit at the start */
    uint32_t empty_capture; /* whether a last seed is captured that has nothing opposite */
} kalah_variant;
