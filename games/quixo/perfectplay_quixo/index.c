/* Builds the index of board.h and walks it in order. */
#include "board.h"

#include "perfectplay/grid.h"
#include "perfectplay/orbits.h"

/* ---- blocks that the symmetries preserve ---- */

typedef struct {
    unsigned count;
    uint8_t cells[MAX_CELLS]; /* in order */
    uint8_t place[MAX_CELLS]; /* index of a cell in `cells` */
    uint8_t contains[MAX_CELLS];
} block;

/* Divides the cells, orbit by orbit in row order. An orbit goes to the first block if it still fits; the first block
 * gets half of the cells, rounded up. */
static void divide(const quixo_board *board, block *first, block *second) {
    uint8_t seen[MAX_CELLS] = {0};
    *first = *second = (block){0};
    for (unsigned cell = 0; cell < board->cells; cell++) {
        unsigned size = 0;
        uint8_t orbit[MAX_SYMMETRIES];
        for (unsigned s = 0; s < board->symmetries; s++) {
            const uint8_t image = board->cell_image[s][cell];
            if (!seen[image]) orbit[size++] = image;
            seen[image] = 1;
        }
        block *into = first->count + size <= (board->cells + 1) / 2 ? first : second;
        for (unsigned i = 0; i < size; i++) {
            into->contains[orbit[i]] = 1;
            into->place[orbit[i]] = (uint8_t)into->count;
            into->cells[into->count++] = orbit[i];
        }
    }
}

/* Writes the image of every code of a block. */
static void image_codes(const quixo_board *board, const block *b, unsigned symmetry, uint32_t *images) {
    images[0] = 0;
    for (unsigned i = 0; i < b->count; i++) {
        const uint32_t step = power_of_3[b->place[board->cell_image[symmetry][b->cells[i]]]];
        for (uint32_t code = power_of_3[i]; code < power_of_3[i + 1]; code++)
            images[code] = images[code % power_of_3[i]] + code / power_of_3[i] * step;
    }
}

static uint32_t type_of_code(const block *b, uint32_t code) {
    uint32_t count[3] = {0};
    for (unsigned i = 0; i < b->count; i++, code /= 3) count[code % 3]++;
    return pair_number(count[1], count[2]);
}

/* Returns the marks on the board: ones in the lower half, twos in the upper. */
static pp_position bits_of_code(const block *b, uint32_t code) {
    pp_position bits = 0;
    for (unsigned i = 0; i < b->count; i++, code /= 3)
        if (code % 3) bits |= (uint64_t)1 << (b->cells[i] + (code % 3 == 2 ? 32 : 0));
    return bits;
}

static void build_line_codes(quixo_board *board, const block *first, const block *second) {
    for (unsigned line = 0; line < board->lines; line++)
        for (unsigned content = 0; content < power_of_3[board->length[line]]; content++)
            for (unsigned i = 0; i < board->length[line]; i++) {
                const unsigned cell = line_cell(board, line, i);
                const uint64_t step = first->contains[cell] ? (uint64_t)power_of_3[first->place[cell]] << 32
                                                            : power_of_3[second->place[cell]];
                board->line_code[line][content] += digit(content, i) * step;
            }
}

/* ---- the first block ---- */

typedef struct { /* needed only while the tables are built */
    uint32_t *images, *least;
    uint8_t *by, *fixing; /* the symmetry that gives the least image; the set of symmetries that fix the block */
    uint64_t members[GROUPS];
    unsigned groups;
} scratch;

static void build_first(quixo_board *board, const block *first, scratch *w) {
    uint32_t counts[CLASSES] = {0};
    for (uint32_t code = 0; code < board->first_codes; code++) w->least[code] = code;
    for (unsigned s = 0; s < board->symmetries; s++) {
        image_codes(board, first, s, w->images);
        for (uint32_t code = 0; code < board->first_codes; code++) {
            if (w->images[code] < w->least[code]) w->least[code] = w->images[code], w->by[code] = (uint8_t)s;
            if (w->images[code] == code) w->fixing[code] = (uint8_t)(w->fixing[code] | 1u << s);
        }
    }
    pp_number_set(1, w->members, &w->groups); /* TRIVIAL */
    for (uint32_t code = 0; code < board->first_codes; code++) {
        const uint32_t least = w->least[code];
        if (least == code) { /* a representative is the first of its orbit */
            const uint32_t group = pp_number_set(w->fixing[code], w->members, &w->groups);
            const uint32_t class = type_of_code(first, code) * GROUPS + group;
            board->anchors[code] = counts[class]++ << (CLASS_BITS + SYMMETRY_BITS) | class;
        } else {
            board->anchors[code] = board->anchors[least] | (uint32_t)w->by[code] << CLASS_BITS;
        }
    }
    for (unsigned class = 0; class < CLASSES; class++)
        board->class_first[class + 1] = board->class_first[class] + counts[class];
    for (uint32_t code = 0; code < board->first_codes; code++)
        if (w->least[code] == code) {
            const uint32_t anchor = board->anchors[code];
            const uint32_t class = anchor & ((1u << CLASS_BITS) - 1);
            board->first_bits[board->class_first[class] + (anchor >> (CLASS_BITS + SYMMETRY_BITS))] =
                bits_of_code(first, code);
        }
}

