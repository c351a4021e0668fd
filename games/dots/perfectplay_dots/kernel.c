/* Dots and boxes for the engine. One kernel handles all boards; `context` describes the board.
 *
 * Dots, edges and boxes form a grid of (2 × rows + 1) × (2 × columns + 1) places. Counted row by row, every second
 * place, beginning with the second, is an edge. For 2×2:
 *
 *     + 0 + 1 +
 *     2   3   4      position = [ mover ][ lead + boxes ][ a bit for each edge ]
 *     + 5 + 6 +                   1 bit     6 bits          as many as there are
 *     7   8   9
 *     + 10+ 11+      `lead`: boxes of the first player minus boxes of the second
 *
 * A move is the number of an edge. */
#include "perfectplay.h"

#include "dots.h"

enum { LEAD_BITS = 6, MAX_EDGES = 56 };

static inline const dots_board *board_of(const pp_kernel *self) { return self->context; }

static inline uint64_t edges_of(const dots_board *board, pp_position position) {
    return position & ((UINT64_C(1) << board->edges) - 1);
}

static inline int lead_of(const dots_board *board, pp_position position) {
    return (int)(position >> board->edges & ((1 << LEAD_BITS) - 1)) - (int)board->boxes;
}

static inline int mover_of(const dots_board *board, pp_position position) {
    return (int)(position >> (board->edges + LEAD_BITS));
}

static inline pp_position pack(const dots_board *board, uint64_t edges, int lead, int mover) {
    const uint64_t above = (uint64_t)mover << LEAD_BITS | (uint64_t)(lead + (int)board->boxes);
    return above << board->edges | edges;
}

/* Returns the image of an edge under symmetry 1 to 7: bit 0 flips the rows, bit 1 flips the columns, bit 2
 * transposes. */
static uint32_t image_of(uint32_t edge, uint32_t symmetry, uint32_t rows, uint32_t columns) {
    const uint32_t width = 2 * columns + 1, place = 2 * edge + 1;
    uint32_t y = place / width, x = place % width;
    if (symmetry & 1) y = 2 * rows - y;
    if (symmetry & 2) x = 2 * columns - x;
    return (symmetry & 4 ? x * width + y : y * width + x) / 2;
}

void dots_board_fill(dots_board *board, uint32_t rows, uint32_t columns) {
    const uint32_t width = 2 * columns + 1;
    *board = (dots_board){.edges = width * rows + columns, .symmetries = rows == columns ? 7 : 3};
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++) {
            const uint32_t above = row * width + column, left = above + columns;
            const uint32_t around[4] = {above, left, left + 1, above + width};
            uint64_t box = 0;
            for (int i = 0; i < 4; i++) box |= UINT64_C(1) << around[i];
            for (int i = 0; i < 4; i++) board->sides[around[i]][board->sides[around[i]][0] != 0] = box;
            board->box[board->boxes++] = box;
        }
    for (uint32_t symmetry = 0; symmetry < board->symmetries; symmetry++)
        for (uint32_t edge = 0; edge < board->edges; edge++)
            for (uint32_t drawn = 0; drawn < 256; drawn++)
                if (drawn >> edge % 8 & 1)
                    board->image[symmetry][edge / 8][drawn] |= UINT64_C(1)
                                                               << image_of(edge, symmetry + 1, rows, columns);
}

/* Returns the number of boxes that an edge closes. `edges` includes the edge. */
static inline int closed_by(const dots_board *board, uint64_t edges, uint32_t edge) {
    int closed = 0;
    for (int side = 0; side < 2; side++) {
        const uint64_t box = board->sides[edge][side];
        closed += box && (edges & box) == box;
    }
    return closed;
}

static pp_position start(const pp_kernel *self) { return pack(board_of(self), 0, 0, 0); }

/* The lead must be possible with the closed boxes, each of which belongs to one of the players. */
static int valid(const pp_kernel *self, pp_position position) {
    const dots_board *board = board_of(self);
    if (position >> (board->edges + LEAD_BITS) > 1) return 0;
    const uint64_t edges = edges_of(board, position);
    int closed = 0;
    for (uint32_t box = 0; box < board->boxes; box++) closed += (edges & board->box[box]) == board->box[box];
    const int lead = lead_of(board, position);
    return lead <= closed && -lead <= closed && !((closed + lead) & 1);
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const dots_board *board = board_of(self);
    size_t count = 0;
    for (uint64_t free = edges_of(board, ~position); free; free &= free - 1)
        moves[count++] = (pp_move)__builtin_ctzll(free);
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const dots_board *board = board_of(self);
    const uint64_t edges = edges_of(board, position) | UINT64_C(1) << move;
    const int closed = closed_by(board, edges, (uint32_t)move), mover = mover_of(board, position);
    const int lead = lead_of(board, position) + (mover ? -closed : closed);
    return pack(board, edges, lead, closed ? mover : 1 - mover);
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    const dots_board *board = board_of(self);
    const uint64_t edges = edges_of(board, position);
    const int closed = closed_by(board, edges, (uint32_t)move);
    const int mover = closed ? mover_of(board, position) : 1 - mover_of(board, position);
    const int lead = lead_of(board, position) - (mover ? -closed : closed);
    return pack(board, edges & ~(UINT64_C(1) << move), lead, mover);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const dots_board *board = board_of(self);
    const uint64_t edges = edges_of(board, position);
    uint64_t least = edges;
    for (uint32_t symmetry = 0; symmetry < board->symmetries; symmetry++) {
        uint64_t image = 0;
        for (uint32_t eight = 0; 8 * eight < board->edges; eight++)
            image |= board->image[symmetry][eight][edges >> 8 * eight & 255];
        if (image < least) least = image;
    }
    return position ^ edges ^ least;
}

static int mover(const pp_kernel *self, pp_position position) { return mover_of(board_of(self), position); }

static int score(const pp_kernel *self, pp_position position) {
    const dots_board *board = board_of(self);
    const int lead = lead_of(board, position);
    return mover_of(board, position) ? -lead : lead;
}

static int status(const pp_kernel *self, pp_position position) {
    if (edges_of(board_of(self), ~position)) return PP_ONGOING;
    const int by = score(self, position);
    return by > 0 ? PP_WON : by < 0 ? PP_LOST : PP_DRAWN;
}

/* Every move draws an edge. */
static uint32_t tier(const pp_kernel *self, pp_position position) {
    return (uint32_t)__builtin_popcountll(edges_of(board_of(self), position));
}

const pp_kernel dots_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = MAX_EDGES,
    .start = start,
    .valid = valid,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize,
    .status = status,
    .mover = mover,
    .score = score,
    .tier = tier,
};
