/* core.h: what Python calls, beside the kernel. cffi reads the part between the marks.
 *
 * A state is 8 words, one 16-bit bitboard for each colour and shape: C0S0 C0S1 C0S2 C0S3 C1S0 C1S1 C1S2 C1S3.
 * All functions are pure and may be called from any thread.
 */
#ifndef QUANTIK_CORE_H
#define QUANTIK_CORE_H

#include "geometry.h"
#include "perfectplay.h"

enum { STATE_WORDS = 2 * SHAPES };

extern const pp_kernel quantik_kernel;

/* cdef */
/* perm16[turn][mask]: the image of a set of cells under one of the 8 rotations and reflections. Read only. */
extern uint16_t quantik_perm16[8][65536];

/* Writes the 16 bytes of the canonical payload of a 16-byte payload (words with their low byte first). */
void quantik_canonical_payload(const uint8_t *payload, uint8_t *canonical);

/* The same for `count` states in a row, as words in the machine's own order. The arrays may be the same. */
void quantik_canonical_words(const uint16_t *states, uint16_t *canonical, size_t count);

/* The solver's position for a state; all ones (no position) if play cannot reach the state. */
uint64_t quantik_position(const uint16_t *state);

/* The converse: writes the state of a valid position. */
void quantik_state(uint64_t position, uint16_t *state);

/* The solver's canonical form of `count` valid positions. The arrays may be the same. */
void quantik_canonical_positions(const uint64_t *positions, uint64_t *canonical, size_t count);

/* How many distinct canonical children `count` valid positions have in all: `children` at work, for measuring. */
uint64_t quantik_count_children(const uint64_t *positions, size_t count);

/* The cell to which board symmetry 0 .. 127 takes a cell 0 .. 15. */
unsigned quantik_symmetry(unsigned number, unsigned cell);

/* The number of the pair of cell sets, or 0xFFFF if the two are no pair. */
uint16_t quantik_pair(uint16_t mover, uint16_t other);

/* How many sequences of `depth` moves there are from a valid position; writes to `finished` how many of them end
 * the game with their last move. Games that end sooner are not extended. */
uint64_t quantik_perft(uint64_t position, unsigned depth, uint64_t *finished);
/* end cdef */

#endif
