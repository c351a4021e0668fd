/* Gobblet Gobblers for the engine: the rules on bitboards and the functions that dominate a solve.
 *
 * A position in the published encoding:
 *
 *     63     55  54  53    48       11     6 5      0        a cell:   5 4   3 2   1 0
 *     [ zero  ][side][cell 8 ] ... [cell 1 ][cell 0 ]                 large medium small   owner 0, 1 or 2
 *
 * cell 0 is the top left, cell 8 the bottom right; side 0 means player 1 is to move. Larger pieces always lie
 * on smaller ones, so the owners of the three sizes determine the stack. Reserves follow from the board.
 *
 * The functions below work on six 9-bit masks instead, one for each size and player (mover or other). */
#include "index.h"

#include "perfectplay/edges.h"

enum {
    SIDE_BIT = 54,
    RESERVE = 15,
    MAX_EDGES = 64, /* upper bound of the moves and of the parents of a position */
};

/* A move: bits 0-3 target cell, bits 4-7 source cell (15: the reserve), bits 8-9 size. */
static inline pp_move move_of(int size, unsigned from, unsigned to) {
    return (pp_move)((unsigned)size << 8 | from << 4 | to);
}

typedef struct {
    unsigned mover[3], other[3]; /* by size: 0 small, 1 medium, 2 large */
    unsigned mover_visible, other_visible;
    unsigned open[3]; /* cells where a piece of this size may land: only smaller pieces there */
} board;

/* Adds a layer below the layers added before, so larger sizes must come first. */
static inline void put_layer(board *b, int size, unsigned mover, unsigned other) {
    const unsigned uncovered = size == 2 ? ALL_CELLS : b->open[size + 1];
    b->mover[size] = mover;
    b->other[size] = other;
    b->mover_visible |= mover & uncovered;
    b->other_visible |= other & uncovered;
    b->open[size] = uncovered & ~(mover | other);
}

/* Fills in the board of the caller. A returned board would be copied in vector registers right after it was written in
 * parts, which stalls the processor. */
static inline void read_board(pp_position position, board *b) {
    const uint64_t cells = position & (((uint64_t)1 << SIDE_BIT) - 1);
    uint64_t planes = gobblet_planes_of_pair[cells >> 48] << 8; /* the last cell has no neighbour */
    for (int cell = 0; cell < CELLS - 1; cell += 2)
        planes |= gobblet_planes_of_pair[cells >> (6 * cell) & 4095] << cell;
    const int side = (int)(position >> SIDE_BIT & 1);
    b->mover_visible = b->other_visible = 0;
    for (int size = 2; size >= 0; size--)
        put_layer(b, size, (unsigned)(planes >> (9 * (2 * size + side))) & ALL_CELLS,
                  (unsigned)(planes >> (9 * (2 * size + 1 - side))) & ALL_CELLS);
}

/* Returns the cells where lifting a piece of this size uncovers a piece of `mine`. */
static inline unsigned uncovers(const unsigned mine[3], const unsigned theirs[3], int size) {
    if (size == 2) return mine[1] | (mine[0] & ~theirs[1]);
    return size == 1 ? mine[0] : 0;
}

static inline unsigned visible_of_size(const board *b, int size) {
    const unsigned larger = size == 2 ? 0 : size == 1 ? b->mover[2] | b->other[2] : ALL_CELLS & ~b->open[1];
    return b->mover[size] & ~larger;
}

/* Returns the cells where a piece lifted from `cell` may land. Landing must leave the other player without a line,
 * so it must break a line that the lift uncovers. Two such lines meet only in the lifted cell and cannot both be
 * broken. */
static inline unsigned landings(const board *b, int size, unsigned cell) {
    const unsigned uncovered = uncovers(b->other, b->mover, size) & cell;
    return b->open[size] & gobblet_common_line_cells[b->other_visible | uncovered];
}

