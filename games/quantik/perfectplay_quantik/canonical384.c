/* The portable canonical payload: the lexicographically smallest of a state's 384 images under 8 rotations and
 * reflections × colour swap × 24 relabelings of the shapes.
 *
 * It is for interchange and deduplication only, because it merges positions with different winners (docs/quantik.md).
 * The solver uses the canonical form in position.h.
 *
 * A payload is 8 words, colour 0's four shapes, then colour 1's, each word with its low byte first. So a word
 * compares as its two bytes swapped, and a shape as the 32-bit key
 *
 *     31              16 15               0
 *    [ first colour's  ] [ second colour's ]     (both words with their bytes swapped)
 *
 * For one board symmetry and one colour order, sorting the four keys gives the best relabeling of the shapes. That
 * leaves 16 candidates instead of 384.
 */
#include "core.h"
#include "perfectplay/grid.h"

enum { TURNS = 8, MASKS = 1 << CELLS };

uint16_t quantik_perm16[TURNS][MASKS];

struct payload_key {
    uint64_t first, second; /* the first colour's four words, then the second's, in comparison order */
};

/* Runs while the module is loaded; see pairs.c. */
__attribute__((constructor)) static void fill_perm16(void) {
    uint8_t image[TURNS][64];
    pp_grid_symmetries(4, 4, image);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        for (unsigned mask = 1; mask < MASKS; mask++) {
            const unsigned rest = quantik_perm16[turn][mask & (mask - 1)];
            quantik_perm16[turn][mask] = (uint16_t)(rest | 1U << image[turn][lowest_bit(mask)]);
        }
    }
}

static inline uint32_t bytes_swapped(uint16_t word) { return (uint32_t)(uint16_t)(word << 8 | word >> 8); }

static inline void order(uint32_t *a, uint32_t *b) {
    const uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

/* Returns the smallest payload of the 24 relabelings, given the four shapes' keys. */
static inline struct payload_key relabeled(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    order(&a, &b);
    order(&c, &d);
    order(&a, &c);
    order(&b, &d);
    order(&b, &c);
    return (struct payload_key){
        (uint64_t)(a >> 16) << 48 | (uint64_t)(b >> 16) << 32 | (c & 0xFFFF0000U) | d >> 16,
        (uint64_t)(a & 0xFFFF) << 48 | (uint64_t)(b & 0xFFFF) << 32 | (uint64_t)(c & 0xFFFF) << 16 | (d & 0xFFFF),
    };
}

/* Branch-free, because the comparison of two images is unpredictable. */
static inline struct payload_key lesser(struct payload_key a, struct payload_key b) {
    const int less = (a.first < b.first) | ((a.first == b.first) & (a.second < b.second));
    return (struct payload_key){less ? a.first : b.first, less ? a.second : b.second};
}

static struct payload_key canonical_payload(const uint16_t words[STATE_WORDS]) {
    struct payload_key best = {UINT64_MAX, UINT64_MAX};
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const uint16_t *const turned = quantik_perm16[turn];
        uint32_t key[SHAPES], swapped[SHAPES];
        for (unsigned shape = 0; shape < SHAPES; shape++) {
            const uint32_t first = bytes_swapped(turned[words[shape]]);
            const uint32_t second = bytes_swapped(turned[words[SHAPES + shape]]);
            key[shape] = first << 16 | second;
            swapped[shape] = second << 16 | first;
        }
        best = lesser(best, relabeled(key[0], key[1], key[2], key[3]));
        best = lesser(best, relabeled(swapped[0], swapped[1], swapped[2], swapped[3]));
    }
    return best;
}

void quantik_canonical_payload(const uint8_t *payload, uint8_t *canonical) {
    uint16_t words[STATE_WORDS];
    for (unsigned i = 0; i < STATE_WORDS; i++) words[i] = (uint16_t)(payload[2 * i] | payload[2 * i + 1] << 8);
    const struct payload_key best = canonical_payload(words);
    for (unsigned i = 0; i < 8; i++) {
        canonical[i] = (uint8_t)(best.first >> (56 - 8 * i));
        canonical[8 + i] = (uint8_t)(best.second >> (56 - 8 * i));
    }
}

void quantik_canonical_words(const uint16_t *states, uint16_t *canonical, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct payload_key best = canonical_payload(states + i * STATE_WORDS);
        uint16_t *const words = canonical + i * STATE_WORDS;
        for (unsigned shape = 0; shape < SHAPES; shape++) {
            words[shape] = (uint16_t)bytes_swapped((uint16_t)(best.first >> (48 - 16 * shape)));
            words[SHAPES + shape] = (uint16_t)bytes_swapped((uint16_t)(best.second >> (48 - 16 * shape)));
        }
    }
}
