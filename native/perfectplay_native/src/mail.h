/* Updates for entries that do not fit the memory budget.
 *
 * Parents lie all over memory; where their entries are in a scratch file, telling each at once would read and write a
 * page of it for every move. So the slots are cut into ranges whose entries do fit, and an update waits in the mailbox
 * of its range until the range's turn comes. What waits is written and read in order, which disks are good at.
 *
 * A level is one tour of the ranges: each first gets what the level before sent to it, after which everything of the
 * range that is due at this level is known, and then informs its own parents, by mail again. */
#ifndef PP_MAIL_H
#define PP_MAIL_H

#include <pthread.h>

#include "engine.h"

enum { MOST_RANGES = 64 };

/* What a mailbox holds: a slot's place in its range, and whether the child is lost (CHILD_LOST, bit 31 here). */
typedef uint32_t letter;
enum { PLACE_BITS = 31 };
#define LETTER_LOST ((letter)1 << PLACE_BITS)

typedef struct {
    buffer *blocks; /* of letters, all full but the last */
    size_t block_count, room;
    uint64_t letters;
} mailbox;

typedef struct {
    unsigned shift; /* a range has 1 << shift slots */
    uint64_t ranges;
    size_t block_letters;                /* room in a block */
    mailbox *boxes, *arriving, *leaving; /* two for every range, which take turns */
    mailbox spare;                       /* blocks to be used again */
    uint64_t sent;                       /* letters since the tour began */
    pthread_mutex_t lock;                /* of all that is leaving, and of the spare blocks */
} mail;

/* Whether entries have to be informed by mail; it is then made ready, else `ranges` is 0. Returns a pp_result. */
int begin_mail(pp_engine *engine, const component *c, mail *m);
void end_mail(pp_engine *engine, mail *m);
/* Sends letters to a range; any thread may. A failure is noted. */
void send_letters(pp_engine *engine, mail *m, uint64_t range, const letter *letters, size_t count);
/* What has been sent arrives. */
void turn_mail(mail *m);
/* The letters of an arrived block, `*count` of them. */
const letter *letters_of_block(const mail *m, const mailbox *box, size_t block, size_t *count);
/* Empties a mailbox that has been read. Its failure to keep a spare block costs time and nothing else. */
void empty_mailbox(pp_engine *engine, mail *m, uint64_t range);

#endif
