/* A kernel is code from elsewhere, and a wrong index in it would end the process without a word. The handler finds the
 * kernel's function on the stack: the outermost frame inside the kernel's shared object belongs to the function that
 * the engine called, and its name follows from the addresses in the kernel's struct.
 *
 *     engine: pp_solve → expand_tier → | kernel: moves → place_stone → (crash)
 *                                        ^ outermost frame of the kernel's shared object, so the line names "moves"
 *
 * Only functions that are safe in a signal handler are called, except for backtrace and dladdr. At worst they hang or
 * crash again in a process that has crashed anyway: an alarm ends it, or a second report without the function follows. */
#define _GNU_SOURCE
#include "crash_api.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
#define HAS_BACKTRACE 1
#include <dlfcn.h>
#include <execinfo.h>
#endif
#endif

enum { MAX_FRAMES = 64, HANG_SECONDS = 5, SIGNAL_STACK = 1 << 16 };

static const pp_kernel *crash_kernel;
static const char *crash_game;
static volatile sig_atomic_t reports;

/* Endless recursion leaves the handler no room on the thread's own stack. */
static _Thread_local char signal_stack[SIGNAL_STACK];

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

enum { SIGNALS = sizeof signals / sizeof *signals };

#ifdef HAS_BACKTRACE
/* The name of the kernel's function that contains this address, if it is the nearest one that begins before it. */
static const char *function_at(uintptr_t address) {
    const pp_kernel *k = crash_kernel;
    const struct {
        uintptr_t begin;
        const char *name;
    } functions[] = {
        {(uintptr_t)k->valid, "valid"},         {(uintptr_t)k->start, "start"},
        {(uintptr_t)k->moves, "moves"},         {(uintptr_t)k->apply, "apply"},
        {(uintptr_t)k->undo, "undo"},           {(uintptr_t)k->canonicalize, "canonicalize"},
        {(uintptr_t)k->status, "status"},       {(uintptr_t)k->mover, "mover"},
        {(uintptr_t)k->score, "score"},         {(uintptr_t)k->tier, "tier"},
        {(uintptr_t)k->tier_size, "tier_size"}, {(uintptr_t)k->rank, "rank"},
        {(uintptr_t)k->unrank, "unrank"},       {(uintptr_t)k->children, "children"},
        {(uintptr_t)k->parents, "parents"},     {(uintptr_t)k->expand, "expand"},
        {(uintptr_t)k->retract, "retract"},     {(uintptr_t)k->survey, "survey"},
        {(uintptr_t)k->wins_now, "wins_now"},   {(uintptr_t)k->tier_children, "tier_children"},
    };
    const char *name = NULL;
    uintptr_t nearest = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].begin && functions[i].begin <= address && functions[i].begin >= nearest)
            nearest = functions[i].begin, name = functions[i].name;
    return name;
}

/* `abort` does not return, so its return address may be the beginning of the next function. */
static const char *running_function(int number) {
    const uintptr_t before = number == SIGABRT;
    void *frames[MAX_FRAMES];
    Dl_info kernel, frame;
    if (!dladdr((const void *)(uintptr_t)crash_kernel->moves, &kernel)) return NULL;
    const int depth = backtrace(frames, MAX_FRAMES);
    if (depth == MAX_FRAMES) return NULL; /* the outermost frames are missing */
    for (int i = depth - 1; i >= 0; i--)
        if (dladdr(frames[i], &frame) && frame.dli_fbase == kernel.dli_fbase)
            return function_at((uintptr_t)frames[i] - before);
    return NULL;
}
#else
static const char *running_function(int number) { return (void)number, NULL; }
#endif

static void print(const char *text) {
    for (size_t length = strlen(text); length;) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

static void report(int number) {
    alarm(HANG_SECONDS);
    const char *function = crash_kernel && !reports++ ? running_function(number) : NULL;
    print("error: ");
    print(crash_game);
    print(function ? ": the kernel crashed in '" : ": the process crashed");
    if (function) print(function), print("'");
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i].number == number) print(" with "), print(signals[i].name);
    print("; `solve check ");
    print(crash_game);
    print("` finds the position\n");
    signal(number, SIG_DFL);
    raise(number);
}

void pp_use_signal_stack(void) {
    if (!crash_game) return;
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, NULL);
}

void pp_report_crashes(const pp_kernel *kernel, const char *game) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_NODEFER | SA_ONSTACK;
    action.sa_handler = game ? report : SIG_DFL;
    crash_kernel = kernel;
    crash_game = game;
    pp_use_signal_stack();
#ifdef HAS_BACKTRACE
    void *frame;
    backtrace(&frame, 1); /* loads what it needs, which is not possible in the handler */
#endif
    for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i].number, &action, NULL);
}
