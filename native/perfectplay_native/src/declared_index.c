/* Adds an index to a kernel without one, from a declaration of its cells and pieces (authors write `Index` in Python).
 *
 * A position has one small number per cell, in bits that the declaration lists, and perhaps a few other numbers. Tables
 * by byte turn a position into one mask of cells per kind of piece, and back:
 *
 *     position ──planes──> bit 0, bit 1, … of every cell ──> mask of each kind ──index.h──> tier and slot
 *     position <──OR of `place` of each kind── mask of each kind <──index.h── tier and slot
 *
 * The number of a tier consists of the counts of pieces (index.h) and below them the other numbers, in their bits. With
 * a turn bit, a position in which the second player is to move is indexed with swapped colours, so unranking always
 * gives positions with the first player to move.
 *
 * All functions of the rules are forwarded to the game's kernel, which may be in C or in Python. */
#include <stdlib.h>

#include "declared_index_api.h"
#include "moves.h"
#include "perfectplay/index.h"

enum { NO_BIT = 255, NO_TURN = 64, MAX_NUMBERS = 8, MAX_PLANES = 8, SMALL_TIER = 1024 };

struct pp_layout {
    pp_index index;
    unsigned kinds, planes, numbers, number_bits, bytes, generators;
    pp_permutation plane[MAX_PLANES];     /* from a position to the cells with this bit */
    pp_permutation place[PP_INDEX_KINDS]; /* from the cells of a kind to the bits of a position */
    pp_permutation *generator;            /* of the symmetry group */
    uint8_t value[PP_INDEX_KINDS], swapped[PP_INDEX_KINDS];
    pp_declared_number number[MAX_NUMBERS];
    unsigned turn_bit;
    uint64_t declared; /* all bits of a position that the declaration covers */
};

typedef struct {
    pp_kernel kernel; /* first: a pointer to it is a pointer to the whole */
    const pp_kernel *game;
    const pp_layout *layout;
    uint64_t rest; /* the bits that the declaration does not cover, the same in all positions */
} declared_kernel;

static const declared_kernel *declared_of(const pp_kernel *kernel) { return (const declared_kernel *)kernel; }
static const pp_kernel *game_of(const pp_kernel *kernel) { return declared_of(kernel)->game; }

/* ---- positions and placements ---- */

typedef struct {
    uint64_t masks[PP_INDEX_KINDS];
    uint32_t tier;
} placement;

static inline unsigned number_at(const pp_declared_number *number, pp_position position) {
    return (unsigned)(position >> number->shift & ((UINT64_C(1) << number->width) - 1));
}

/* The mask of each kind; false if the value of a cell is not a kind. */
static inline bool read_masks(const pp_layout *l, pp_position position, bool swap, uint64_t *masks) {
    uint64_t planes[MAX_PLANES], occupied = 0, known = 0;
    for (unsigned i = 0; i < l->planes; i++) {
        planes[i] = pp_permute(&l->plane[i], position, l->bytes);
        occupied |= planes[i];
    }
    for (unsigned kind = 0; kind < l->kinds; kind++) {
        uint64_t mask = occupied;
        for (unsigned i = 0; i < l->planes; i++) mask &= l->value[kind] >> i & 1 ? planes[i] : ~planes[i];
        masks[swap ? l->swapped[kind] : kind] = mask;
        known |= mask;
    }
    return known == occupied;
}

/* Reads a position; false if it does not fit the declaration. */
static inline bool read_position(const declared_kernel *d, pp_position position, placement *out) {
    const pp_layout *l = d->layout;
    const bool swap = l->turn_bit != NO_TURN && position >> l->turn_bit & 1;
    if ((position & ~l->declared) != d->rest || !read_masks(l, position, swap, out->masks)) return false;
    uint8_t counts[PP_INDEX_KINDS];
    for (unsigned kind = 0; kind < l->kinds; kind++) {
        counts[kind] = (uint8_t)__builtin_popcountll(out->masks[kind]);
        if (counts[kind] < l->index.least[kind] || counts[kind] > l->index.most[kind]) return false;
    }
    out->tier = pp_index_tier(&l->index, counts);
    for (unsigned i = 0; i < l->numbers; i++) {
        const pp_declared_number *number = &l->number[swap ? l->number[i].partner : i];
        out->tier = out->tier << number->width | number_at(number, position);
    }
    return true;
}

