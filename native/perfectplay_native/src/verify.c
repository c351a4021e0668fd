/* The proof: every stored value is derived again from its children, with the forward rules alone (moves, apply,
 * status, mover, score) and the index. None of what made the solve fast is used.
 *
 * Let a child's score be what it is worth to the player who moves there: the child's own where the move keeps the turn,
 * else its negative. (Without scores a win counts 1.) Then of a position that is not finished
 *
 *     its score s is the greatest of its children's;
 *     s > 0     its remoteness is one more than the least of the children with score s;
 *     s < 0     its remoteness is one more than the greatest of the children with score s;
 *     s = 0     a tie, one more than the quickest tie among the children with score 0, or endless if none of them is
 *               a tie.
 *
 * A finished position's value is what status and score say. These conditions admit one table only. Take a position with
 * score s > 0 and remoteness n. Its mover goes to a child with score s and remoteness n-1, and so on. The other's
 * positions then have score -s: a move from them either keeps that score, at a lower remoteness, or gives away more,
 * which can happen only so often. So an end comes, and the mover wins by s at least. By the same from the other side
 * nobody can force more than the table says, and where the score is 0, both can hold it by never leaving such
 * positions. So scores are right, and then, by induction on the plies, so is every remoteness.
 *
 * Outcomes alone have no remoteness to be checked. Instead there is an order (claim.c), whoever made it, and of a
 * position that is not finished
 *
 *     won       some move wins: to a child that comes before it in the order, and is lost (won, if the move keeps the turn);
 *     lost      every move loses: to a child that comes before it, and is won (or lost);
 *     drawn     no move wins, and some move leads to a draw.
 *
 * By induction along the order every win and every loss is right. Then so are the draws: of those that are not, take one
 * with the least true remoteness. Its true value rests on children of less, whose stored values are right, and so it is
 * not drawn by the third condition. */
#include <stdlib.h>

#include "claim.h"

enum { WORST = UINT32_MAX, SLOTS_A_RANGE = 1 << 14, BATCH = 512 };

typedef struct {
    uint32_t tier;
    uint64_t first;
    _Atomic uint64_t wrong;
    pp_fault *faults;
    size_t room;
    _Atomic int lock;
    size_t kept;
} verification;

static value_code value_in_slot(pp_engine *engine, pp_slot slot) {
    if (slot == UINT64_MAX || pp_slot_tier(slot) >= engine->tier_count) return WORST;
    const tier_state *tier = tier_of(engine, slot);
    return tier->blocks && pp_slot_index(slot) < tier->size ? value_at(tier, pp_slot_index(slot)) : WORST;
}

/* Whether a move keeps the turn; what a kernel promises about it in its flags is not trusted. */
static bool same_mover(const pp_kernel *kernel, pp_position parent, pp_position child) {
    if (kernel->players == 1) return true;
    return kernel->mover && kernel->mover(kernel, parent) == kernel->mover(kernel, child);
}

/* By how much the player who moves there wins. */
static int score_for_mover(value_code child, bool keeps) {
    const unsigned kind = kind_of(child);
    const int score = score_of(child) ? score_of(child) : (kind == KIND_WIN) - (kind == KIND_LOSS);
    return keeps ? score : -score;
}

/* What the children seen so far demand. */
typedef struct {
    int score;                  /* the greatest */
    unsigned quickest, slowest; /* of those that end with this score */
    bool any, endless;
} demand;

static void add_child(demand *d, value_code child, bool keeps) {
    const int score = score_for_mover(child, keeps);
    const unsigned plies = remoteness_of(child);
    if (d->any && score < d->score) return;
    if (!d->any || score > d->score) *d = (demand){.score = score, .quickest = WORST, .any = true};
    if (child == CODE_ENDLESS) {
        d->endless = true;
        return;
    }
    if (plies < d->quickest) d->quickest = plies;
    if (plies > d->slowest) d->slowest = plies;
}

static value_code demanded_code(const demand *d, bool scored) {
    if (!d->any) return WORST; /* no move, and the game says ONGOING */
    if (!d->score && d->quickest == WORST) return CODE_ENDLESS;
    const unsigned kind = d->score > 0 ? KIND_WIN : d->score < 0 ? KIND_LOSS : KIND_TIE;
    const value_code code = code_of(kind, (d->score < 0 ? d->slowest : d->quickest) + 1);
    return scored ? with_score(code, d->score) : code;
}

/* Whether some move ends the game with a win: nothing is sooner. */
static bool wins_at_once(const pp_kernel *kernel, pp_position position, const pp_move *moves, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, position, moves[i]);
        const int status = kernel->status(kernel, child);
        if (status != PP_ONGOING && status == (same_mover(kernel, position, child) ? PP_WON : PP_LOST)) return true;
    }
    return false;
}