static inline int in_reserve(const board *b, int size) { return pp_one_or_two(b->mover[size]) < 2; }

static inline int has_move(const board *b) {
    for (int size = 0; size < 3; size++)
        if (in_reserve(b, size) && b->open[size]) return 1;
    for (int size = 0; size < 3; size++)
        for (unsigned from = visible_of_size(b, size); from; from &= from - 1)
            if (landings(b, size, from & -from)) return 1;
    return 0;
}

/* ---- the rules ---- */

static pp_position start(const pp_kernel *self) { return 0; }

static int valid(const pp_kernel *self, pp_position position) {
    if (position >> (SIDE_BIT + 1)) return 0;
    board b;
    read_board(position, &b);
    for (int size = 0; size < 3; size++)
        if ((b.mover[size] & b.other[size]) || __builtin_popcount(b.mover[size]) > 2 ||
            __builtin_popcount(b.other[size]) > 2)
            return 0;
    return !has_line(b.mover_visible);
}

static int status(const pp_kernel *self, pp_position position) {
    board b;
    read_board(position, &b);
    return has_line(b.other_visible) || !has_move(&b) ? PP_LOST : PP_ONGOING;
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *out) {
    board b;
    read_board(position, &b);
    if (has_line(b.other_visible)) return 0;
    size_t count = 0;
    for (int size = 2; size >= 0; size--) {
        if (in_reserve(&b, size))
            for (unsigned to = b.open[size]; to; to &= to - 1)
                out[count++] = move_of(size, RESERVE, (unsigned)__builtin_ctz(to));
        for (unsigned from = visible_of_size(&b, size); from; from &= from - 1)
            for (unsigned to = landings(&b, size, from & -from); to; to &= to - 1)
                out[count++] = move_of(size, (unsigned)__builtin_ctz(from), (unsigned)__builtin_ctz(to));
    }
    return count;
}

/* Making and undoing a move flip the same bits, except that the piece belongs to the other side. */
static inline pp_position flip(pp_position position, pp_move move, unsigned side) {
    const unsigned bit = 2 * (move >> 8 & 3) + side, from = move >> 4 & 15, to = move & 15;
    if (from != RESERVE) position ^= (uint64_t)1 << (6 * from + bit);
    return position ^ (uint64_t)1 << (6 * to + bit) ^ (uint64_t)1 << SIDE_BIT;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    return flip(position, move, (unsigned)(position >> SIDE_BIT & 1));
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    return flip(position, move, (unsigned)(~position >> SIDE_BIT & 1));
}

static inline uint64_t flip_rows(uint64_t cells) {
    const uint64_t row = ((uint64_t)1 << 18) - 1;
    return (cells & row) << 36 | (cells & row << 18) | (cells >> 36 & row);
}

static inline uint64_t transpose(uint64_t cells) {
    const uint64_t diagonal = 077ULL | 077ULL << 24 | 077ULL << 48;
    const uint64_t near = 077ULL << 6 | 077ULL << 30, corner = 077ULL << 12;
    return (cells & diagonal) | (cells & near) << 12 | (cells >> 12 & near) | (cells & corner) << 24 |
           (cells >> 24 & corner);
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const uint64_t side = position & (uint64_t)1 << SIDE_BIT;
    uint64_t image = position ^ side, least = image;
    for (int turn = 0; turn < 4; turn++) { /* a flip and a transposition together are a quarter turn */
        image = flip_rows(image);
        if (image < least) least = image;
        image = transpose(image);
        if (image < least) least = image;
    }
    return least | side;
}

static int mover(const pp_kernel *self, pp_position position) { return (int)(position >> SIDE_BIT & 1); }

/* ---- immediate wins and tiers ---- */

