/* The weak solver: proves one position by a depth-first search, and stores every outcome proven on the way.
 *
 * The search follows one path at a time. A frame of the path takes 32 bytes, and two bytes for each unexplored move,
 * which is the number of the move; moves are generated again when they are needed. So nearly all of the memory is used
 * by the transposition table.
 *
 * Move ordering. A visit of a position examines all of its children. Those that are settled by the rules,
 * the table or the path need no search, and a lost child ends the visit. The others are explored in the order of the
 * number of replies that do not lose at once, the fewest first, and a child without such a reply is lost. In a game of
 * threats this decides nearly everything: it makes the proof of Gobblet's start five thousand times smaller.
 *
 * Repetition. A move back to a position on the path counts as a draw. That is right for this path, but it may be wrong
 * on another one: this is the graph history interaction (GHI) problem. So the search keeps draws that depend on a
 * repetition apart from certain outcomes:
 *
 *   - A win needs one lost child, a loss needs all children won (if a move keeps the turn, won and lost are exchanged).
 *     So decisive outcomes follow from decisive ones only and never depend on the path. They are certain, and are
 *     stored at once.
 *   - A draw depends on those of its drawn children that are on the path, and on the dependencies of the others. Let
 *     dep(d) be the dependency of a draw d, a set of positions on the path. For every such draw this invariant holds:
 *
 *         no child of d is lost, some child is drawn, and every drawn child is certainly drawn, or a member of dep(d),
 *         or a draw c with dep(c) within dep(d).                                                                (*)
 *
 *     While all of dep(d) is on the path, d may be used as a draw, and a position that uses it inherits dep(d).
 *   - Let p, the deepest position of the path, be finished. No position above p depends on p, because a frame inherits
 *     only positions that were on the path when it was the deepest one itself.
 *       p is decisive: draws that depend on p are discarded, because they may have any outcome. The others keep (*),
 *         since their drawn children depend on no more than they do.
 *       p is drawn and depends on positions above: in the dependency of every draw that depends on p, p is replaced by
 *         dep(p). (*) still holds.
 *       p is drawn and depends on nothing above: p and all draws that depend on p alone are certain. By (*) no child of
 *         one of them is lost, and each has a child that is one of them or certainly drawn. So both players can stay
 *         among these positions for ever, and a player who leaves them loses by it. So no player can force a win. Draws
 *         that depend on p and on other positions no longer depend on p.
 *
 * Null window. With a holder, the search proves only whether this player can avoid a loss. For the holder, a draw is as
 * good as a win, and it ends the visit of a position where the holder moves. A draw then means that the holder does not
 * lose. Decisive outcomes still follow from decisive ones only. Of (*) the part for the holder remains: where the holder
 * moves, some child is drawn as stated there; elsewhere every child is won by the holder or drawn as stated. If p is drawn
 * and depends on nothing above, the holder can stay among these positions for ever, or leave them for a certain draw or
 * win. In a drawn game two such searches, one for each player, visit far fewer positions than one for the outcome.
 *
 * The dependencies are stored as ranges of depths, for whole groups of draws (path.c). A range may be too wide. That is
 * safe: a draw that depends on less than its range is only confirmed later, or discarded needlessly.
 *
 * Glossary, for readers of the literature (M. Campbell, "The graph-history interaction: on ignoring position history",
 * 1985; A. Kishimoto and M. Müller, "A general solution to the graph history interaction problem", AAAI 2004):
 *
 *     path               the history of the current position
 *     dependency         the part of the history that makes a value path-dependent, stored as a range of depths
 *     provisional draw   a path-dependent value. Kishimoto and Müller store it in the transposition table together with
 *                        a hash of its path, and verify it by simulation before it is used on another path. Here it is
 *                        never in the table, and exists only as long as its dependency is on the path.
 *     confirmed          a provisional draw that has become path-independent
 *     discarded          a provisional draw whose dependency is no longer a draw (`forgotten` in the counts)
 *     tablebase          values of a strong solve, finished or not, which the search probes (an endgame database)
 */
#include <stdlib.h>

#include "search.h"

enum { UNDECIDED = 0, STEPS_PER_REPORT = 64 };

/* The outcome of a position, UNDECIDED if it is not known, and its dependency if it is a draw. */
typedef struct {
    uint8_t outcome;
    depth_range dependency;
} search_result;

static inline search_result certain(uint8_t outcome) { return (search_result){outcome, NO_DEPENDENCY}; }

static inline uint8_t for_parent(uint8_t outcome, bool keeps) {
    return keeps ? outcome : (uint8_t)(PP_LOST + PP_WON - outcome);
}

static void stop_search(pp_search *s, int result, pp_position position) {
    s->failure = result;
    s->error_position = position;
}

static void store(pp_search *s, pp_position position, uint8_t outcome) {
    if (!pp_store_outcome(&s->table, position, outcome)) stop_search(s, PP_OUT_OF_MEMORY, position);
}

/* Whether the best outcome so far ends the visit of a position. */
static inline bool is_enough(const frame *f) { return f->best == PP_WON || (f->holds && f->best == PP_DRAWN); }

