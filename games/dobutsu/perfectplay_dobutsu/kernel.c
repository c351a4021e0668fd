/* Dōbutsu shōgi for the engine: the rules, and forward and backward moves as slots of the perfect index.
 *
 * Two kernels share the rules. dobutsu_kernel has the perfect index for unfinished positions, and one slot each for all
 * positions in which the lion can be captured and for all finished ones, because these have a single value.
 * dobutsu_enumerated_kernel leaves the index to the engine, which gives a slot to each position; only the positions
 * without a lion share one. */
#include "perfectplay/edges.h"
#include "steps.h"

/* ---- moves ----
 *
 *      11        10    8  7         4 3       0
 *     [promotes][captured][source    ][target  ]     captured: the code of the piece, 0 if none
 *
 * Cells are those of the position, for either mover. Sources 12, 13 and 14 are giraffe, elephant and chick in hand. */
enum { SOURCE_SHIFT = 4, CAPTURED_SHIFT = 8, PROMOTES = 1 << 11, FROM_HAND = CELLS };

static inline unsigned target_of(pp_move move) { return move & 15; }
static inline unsigned source_of(pp_move move) { return move >> SOURCE_SHIFT & 15; }
static inline unsigned captured_by(pp_move move) { return move >> CAPTURED_SHIFT & 7; }

static inline unsigned code_at(pp_position position, unsigned cell) {
    return (plane(position, 1) >> cell & 1) | (plane(position, 2) >> cell & 1) << 1 |
           (plane(position, 3) >> cell & 1) << 2;
}

/* Puts a piece on an empty cell, or removes it. */
static inline pp_position toggle(pp_position position, unsigned cell, unsigned code, int owner) {
    return position ^ (((uint64_t)owner | (uint64_t)(code & 1) << CELLS | (uint64_t)(code >> 1 & 1) << 2 * CELLS |
                        (uint64_t)(code >> 2) << 3 * CELLS)
                       << cell);
}

/* Returns one piece in hand, or 0 for a lion. */
static inline pp_position one_of_code(unsigned code, int owner) {
    return code & 3 ? (uint64_t)1 << (PLANE_BITS + owner * HAND_BITS + 2 * (int)((code & 3) - 1)) : 0;
}

static pp_position apply(const pp_kernel *self, pp_position position, pp_move move) {
    const int mover = side_to_move(position);
    const unsigned source = source_of(move), target = target_of(move), captured = captured_by(move);
    const int drops = source >= FROM_HAND;
    const unsigned code = drops ? source - FROM_HAND + 1 : code_at(position, source);
    position = drops ? position - one_of_code(code, mover) : toggle(position, source, code, mover);
    if (captured) position = toggle(position, target, captured, !mover) + one_of_code(captured, mover);
    return toggle(position, target, move & PROMOTES ? code | PROMOTED : code, mover) ^ (uint64_t)1 << SIDE_BIT;
}

static pp_position undo(const pp_kernel *self, pp_position position, pp_move move) {
    const int mover = !side_to_move(position);
    const unsigned source = source_of(move), target = target_of(move), captured = captured_by(move);
    const unsigned code = code_at(position, target), before = move & PROMOTES ? code & 3 : code;
    position = toggle(position, target, code, mover) ^ (uint64_t)1 << SIDE_BIT;
    if (captured) position = toggle(position, target, captured, !mover) - one_of_code(captured, mover);
    return source >= FROM_HAND ? position + one_of_code(code, mover) : toggle(position, source, before, mover);
}

/* ---- the rules ---- */

static int is_stuck(const board *b) {
    const unsigned own = pieces(b, MINE);
    if (b->hand[MINE] || (dobutsu_steps[MINE][LION][cell_of(b->on[MINE][LION])] & ~own)) return 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned from = b->on[MINE][kind]; from; from &= from - 1)
            if (dobutsu_steps[MINE][kind][cell_of(from)] & ~own) return 0;
    return 1;
}

static inline board board_of_mover(pp_position position) { return board_seen_by(position, side_to_move(position)); }

static int valid(const pp_kernel *self, pp_position position) {
    const unsigned bit0 = plane(position, 1), bit1 = plane(position, 2), bit2 = plane(position, 3);
    if (position >> (SIDE_BIT + 1) || (bit2 & (bit0 ^ bit1)) || (plane(position, 0) & ~(bit0 | bit1 | bit2))) return 0;
    const board b = board_of_mover(position);
    for (int kind = 0; kind < KINDS_IN_HAND; kind++) {
        unsigned on_board = b.on[MINE][kind] | b.on[THEIRS][kind];
        if (kind == CHICK) on_board |= b.on[MINE][HEN] | b.on[THEIRS][HEN];
        if (dobutsu_ones[on_board] + in_hand(&b, MINE, kind) + in_hand(&b, THEIRS, kind) != 2) return 0;
    }
    /* The mover's lion may have been captured. On the far rank the opponent would have captured it, or lost. */
    const unsigned mine = b.on[MINE][LION], theirs = b.on[THEIRS][LION];
    return dobutsu_ones[mine] <= 1 && dobutsu_ones[theirs] == 1 && !(mine & FAR_RANK);
}