/* The code that the children demand; WORST where no value would do. */
static value_code derive(pp_engine *engine, pp_position position, value_code stored, pp_move *moves) {
    const pp_kernel *kernel = engine->kernel;
    const int status = kernel->status(kernel, position);
    if (status != PP_ONGOING) {
        const value_code code = finished_code(kernel, position, status);
        return code == CODE_BAD_SCORE ? (value_code)WORST : code;
    }
    const size_t count = kernel->moves(kernel, position, moves);
    if (stored == PP_WINS_NOW && !kernel->score && wins_at_once(kernel, position, moves, count)) return stored;
    demand d = {0};
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, position, moves[i]);
        const value_code code = value_in_slot(engine, pp_find(engine, child));
        if (code == WORST || code == CODE_NO_POSITION) return WORST;
        add_child(&d, code, same_mover(kernel, position, child));
    }
    return demanded_code(&d, kernel->score != NULL);
}

/* The same of a slot's outcome. Only children before it in the order count, unless it is said to be a draw: others are as
 * good as draws. */
static value_code derive_outcome(pp_engine *engine, pp_slot slot, pp_position position, value_code stored,
                                 pp_move *moves) {
    const pp_kernel *kernel = engine->kernel;
    const int status = kernel->status(kernel, position);
    if (status != PP_ONGOING) {
        if (finished_code(kernel, position, status) == CODE_BAD_SCORE) return WORST;
        return status == PP_DRAWN ? CODE_ENDLESS : (value_code)status;
    }
    const size_t count = kernel->moves(kernel, position, moves);
    const uint32_t rank = rank_of(engine, slot);
    if (stored == KIND_WIN && rank == RANK_BY_RULE && wins_at_once(kernel, position, moves, count)) return stored;
    bool wins = false, draws = false;
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, position, moves[i]);
        const pp_slot child_slot = pp_find(engine, child);
        const value_code code = value_in_slot(engine, child_slot);
        if (code == WORST || code == CODE_NO_POSITION) return WORST;
        const bool counts = stored == CODE_ENDLESS || (rank != RANK_NEVER && rank_of(engine, child_slot) < rank);
        const unsigned losing_kind = same_mover(kernel, position, child) ? KIND_LOSS : KIND_WIN;
        draws |= !counts || code == CODE_ENDLESS;
        wins |= counts && code != CODE_ENDLESS && code != losing_kind;
    }
    if (!count) return WORST; /* no move, and the game says ONGOING */
    return wins ? KIND_WIN : draws ? (value_code)CODE_ENDLESS : KIND_LOSS;
}

static value_code expected_value(pp_engine *engine, const tier_state *tier, pp_slot slot, pp_position position,
                                 value_code stored, pp_move *moves) {
    if (position == PP_NO_POSITION) return CODE_NO_POSITION;
    return tier->shift == SHIFT_OUTCOME ? derive_outcome(engine, slot, position, stored, moves)
                                        : derive(engine, position, stored, moves);
}

/* A code as whoever asks from outside is to see it. */
static value_code shown(const tier_state *tier, value_code code) {
    return tier->shift == SHIFT_OUTCOME && code != WORST ? outcome_code(packed_outcome(code)) : code;
}

static int by_slot(const void *a, const void *b) {
    const pp_slot x = ((const pp_fault *)a)->slot, y = ((const pp_fault *)b)->slot;
    return x < y ? -1 : x > y;
}

/* Keeps the first faults in slot order, whatever the order they are found in. */
static void keep_fault(verification *v, pp_fault fault) {
    v->wrong++;
    while (atomic_exchange(&v->lock, 1)) {}
    if (v->kept < v->room) {
        v->faults[v->kept++] = fault;
        qsort(v->faults, v->kept, sizeof fault, by_slot);
    } else if (v->room && fault.slot < v->faults[v->room - 1].slot) {
        v->faults[v->room - 1] = fault;
        qsort(v->faults, v->kept, sizeof fault, by_slot);
    }
    v->lock = 0;
}

static void verify_slots(pp_engine *engine, void *context, uint64_t first, uint64_t last) {
    verification *v = context;
    const tier_state *tier = &engine->tiers[v->tier];
    pp_position positions[BATCH];
    pp_move *moves = malloc((engine->kernel->max_moves + 1) * sizeof *moves);
    if (!moves) {
        fail(engine, PP_OUT_OF_MEMORY, 0);
        return;
    }
    for (uint64_t index = v->first + first; index < v->first + last;) {
        const uint64_t left = v->first + last - index, count = left < BATCH ? left : BATCH;
        positions_of_slots(engine, pp_slot_of(v->tier, index), count, positions);
        for (uint64_t i = 0; i < count; i++) {
            const pp_slot slot = pp_slot_of(v->tier, index + i);
            const value_code stored = value_at(tier, index + i);
            const value_code expected = expected_value(engine, tier, slot, positions[i], stored, moves);
            if (stored != expected)
                keep_fault(v, (pp_fault){slot, positions[i], shown(tier, stored), shown(tier, expected)});
        }
        index += count;
    }
    free(moves);
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
    const int result = parallel(engine, verify_slots, &v, count, SLOTS_A_RANGE);
    *wrong = v.wrong;
    return result;
}