/* The bits of all positions of a tier that are not cells. */
static inline pp_position frame_of(const declared_kernel *d, uint32_t tier) {
    pp_position frame = d->rest;
    for (unsigned i = d->layout->numbers; i--;) {
        const pp_declared_number *number = &d->layout->number[i];
        frame |= (pp_position)(tier & ((1u << number->width) - 1)) << number->shift;
        tier >>= number->width;
    }
    return frame;
}

static inline pp_position write_position(const pp_layout *l, pp_position frame, const uint64_t *masks) {
    for (unsigned kind = 0; kind < l->kinds; kind++) frame |= pp_permute(&l->place[kind], masks[kind], l->index.bytes);
    return frame;
}

/* ---- the index ---- */

static uint32_t declared_tier(const pp_kernel *self, pp_position position) {
    placement p;
    return read_position(declared_of(self), position, &p) ? p.tier : self->tier_count;
}

static uint64_t declared_tier_size(const pp_kernel *self, uint32_t tier) {
    const pp_layout *l = declared_of(self)->layout;
    return tier < self->tier_count ? pp_index_size(&l->index, tier >> l->number_bits) : 0;
}

static pp_slot declared_rank(const pp_kernel *self, pp_position position) {
    placement p;
    if (!read_position(declared_of(self), position, &p)) return UINT64_MAX;
    return pp_slot_of(p.tier, pp_index_rank(&declared_of(self)->layout->index, p.masks, NULL));
}

/* Writes a position for each slot, whether it is valid or not. */
static void unrank_all(const declared_kernel *d, pp_slot first, size_t count, pp_position *positions) {
    const pp_layout *l = d->layout;
    const uint32_t tier = pp_slot_tier(first);
    const pp_position frame = frame_of(d, tier);
    uint64_t masks[RUN_SLOTS * PP_INDEX_KINDS];
    for (size_t done = 0; done < count; done += RUN_SLOTS) {
        const size_t some = count - done < RUN_SLOTS ? count - done : RUN_SLOTS;
        pp_index_unrank(&l->index, tier >> l->number_bits, pp_slot_index(first) + done, some, masks);
        for (size_t i = 0; i < some; i++) positions[done + i] = write_position(l, frame, masks + i * l->kinds);
    }
}

static void declared_unrank(const pp_kernel *self, pp_slot first, size_t count, pp_position *positions) {
    const pp_kernel *game = game_of(self);
    const uint64_t size = declared_tier_size(self, pp_slot_tier(first)), index = pp_slot_index(first);
    const uint64_t left = index < size ? size - index : 0;
    const size_t inside = count < left ? count : (size_t)left;
    unrank_all(declared_of(self), first, inside, positions);
    for (size_t i = 0; i < count; i++)
        if (i >= inside || (game->valid && !game->valid(game, positions[i]))) positions[i] = PP_NO_POSITION;
}

pp_position pp_declared_canonical(const pp_kernel *kernel, pp_position position) {
    const pp_slot slot = declared_rank(kernel, position);
    if (slot != UINT64_MAX) unrank_all(declared_of(kernel), slot, 1, &position);
    return position;
}

/* ---- the order of tiers ---- */

typedef struct {
    pp_position *children, *others;
    pp_move *moves;
} scan_room;

/* The distinct slots of a position's children. */
static size_t child_slots(const pp_kernel *kernel, pp_position position, pp_slot *slots, pp_move *moves) {
    const size_t count = pp_any_children(game_of(kernel), position, slots, moves);
    for (size_t i = 0; i < count; i++) slots[i] = declared_rank(kernel, slots[i]);
    return pp_make_distinct(slots, count);
}

/* The image of a position with the first player to move under a generator of the group, or if `generator` is their
 * number, under the colour swap. */
