/* Replacements for the functions that request memory, maps, threads and files, which can make any single request fail.
 * The linker substitutes them for those of the C library (--wrap), in the code under test only. */
#ifndef FAILING_H
#define FAILING_H

/* Starts counting requests. The `number`-th one, counted from 1, fails; none if it is 0. */
void fail_request(unsigned long number);
/* Stops counting. Returns whether a request has failed. */
int end_failing(void);
/* The number of maps and open files not yet released. The leak sanitizer checks the rest. */
long open_resources(void);

#endif
