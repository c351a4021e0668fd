/* Kalah for the engine. One kernel handles any number of pits and seeds; `context` describes the variant.
 *
 * A position is a row of bits with a 1 for each seed and a 0 between one place and the next. From the lowest bit, the
 * places are the first player's pits in the order of sowing, the second player's pits, the first player's store and the
 * second player's store. One more bit is set when the second player is to move. So any position fits
 * 2 × pits × (seeds + 1) + 2 bits.
 *
 * A move is the number of the pit that is emptied, 0 to 2 × pits - 1. */
#include "perfectplay.h"

#include "kalah.h"

enum { MAX_PITS = 15, MAX_PLACES = 2 * MAX_PITS + 2 };

typedef struct {
    uint32_t count[MAX_PLACES]; /* all pits, then the two stores */
    uint32_t mover;
} kalah_board;

static inline const kalah_variant *variant_of(const pp_kernel *self) { return self->context; }
static inline uint32_t pits_of(const kalah_variant *variant) { return 2 * variant->pits; }
static inline uint32_t seeds_of(const kalah_variant *variant) { return 2 * variant->pits * variant->seeds; }

/* The bit of the side to move, above all seeds and separators. */
static inline uint32_t turn_bit(const kalah_variant *variant) { return seeds_of(variant) + pits_of(variant) + 1; }

static kalah_board unpack(const kalah_variant *variant, pp_position position) {
    kalah_board board = {.mover = (uint32_t)(position >> turn_bit(variant))};
    uint64_t rest = position & ((UINT64_C(1) << turn_bit(variant)) - 1);
    for (uint32_t place = 0; place < pits_of(variant) + 2; place++) {
        board.count[place] = (uint32_t)__builtin_ctzll(~rest);
        rest >>= board.count[place] + 1;
    }
    return board;
}

static pp_position pack(const kalah_variant *variant, const kalah_board *board) {
    uint64_t row = 0;
    uint32_t bit = 0;
    for (uint32_t place = 0; place < pits_of(variant) + 2; place++) {
        row |= ((UINT64_C(1) << board->count[place]) - 1) << bit;
        bit += board->count[place] + 1;
    }
    return row | (uint64_t)board->mover << turn_bit(variant);
}

static inline uint32_t seeds_between(const kalah_board *board, uint32_t first, uint32_t end) {
    uint32_t seeds = 0;
    for (uint32_t place = first; place < end; place++) seeds += board->count[place];
    return seeds;
}

static inline uint32_t seeds_of_player(const kalah_variant *variant, const kalah_board *board, uint32_t player) {
    const uint32_t first = player * variant->pits;
    return seeds_between(board, first, first + variant->pits);
}

/* Returns whether the game is over, because the mover's row is empty or, in some variants, either row. */
static inline int is_over(const kalah_variant *variant, const kalah_board *board) {
    return !seeds_of_player(variant, board, board->mover) ||
           (variant->either_row && !seeds_of_player(variant, board, 1 - board->mover));
}

/* Sows a pit of the mover. Returns whether the last seed fell into the mover's store. */
static int sow(const kalah_variant *variant, kalah_board *board, uint32_t pit) {
    const uint32_t pits = pits_of(variant), own_first = board->mover * variant->pits;
    const uint32_t own_last = own_first + variant->pits - 1;
    uint32_t *store = &board->count[pits + board->mover];
    uint32_t hand = board->count[pit];
    board->count[pit] = 0;
    for (;;) {
        if (pit == own_last) {
            ++*store;
            if (!--hand) return 1;
        }
        pit = pit + 1 == pits ? 0 : pit + 1;
        board->count[pit]++;
        if (!--hand) break;
    }
    uint32_t *opposite = &board->count[pits - 1 - pit];
    if (pit >= own_first && pit <= own_last && board->count[pit] == 1 && (*opposite || variant->empty_capture)) {
        *store += 1 + *opposite;
        board->count[pit] = *opposite = 0;
    }
    return 0;
}

static pp_position start(const pp_kernel *self) {
    const kalah_variant *variant = variant_of(self);
    kalah_board board = {.mover = 0};
    for (uint32_t pit = 0; pit < pits_of(variant); pit++) board.count[pit] = variant->seeds;
    return pack(variant, &board);
}

/* In a finished game all pits are empty, because the remaining seeds have gone into the stores. */
static int valid(const pp_kernel *self, pp_position position) {
    const kalah_variant *variant = variant_of(self);
    const uint64_t row = position & ((UINT64_C(1) << turn_bit(variant)) - 1);
    if (position >> turn_bit(variant) > 1) return 0;
    if ((uint32_t)__builtin_popcountll(row) != seeds_of(variant)) return 0;
    const kalah_board board = unpack(variant, position);
    return !is_over(variant, &board) || !seeds_between(&board, 0, pits_of(variant));
}

static size_t moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    const kalah_variant *variant = variant_of(self);
    const kalah_board board = unpack(variant, position);
    const uint32_t first = board.mover * variant->pits;
    size_t count = 0;
    for (uint32_t pit = first; pit < first + variant->pits; pit++)
        if (board.count[pit]) moves[count++] = pit;
    return count;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const kalah_variant *variant = variant_of(self);
    const uint32_t pits = pits_of(variant);
    kalah_board board = unpack(variant, position);
    if (!sow(variant, &board, (uint32_t)move)) board.mover = 1 - board.mover;
    if (is_over(variant, &board)) /* the remaining seeds go into their owners' stores */
        for (uint32_t pit = 0; pit < pits; pit++) {
            board.count[pits + pit / variant->pits] += board.count[pit];
            board.count[pit] = 0;
        }
    return pack(variant, &board);
}

static int mover(const pp_kernel *self, pp_position position) { return (int)(position >> turn_bit(variant_of(self))); }

static int score(const pp_kernel *self, pp_position position) {
    const kalah_variant *variant = variant_of(self);
    const kalah_board board = unpack(variant, position);
    const uint32_t *stores = &board.count[pits_of(variant)];
    return (int)stores[board.mover] - (int)stores[1 - board.mover];
}

static int status(const pp_kernel *self, pp_position position) {
    const kalah_variant *variant = variant_of(self);
    const kalah_board board = unpack(variant, position);
    if (!is_over(variant, &board)) return PP_ONGOING;
    const int by = score(self, position);
    return by > 0 ? PP_WON : by < 0 ? PP_LOST : PP_DRAWN;
}

/* The tier counts the seeds in the stores first, because they never leave. A move that stores no seed leaves all
 * seeds on their side and brings some nearer to the store, so the second part counts their progress. Every move
 * changes the tier. */
static uint32_t tier(const pp_kernel *self, pp_position position) {
    const kalah_variant *variant = variant_of(self);
    const kalah_board board = unpack(variant, position);
    uint32_t stored = seeds_of(variant), progress = 0;
    for (uint32_t pit = 0; pit < pits_of(variant); pit++) {
        stored -= board.count[pit];
        progress += board.count[pit] * (pit % variant->pits);
    }
    return stored * (seeds_of(variant) * (variant->pits - 1) + 1) + progress;
}

const pp_kernel kalah_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .max_moves = MAX_PITS,
    .start = start,
    .valid = valid,
    .moves = moves,
    .apply = apply,
    .status = status,
    .mover = mover,
    .score = score,
    .tier = tier,
};
