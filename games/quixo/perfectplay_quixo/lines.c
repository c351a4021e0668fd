/* Builds the tables of lines: the results of moves in a row or column, and the masks that end the game. */
#include "board.h"

uint8_t quixo_line_ternary[1 << MAX_LENGTH];
uint8_t quixo_line_ones[CONTENTS], quixo_line_twos[CONTENTS];
uint16_t quixo_line_counts[CONTENTS];

__attribute__((constructor)) static void build_contents(void) {
    for (unsigned content = 0; content < CONTENTS; content++) {
        for (unsigned i = 0; i < MAX_LENGTH; i++) {
            quixo_line_ones[content] = (uint8_t)(quixo_line_ones[content] | (digit(content, i) == 1) << i);
            quixo_line_twos[content] = (uint8_t)(quixo_line_twos[content] | (digit(content, i) == 2) << i);
        }
        if (!quixo_line_twos[content]) quixo_line_ternary[quixo_line_ones[content]] = (uint8_t)content;
        const int ones = __builtin_popcount(quixo_line_ones[content]),
                  twos = __builtin_popcount(quixo_line_twos[content]);
        quixo_line_counts[content] = (uint16_t)(ones | twos << 8);
    }
}

/* Returns the line after the cell `from` is removed, the rest is pushed over, and `mark` is inserted at `to`. Undoing a
 * move is the same from `to` to `from`. */
static unsigned shifted(unsigned content, unsigned length, unsigned from, unsigned to, unsigned mark) {
    unsigned digits[MAX_LENGTH], result = 0;
    for (unsigned i = 0; i < length; i++) digits[i] = digit(content, i);
    for (unsigned i = from; i != to; i += to > from ? 1u : -1u) digits[i] = digits[to > from ? i + 1 : i - 1];
    digits[to] = mark;
    for (unsigned i = length; i--;) result = 3 * result + digits[i];
    return result;
}

static void add_content(line_moves *list, unsigned content) {
    for (unsigned i = 0; i < list->count; i++)
        if (list->content[i] == content) return;
    list->content[list->count++] = (uint8_t)content;
}

static int may_take(unsigned inner, unsigned length, unsigned cell) {
    return !inner || cell == 0 || cell == length - 1;
}

static void build_moves(quixo_board *board, unsigned inner, unsigned length) {
    const unsigned ends[2] = {0, length - 1};
    for (unsigned content = 0; content < power_of_3[length]; content++) {
        line_moves *moves = &board->moves[inner][length][content], *origins = &board->origins[inner][length][content];
        for (unsigned taken = 2;; taken = 0) { /* a mark of the mover, then blanks */
            for (unsigned from = 0; from < length; from++)
                for (unsigned end = 0; end < 2; end++)
                    if (from != ends[end] && digit(content, from) == taken && may_take(inner, length, from))
                        add_content(moves, shifted(content, length, from, ends[end], 2));
            if (!taken) break;
            moves->own_count = moves->count;
        }
        for (unsigned from = 0; from < length; from++)
            for (unsigned end = 0; end < 2; end++) {
                if (from == ends[end] || digit(content, ends[end]) != 1 || !may_take(inner, length, from)) continue;
                const unsigned before = shifted(content, length, ends[end], from, 1);
                const int over = board->has_goal[quixo_line_ones[before]] || board->has_goal[quixo_line_twos[before]];
                if (!over) add_content(origins, before);
            }
        origins->own_count = origins->count;
    }
}

static void build_goals(quixo_board *board) {
    const unsigned width = board->width, height = board->height;
    const unsigned goal = board->goal = width < height ? width : height;
    const uint32_t steps[DIRECTIONS] = {1, width, width + 1, width - 1};
    for (unsigned way = 0; way < DIRECTIONS; way++) {
        board->step[way] = steps[way];
        for (unsigned row = 0; row < height; row++)
            for (unsigned column = 0; column < width; column++) {
                const int down = way == 0 || row + goal <= height;
                const int sideways = way == 1 || (way == 3 ? column + 1 >= goal : column + goal <= width);
                if (down && sideways) board->starts[way] |= IN_BOTH << (row * width + column);
            }
    }
    for (unsigned mask = 0; mask < 1 << MAX_LENGTH; mask++) {
        for (unsigned i = 0; i + goal <= MAX_LENGTH; i++)
            if (!(~(mask >> i) & ((1u << goal) - 1))) board->has_goal[mask] = 1;
        for (unsigned i = 0; i < MAX_LENGTH; i++) board->columns_of_row[mask] |= (mask >> i & 1) << MAX_LENGTH * i;
    }
}

void quixo_build_lines(quixo_board *board) {
    board->lines = board->height + board->width;
    for (unsigned line = 0; line < board->lines; line++) {
        const unsigned is_row = line < board->height, place = is_row ? line : line - board->height;
        board->length[line] = is_row ? board->width : board->height;
        board->inner[line] = place != 0 && place != (is_row ? board->height : board->width) - 1;
    }
    build_goals(board);
    for (unsigned inner = 0; inner < 2; inner++) {
        build_moves(board, inner, board->width);
        if (board->height != board->width) build_moves(board, inner, board->height);
    }
}