static inline int can_win(const board *b) {
    unsigned places = 0;
    for (int size = 0; size < 3; size++)
        if (in_reserve(b, size)) places |= b->open[size];
    if (gobblet_line_completions[b->mover_visible] & places) return 1;
    for (int size = 0; size < 3; size++) {
        const unsigned keeps = uncovers(b->mover, b->other, size); /* lifting uncovers another piece of the mover */
        for (unsigned from = visible_of_size(b, size); from; from &= from - 1) {
            const unsigned cell = from & -from;
            const unsigned rest = b->mover_visible & ~(cell & ~keeps);
            if (gobblet_line_completions[rest] & landings(b, size, cell)) return 1;
        }
    }
    return 0;
}

static int wins_now(const pp_kernel *self, pp_position position) {
    board b;
    read_board(position, &b);
    return can_win(&b);
}

static uint32_t tier(const pp_kernel *self, pp_position position) {
    board b;
    read_board(position, &b);
    return tier_of_masks(b.mover, b.other);
}

static size_t tier_children(const pp_kernel *self, uint32_t tier_number, uint32_t *out) {
    const layer_type type[3] = {(layer_type)(tier_number % 9), (layer_type)(tier_number / 9 % 9),
                                (layer_type)(tier_number / 81)};
    const uint32_t weight[3] = {1, 9, 81};
    uint32_t after_slide = 0;
    int on_board = 0;
    size_t count = 0;
    for (int size = 0; size < 3; size++) {
        after_slide += weight[size] * swapped_type(type[size]);
        on_board += type[size] / 3;
    }
    if (on_board) out[count++] = after_slide;
    for (int size = 0; size < 3; size++) /* the mover, who is the other player after the move, has one piece more */
        if (type[size] / 3 < 2) out[count++] = after_slide + weight[size];
    return count;
}

/* ---- the perfect index ---- */

static uint64_t tier_size(const pp_kernel *self, uint32_t tier_number) { return tier_slots(tier_number); }

static pp_slot rank(const pp_kernel *self, pp_position position) {
    board b;
    read_board(position, &b);
    const layer_set layers = layers_of(b.mover, b.other);
    int symmetric;
    return slot_of_layers(&layers, &symmetric);
}

static void unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    gobblet_unrank_layers(first, count, positions);
}

/* Adds the slots reached when the layer of `size` becomes each of the configurations with ternary code
 * `code + step * 3^cell`, for the cells in `cells`. */
static inline void add_slots(pp_edges *list, layer_set layers, anchor fixed, int size, unsigned code, unsigned step,
                             unsigned cells) {
    for (; cells; cells &= cells - 1) {
        const unsigned next = gobblet_config_of_code[code + step * gobblet_power_of_3[__builtin_ctz(cells)]];
        int symmetric;
        pp_slot slot;
        layers.config[size] = next;
        if (size == 2) fixed = anchor_of(layers.tier, next);
        slot = slot_under_anchor(&fixed, &layers, &symmetric);
        pp_edges_add(list, slot, symmetric);
    }
}

static inline size_t expand_board(const board *b, pp_slot *slots) {
    const layer_set still = layers_of(b->other, b->mover); /* the board from the next mover's side */
    const anchor fixed = anchor_of(still.tier, still.config[2]);
    static const uint32_t tier_weight[3] = {1, 9, 81};
    pp_edges list = {.slots = slots};
    list.origin_symmetric = fixed.symmetry != TRIVIAL && is_symmetric(&fixed, &still);
    for (int size = 0; size < 3; size++) {
        const unsigned code = code_of_masks(b->other[size], b->mover[size]);
        if (in_reserve(b, size)) {
            layer_set placed = still;
            placed.tier += tier_weight[size];
            placed.type[size] = (layer_type)(placed.type[size] + 1);
            add_slots(&list, placed, anchor_of(placed.tier, placed.config[2]), size, code, 2, b->open[size]);
        }
        for (unsigned from = visible_of_size(b, size); from; from &= from - 1) {
            const unsigned lifted = code - 2 * gobblet_power_of_3[__builtin_ctz(from)];
            add_slots(&list, still, fixed, size, lifted, 2, landings(b, size, from & -from));
        }
    }
    return list.count;
}

