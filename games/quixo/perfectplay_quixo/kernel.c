/* Quixo for the engine: the rules and the functions that dominate a solve.
 *
 * A position:
 *
 *     63   62   57 56          32 31   25 24           0
 *     [side][ zero ][ marks of O  ] [ zero ][ marks of X  ]      cell 0 is the top left, then row by row
 *
 * side 0 means X is to move. The functions below use the same two halves without the side, with the mover's marks in
 * the lower half and the other player's in the upper, so that one operation handles both players. */
#include "board.h"

#include "perfectplay/edges.h"

enum { SIDE_BIT = 63 };
static const uint64_t LOW = UINT32_MAX, SIDE = (uint64_t)1 << SIDE_BIT;

static inline const quixo_board *board_of(const pp_kernel *self) { return self->context; }

static inline uint64_t halves_swapped(uint64_t marks) { return marks >> HALF | marks << HALF; }

/* Returns the marks with the mover's in the lower half. */
static inline uint64_t mover_first(pp_position position) {
    const uint64_t marks = position & ~SIDE;
    return position & SIDE ? halves_swapped(marks) : marks;
}

/* ---- lines of marks, as long as the shorter side ---- */

/* Returns bits in the lower half if the mover has a line, in the upper half if the other player has one. */
static inline uint64_t goals(const quixo_board *board, uint64_t marks) {
    uint64_t starts = 0;
    for (unsigned way = 0; way < DIRECTIONS; way++) {
        uint64_t line = marks & board->starts[way];
        for (unsigned i = 1; i < board->goal; i++) line &= marks >> i * board->step[way];
        starts |= line;
    }
    return starts;
}

/* Returns the cells where one more mark makes a line in this direction, in each half. */
static inline uint64_t completions(const quixo_board *board, uint64_t marks, unsigned way) {
    const unsigned step = board->step[way], goal = board->goal;
    uint64_t before[MAX_LENGTH], after = board->starts[way], cells = 0;
    before[0] = ~(uint64_t)0; /* all cells of a line before this one are marked; `after`: all cells after it */
    for (unsigned i = 1; i < goal; i++) before[i] = before[i - 1] & marks >> (i - 1) * step;
    for (unsigned i = goal; i--;) {
        cells |= (before[i] & after) << i * step;
        after &= marks >> i * step;
    }
    return cells;
}

/* ---- rows and columns ---- */

/* Every row, then every column, as a mask of its cells in each half. */
typedef struct {
    uint64_t line[MAX_LINES];
} line_masks;

static inline void rows_of(const quixo_board *board, uint64_t cells, line_masks *masks) {
    const uint64_t row = IN_BOTH * ((1u << board->width) - 1);
    for (unsigned i = 0; i < board->height; i++) masks->line[i] = cells >> i * board->width & row;
}

static inline void columns_of(const quixo_board *board, uint64_t cells, line_masks *masks) {
    const unsigned row = (1u << board->width) - 1;
    uint64_t columns = 0;
    for (unsigned i = 0; i < board->height; i++) {
        const unsigned shift = i * board->width;
        columns |= ((uint64_t)board->columns_of_row[cells >> HALF >> shift & row] << HALF |
                    board->columns_of_row[cells >> shift & row])
                   << i;
    }
    for (unsigned i = 0; i < board->width; i++)
        masks->line[board->height + i] = columns >> MAX_LENGTH * i & IN_BOTH * ((1u << MAX_LENGTH) - 1);
}

static inline line_masks lines_of(const quixo_board *board, uint64_t marks) {
    line_masks masks;
    rows_of(board, marks, &masks);
    columns_of(board, marks, &masks);
    return masks;
}

/* From the view of the next mover, whose marks are the ones. */
static inline unsigned content_of_line(uint64_t line) {
    return content_of((unsigned)(line >> HALF), (unsigned)line & 31);
}

/* Returns, for each row and column, its cells where one more mark makes a line that crosses it, in each half. */
static inline line_masks crossings_of(const quixo_board *board, uint64_t marks) {
    const uint64_t diagonal = completions(board, marks, 2) | completions(board, marks, 3);
    line_masks masks;
    rows_of(board, completions(board, marks, 1) | diagonal, &masks);
    columns_of(board, completions(board, marks, 0) | diagonal, &masks);
    return masks;
}

/* ---- the rules ---- */

static pp_position start(const pp_kernel *self) { return 0; }

static int mover(const pp_kernel *self, pp_position position) { return (int)(position >> SIDE_BIT); }

static int valid(const pp_kernel *self, pp_position position) {
    const uint64_t marks = position & ~SIDE, cells = ((uint64_t)1 << board_of(self)->cells) - 1;
    return !(marks & ~(cells | cells << HALF)) && !(marks & marks >> HALF);
}

