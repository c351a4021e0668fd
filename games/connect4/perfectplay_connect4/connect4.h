/* The board, as Python fills it in; build_kernel.py reads this file too. */
typedef struct {
    uint32_t width, height, connect, mirror;
} connect4_board;