static pp_position image_of(const declared_kernel *d, pp_position position, unsigned generator) {
    const pp_layout *l = d->layout;
    placement p = {0};
    uint64_t images[PP_INDEX_KINDS];
    read_position(d, position, &p);
    if (generator == l->generators) {
        pp_position frame = d->rest | UINT64_C(1) << l->turn_bit;
        for (unsigned i = 0; i < l->numbers; i++)
            frame |= (pp_position)number_at(&l->number[l->number[i].partner], position) << l->number[i].shift;
        for (unsigned kind = 0; kind < l->kinds; kind++) images[l->swapped[kind]] = p.masks[kind];
        return write_position(l, frame, images);
    }
    for (unsigned kind = 0; kind < l->kinds; kind++)
        images[kind] = pp_permute(&l->generator[generator], p.masks[kind], l->index.bytes);
    return write_position(l, frame_of(d, p.tier), images);
}

/* Whether the rules treat an image of a position like the position, as far as one move shows it. */
static bool is_symmetric(const pp_kernel *kernel, pp_position position, pp_position image, const scan_room *room) {
    const pp_kernel *game = game_of(kernel);
    if (game->valid && !game->valid(game, image)) return false;
    const int status = game->status(game, position);
    if (game->status(game, image) != status) return false;
    if (status != PP_ONGOING) return true;
    const size_t count = child_slots(kernel, position, room->children, room->moves);
    return child_slots(kernel, image, room->others, room->moves) == count &&
           !memcmp(room->children, room->others, count * sizeof *room->children);
}

/* Marks the tiers of a position's children; false if one does not fit the declaration. */
static bool mark_tiers(const pp_kernel *kernel, pp_position position, uint8_t *reached, const scan_room *room) {
    const pp_kernel *game = game_of(kernel);
    if (game->status(game, position) != PP_ONGOING) return true;
    const size_t count = pp_any_children(game, position, room->children, room->moves);
    for (size_t i = 0; i < count; i++) {
        const uint32_t tier = declared_tier(kernel, room->children[i]);
        if (tier == kernel->tier_count) return false;
        reached[tier] = 1;
    }
    return true;
}

static int scan_slots(const pp_kernel *kernel, pp_slot first, uint64_t count, uint8_t *reached, pp_position *fault,
                      const scan_room *room) {
    const pp_layout *l = declared_of(kernel)->layout;
    const unsigned images = l->generators + (l->turn_bit != NO_TURN);
    const bool small = count <= SMALL_TIER && count == declared_tier_size(kernel, pp_slot_tier(first));
    pp_position positions[RUN_SLOTS];
    for (uint64_t done = 0; done < count; done += RUN_SLOTS) {
        const size_t some = count - done < RUN_SLOTS ? (size_t)(count - done) : RUN_SLOTS;
        bool compared = !images; /* one position of each run, and all of a small tier */
        declared_unrank(kernel, first + done, some, positions);
        pp_memo_prefill(kernel, positions, some);
        for (size_t i = 0; i < some; i++) {
            if (positions[i] == PP_NO_POSITION) continue;
            fault[0] = positions[i];
            if (!mark_tiers(kernel, positions[i], reached, room)) return PP_SCAN_MISFIT;
            for (unsigned image = 0; !compared && image < images; image++) {
                fault[1] = image_of(declared_of(kernel), positions[i], image);
                if (!is_symmetric(kernel, positions[i], fault[1], room)) return PP_SCAN_ASYMMETRIC;
            }
            compared = !small;
        }
    }
    return PP_SCAN_OK;
}

int pp_declared_child_tiers(const pp_kernel *kernel, pp_slot first, uint64_t count, uint8_t *reached,
                            pp_position *fault) {
    const size_t moves = kernel->max_moves + 1;
    pp_position *positions = malloc(2 * moves * sizeof *positions);
    pp_move *list = malloc(moves * sizeof *list);
    const scan_room room = {positions, positions + moves, list};
    const int result = positions && list ? scan_slots(kernel, first, count, reached, fault, &room) : PP_SCAN_NO_MEMORY;
    free(positions);
    free(list);
    return result;
}

/* ---- the game's own functions ---- */