static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    board b;
    read_board(position, &b);
    return expand_board(&b, slots);
}

static inline uint8_t code_of_board(const board *b) {
    if (has_line(b->mover_visible)) return PP_EMPTY_SLOT;
    if (has_line(b->other_visible)) return PP_LOST;
    if (can_win(b)) return PP_WINS_NOW;
    return has_move(b) ? PP_ONGOING : PP_LOST;
}

/* Consecutive slots usually differ in their small layer only, so the layers above it are set up once per row. */
static void survey(const pp_kernel *self, pp_slot first, size_t count, uint64_t wanted, uint8_t *codes, pp_slot *slots,
                   uint32_t *ends) {
    (void)count;
    index_place place = gobblet_place_of_slot(first);
    size_t written = 0;
    for (unsigned at = 0; wanted;) { /* `place` is the place of slot first + at */
        board above = {.mover_visible = 0};
        put_layer(&above, 2, gobblet_mover_mask[place.large], gobblet_other_mask[place.large]);
        put_layer(&above, 1, gobblet_mover_mask[place.medium], gobblet_other_mask[place.medium]);
        const unsigned row_end = at + place.small_count - place.k;
        for (; wanted; wanted &= wanted - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(wanted);
            if (bit >= row_end) break;
            const unsigned small = place.smalls[place.k + bit - at];
            board b = above;
            put_layer(&b, 0, gobblet_mover_mask[small], gobblet_other_mask[small]);
            const uint8_t code = codes ? code_of_board(&b) : PP_ONGOING;
            if (codes) codes[bit] = code;
            if (!slots) continue;
            if (code == PP_ONGOING) written += expand_board(&b, slots + written);
            ends[bit] = (uint32_t)written;
        }
        at = row_end;
        if (wanted) gobblet_next_row(&place);
    }
}

/* Lists every slide that could have led here. The player who is not to move slid a visible piece from a cell that can
 * hold it, and before that neither player had a line. */
static size_t retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    board now;
    read_board(position, &now);
    if (!(now.mover[0] | now.mover[1] | now.mover[2])) return 0; /* nothing to slide back into this tier */
    board b = now;                                               /* from the side of the player who moved */
    for (int size = 0; size < 3; size++) {
        b.mover[size] = now.other[size];
        b.other[size] = now.mover[size];
    }
    b.mover_visible = now.other_visible;
    b.other_visible = now.mover_visible;
    const layer_set still = layers_of(b.mover, b.other);
    const anchor fixed = anchor_of(still.tier, still.config[2]);
    pp_edges list = {.slots = slots};
    list.origin_symmetric = fixed.symmetry != TRIVIAL && is_symmetric(&fixed, &still);
    for (int size = 0; size < 3; size++) {
        const unsigned code = code_of_masks(b.mover[size], b.other[size]);
        const unsigned shows_mover = uncovers(b.mover, b.other, size);
        const unsigned shows_other = uncovers(b.other, b.mover, size);
        for (unsigned to = visible_of_size(&b, size); to; to &= to - 1) {
            const unsigned cell = to & -to;
            const unsigned mover_rest = b.mover_visible & ~(cell & ~shows_mover);
            const unsigned other_rest = b.other_visible | (shows_other & cell);
            if (has_line(mover_rest)) continue;
            /* At its source the piece made no line for its owner and broke every line uncovered by leaving. */
            const unsigned from =
                b.open[size] & ~gobblet_line_completions[mover_rest] & gobblet_common_line_cells[other_rest];
            add_slots(&list, still, fixed, size, code - gobblet_power_of_3[__builtin_ctz(to)], 1, from);
        }
    }
    return list.count;
}

const pp_kernel gobblet_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_EDGES,
    .max_parents = MAX_EDGES,
    .tier_count = TIERS,
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
    .survey = survey,
};