static pp_position start(const pp_kernel *self) {
    board b = {0};
    for (int side = 0; side < 2; side++) {
        static const uint16_t home[4] = {[GIRAFFE] = 04000, [ELEPHANT] = 01000, [CHICK] = 00200, [LION] = 02000};
        for (int kind = 0; kind < 4; kind++) b.on[side][kind] = side ? (uint16_t)half_turn(home[kind]) : home[kind];
    }
    return position_of(&b);
}

static int status(const pp_kernel *self, pp_position position) {
    const board b = board_of_mover(position);
    return tier_of_board(&b, MINE) == FINISHED || is_stuck(&b) ? PP_LOST : PP_ONGOING;
}

static inline unsigned cell_seen_by(unsigned cell, int side) { return side ? CELLS - 1 - cell : cell; }

static size_t moves(const pp_kernel *self, pp_position position, pp_move *out) {
    const int mover = side_to_move(position);
    const board b = board_seen_by(position, mover);
    const uint32_t tier = tier_of_board(&b, MINE);
    if (tier == FINISHED) return 0;
    const unsigned landing = tier == LION_CAN_BE_TAKEN ? b.on[THEIRS][LION] : ALL_CELLS & ~pieces(&b, MINE);
    size_t count = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned from = b.on[MINE][kind]; from; from &= from - 1) {
            const unsigned source = cell_seen_by(cell_of(from), mover);
            for (unsigned to = dobutsu_steps[MINE][kind][cell_of(from)] & landing; to; to &= to - 1) {
                const unsigned target = cell_seen_by(cell_of(to), mover);
                const pp_move promotes = kind == CHICK && (to & -to & FAR_RANK) ? PROMOTES : 0;
                out[count++] = promotes | code_at(position, target) << CAPTURED_SHIFT | source << SOURCE_SHIFT | target;
            }
        }
    for (int kind = 0; kind < KINDS_IN_HAND; kind++)
        if (in_hand(&b, MINE, kind))
            for (unsigned to = landing & ~pieces(&b, THEIRS); to; to &= to - 1)
                out[count++] = (FROM_HAND + (unsigned)kind) << SOURCE_SHIFT | cell_seen_by(cell_of(to), mover);
    return count;
}

static pp_position canonicalize(const pp_kernel *self, pp_position position) {
    const pp_position image = (position & ~PLANES) | mirror(position & PLANES);
    return image < position ? image : position;
}

static int mover(const pp_kernel *self, pp_position position) { return side_to_move(position); }

static uint32_t tier(const pp_kernel *self, pp_position position) {
    return tier_of_position(seen_by(position, side_to_move(position)));
}

static unsigned reach(const board *b, int side) {
    unsigned cells = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned from = b->on[side][kind]; from; from &= from - 1)
            cells |= dobutsu_steps[side][kind][cell_of(from)];
    return cells;
}

static int wins_now(const pp_kernel *self, pp_position position) {
    const board b = board_of_mover(position);
    if (attackers(&b, MINE, cell_of(b.on[THEIRS][LION]))) return 1;
    const unsigned far = dobutsu_steps[MINE][LION][cell_of(b.on[MINE][LION])] & FAR_RANK;
    return far && (far & ~pieces(&b, MINE) & ~reach(&b, THEIRS));
}

/* ---- the perfect index ---- */

static uint64_t tier_size(const pp_kernel *self, uint32_t number) {
    return number == UNFINISHED ? dobutsu_group[GROUPS].first : 1;
}

static pp_slot rank(const pp_kernel *self, pp_position position) {
    const board b = board_of_mover(position);
    const uint32_t number = tier_of_board(&b, MINE);
    return pp_slot_of(number, number == UNFINISHED ? index_of_board(&b) : 0);
}

enum { ALL_IN_HAND = 2 << 4 | 2 << 2 | 2 }; /* two of each kind */

/* Returns the representative of all positions of a tier: bare lions, face to face or one of them captured. */
static pp_position example(uint32_t number) {
    board b = {.hand[MINE] = ALL_IN_HAND};
    b.on[THEIRS][LION] = 00020;
    if (number == LION_CAN_BE_TAKEN) b.on[MINE][LION] = 00200;
    return position_of(&b);
}

static void unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    if (pp_slot_tier(first) == UNFINISHED) dobutsu_unrank(pp_slot_index(first), count, positions);
    else if (count) *positions = example(pp_slot_tier(first));
}

static inline void add_board(pp_edges *list, const board *b) {
    pp_edges_add(list, pp_slot_of(UNFINISHED, index_of_board(b)), is_symmetric(b));
}

