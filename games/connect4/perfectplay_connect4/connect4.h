/* The board, as the kernel's context has it; build_kernel.py reads this file too. */
typedef struct {
    uint32_t width, height, connect, mirror;
    uint64_t cells;         /* that stones can be on */
    uint64_t lower_rows[4]; /* all but the highest 1, 2, 4, 8 places of every column */
} connect4_board;

connect4_board connect4_board_of(uint32_t width, uint32_t height, uint32_t connect, uint32_t mirror);