static pp_position declared_start(const pp_kernel *self) { return game_of(self)->start(game_of(self)); }
static size_t declared_moves(const pp_kernel *self, pp_position position, pp_move *moves) {
    return game_of(self)->moves(game_of(self), position, moves);
}
static pp_position declared_apply(const pp_kernel *self, pp_position position, pp_move move) {
    return game_of(self)->apply(game_of(self), position, move);
}
static pp_position declared_undo(const pp_kernel *self, pp_position position, pp_move move) {
    return game_of(self)->undo(game_of(self), position, move);
}
static int declared_status(const pp_kernel *self, pp_position position) {
    return game_of(self)->status(game_of(self), position);
}
static int declared_valid(const pp_kernel *self, pp_position position) {
    return game_of(self)->valid(game_of(self), position);
}
static pp_position declared_canonicalize(const pp_kernel *self, pp_position position) {
    return game_of(self)->canonicalize(game_of(self), position);
}
static int declared_mover(const pp_kernel *self, pp_position position) {
    return game_of(self)->mover(game_of(self), position);
}
static int declared_score(const pp_kernel *self, pp_position position) {
    return game_of(self)->score(game_of(self), position);
}
static int declared_wins_now(const pp_kernel *self, pp_position position) {
    return game_of(self)->wins_now(game_of(self), position);
}
static size_t declared_children(const pp_kernel *self, pp_position position, pp_position *children) {
    return game_of(self)->children(game_of(self), position, children);
}
static size_t declared_parents(const pp_kernel *self, pp_position position, pp_position *parents) {
    return game_of(self)->parents(game_of(self), position, parents);
}

const pp_kernel *pp_undeclared(const pp_kernel *kernel) {
    return kernel->rank == declared_rank ? game_of(kernel) : kernel;
}

pp_kernel *pp_declared_new(const pp_kernel *game, const pp_layout *layout) {
    declared_kernel *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->game = game;
    d->layout = layout;
    d->rest = game->start(game) & ~layout->declared;
    d->kernel = (pp_kernel){
        .abi = game->abi,
        .rules_version = game->rules_version,
        .players = game->players,
        .flags = game->flags,
        .max_moves = game->max_moves,
        .max_parents = game->max_parents,
        .tier_count = layout->index.tiers << layout->number_bits,
        .context = game->context,
        .start = declared_start,
        .moves = declared_moves,
        .apply = declared_apply,
        .status = declared_status,
        .valid = game->valid ? declared_valid : NULL,
        .undo = game->undo ? declared_undo : NULL,
        .canonicalize = game->canonicalize ? declared_canonicalize : NULL,
        .mover = game->mover ? declared_mover : NULL,
        .score = game->score ? declared_score : NULL,
        .wins_now = game->wins_now ? declared_wins_now : NULL,
        .children = game->children ? declared_children : NULL,
        .parents = game->parents ? declared_parents : NULL,
        .tier = declared_tier,
        .tier_size = declared_tier_size,
        .rank = declared_rank,
        .unrank = declared_unrank,
    };
    return &d->kernel;
}

void pp_declared_free(pp_kernel *kernel) { free(kernel); }

/* ---- building the tables ---- */

/* Adds a pair of bits to a table of images by byte. */
static void map_bit(pp_permutation *table, unsigned from, unsigned to) {
    for (unsigned bits = 0; bits < 256; bits++)
        if (bits >> from % 8 & 1) table->byte[from / 8][bits] |= UINT64_C(1) << to;
}

/* Fills the tables of the symmetries, which index.h has found to be permutations. */
static bool fill_generators(pp_layout *l, const pp_declaration *declaration) {
    l->generators = declaration->generators;
    l->generator = calloc(l->generators + 1, sizeof *l->generator);
    if (!l->generator) return false;
    for (unsigned i = 0; i < l->generators; i++)
        pp_permutation_fill(&l->generator[i], declaration->cells, declaration->generator + PP_INDEX_CELLS * i);
    return true;
}