/* The view is that of the next mover, so THEIRS moves. A piece other than the lion can move safely if nothing
 * attacks the lion, or if it captures the only attacker. */
static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const board seen = board_seen_by(position, !side_to_move(position));
    if (attackers(&seen, THEIRS, cell_of(seen.on[MINE][LION]))) {
        *slots = pp_slot_of(FINISHED, 0);
        return 1;
    }
    const board b = with_lions_as_pair(&seen);
    pp_edges list = {.slots = slots, .origin_symmetric = is_symmetric(&b)};
    const unsigned own = pieces(&b, THEIRS), open = ALL_CELLS & ~own, free_cells = open & ~pieces(&b, MINE);
    const unsigned lion = b.on[THEIRS][LION], attack = attackers(&b, MINE, cell_of(lion));
    const unsigned safe = all_or_only(attack), danger = reach(&b, MINE);
    unsigned exposed = 0; /* targets of moves after which the lion can be captured */
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind == LION) continue;
        for (unsigned from = b.on[THEIRS][kind]; from; from &= from - 1) {
            const unsigned steps = dobutsu_steps[THEIRS][kind][cell_of(from)] & open;
            exposed |= steps & ~safe;
            for (unsigned to = steps & safe; to; to &= to - 1) {
                board after = b;
                step(&after, THEIRS, kind, from & -from, to & -to);
                add_board(&list, &after);
            }
        }
    }
    for (int kind = 0; kind < KINDS_IN_HAND; kind++) {
        if (!in_hand(&b, THEIRS, kind)) continue;
        if (attack) exposed |= free_cells;
        else
            for (unsigned to = free_cells; to; to &= to - 1) {
                board after = b;
                drop(&after, THEIRS, kind, to & -to);
                add_board(&list, &after);
            }
    }
    const unsigned steps = dobutsu_steps[THEIRS][LION][cell_of(lion)] & open;
    for (unsigned to = steps & ~danger & ~(unsigned)HOME_RANK; to; to &= to - 1) {
        board after = b;
        step(&after, THEIRS, LION, lion, to & -to);
        add_board(&list, &after);
    }
    if (exposed | (steps & danger)) slots[list.count++] = pp_slot_of(LION_CAN_BE_TAKEN, 0);
    if (steps & ~danger & HOME_RANK) slots[list.count++] = pp_slot_of(FINISHED, 0);
    return list.count;
}

static size_t retract(const pp_kernel *self, pp_position position, pp_slot *slots) {
    const board now = board_seen_by(position, !side_to_move(position));
    if (tier_of_board(&now, THEIRS) != UNFINISHED) return 0; /* play never returns from there */
    pp_edges list = {.slots = slots, .origin_symmetric = is_symmetric(&now)};
    board before[MAX_PARENTS];
    const size_t count = boards_before(&now, before);
    for (size_t i = 0; i < count; i++) add_board(&list, &before[i]);
    return list.count;
}

const pp_kernel dobutsu_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_MOVES,
    .max_parents = MAX_PARENTS,
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
    .wins_now = wins_now,
    .tier_size = tier_size,
    .rank = rank,
    .unrank = unrank,
    .expand = expand,
    .retract = retract,
};

/* ---- the same game, enumerated ---- */

/* The mover becomes Forest, as in the perfect index. Positions without the mover's lion share one representative. */
static pp_position canonicalize_mover_first(const pp_kernel *self, pp_position position) {
    const pp_position seen = seen_by(position, side_to_move(position));
    return lions(seen) & ~plane(seen, 0) ? canonicalize(self, seen) : example(FINISHED);
}

/* Only unfinished positions have parents in a tier that play can return to, so the engine asks for no others. */
static size_t parents(const pp_kernel *self, pp_position position, pp_position *out) {
    const board now = board_seen_by(position, !side_to_move(position));
    if (tier_of_board(&now, THEIRS) != UNFINISHED) return 0;
    board before[MAX_PARENTS];
    const size_t boards = boards_before(&now, before);
    size_t count = 0;
    for (size_t i = 0; i < boards; i++) {
        const pp_position parent = canonicalize(self, position_of(&before[i]));
        size_t duplicate = 0;
        while (duplicate < count && out[duplicate] != parent) duplicate++;
        if (duplicate == count) out[count++] = parent;
    }
    return count;
}

const pp_kernel dobutsu_enumerated_kernel = {
    .abi = PP_ABI,
    .rules_version = 1,
    .flags = PP_TURNS_ALTERNATE,
    .max_moves = MAX_MOVES,
    .max_parents = MAX_PARENTS,
    .tier_count = TIERS,
    .valid = valid,
    .start = start,
    .moves = moves,
    .apply = apply,
    .undo = undo,
    .canonicalize = canonicalize_mover_first,
    .status = status,
    .tier = tier,
    .wins_now = wins_now,
    .parents = parents,
};
