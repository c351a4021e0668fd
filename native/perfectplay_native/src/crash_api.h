/* Names the game and the function when a kernel crashes (crash.c). */
#ifndef PP_CRASH_API_H
#define PP_CRASH_API_H

#include "perfectplay.h"

/* From now on, if the process crashes, one line on standard error names `game` and the function of `kernel` that was
 * running. The process then ends by the signal as before. Both must stay valid. Without a kernel only the game is named;
 * without a game, the default is restored. */
void pp_report_crashes(const pp_kernel *kernel, const char *game);

/* Lets this thread report a stack overflow too. `pp_report_crashes` does it for the thread that calls it. */
void pp_use_signal_stack(void);

#endif
