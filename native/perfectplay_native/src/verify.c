/* The proof: every stored value is derived again from its children, with the forward rules alone (moves, apply, status,
 * mover, score) and the index. None of the shortcuts that make the solve fast are used.
 *
 * Let the score of a child be its score for the player who moves there: the child's own score if the move keeps the
 * turn, else the negative of it. (Without scores a win counts as 1.) Then for a position that is not finished
 *
 *     its score s is the greatest of its children's scores;
 *     s > 0     its remoteness is one more than the least among the children with score s;
 *     s < 0     its remoteness is one more than the greatest among the children with score s;
 *     s = 0     it is a tie, one ply after the quickest tie among the children with score 0, or endless if none of them
 *               is a tie.
 *
 * The value of a finished position is given by status and score. Only one table satisfies these conditions. Take a
 * position with score s > 0 and remoteness n. Its mover goes to a child with score s and remoteness n-1, and so on. The
 * opponent's positions then have score -s: a move from them either keeps that score, at a lower remoteness, or gives
 * away more, which can happen only finitely often. So the game ends, and the mover wins by at least s. By the same
 * argument for the other side, no player can force more than the table says; and if the score is 0, both players can
 * hold it by never leaving such positions. So the scores are right, and then, by induction on the plies, so is every
 * remoteness.
 *
 * Outcomes alone have no remoteness to check. Two positions might each be "won" by a move to the other's "loss", for
 * ever. So an order of the positions is needed, no matter where it comes from, and for a position that is not finished
 *
 *     won       some move wins: to a child earlier in the order that is lost (won, if the move keeps the turn);
 *     lost      every move loses: to a child earlier in the order that is won (lost, if the move keeps the turn);
 *     drawn     no move wins, and some move leads to a draw.
 *
 * By induction along the order every win and every loss is right. Then so are the draws. Assume that some are not, and
 * take one with the least true remoteness. Its true value follows from children with a lower remoteness, whose stored
 * values are right, and so the third condition does not hold for it. */
#include <stdlib.h>

#include "component.h"

enum { NO_VALUE = UINT32_MAX, SLOTS_PER_RANGE = 1 << 14, SLOTS_PER_STEP = 512 };

/* ---- an order for outcomes ----
 *
 * The order in which another solve of the same tiers decides the positions, that is their remoteness, for which a table
 * of outcomes has no room. It is not trusted: verification finds out whether it satisfies the conditions above. */

struct decision_order {
    component c; /* its markers and entries; none if no move stays among the tiers */
    uint32_t tiers[];
};

/* Ranks in the order: tiers verified earlier, then positions settled by the rules, then 1 + the level of the others,
 * and draws last. */
enum { RANK_EARLIER_TIER = 0, RANK_BY_RULE = 1 };
#define RANK_DRAW UINT32_MAX

void pp_free_decision_order(pp_engine *engine) {
    struct decision_order *order = engine->order;
    if (!order) return;
    for (size_t i = 0; i < order->c.layout.tier_count; i++) engine->tiers[order->tiers[i]].ordered = 0;
    pp_release_component(engine, &order->c);
    free(order);
    engine->order = NULL;
}

int pp_find_decision_order(pp_engine *engine, const uint32_t *tiers, size_t count, int cyclic, int propagation) {
    pp_free_decision_order(engine);
    struct decision_order *order = calloc(1, sizeof *order + count * sizeof *tiers);
    if (!order) return PP_OUT_OF_MEMORY;
    memcpy(order->tiers, tiers, count * sizeof *tiers);
    order->c.layout = (component_layout){.tiers = order->tiers, .tier_count = count};
    order->c.outcomes = true;
    engine->order = order;
    const int result = cyclic ? pp_solve_component(engine, &order->c, cyclic, propagation) : PP_OK;
    for (size_t i = 0; i < count; i++) {
        tier_state *tier = &engine->tiers[tiers[i]];
        tier->ordered = 1;
        pp_drop_values(engine, tier); /* the stored values are verified, not these */
    }
    if (result) pp_free_decision_order(engine);
    return result;
}

static uint32_t rank_of(const pp_engine *engine, pp_slot slot) {
    const tier_state *tier = tier_of(engine, slot);
    if (!tier->ordered) return RANK_EARLIER_TIER;
    const component *c = &engine->order->c;
    const entry *e = c->open.entries ? entry_of(c, local_index(tier, slot)) : NULL;
    if (!e) return RANK_BY_RULE;
    return entry_decided(*e) ? RANK_BY_RULE + remoteness_of(entry_code(*e)) : RANK_DRAW;
}

