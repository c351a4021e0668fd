/* The board in the kernel's context. build_kernel.py also reads this file. */
typedef struct {
    uint32_t width, height, connect, mirror;
    uint64_t cells;         /* that can hold stones */
    uint64_t lower_rows[4]; /* all but the highest 1, 2, 4, 8 bits of every column */
} connect4_board;

connect4_board connect4_board_of(uint32_t width, uint32_t height, uint32_t connect, uint32_t mirror);