static bool fill_layout(pp_layout *l, const pp_declaration *declaration) {
    l->kinds = declaration->kinds;
    l->planes = declaration->planes;
    l->numbers = declaration->numbers;
    l->turn_bit = declaration->turn_bit;
    for (unsigned cell = 0; cell < declaration->cells; cell++)
        for (unsigned plane = 0; plane < l->planes; plane++) {
            const unsigned bit = declaration->bits[cell * l->planes + plane];
            if (bit == NO_BIT) continue;
            if (bit >= 64 || l->declared >> bit & 1) return false;
            l->declared |= UINT64_C(1) << bit;
            map_bit(&l->plane[plane], bit, cell);
            for (unsigned kind = 0; kind < l->kinds; kind++)
                if (declaration->values[kind] >> plane & 1) map_bit(&l->place[kind], cell, bit);
            if (bit / 8 + 1 > l->bytes) l->bytes = bit / 8 + 1;
        }
    for (unsigned kind = 0; kind < l->kinds; kind++) {
        l->value[kind] = declaration->values[kind];
        l->swapped[kind] = declaration->swapped[kind];
        if (!l->value[kind] || l->value[kind] >> l->planes || memchr(l->value, l->value[kind], kind)) return false;
        if (l->swapped[kind] >= l->kinds || declaration->swapped[l->swapped[kind]] != kind) return false;
    }
    for (unsigned i = 0; i < l->numbers; i++) {
        const pp_declared_number *number = &declaration->number[i];
        if (!number->width || number->width > 16 || number->shift + number->width > 64) return false;
        const uint64_t mask = ((UINT64_C(1) << number->width) - 1) << number->shift;
        if (l->declared & mask || number->partner >= l->numbers) return false;
        const pp_declared_number *partner = &declaration->number[number->partner];
        if (partner->partner != i || partner->width != number->width) return false;
        l->declared |= mask;
        l->number[i] = *number;
        l->number_bits += number->width;
    }
    if (l->turn_bit > NO_TURN || (l->turn_bit < NO_TURN && l->declared >> l->turn_bit & 1)) return false;
    if (l->turn_bit < NO_TURN) l->declared |= UINT64_C(1) << l->turn_bit;
    return true;
}

pp_layout *pp_layout_new(const pp_declaration *declaration, int *result) {
    static const int results[] = {
        [PP_INDEX_OK] = PP_LAYOUT_OK,
        [PP_INDEX_BAD_SPEC] = PP_LAYOUT_BAD,
        [PP_INDEX_LARGE_GROUP] = PP_LAYOUT_LARGE_GROUP,
        [PP_INDEX_LARGE_ORBIT] = PP_LAYOUT_LARGE_ORBIT,
        [PP_INDEX_LARGE_TABLES] = PP_LAYOUT_LARGE_TABLES,
        [PP_INDEX_NO_MEMORY] = PP_LAYOUT_NO_MEMORY,
    };
    pp_layout *l = calloc(1, sizeof *l);
    *result = l ? PP_LAYOUT_BAD : PP_LAYOUT_NO_MEMORY;
    if (!l) return NULL;
    const bool fits = declaration->cells && declaration->cells <= PP_INDEX_CELLS && declaration->kinds &&
                      declaration->kinds <= PP_INDEX_KINDS && declaration->planes <= MAX_PLANES &&
                      declaration->numbers <= MAX_NUMBERS;
    if (fits && fill_layout(l, declaration)) {
        pp_index_spec spec = {.cells = declaration->cells,
                              .kinds = declaration->kinds,
                              .generators = declaration->generators,
                              .generator = (const uint8_t (*)[PP_INDEX_CELLS])declaration->generator};
        memcpy(spec.least, declaration->least, declaration->kinds);
        memcpy(spec.most, declaration->most, declaration->kinds);
        *result = results[pp_index_build(&l->index, &spec)];
        bool too_large = *result == PP_LAYOUT_OK && (uint64_t)l->index.tiers << l->number_bits > PP_MAX_TIERS;
        for (unsigned tier = 0; *result == PP_LAYOUT_OK && tier < l->index.tiers; tier++)
            too_large |= pp_index_size(&l->index, tier) >> PP_INDEX_BITS != 0;
        if (too_large) *result = PP_LAYOUT_LARGE_TABLES;
        if (*result == PP_LAYOUT_OK && !fill_generators(l, declaration)) *result = PP_LAYOUT_NO_MEMORY;
        if (*result == PP_LAYOUT_OK) return l;
    }
    pp_layout_free(l);
    return NULL;
}

void pp_layout_free(pp_layout *layout) {
    pp_index_free(&layout->index);
    free(layout->generator);
    free(layout);
}
