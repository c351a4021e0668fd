/* The board, as the kernel's context has it; build_kernel.py reads this file too. */
typedef struct {
    uint32_t edges, boxes;
    uint64_t sides[56][2];     /* for each edge: all edges of the boxes beside it, 0 where there is none */
    uint64_t box[56];          /* the four edges of each box */
    uint32_t symmetries;       /* but the identity: 3, or 7 on a square */
    uint64_t image[7][7][256]; /* under each symmetry, for each eight edges: where those that are drawn go */
} dots_board;

/* Fills a board of rows × columns boxes, with at most 56 edges. */
void dots_board_fill(dots_board *board, uint32_t rows, uint32_t columns);
