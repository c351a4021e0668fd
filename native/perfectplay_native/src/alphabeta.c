/* The weak solver: proves one position, depth first, and keeps every outcome it has proven on the way.
 *
 * It goes down one path at a time. A frame of the path is 32 bytes and, for each move not yet explored, two bytes: the
 * move's number. Moves are generated again when they are needed. So memory is the table's, and a little a ply.
 *
 * Which move first? A position is looked at with all its children: those that rule, table or path settle need no
 * search, and one that is lost ends the matter. Of the others, those come first that leave the opponent the fewest
 * moves which do not lose at once, and a child with no such move is lost. In a game of threats this decides nearly
 * everything: it makes the proof of Gobblet's start five thousand times smaller.
 *
 * Repetition. A move back to a position on the path counts as a draw, for this path. That is right for the
 * path and may be wrong for the table, so the search keeps apart what rests on a repetition:
 *
 *   - A win needs one lost child, a loss needs all children won (where a move keeps the turn, won and lost change
 *     places): decisive outcomes rest on decisive ones only, never on the path. They are certain, and stored at once.
 *   - A draw rests on the path's positions that its drawn children are, or rest on in turn. Say that a draw d was found
 *     with rests(d), a set of positions on the path. We maintain for every such draw:
 *
 *         no child of d is lost, some child is drawn, and every drawn child is certainly drawn, or a member of
 *         rests(d), or a draw c with rests(c) within rests(d).                                                 (*)
 *
 *     While all of rests(d) is on the path, d may be used as a draw: whoever does, inherits rests(d).
 *   - Let p, the deepest of the path, be finished. Nothing above p rests on p: what a frame has inherited was on the
 *     path when it was the deepest itself.
 *       p decisive: draws that rest on p are forgotten, they may be anything. The others keep (*), since
 *         their children rest on no more than they do.
 *       p drawn, resting on positions above: for every draw that rests on p, put rests(p) in the place of p. (*) holds.
 *       p drawn, resting on nothing above: p and all draws that rest on p alone are certain. For by (*) no child of one
 *         of them is lost, and each has a child that is one of them or certainly drawn: both players can stay
 *         among these for ever, and the one who leaves them loses by it. So nobody can force a win. Draws that rest on
 *         p and on others no longer need p.
 *
 * The sets are kept as spans of depths, first to last, for whole groups of draws (provisional.c). A span may be too
 * wide. That is safe: what rests on less than it seems is only confirmed later, or forgotten needlessly. */
#include <stdlib.h>

#include "search.h"

enum { UNDECIDED = 0, STEPS_UNTOLD = 64 };

/* What is known of a position; outcome 0 if nothing. */
typedef struct {
    uint8_t outcome;
    span rests_on;
} knowledge;

static inline uint8_t for_parent(uint8_t outcome, bool keeps) {
    return keeps ? outcome : (uint8_t)(PP_LOST + PP_WON - outcome);
}

static void give_up(pp_search *s, int result, pp_position position) {
    s->failure = result;
    s->error_position = position;
}

static void store(pp_search *s, pp_position position, uint8_t outcome) {
    if (!put_outcome(&s->table, position, outcome)) give_up(s, PP_OUT_OF_MEMORY, position);
}

/* ---- what is known ---- */

/* What the rules alone say: finished, or won at once; 0 where they leave it open. */
static inline uint8_t rule_outcome(pp_search *s, pp_position position) {
    const value_code code = rule_code(s->kernel, position);
    if (code == CODE_BAD_SCORE) give_up(s, PP_BAD_SCORE, position);
    return (uint8_t)kind_of(code);
}

/* Who wins, when rules settle a position at `depth`: 0 the root's mover, 1 the other, 2 nobody. */
static inline unsigned winner(const pp_search *s, pp_position position, uint8_t outcome, uint32_t depth) {
    if (outcome == PP_DRAWN) return 2;
    const pp_kernel *kernel = s->kernel;
    unsigned mover = kernel->players == 1 ? 0 : depth & 1;
    if (kernel->mover) mover = (unsigned)kernel->mover(kernel, position) ^ s->root_mover;
    return outcome == PP_WON ? mover : !mover;
}