/* ---- known outcomes ---- */

/* The outcome by the rules alone: finished, or won in one move; UNDECIDED if the position is open. */
static inline uint8_t rule_outcome(pp_search *s, pp_position position) {
    const value_code code = rule_code(s->kernel, position);
    if (code == CODE_BAD_SCORE) stop_search(s, PP_BAD_SCORE, position);
    return (uint8_t)kind_of(code);
}

/* The winner of a settled position at `depth`: 0 for the mover at the root, 1 for the other player, 2 for a draw. */
static inline unsigned winner(const pp_search *s, pp_position position, uint8_t outcome, uint32_t depth) {
    if (outcome == PP_DRAWN) return 2;
    const pp_kernel *kernel = s->kernel;
    unsigned mover = kernel->players == 1 ? 0 : depth & 1;
    if (kernel->mover) mover = (unsigned)kernel->mover(kernel, position) ^ s->root_mover;
    return outcome == PP_WON ? mover : !mover;
}

/* Looks a position up in the transposition table and on the path. */
static search_result probe(pp_search *s, pp_position position) {
    search_result r = certain(stored_outcome(&s->table, position));
    bool on_path;
    if (r.outcome) {
        s->counts.hits++;
    } else if (pp_path_find(&s->path, position, &r.dependency, &on_path)) {
        r.outcome = PP_DRAWN;
        if (on_path) s->counts.cycles++;
        else s->counts.hits++;
    }
    return r;
}

/* Adds the result of a child to a frame at `depth`. */
static void add_child(frame *f, search_result child, bool keeps, uint32_t depth) {
    const uint8_t outcome = for_parent(child.outcome, keeps);
    if (outcome > f->best) f->best = outcome;
#ifndef PP_NAIVE_DRAWS /* a test build ignores dependencies, to show that the draws are then wrong */
    if (outcome == PP_DRAWN) f->dependency = join(f->dependency, clip(child.dependency, depth));
#else
    (void)depth;
#endif
}

/* ---- down ---- */

static bool grow_frames(pp_search *s, size_t open) {
    const size_t frames = (size_t)s->depth + 1, moves = s->open_count + open;
    return frames <= UINT32_MAX && grow_array((void **)&s->frames, &s->frame_capacity, frames, sizeof *s->frames) &&
           grow_array((void **)&s->open_moves, &s->open_capacity, moves, sizeof *s->open_moves);
}

static void enter(pp_search *s, const frame *f, size_t open) {
    if (!grow_frames(s, open) || !pp_path_enter(&s->path, f->position, s->depth)) {
        stop_search(s, PP_OUT_OF_MEMORY, f->position);
        return;
    }
    for (size_t i = 0; i < open; i++) s->open_moves[s->open_count++] = s->candidates[i].number;
    s->frames[s->depth++] = *f;
    if (s->depth > s->counts.max_depth) s->counts.max_depth = s->depth;
}

/* The number of moves that do not lose at once. */
static uint32_t count_replies(pp_search *s, pp_position position) {
    const pp_kernel *kernel = s->kernel;
    const size_t count = kernel->moves(kernel, position, s->replies);
    uint32_t safe = 0;
    if (!count) {
        stop_search(s, PP_STUCK, position);
        return UINT32_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        const pp_position after = kernel->apply(kernel, position, s->replies[i]);
        const uint8_t outcome = rule_outcome(s, after);
        safe += !outcome || for_parent(outcome, keeps_turn(kernel, position, after)) != PP_LOST;
    }
    return safe;
}

/* Sorts candidates by their replies, the fewest last, and returns how many are left. A candidate without replies is
 * lost, which is added to the frame, and may make it won. */
static size_t order_candidates(pp_search *s, frame *f, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count && !is_enough(f); i++) {
        candidate c = s->candidates[i];
        c.replies = count_replies(s, c.child);
        if (!c.replies) {
            store(s, c.child, PP_LOST);
            add_child(f, certain(PP_LOST), keeps_turn(s->kernel, f->position, c.child), s->depth);
            continue;
        }
        size_t j = kept++;
        for (; j && s->candidates[j - 1].replies < c.replies; j--) s->candidates[j] = s->candidates[j - 1];
        s->candidates[j] = c;
    }
    return kept;
}

/* Lists the open children, and prefetches their entries in the table. Adds the settled ones to the frame. */
static size_t gather_candidates(pp_search *s, frame *f) {
    const pp_kernel *kernel = s->kernel;
    const size_t count = kernel->moves(kernel, f->position, s->moves);
    size_t kept = 0;
    if (!count) stop_search(s, PP_STUCK, f->position);
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, f->position, s->moves[i]);
        const uint8_t outcome = rule_outcome(s, child);
        if (outcome) {
            s->counts.terminals[winner(s, child, outcome, s->depth + 1)]++;
            add_child(f, certain(outcome), keeps_turn(kernel, f->position, child), s->depth);
            continue;
        }
        s->candidates[kept] = (candidate){.child = canonical(kernel, child), .number = (uint16_t)i};
        prefetch_outcome(&s->table, s->candidates[kept++].child);
    }
    return kept;
}

