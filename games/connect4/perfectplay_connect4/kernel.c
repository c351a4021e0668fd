/* Connect Four for the engine: the rules of rules.py in C. rules.py draws the encoding.
 *
 * One kernel handles all boards; `context` describes the board. */
#include "perfectplay.h"

#include "connect4.h"

enum { MAX_COLUMNS = 9 };

connect4_board connect4_board_of(uint32_t width, uint32_t height, uint32_t connect, uint32_t mirror) {
    connect4_board board = {.width = width, .height = height, .connect = connect, .mirror = mirror};
    for (uint32_t column = 0; column < width; column++)
        for (uint32_t row = 0; row < height; row++) {
            const uint64_t cell = UINT64_C(1) << (column * (height + 1) + row);
            board.cells |= cell;
            for (unsigned i = 0; i < 4; i++)
                if (row + (1u << i) <= height) board.lower_rows[i] |= cell;
        }
    return board;
}

static inline const connect4_board *board_of(const pp_kernel *self) { return self->context; }
static inline uint32_t step_of(const connect4_board *board) { return board->height + 1; }

/* Returns the bits of a column: its cells and the bit above them. */
static inline uint64_t column_of(const connect4_board *board, uint32_t column) {
    return ((UINT64_C(1) << step_of(board)) - 1) << column * step_of(board);
}

/* Returns the highest bit of a column, where the next stone falls. */
static inline uint64_t marker_of(const connect4_board *board, pp_position position, uint32_t column) {
    return UINT64_C(1) << (63 - __builtin_clzll(position & column_of(board, column)));
}

/* Returns a bit for each stone of either player: all cells below a marker. */
static inline uint64_t stones_of(const connect4_board *board, pp_position position) {
    for (unsigned i = 0; i < 4; i++) position |= position >> (1u << i) & board->lower_rows[i];
    return position >> 1 & board->cells;
}

static inline int is_full(const connect4_board *board, pp_position position, uint32_t column) {
    return position >> (column * step_of(board) + board->height) & 1;
}

static inline int has_line(const connect4_board *board, uint64_t stones) {
    const uint32_t step = step_of(board), shifts[] = {1, step, step + 1, step - 1};
    for (int way = 0; way < 4; way++) {
        uint64_t line = stones;
        if ((board->connect - 1) * shifts[way] > 63) continue; /* longer than the board */
        for (uint32_t together = 1, more; together < board->connect; together += more) {
            more = together < board->connect - together ? together : board->connect - together;
            line &= line >> more * shifts[way];
        }
        if (line) return 1;
    }
    return 0;
}

static inline pp_position with_stone(const connect4_board *board, pp_position position, uint64_t stones,
                                     uint32_t column) {
    return (position ^ stones) + marker_of(board, position, column);
}

static inline pp_position least_image(const connect4_board *board, pp_position position) {
    if (!board->mirror) return position;
    const uint32_t step = step_of(board);
    pp_position mirrored = 0, rest = position;
    for (uint32_t i = 0; i < board->width; i++, rest >>= step)
        mirrored = mirrored << step | (rest & column_of(board, 0));
    return mirrored < position ? mirrored : position;
}

static pp_position start(const pp_kernel *self) {
    const connect4_board *board = board_of(self);
    pp_position position = 0;
    for (uint32_t column = 0; column < board->width; column++) position |= UINT64_C(1) << column * step_of(board);
    return position;
}

static int valid(const pp_kernel *self, pp_position position) {
    const connect4_board *board = board_of(self);
    if (position >> board->width * step_of(board)) return 0;
    for (uint32_t column = 0; column < board->width; column++)
        if (!(position & column_of(board, column))) return 0;
    const uint64_t stones = stones_of(board, position), mine = stones & position;
    return __builtin_popcountll(mine) == __builtin_popcountll(stones) / 2 && !has_line(board, mine);
}

static int status(const pp_kernel *self, pp_position position) {
    const connect4_board *board = board_of(self);
    if (has_line(board, stones_of(board, position) & ~position)) return PP_LOST;
    for (uint32_t column = 0; column < board->width; column++)
        if (!is_full(board, position, column)) return PP_ONGOING;
    return PP_DRAWN;
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const connect4_board *board = board_of(self);
    size_t count = 0;
    if (has_line(board, stones_of(board, position) & ~position)) return 0;
    for (uint32_t column = 0; column < board->width; column++)
        if (!is_full(board, position, column)) moves[count++] = column;
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    return with_stone(board_of(self), position, stones_of(board_of(self), position), move);
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    const connect4_board *board = board_of(self);
    const pp_position before = position - (marker_of(board, position, move) >> 1);
    return before ^ stones_of(board, before);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    return least_image(board_of(self), position);
}

static uint32_t tier(const pp_kernel *self, pp_position position) {
    return (uint32_t)__builtin_popcountll(stones_of(board_of(self), position));
}

/* Optional: the first player is to move whenever the number of stones is even. */
static int mover(const pp_kernel *self, pp_position position) { return (int)(tier(self, position) & 1); }

/* Optional: the engine need not expand positions that are won in one move. */
static int wins_now(const pp_kernel *self, pp_position position) {
    const connect4_board *board = board_of(self);
    const uint64_t mine = stones_of(board, position) & position;
    for (uint32_t column = 0; column < board->width; column++)
        if (!is_full(board, position, column) && has_line(board, mine | marker_of(board, position, column))) return 1;
    return 0;
}

/* Optional: computes the stones once for all children. */
static size_t children(const pp_kernel *self, pp_position position, pp_position *children) {
    const connect4_board *board = board_of(self);
    const uint64_t stones = stones_of(board, position);
    size_t count = 0;
    for (uint32_t column = 0; column < board->width; column++) {
        if (is_full(board, position, column)) continue;
        const pp_position child = least_image(board, with_stone(board, position, stones, column));
        size_t i = 0; /* a child can occur twice only if the board is symmetric */
        while (i < count && children[i] != child) i++;
        children[i] = child;
        count += i == count;
    }
    return count;
}

const pp_kernel connect4_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_COLUMNS,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .mover = mover,
    .tier = tier,
    .wins_now = wins_now,
    .children = children,
};