/* What table and path know of a position. */
static knowledge recall(pp_search *s, pp_position position) {
    knowledge k = {outcome_of(&s->table, position), NOTHING};
    bool on_path;
    if (k.outcome) {
        s->counts.hits++;
    } else if (find_provisional(&s->provisional, position, &k.rests_on, &on_path)) {
        k.outcome = PP_DRAWN;
        if (on_path) s->counts.cycles++;
        else s->counts.hits++;
    }
    return k;
}

/* Lets a frame, at `depth`, know what a child of it is worth. */
static void inform(const pp_search *s, frame *f, knowledge child, bool keeps, uint32_t depth) {
    const uint8_t outcome = for_parent(child.outcome, keeps);
    if (outcome > f->best) f->best = outcome;
    if (outcome == PP_DRAWN && !s->naive) f->rests_on = joined(f->rests_on, above(child.rests_on, depth));
}

/* ---- down ---- */

static bool make_room(pp_search *s, size_t open) {
    if (s->depth == s->frame_capacity) {
        const uint32_t larger = s->frame_capacity ? 2 * s->frame_capacity : 256;
        frame *moved = larger > s->frame_capacity ? realloc(s->frames, larger * sizeof *moved) : NULL;
        if (!moved) return false;
        s->frames = moved;
        s->frame_capacity = larger;
    }
    if (s->open_count + open > s->open_capacity) {
        const uint64_t larger = 2 * s->open_capacity + open;
        uint16_t *moved = realloc(s->open_moves, larger * sizeof *moved);
        if (!moved) return false;
        s->open_moves = moved;
        s->open_capacity = larger;
    }
    return true;
}

static void enter(pp_search *s, const frame *f, size_t open) {
    if (!make_room(s, open) || !enter_path(&s->provisional, f->position, s->depth)) {
        give_up(s, PP_OUT_OF_MEMORY, f->position);
        return;
    }
    for (size_t i = 0; i < open; i++) s->open_moves[s->open_count++] = s->candidates[i].number;
    s->frames[s->depth++] = *f;
    if (s->depth > s->counts.max_depth) s->counts.max_depth = s->depth;
}

/* How many moves do not lose at once. */
static uint32_t count_replies(pp_search *s, pp_position position) {
    const pp_kernel *kernel = s->kernel;
    const size_t count = kernel->moves(kernel, position, s->replies);
    uint32_t safe = 0;
    if (!count) {
        give_up(s, PP_STUCK, position);
        return UINT32_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        const pp_position after = kernel->apply(kernel, position, s->replies[i]);
        const uint8_t outcome = rule_outcome(s, after);
        safe += !outcome || for_parent(outcome, keeps_turn(kernel, position, after)) != PP_LOST;
    }
    return safe;
}

/* Sorts candidates by their replies, the fewest last, and returns how many are left: one without replies is lost, of
 * which the frame is informed. It may be won by that. */
static size_t order_candidates(pp_search *s, frame *f, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count && f->best != PP_WON; i++) {
        candidate c = s->candidates[i];
        c.replies = count_replies(s, c.child);
        if (!c.replies) {
            store(s, c.child, PP_LOST);
            inform(s, f, (knowledge){PP_LOST, NOTHING}, keeps_turn(s->kernel, f->position, c.child), s->depth);
            continue;
        }
        size_t j = kept++;
        for (; j && s->candidates[j - 1].replies < c.replies; j--) s->candidates[j] = s->candidates[j - 1];
        s->candidates[j] = c;
    }
    return kept;
}

/* The children that no rule settles, their lines of the table on their way; of the others the frame is informed. */
static size_t gather_candidates(pp_search *s, frame *f) {
    const pp_kernel *kernel = s->kernel;
    const size_t count = kernel->moves(kernel, f->position, s->moves);
    size_t kept = 0;
    if (!count) give_up(s, PP_STUCK, f->position);
    for (size_t i = 0; i < count; i++) {
        const pp_position child = kernel->apply(kernel, f->position, s->moves[i]);
        const uint8_t outcome = rule_outcome(s, child);
        if (outcome) {
            s->counts.terminals[winner(s, child, outcome, s->depth + 1)]++;
            inform(s, f, (knowledge){outcome, NOTHING}, keeps_turn(kernel, f->position, child), s->depth);
            continue;
        }
        s->candidates[kept] = (candidate){.child = canonical(kernel, child), .number = (uint16_t)i};
        prefetch_outcome(&s->table, s->candidates[kept++].child);
    }
    return kept;
}