/* ---- deriving a value ---- */

/* The tier of a slot, if it has a value there; otherwise NULL. */
static const tier_state *tier_with_value(const pp_engine *engine, pp_slot slot) {
    if (slot == UINT64_MAX || pp_slot_tier(slot) >= engine->tier_count) return NULL;
    const tier_state *tier = tier_of(engine, slot);
    return tier->blocks && pp_slot_index(slot) < tier->size ? tier : NULL;
}

static value_code value_in_slot(const pp_engine *engine, pp_slot slot) {
    const tier_state *tier = tier_with_value(engine, slot);
    return tier ? value_at(tier, pp_slot_index(slot)) : NO_VALUE;
}

/* The player to move, 0 if the kernel does not tell. */
static int mover_of(const pp_kernel *kernel, pp_position position) {
    return kernel->mover && kernel->players != 1 ? kernel->mover(kernel, position) : 0;
}
/* Whether a move keeps the turn. The kernel's flags are not trusted. */
static bool same_mover(const pp_kernel *kernel, int mover, pp_position child) {
    if (kernel->players == 1) return true;
    return kernel->mover && kernel->mover(kernel, child) == mover;
}

/* The score of a child for the player who moves there. */
static int score_for_mover(value_code child, bool keeps) {
    const unsigned kind = kind_of(child);
    const int score = score_of(child) ? score_of(child) : (kind == KIND_WIN) - (kind == KIND_LOSS);
    return keeps ? score : -score;
}

/* The value required by the children so far. */
typedef struct {
    int score;                  /* the greatest of the children */
    unsigned quickest, slowest; /* of the children that end with this score */
    bool any, endless;
} requirement;

static void add_child(requirement *r, value_code child, bool keeps) {
    const int score = score_for_mover(child, keeps);
    const unsigned plies = remoteness_of(child);
    if (r->any && score < r->score) return;
    if (!r->any || score > r->score) *r = (requirement){.score = score, .quickest = NO_VALUE, .any = true};
    if (child == CODE_ENDLESS) {
        r->endless = true;
        return;
    }
    if (plies < r->quickest) r->quickest = plies;
    if (plies > r->slowest) r->slowest = plies;
}

static value_code required_code(const requirement *r, bool scored) {
    if (!r->any) return NO_VALUE; /* ONGOING without a move */
    if (!r->score && r->quickest == NO_VALUE) return CODE_ENDLESS;
    const unsigned kind = r->score > 0 ? KIND_WIN : r->score < 0 ? KIND_LOSS : KIND_TIE;
    const value_code code = code_of(kind, (r->score < 0 ? r->slowest : r->quickest) + 1);
    return scored ? with_score(code, r->score) : code;
}

/* A position whose children have to be read. */
typedef struct {
    pp_slot slot;
    pp_position position;
    value_code stored;
    uint32_t end; /* of its children in the list of all pending positions */
} pending_position;

/* The positions that a thread is working on. Values of children lie all over memory, so those of several positions are
 * prefetched before the first one is read. */
enum { PENDING = 12, WINNING_MOVES = 8 };
typedef struct {
    pp_move *moves;
    pp_slot *children; /* canonical positions, and later their slots */
    uint8_t *keeps;    /* whether the move to a child keeps the turn */
    void *memory;
    pending_position pending[PENDING];
    unsigned count;
    pp_move winning[WINNING_MOVES]; /* moves that won at once recently, the latest first */
} proof_state;

static bool begin_proof(pp_engine *engine, proof_state *state) {
    const size_t moves = engine->kernel->max_moves + (size_t)1, children = PENDING * moves;
    *state = (proof_state){.count = 0};
    state->memory = malloc(children * sizeof *state->children + moves * sizeof *state->moves + children);
    if (!state->memory) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return false;
    }
    state->children = state->memory;
    state->moves = (pp_move *)(state->children + children);
    state->keeps = (uint8_t *)(state->moves + moves);
    return true;
}

static bool move_wins(const pp_kernel *kernel, pp_position position, int mover, pp_move move) {
    const pp_position child = kernel->apply(kernel, position, move);
    const int status = kernel->status(kernel, child);
    return status != PP_ONGOING && status == (same_mover(kernel, mover, child) ? PP_WON : PP_LOST);
}

static bool contains_move(const pp_move *moves, size_t count, pp_move move) {
    bool found = false;
    for (size_t i = 0; i < count; i++) found |= moves[i] == move; /* without a branch, so that it can be vectorized */
    return found;
}