/* ---- the second block ---- */

/* Numbers the blocks type by type and writes the numbers of all images. Stores the codes in that order in w->least. */
static void build_second(quixo_board *board, const block *second, scratch *w) {
    uint32_t *type_first = board->type_first[TRIVIAL], next[MAX_TYPES + 1];
    for (uint32_t code = 0; code < board->second_codes; code++) type_first[type_of_code(second, code) + 1]++;
    for (unsigned type = 0; type < MAX_TYPES; type++) type_first[type + 1] += type_first[type];
    memcpy(next, type_first, sizeof next);
    uint16_t *number = board->second_number[0];
    for (uint32_t code = 0; code < board->second_codes; code++) {
        const uint32_t type = type_of_code(second, code);
        number[code] = (uint16_t)(next[type] - type_first[type]);
        w->least[next[type]++] = code;
    }
    for (unsigned s = 1; s < board->symmetries; s++) {
        image_codes(board, second, s, w->images);
        for (uint32_t code = 0; code < board->second_codes; code++)
            board->second_number[s][code] = number[w->images[code]];
    }
}

static void build_orbits(quixo_board *board, const block *second, const scratch *w, unsigned group) {
    uint32_t total = 0;
    for (unsigned type = 0; type < MAX_TYPES; type++) {
        const uint32_t start = board->type_first[TRIVIAL][type], end = board->type_first[TRIVIAL][type + 1];
        const uint32_t type_start = total;
        for (uint32_t i = start; i < end; i++) {
            const uint32_t code = w->least[i];
            uint32_t least = i - start;
            for (unsigned s = 1; s < board->symmetries; s++) {
                if (!(w->members[group] >> s & 1)) continue;
                const uint32_t image = board->second_number[s][code];
                if (image < least) least = image;
                if (image == i - start) board->symmetric[group][i] = 1;
            }
            if (least == i - start) {
                board->second_bits[group][total] = bits_of_code(second, code);
                board->orbit[group][i] = (uint16_t)(total++ - type_start);
            } else {
                board->orbit[group][i] = board->orbit[group][start + least];
            }
        }
        board->type_first[group][type] = type_start;
    }
    board->type_first[group][MAX_TYPES] = total;
}

/* ---- tiers ---- */

static void build_places(quixo_board *board, const block *first, const block *second) {
    for (uint32_t ones = 0; ones <= board->cells; ones++)
        for (uint32_t twos = 0; ones + twos <= board->cells; twos++) {
            const uint32_t tier = pair_number(ones, twos);
            class_place *places = board->places + (size_t)tier * (CLASSES + 1);
            for (unsigned i = 0; i <= CLASSES; i++) places[i] = (class_place){0};
            for (uint32_t a = 0; a <= ones && a <= first->count; a++)
                for (uint32_t b = 0; b <= twos && a + b <= first->count; b++) {
                    const uint32_t left = ones - a + twos - b;
                    if (left > second->count) continue;
                    const uint32_t second_type = pair_number(ones - a, twos - b);
                    for (unsigned group = 0; group < GROUPS; group++) {
                        const uint32_t *type_first = &board->type_first[group][second_type];
                        class_place *place = &places[pair_number(a, b) * GROUPS + group];
                        place->width = type_first[1] - type_first[0];
                        place->second_type = (uint8_t)second_type;
                        place->group = (uint8_t)group;
                    }
                }
            pp_slot next = pp_slot_of(tier, 0);
            for (unsigned class = 0; class < CLASSES; class++) {
                places[class].first = next;
                next += (uint64_t)(board->class_first[class + 1] - board->class_first[class]) * places[class].width;
            }
            places[CLASSES].first = next;
        }
}