/* Informs the frame of the candidates that a table underneath knows; returns how many are left. */
static size_t settle_below(pp_search *s, frame *f, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) s->asked[i] = s->candidates[i].child;
    ask_below(s->below, s->asked, count, s->known);
    for (size_t i = 0; i < count; i++) {
        const pp_position child = s->candidates[i].child;
        if (!s->known[i]) {
            s->candidates[kept++] = s->candidates[i];
            continue;
        }
        s->counts.below++;
        inform(s, f, (knowledge){s->known[i], NOTHING}, keeps_turn(s->kernel, f->position, child), s->depth);
    }
    return kept;
}

static bool is_listed(const candidate *candidates, size_t count, pp_position child) {
    for (size_t i = 0; i < count; i++)
        if (candidates[i].child == child) return true;
    return false;
}

/* Looks at an ongoing position that nothing is known of. Its outcome, if the children tell; else it is entered. */
static uint8_t visit(pp_search *s, pp_position position) {
    const uint32_t depth = s->depth;
    frame f = {position, s->open_count, NOTHING, s->provisional.draw_count, PP_LOST};
    size_t kept = gather_candidates(s, &f), open = 0;
    s->counts.evaluated++;
    if (s->failure) return UNDECIDED;
    if (s->below && f.best != PP_WON) kept = settle_below(s, &f, kept);
    for (size_t i = 0; i < kept && f.best != PP_WON; i++) {
        const pp_position child = s->candidates[i].child;
        /* A move that changes nothing is a repetition too, of a position that is not on the path yet. */
        const knowledge k = child == position ? (knowledge){PP_DRAWN, {depth, depth}} : recall(s, child);
        if (k.outcome) inform(s, &f, k, keeps_turn(s->kernel, position, child), depth);
        else if (!is_listed(s->candidates, open, child)) s->candidates[open++] = s->candidates[i];
    }
    if (f.best != PP_WON) open = order_candidates(s, &f, open);
    if (f.best == PP_WON || (!open && f.best == PP_LOST)) return f.best;
    enter(s, &f, open);
    return UNDECIDED;
}

/* ---- up ---- */

static void finish(pp_search *s) {
    const uint32_t depth = --s->depth;
    const frame *f = &s->frames[depth];
    const knowledge k = {f->best, f->rests_on};
    bool room = true;
    if (k.outcome != PP_DRAWN) {
        leave_decided(&s->provisional, f->position, depth, f->mark);
        store(s, f->position, k.outcome);
    } else if (is_nothing(k.rests_on)) {
        room = leave_drawn(&s->provisional, f->position, depth, f->mark, &s->table);
    } else {
        room = leave_provisional(&s->provisional, f->position, depth, f->mark, k.rests_on);
    }
    if (!room) give_up(s, PP_OUT_OF_MEMORY, f->position);
    if (!depth) return;
    frame *parent = &s->frames[depth - 1];
    inform(s, parent, k, keeps_turn(s->kernel, parent->position, f->position), depth - 1);
}

/* ---- along ---- */

/* Explores the next move of the deepest frame, or finishes it. */
static void step(pp_search *s) {
    const pp_kernel *kernel = s->kernel;
    const uint32_t depth = s->depth - 1;
    const frame *f = &s->frames[depth];
    if (f->best == PP_WON) s->open_count = f->open_start;
    if (s->open_count == f->open_start) {
        finish(s);
        return;
    }
    kernel->moves(kernel, f->position, s->moves);
    const pp_move move = s->moves[s->open_moves[--s->open_count]];
    const pp_position child = canonical(kernel, kernel->apply(kernel, f->position, move));
    knowledge k = recall(s, child);
    if (!k.outcome) {
        k.outcome = visit(s, child);
        if (!k.outcome) return;
        store(s, child, k.outcome);
    }
    inform(s, &s->frames[depth], k, keeps_turn(kernel, s->frames[depth].position, child), depth);
}

