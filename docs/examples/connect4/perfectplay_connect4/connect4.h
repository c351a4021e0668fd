/* The size of the board, as Python fills it in; build_kernel.py reads this file too. */
typedef struct {
    uint32_t width, height, mirror;
} connect4_size;