/* The player who moved last loses if the mover has a line, even if they have a line too. */
static int status(const pp_kernel *self, pp_position position) {
    const uint64_t lines = goals(board_of(self), mover_first(position));
    return lines & LOW ? PP_WON : lines ? PP_LOST : PP_ONGOING;
}

/* A move: bits 0-4 the cell where the cube is put back, bits 5-9 the cell it was taken from, bit 10 set if it was
 * marked. */
enum { CELL_BITS = 5, CELL_MASK = 31, MARKED = 1 << 10 };

static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const quixo_board *board = board_of(self);
    const uint64_t marks = mover_first(position);
    if (goals(board, marks)) return 0;
    const unsigned width = board->width, last_row = board->height - 1, last_column = width - 1;
    size_t count = 0;
    for (unsigned row = 0; row <= last_row; row++) {
        const unsigned inner = row != 0 && row != last_row, first = row * width;
        for (unsigned column = 0; column <= last_column; column += inner ? last_column : 1) {
            const unsigned cell = first + column;
            if (marks >> (cell + HALF) & 1) continue;
            const unsigned ends[4] = {first, first + last_column, column, last_row * width + column};
            for (int i = 0; i < 4; i++)
                if (ends[i] != cell) moves[count++] = (marks >> cell & 1 ? MARKED : 0u) | cell << CELL_BITS | ends[i];
        }
    }
    return count;
}

static inline unsigned player_shift(unsigned player) { return player ? HALF : 0; }

/* Moves a cube from one cell of a row or column to another, with or without the player's mark. The turn passes. */
static pp_position with_cube_moved(const quixo_board *board, pp_position position, unsigned from, unsigned to,
                                   unsigned player, int marked) {
    const unsigned low = from < to ? from : to, high = from < to ? to : from;
    const int in_row = high - low < board->width;
    const uint32_t cells = (in_row ? board->first_row : board->first_column) << low & ((2u << high) - 1);
    const uint64_t changed = IN_BOTH * cells, marks = position & ~SIDE, others = marks & changed & ~(IN_BOTH << from);
    const unsigned step = in_row ? 1 : board->width;
    const uint64_t pushed = from < to ? others >> step : others << step;
    const uint64_t cube = (uint64_t)marked << to << player_shift(player);
    return (marks & ~changed) | pushed | cube | (~position & SIDE);
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const unsigned player = (unsigned)(position >> SIDE_BIT);
    return with_cube_moved(board_of(self), position, move >> CELL_BITS & CELL_MASK, move & CELL_MASK, player, 1);
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    const unsigned player = (unsigned)(~position >> SIDE_BIT);
    return with_cube_moved(board_of(self), position, move & CELL_MASK, move >> CELL_BITS & CELL_MASK, player,
                           (move & MARKED) != 0);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const quixo_board *board = board_of(self);
    pp_position least = position;
    for (unsigned s = 1; s < board->symmetries; s++) {
        pp_position image = position & SIDE;
        for (unsigned cell = 0; cell < board->cells; cell++) {
            const unsigned to = board->cell_image[s][cell];
            image |= (position >> cell & 1) << to | (position >> (cell + HALF) & 1) << (to + HALF);
        }
        if (image < least) least = image;
    }
    return least;
}

/* ---- tiers ---- */

static uint32_t tier(const pp_kernel *self, pp_position position) {
    const uint64_t marks = mover_first(position);
    return pair_number((uint32_t)__builtin_popcountll(marks & LOW), (uint32_t)__builtin_popcountll(marks >> HALF));
}

/* The mover has as many marks as before or one more, and is the other player in the view of the next mover. */
static size_t tier_children(const pp_kernel *self, uint32_t tier, uint32_t *tiers) {
    uint32_t sum = 0;
    while (pair_number(0, sum) < tier) sum++;
    const uint32_t other = tier - pair_number(sum, 0), mover = sum - other;
    size_t count = 0;
    if (mover) tiers[count++] = pair_number(other, mover);
    if (sum < board_of(self)->cells) tiers[count++] = pair_number(other, mover + 1);
    return count;
}

static uint64_t tier_size(const pp_kernel *self, uint32_t tier) {
    return pp_slot_index(places_of(board_of(self), tier)[CLASSES].first);
}

/* ---- immediate wins ---- */

/* A move wins if it makes a line in or across the row or column that it changes, and no line of the other player. */
static int wins_now(const pp_kernel *self, pp_position position) {
    const quixo_board *board = board_of(self);
    const uint64_t marks = mover_first(position);
    const line_masks masks = lines_of(board, marks), crossings = crossings_of(board, marks);
    for (unsigned line = 0; line < board->lines; line++) {
        const unsigned mine = (unsigned)crossings.line[line], theirs = (unsigned)(crossings.line[line] >> HALF);
        const unsigned content = content_of_line(masks.line[line]);
        if (!mine && (unsigned)quixo_line_counts[content] >> 8 < board->goal - 1) continue;
        const line_moves *results = &board->moves[board->inner[line]][board->length[line]][content];
        for (unsigned i = 0; i < results->count; i++) {
            const unsigned twos = quixo_line_twos[results->content[i]], ones = quixo_line_ones[results->content[i]];
            if (((twos & mine) || board->has_goal[twos]) && !(ones & theirs) && !board->has_goal[ones]) return 1;
        }
    }
    return 0;
}