/* Whether some move wins at once, which nothing can beat. Moves that won in earlier positions are tried first. */
static bool wins_at_once(const pp_kernel *kernel, pp_position position, int mover, size_t count, proof_state *state) {
    pp_move *winning = state->winning;
    for (unsigned i = 0; i < WINNING_MOVES; i++) {
        const pp_move move = winning[i];
        if (!contains_move(state->moves, count, move) || !move_wins(kernel, position, mover, move)) continue;
        for (; i; i--) winning[i] = winning[i - 1];
        winning[0] = move;
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!move_wins(kernel, position, mover, state->moves[i])) continue;
        memmove(winning + 1, winning, (WINNING_MOVES - 1) * sizeof *winning);
        winning[0] = state->moves[i];
        return true;
    }
    return false;
}

static void prefetch_value(const pp_engine *engine, pp_slot slot) {
    const tier_state *tier = tier_with_value(engine, slot);
    if (tier) __builtin_prefetch(value_address(tier, pp_slot_index(slot)));
}

/* Adds a position to the pending ones. In an enumerated game the children of all of them are looked up together. */
static void add_pending(pp_engine *engine, proof_state *state, const pending_position *p, int mover, size_t moves) {
    const pp_kernel *kernel = engine->kernel;
    uint32_t end = state->count ? state->pending[state->count - 1].end : 0;
    for (size_t i = 0; i < moves; i++, end++) {
        const pp_position child = kernel->apply(kernel, p->position, state->moves[i]);
        state->keeps[end] = same_mover(kernel, mover, child);
        state->children[end] = kernel->rank ? kernel->rank(kernel, child) : canonical(kernel, child);
        if (kernel->rank) prefetch_value(engine, state->children[end]);
    }
    state->pending[state->count] = *p;
    state->pending[state->count++].end = end;
}

static void find_children(pp_engine *engine, proof_state *state) {
    if (engine->kernel->rank || !state->count) return;
    const uint32_t count = state->pending[state->count - 1].end;
    pp_find_slots(engine, state->children, count);
    for (uint32_t i = 0; i < count; i++) prefetch_value(engine, state->children[i]);
}

/* The code that the children of a pending position require; NO_VALUE if no value would be right. */
static value_code derive(const pp_engine *engine, const proof_state *state, uint32_t begin, uint32_t end) {
    requirement r = {0};
    for (uint32_t i = begin; i < end; i++) {
        const value_code code = value_in_slot(engine, state->children[i]);
        if (code == NO_VALUE || code == CODE_NO_POSITION) return NO_VALUE;
        add_child(&r, code, state->keeps[i]);
    }
    return required_code(&r, engine->kernel->score != NULL);
}

/* The outcome that the children require. Unless the stored outcome is a draw, children that are not earlier in the
 * order count as draws. */
static value_code derive_outcome(const pp_engine *engine, const proof_state *state, const pending_position *parent,
                                 uint32_t begin) {
    const uint32_t rank = rank_of(engine, parent->slot);
    bool wins = false, draws = false;
    for (uint32_t i = begin; i < parent->end; i++) {
        const value_code code = value_in_slot(engine, state->children[i]);
        if (code == NO_VALUE || code == CODE_NO_POSITION) return NO_VALUE;
        const bool counts =
            parent->stored == CODE_ENDLESS || (rank != RANK_DRAW && rank_of(engine, state->children[i]) < rank);
        const unsigned losing_kind = state->keeps[i] ? KIND_LOSS : KIND_WIN;
        draws |= !counts || code == CODE_ENDLESS;
        wins |= counts && code != CODE_ENDLESS && code != losing_kind;
    }
    if (begin == parent->end) return NO_VALUE; /* ONGOING without a move */
    return wins ? KIND_WIN : draws ? (value_code)CODE_ENDLESS : KIND_LOSS;
}

/* The value of a finished position. */
static value_code finished_value(const pp_kernel *kernel, const tier_state *tier, pp_position position, int status) {
    const value_code code = finished_code(kernel, position, status);
    if (code == CODE_BAD_SCORE) return NO_VALUE;
    if (tier->shift != SHIFT_OUTCOME) return code;
    return status == PP_DRAWN ? CODE_ENDLESS : (value_code)status;
}

/* Whether the stored value says that the mover wins at once. */
static bool claims_win_at_once(const pp_engine *engine, const tier_state *tier, pp_slot slot, value_code stored) {
    if (tier->shift == SHIFT_OUTCOME) return stored == KIND_WIN && rank_of(engine, slot) == RANK_BY_RULE;
    return stored == PP_WINS_NOW && !engine->kernel->score;
}

