/* Mailboxes for ranges of slots: growing lists of letters, within the budget or in scratch files as everything is. */
#include "mail.h"

#include <stdlib.h>

static uint64_t bytes_of_entries(const component *c) { return c->marker_memory.size + c->entry_memory.size; }

/* As few ranges as let one of them fit half of the budget. */
static unsigned range_shift(const pp_engine *engine, const component *c) {
    unsigned shift = 6; /* a word of markers */
    while ((c->slots - 1) >> shift >= MOST_RANGES) shift++;
    while (shift < PLACE_BITS &&
           bytes_of_entries(c) / (c->slots >> 6) * ((uint64_t)2 << (shift - 6)) <= engine->budget / 2)
        shift++;
    return shift;
}

/* A block that is in a file takes one of the maps that a process may have, 65,530 on Linux: so the larger the component,
 * the larger its blocks, but not so large that there are too few for all threads. */
static size_t letters_a_block(const component *c) {
    enum { LEAST = 1 << 16, MOST = 1 << 22 };
    const uint64_t share = c->slots >> 12;
    return share < LEAST ? LEAST : share > MOST ? MOST : (size_t)share;
}

int begin_mail(pp_engine *engine, const component *c, mail *m) {
    *m = (mail){0};
    const bool fits = c->marker_memory.anonymous && c->entry_memory.anonymous;
    if (c->propagation != PP_PROPAGATE_RETRACT || !c->slots || fits) return PP_OK;
    if ((c->slots - 1) >> PLACE_BITS >= MOST_RANGES) return PP_OK; /* a letter could not name a place */
    m->shift = range_shift(engine, c);
    m->block_letters = letters_a_block(c);
    const uint64_t ranges = ((c->slots - 1) >> m->shift) + 1;
    m->boxes = calloc(2 * ranges, sizeof *m->boxes);
    if (!m->boxes) return PP_OUT_OF_MEMORY;
    m->arriving = m->boxes;
    m->leaving = m->boxes + ranges;
    m->ranges = ranges;
    pthread_mutex_init(&m->lock, NULL);
    return PP_OK;
}

static void release_blocks(pp_engine *engine, mailbox *box) {
    for (size_t i = 0; i < box->block_count; i++) release(engine, &box->blocks[i]);
    free(box->blocks);
    *box = (mailbox){0};
}

void end_mail(pp_engine *engine, mail *m) {
    if (!m->ranges) return;
    for (uint64_t i = 0; i < 2 * m->ranges; i++) release_blocks(engine, &m->boxes[i]);
    release_blocks(engine, &m->spare);
    free(m->boxes);
    pthread_mutex_destroy(&m->lock);
}

static bool add_block(mailbox *box, buffer block) {
    if (box->block_count == box->room) {
        const size_t room = 2 * box->room + 8;
        buffer *blocks = realloc(box->blocks, room * sizeof *blocks);
        if (!blocks) return false;
        box->blocks = blocks;
        box->room = room;
    }
    box->blocks[box->block_count++] = block;
    return true;
}

/* Room for more letters; a pp_result. */
static int next_block(pp_engine *engine, mail *m, mailbox *box) {
    buffer block;
    if (m->spare.block_count) {
        block = m->spare.blocks[--m->spare.block_count];
    } else {
        const int result = allocate(engine, m->block_letters * sizeof(letter), &block);
        if (result) return result;
    }
    if (add_block(box, block)) return PP_OK;
    release(engine, &block);
    return PP_OUT_OF_MEMORY;
}

void send_letters(pp_engine *engine, mail *m, uint64_t range, const letter *letters, size_t count) {
    mailbox *box = &m->leaving[range];
    int result = PP_OK;
    pthread_mutex_lock(&m->lock);
    m->sent += count;
    while (count && !result) {
        const size_t used = box->letters % m->block_letters;
        if (!used) result = next_block(engine, m, box);
        if (result) break;
        const size_t part = count < m->block_letters - used ? count : m->block_letters - used;
        memcpy((letter *)box->blocks[box->block_count - 1].bytes + used, letters, part * sizeof *letters);
        box->letters += part;
        letters += part;
        count -= part;
    }
    pthread_mutex_unlock(&m->lock);
    if (result) fail(engine, result, 0);
}

void turn_mail(mail *m) {
    mailbox *leaving = m->leaving;
    m->leaving = m->arriving;
    m->arriving = leaving;
    m->sent = 0;
}

const letter *letters_of_block(const mail *m, const mailbox *box, size_t block, size_t *count) {
    const uint64_t left = box->letters - (uint64_t)block * m->block_letters;
    *count = left < m->block_letters ? (size_t)left : m->block_letters;
    return box->blocks[block].bytes;
}

void empty_mailbox(pp_engine *engine, mail *m, uint64_t range) {
    mailbox *box = &m->arriving[range];
    for (size_t i = 0; i < box->block_count; i++)
        if (!add_block(&m->spare, box->blocks[i])) release(engine, &box->blocks[i]);
    box->block_count = 0;
    box->letters = 0;
}