/* ---- the index ---- */

typedef struct {
    unsigned content[MAX_LINES]; /* of every line, from the view of the next mover */
    uint64_t code;               /* of both blocks, in the same view */
    uint32_t ones, twos;
} line_view;

/* Reads the rows, which determine the code. */
static inline void read_rows(const quixo_board *board, const line_masks *masks, line_view *view) {
    unsigned counts = 0;
    view->code = 0;
    for (unsigned row = 0; row < board->height; row++) {
        view->content[row] = content_of_line(masks->line[row]);
        view->code += board->line_code[row][view->content[row]];
        counts += quixo_line_counts[view->content[row]];
    }
    view->ones = counts & 255;
    view->twos = counts >> 8;
}

static inline line_view view_of(const quixo_board *board, const line_masks *masks) {
    line_view view;
    read_rows(board, masks, &view);
    for (unsigned line = board->height; line < board->lines; line++)
        view.content[line] = content_of_line(masks->line[line]);
    return view;
}

static pp_slot rank(const pp_kernel *self, pp_position position) {
    const quixo_board *board = board_of(self);
    line_masks masks;
    line_view view;
    rows_of(board, halves_swapped(mover_first(position)), &masks);
    read_rows(board, &masks, &view);
    int symmetric;
    return slot_of_code(board, places_of(board, pair_number(view.ones, view.twos)), view.code, &symmetric);
}

static void unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    quixo_unrank(board_of(self), first, count, positions);
}

/* An edge is listed once for each line whose change leads to it, unless a position at either end is symmetric. */
static inline void add_slot(const quixo_board *board, pp_edges *list, const class_place *places, uint64_t code) {
    int symmetric;
    const pp_slot slot = slot_of_code(board, places, code, &symmetric);
    pp_edges_add(list, slot, symmetric);
}

static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const quixo_board *board = board_of(self);
    const line_masks masks = lines_of(board, mover_first(position));
    const line_view view = view_of(board, &masks);
    const class_place *after_own = places_of(board, pair_number(view.ones, view.twos));
    const int blanks = view.ones + view.twos < board->cells;
    const class_place *after_blank = blanks ? places_of(board, pair_number(view.ones, view.twos + 1)) : after_own;
    pp_edges list = {.slots = slots};
    slot_of_code(board, after_own, view.code, &list.origin_symmetric);
    for (unsigned line = 0; line < board->lines; line++) {
        const unsigned content = view.content[line];
        const line_moves *results = &board->moves[board->inner[line]][board->length[line]][content];
        const uint64_t *codes = board->line_code[line], rest = view.code - codes[content];
        unsigned i = 0;
        for (; i < results->own_count; i++) add_slot(board, &list, after_own, rest + codes[results->content[i]]);
        for (; i < results->count; i++) add_slot(board, &list, after_blank, rest + codes[results->content[i]]);
    }
    return list.count;
}

/* Lists every move of an own mark that could have led here, except from finished positions. */
static size_t retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const quixo_board *board = board_of(self);
    const uint64_t marks = mover_first(position);
    const line_masks masks = lines_of(board, marks);
    const line_view view = view_of(board, &masks);
    if (!view.twos) return 0; /* the mover can only take a blank, which leaves this tier for good */
    const line_masks crossings = crossings_of(board, marks);
    const class_place *places = places_of(board, pair_number(view.ones, view.twos));
    pp_edges list = {.slots = slots};
    slot_of_code(board, places, view.code, &list.origin_symmetric);
    for (unsigned line = 0; line < board->lines; line++) {
        const unsigned content = view.content[line];
        const unsigned twos = (unsigned)crossings.line[line], ones = (unsigned)(crossings.line[line] >> HALF);
        const line_moves *origins = &board->origins[board->inner[line]][board->length[line]][content];
        const uint64_t *codes = board->line_code[line], rest = view.code - codes[content];
        for (unsigned i = 0; i < origins->count; i++) {
            const unsigned before = origins->content[i];
            if ((quixo_line_ones[before] & ones) || (quixo_line_twos[before] & twos)) continue;
            add_slot(board, &list, places, rest + codes[before]);
        }
    }
    return list.count;
}

const pp_kernel quixo_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_MOVES,
    .max_parents = MAX_MOVES,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .mover = mover,
    .tier = tier,
    .tier_children = tier_children,
    .wins_now = wins_now,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
    .expand = expand,
    .retract = retract,
};
