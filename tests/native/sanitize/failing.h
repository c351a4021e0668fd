/* What the system grants: memory, maps, threads, files. Any one request can be made to fail; what is held is counted.
 * The linker puts these in the place of the C library's (--wrap), for the code under test alone. */
#ifndef FAILING_H
#define FAILING_H

/* Counts requests from now on; the `number`-th, counted from 1, fails. 0: none does. */
void fail_request(unsigned long number);
/* Stops counting. Whether a request has failed. */
int end_failing(void);
/* Maps and open files that were made and not yet given back. Of the rest the leak sanitizer tells. */
long held(void);

#endif
