/* What Python calls: the tables of one size of board, which become the kernel's context. */
typedef struct quixo_board quixo_board;

/* NULL when memory runs out, or for sides that are not 2 to 5. A quarter of a second for 5×5, less for the others. */
quixo_board *quixo_board_new(uint32_t width, uint32_t height);
void quixo_board_free(quixo_board *board);