/* The code as the API returns it. */
static value_code public_code(const tier_state *tier, value_code code) {
    return tier->shift == SHIFT_OUTCOME && code != NO_VALUE ? outcome_code(packed_outcome(code)) : code;
}

/* ---- verifying slots ---- */

typedef struct {
    uint32_t tier;
    uint64_t first;
    _Atomic uint64_t wrong;
    pp_fault *faults;
    size_t room;
    _Atomic int lock;
    size_t kept;
} verification;

static int compare_slots(const void *a, const void *b) {
    const pp_slot x = ((const pp_fault *)a)->slot, y = ((const pp_fault *)b)->slot;
    return x < y ? -1 : x > y;
}

/* Keeps the first faults in slot order, in whatever order they are found. */
static void add_fault(verification *v, pp_fault fault) {
    v->wrong++;
    while (atomic_exchange(&v->lock, 1)) {}
    if (v->kept < v->room) {
        v->faults[v->kept++] = fault;
        qsort(v->faults, v->kept, sizeof fault, compare_slots);
    } else if (v->room && fault.slot < v->faults[v->room - 1].slot) {
        v->faults[v->room - 1] = fault;
        qsort(v->faults, v->kept, sizeof fault, compare_slots);
    }
    v->lock = 0;
}

static void compare(verification *v, const tier_state *tier, const pending_position *p, value_code expected) {
    if (p->stored == expected) return;
    add_fault(v, (pp_fault){p->slot, p->position, public_code(tier, p->stored), public_code(tier, expected)});
}

static void verify_pending(pp_engine *engine, verification *v, const tier_state *tier, proof_state *state) {
    uint32_t begin = 0;
    find_children(engine, state);
    for (unsigned i = 0; i < state->count; i++) {
        const pending_position *p = &state->pending[i];
        compare(v, tier, p,
                tier->shift == SHIFT_OUTCOME ? derive_outcome(engine, state, p, begin)
                                             : derive(engine, state, begin, p->end));
        begin = p->end;
    }
    state->count = 0;
}

static void verify_position(pp_engine *engine, verification *v, const tier_state *tier, const pending_position *p,
                            proof_state *state) {
    const pp_kernel *kernel = engine->kernel;
    if (p->position == PP_NO_POSITION) {
        compare(v, tier, p, CODE_NO_POSITION);
        return;
    }
    const int status = kernel->status(kernel, p->position);
    if (status != PP_ONGOING) {
        compare(v, tier, p, finished_value(kernel, tier, p->position, status));
        return;
    }
    const size_t count = kernel->moves(kernel, p->position, state->moves);
    const int mover = mover_of(kernel, p->position);
    if (claims_win_at_once(engine, tier, p->slot, p->stored) && wins_at_once(kernel, p->position, mover, count, state))
        return;
    add_pending(engine, state, p, mover, count);
    if (state->count == PENDING) verify_pending(engine, v, tier, state);
}

static void verify_slots(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    verification *v = context;
    const tier_state *tier = &engine->tiers[v->tier];
    pp_position positions[SLOTS_PER_STEP];
    proof_state state;
    if (!begin_proof(engine, &state)) return;
    for (uint64_t index = v->first + first; index < v->first + last;) {
        const uint64_t left = v->first + last - index, count = left < SLOTS_PER_STEP ? left : SLOTS_PER_STEP;
        pp_positions_of_slots(engine, pp_slot_of(v->tier, index), count, positions);
        for (uint64_t i = 0; i < count; i++) {
            const value_code stored = value_at(tier, index + i);
            const pending_position p = {pp_slot_of(v->tier, index + i), positions[i], stored, 0};
            verify_position(engine, v, tier, &p, &state);
        }
        index += count;
    }
    verify_pending(engine, v, tier, &state);
    free(state.memory);
    engine->progress_positions += last - first;
}

int pp_verify(pp_engine *engine, uint32_t tier, uint64_t *wrong, pp_fault *faults, size_t room) {
    return pp_verify_slots(engine, tier, 0, engine->tiers[tier].size, wrong, faults, room);
}

int pp_verify_slots(pp_engine *engine, uint32_t tier, uint64_t first, uint64_t count, uint64_t *wrong, pp_fault *faults,
                    size_t room) {
    verification v = {.tier = tier, .first = first, .faults = faults, .room = room};
    engine->failure = PP_OK;
    engine->progress_positions = engine->progress_slots = 0;
    const int result = pp_parallel(engine, verify_slots, &v, count, SLOTS_PER_RANGE);
    *wrong = v.wrong;
    return result;
}