/* ---- creation and destruction ---- */

void quixo_board_free(quixo_board *board) {
    if (!board) return;
    free(board->anchors);
    free(board->places);
    free(board->first_bits);
    for (unsigned s = 0; s < MAX_SYMMETRIES; s++) free(board->second_number[s]);
    for (unsigned group = 0; group < GROUPS; group++) {
        free(board->orbit[group]);
        free(board->symmetric[group]);
        free(board->second_bits[group]);
    }
    free(board);
}

/* Allocates one table. Returns 0 if memory runs out. */
static int allocate_table(void *table, size_t count, size_t size) {
    void *memory = calloc(count, size);
    memcpy(table, &memory, sizeof memory);
    return memory != NULL;
}

static int build_index(quixo_board *board, scratch *w) {
    block first, second;
    divide(board, &first, &second);
    build_line_codes(board, &first, &second);
    const size_t firsts = board->first_codes = power_of_3[first.count];
    const size_t seconds = board->second_codes = power_of_3[second.count];
    const size_t codes = firsts > seconds ? firsts : seconds;
    int ok = allocate_table(&board->anchors, firsts, sizeof *board->anchors) &&
             allocate_table(&board->first_bits, firsts, sizeof *board->first_bits) &&
             allocate_table(&board->places, (size_t)board->tiers * (CLASSES + 1), sizeof *board->places) &&
             allocate_table(&w->images, codes, sizeof *w->images) &&
             allocate_table(&w->least, codes, sizeof *w->least) && allocate_table(&w->by, firsts, 1) &&
             allocate_table(&w->fixing, firsts, 1);
    for (unsigned s = 0; ok && s < board->symmetries; s++)
        ok = allocate_table(&board->second_number[s], seconds, sizeof *board->second_number[s]);
    if (!ok) return 0;
    build_first(board, &first, w);
    build_second(board, &second, w);
    for (unsigned group = 0; group < w->groups; group++) {
        ok = allocate_table(&board->orbit[group], seconds, sizeof *board->orbit[group]) &&
             allocate_table(&board->symmetric[group], seconds, 1) &&
             allocate_table(&board->second_bits[group], seconds, sizeof *board->second_bits[group]);
        if (!ok) return 0;
        build_orbits(board, &second, w, group);
    }
    build_places(board, &first, &second);
    return 1;
}

quixo_board *quixo_board_new(uint32_t width, uint32_t height) {
    if (width < 2 || width > MAX_LENGTH || height < 2 || height > MAX_LENGTH) return NULL;
    quixo_board *board = calloc(1, sizeof *board);
    if (!board) return NULL;
    board->width = width;
    board->height = height;
    board->cells = width * height;
    board->first_row = (1u << width) - 1;
    for (uint32_t row = 0; row < height; row++) board->first_column |= 1u << row * width;
    board->tiers = pair_number(0, board->cells) + 1;
    quixo_build_lines(board);
    board->symmetries = pp_grid_symmetries(width, height, board->cell_image);
    scratch w = {0};
    const int built = build_index(board, &w);
    free(w.images);
    free(w.least);
    free(w.by);
    free(w.fixing);
    if (built) return board;
    quixo_board_free(board);
    return NULL;
}

/* ---- walking the index ---- */

void quixo_unrank(const quixo_board *board, pp_slot first, size_t count, pp_position *positions) {
    const class_place *places = places_of(board, pp_slot_tier(first));
    unsigned class = pp_last_at_most(&places->first, sizeof *places, CLASSES, first);
    const class_place *place = &places[class];
    uint32_t number = (uint32_t)((first - place->first) / place->width);
    uint32_t k = (uint32_t)((first - place->first) % place->width);
    for (;;) {
        const pp_position bits = board->first_bits[board->class_first[class] + number];
        const pp_position *seconds =
            board->second_bits[place->group] + board->type_first[place->group][place->second_type];
        for (; k < place->width && count; k++, count--) *positions++ = bits | seconds[k];
        if (!count) return;
        k = 0;
        if (board->class_first[class] + ++number < board->class_first[class + 1]) continue;
        do place = &places[++class];
        while (!place->width || board->class_first[class] == board->class_first[class + 1]);
        number = 0;
    }
}