void begin_proof(pp_search *s, pp_position root) {
    if (outcome_of(&s->table, root)) return;
    s->root_mover = s->kernel->mover ? (unsigned)s->kernel->mover(s->kernel, root) : 0;
    uint8_t outcome = rule_outcome(s, root);
    if (!outcome && s->below) ask_below(s->below, &root, 1, &outcome);
    if (!outcome && !s->failure) outcome = visit(s, root);
    if (outcome) store(s, root, outcome);
}

void publish(pp_search *s) {
    s->counts.unique = s->table.count;
    s->counts.depth = s->depth;
    s->counts.provisional = s->provisional.draw_count;
    s->counts.confirmed = s->provisional.confirmed;
    s->counts.forgotten = s->provisional.forgotten;
    s->counts.bytes = s->table.bytes + provisional_bytes(&s->provisional) + s->frame_capacity * sizeof *s->frames +
                      s->open_capacity * sizeof *s->open_moves;
    uint64_t words[PUBLISHED_COUNTS];
    memcpy(words, &s->counts, sizeof words);
    for (size_t i = 0; i < PUBLISHED_COUNTS; i++)
        atomic_store_explicit(&s->published[i], words[i], memory_order_relaxed);
}

int finish_proof(pp_search *s) {
    for (uint64_t steps = 0; s->depth && !s->failure; steps++) {
        step(s);
        if (steps % STEPS_UNTOLD == 0) publish(s);
        if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return PP_STOPPED;
    }
    return s->failure;
}

int pp_search_run(pp_search *s, pp_position root, int naive) {
    s->naive = naive;
    if (!s->depth) begin_proof(s, canonical(s->kernel, root));
    const int result = finish_proof(s);
    publish(s);
    return result;
}

/* ---- from outside ---- */

pp_search *pp_search_new(const pp_kernel *kernel) {
    pp_search *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    const size_t room = (size_t)kernel->max_moves + 1;
    s->kernel = kernel;
    s->moves = malloc(2 * room * sizeof *s->moves);
    s->replies = s->moves ? s->moves + room : NULL;
    s->candidates = malloc(room * sizeof *s->candidates);
    s->children = malloc(room * sizeof *s->children);
    s->asked = malloc(room * sizeof *s->asked);
    s->known = malloc(room * sizeof *s->known);
    if (!s->moves || !s->candidates || !s->children || !s->asked || !s->known) {
        pp_search_free(s);
        return NULL;
    }
    return s;
}

void pp_search_free(pp_search *s) {
    free_outcomes(&s->table);
    free_provisional(&s->provisional);
    free(s->frames);
    free(s->open_moves);
    free(s->moves);
    free(s->candidates);
    free(s->children);
    free(s->asked);
    free(s->known);
    free_below(s->below);
    free(s);
}

void pp_search_stop(pp_search *s, int stop) { s->stop = stop; }

pp_search_counts pp_search_progress(const pp_search *s) {
    uint64_t words[PUBLISHED_COUNTS];
    pp_search_counts counts;
    for (size_t i = 0; i < PUBLISHED_COUNTS; i++)
        words[i] = atomic_load_explicit(&s->published[i], memory_order_relaxed);
    memcpy(&counts, words, sizeof counts);
    return counts;
}

pp_position pp_search_error_position(const pp_search *s) { return s->error_position; }

int pp_search_outcome(const pp_search *s, pp_position position) {
    return outcome_of(&s->table, canonical(s->kernel, position));
}

void pp_search_entries(const pp_search *s, pp_position *positions, uint8_t *outcomes) {
    for (int part = 0; part < PARTS; part++)
        for (uint32_t i = 0; i < s->table.parts[part].size; i++) {
            const bucket *b = &s->table.parts[part].buckets[i];
            for (int place = 0; place < PLACES && b->outcomes[place]; place++) {
                *positions++ = b->keys[place];
                *outcomes++ = b->outcomes[place];
            }
        }
}

int pp_search_learn(pp_search *s, const pp_position *positions, const uint8_t *outcomes, size_t count) {
    size_t i = 0;
    for (; i < count && put_outcome(&s->table, positions[i], outcomes[i]); i++)
        if (outcomes[i] & EXPANDED) s->counts.expanded++;
    publish(s); /* what was learnt is in the table, and must count, even if the rest found no room */
    return i < count ? PP_OUT_OF_MEMORY : PP_OK;
}
