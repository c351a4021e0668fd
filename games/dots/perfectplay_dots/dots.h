/* The board in the kernel's context. build_kernel.py also reads this file. */
typedef struct {
    uint32_t edges, boxes;
    uint64_t sides[56][2];     /* for each edge: all edges of its adjacent boxes, or 0 */
    uint64_t box[56];          /* the four edges of each box */
    uint32_t symmetries;       /* other than the identity: 3, or 7 on a square */
    uint64_t image[7][7][256]; /* by symmetry, byte of eight edges, and drawn edges in it */
} dots_board;

/* Fills a board of rows × columns boxes, with at most 56 edges. */
void dots_board_fill(dots_board *board, uint32_t rows, uint32_t columns);