/* Adds the candidates that the tablebase contains to the frame; returns how many are left. */
static size_t probe_tablebase(pp_search *s, frame *f, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) s->probes[i] = s->candidates[i].child;
    pp_tablebase_probe(s->tablebase, s->probes, count, s->outcomes);
    for (size_t i = 0; i < count; i++) {
        const pp_position child = s->candidates[i].child;
        if (!s->outcomes[i]) {
            s->candidates[kept++] = s->candidates[i];
            continue;
        }
        s->counts.below++;
        add_child(f, certain(s->outcomes[i]), keeps_turn(s->kernel, f->position, child), s->depth);
    }
    return kept;
}

static bool is_listed(const candidate *candidates, size_t count, pp_position child) {
    for (size_t i = 0; i < count; i++)
        if (candidates[i].child == child) return true;
    return false;
}

/* Visits an open position whose outcome is not known. Returns its outcome if the children decide it; otherwise it
 * enters the path. */
static uint8_t visit(pp_search *s, pp_position position) {
    const uint32_t depth = s->depth;
    const bool holds = s->holder != NO_HOLDER && s->kernel->mover(s->kernel, position) == s->holder;
    frame f = {position, s->open_count, NO_DEPENDENCY, s->path.draw_count, PP_LOST, holds};
    size_t kept = gather_candidates(s, &f), open = 0;
    s->counts.evaluated++;
    if (s->failure) return UNDECIDED;
    if (s->tablebase && !is_enough(&f)) kept = probe_tablebase(s, &f, kept);
    for (size_t i = 0; i < kept && !is_enough(&f); i++) {
        const pp_position child = s->candidates[i].child;
        /* A move that changes nothing is a repetition, too, of a position that is not on the path yet. */
        const search_result r = child == position ? (search_result){PP_DRAWN, {depth, depth}} : probe(s, child);
        if (r.outcome) add_child(&f, r, keeps_turn(s->kernel, position, child), depth);
        else if (!is_listed(s->candidates, open, child)) s->candidates[open++] = s->candidates[i];
    }
    if (!is_enough(&f)) open = order_candidates(s, &f, open);
    if (f.best == PP_WON || (!open && f.best == PP_LOST)) return f.best;
    enter(s, &f, is_enough(&f) ? 0 : open);
    return UNDECIDED;
}

/* ---- up ---- */

static void leave(pp_search *s) {
    const uint32_t depth = --s->depth;
    const frame *f = &s->frames[depth];
    const search_result r = {f->best, f->dependency};
    bool stored = true;
    if (r.outcome != PP_DRAWN) {
        pp_path_leave_decided(&s->path, f->position, depth, f->draw_mark);
        store(s, f->position, r.outcome);
    } else if (is_empty(r.dependency)) {
        stored = pp_path_leave_drawn(&s->path, f->position, depth, f->draw_mark, &s->table);
    } else {
        stored = pp_path_leave_provisional(&s->path, f->position, depth, f->draw_mark, r.dependency);
    }
    if (!stored) stop_search(s, PP_OUT_OF_MEMORY, f->position);
    if (!depth) return;
    frame *parent = &s->frames[depth - 1];
    add_child(parent, r, keeps_turn(s->kernel, parent->position, f->position), depth - 1);
}

/* ---- the search ---- */

/* Explores the next move of the deepest frame, or leaves it. */
static void step(pp_search *s) {
    const pp_kernel *kernel = s->kernel;
    const uint32_t depth = s->depth - 1;
    const frame *f = &s->frames[depth];
    if (is_enough(f)) s->open_count = f->open_start;
    if (s->open_count == f->open_start) {
        leave(s);
        return;
    }
    kernel->moves(kernel, f->position, s->moves);
    const pp_move move = s->moves[s->open_moves[--s->open_count]];
    const pp_position child = canonical(kernel, kernel->apply(kernel, f->position, move));
    search_result r = probe(s, child);
    if (!r.outcome) {
        r.outcome = visit(s, child);
        if (!r.outcome) return;
        store(s, child, r.outcome);
    }
    add_child(&s->frames[depth], r, keeps_turn(kernel, s->frames[depth].position, child), depth);
}

void pp_begin_proof(pp_search *s, pp_position root) {
    if (stored_outcome(&s->table, root)) return;
    s->root_mover = s->kernel->mover ? (unsigned)s->kernel->mover(s->kernel, root) : 0;
    uint8_t outcome = rule_outcome(s, root);
    if (!outcome && s->tablebase) pp_tablebase_probe(s->tablebase, &root, 1, &outcome);
    if (!outcome && !s->failure) outcome = visit(s, root);
    if (outcome) store(s, root, outcome);
}

int pp_finish_proof(pp_search *s) {
    for (uint64_t steps = 0; s->depth && !s->failure; steps++) {
        step(s);
        if (steps % STEPS_PER_REPORT == 0) pp_publish_counts(s);
        if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return PP_STOPPED;
    }
    return s->failure;
}
