/* The functions that Python calls in addition to the kernel. cffi reads the part between the marks.
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

/* The same for `count` consecutive states, as words in native byte order. The arrays may be the same. */
void quantik_canonical_words(const uint16_t *states, uint16_t *canonical, size_t count);

/* Returns the solver's position for a state, or all ones (no position) if play cannot reach the state. */
uint64_t quantik_position(const uint16_t *state);

/* Writes the state of a valid position. */
void quantik_state(uint64_t position, uint16_t *state);

/* Writes the solver's canonical forms of `count` valid positions. The arrays may be the same. */
void quantik_canonical_positions(const uint64_t *positions, uint64_t *canonical, size_t count);

/* Returns the total number of distinct canonical children of `count` valid positions. For benchmarks of `children`. */
uint64_t quantik_count_children(const uint64_t *positions, size_t count);

/* Returns the image of a cell (0 to 15) under a board symmetry (0 to 127). */
unsigned quantik_symmetry(unsigned number, unsigned cell);

/* Returns the number of a pair of cell sets, or 0xFFFF if they are not a pair. */
uint16_t quantik_pair(uint16_t mover, uint16_t other);

/* Returns the number of sequences of `depth` moves from a valid position, and writes the number of those that end the
 * game with their last move to `finished`. Games that end sooner are not counted. */
uint64_t quantik_perft(uint64_t position, unsigned depth, uint64_t *finished);
/* end cdef */

#endif
