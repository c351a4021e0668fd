/* The functions that Python calls. They make the tables of one board size, which are the kernel's context. */
typedef struct quixo_board quixo_board;

/* Returns NULL if memory runs out or a side is not 2 to 5. Takes a quarter of a second for 5×5. */
quixo_board *quixo_board_new(uint32_t width, uint32_t height);
void quixo_board_free(quixo_board *board);
