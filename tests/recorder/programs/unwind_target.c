/* Waits at the end of known call chains, built as distributions build: optimised and without frame pointers.
 *
 *   unwind_target CASE: chain, library, sorting, thread, signal, deep, again, twins, traps,
 *   busy; for ever: "ever", and "read" in one read()
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "unwind_library.h"

#define NOINLINE __attribute__((noinline))

static volatile int result;

/* Not an argument: the compiler would clone the functions for its values, under other names. */
static volatile int milliseconds = 20;

NOINLINE static void target_wait(void)
{
    poll(NULL, 0, milliseconds);
    result++;
}

NOINLINE static void target_middle(void)
{
    volatile char room[500];
    room[0] = 1;
    target_wait();
    result += room[0];
}

NOINLINE static void target_outer(void)
{
    target_middle();
    result++;
}

static void case_chain(void)
{
    target_outer();
    result++;
}

static int callback(int number)
{
    target_wait();
    return number + result;
}

static void case_library(void)
{
    result += library_outer(callback);
}

static int compare(const void *left, const void *right)
{
    if (result == 0)
        target_wait();
    return *(const int *)left - *(const int *)right;
}

static void case_sorting(void)
{
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof(numbers[0]), compare);
    result += numbers[0];
}

static void *thread_body(void *argument)
{
    pthread_setname_np(pthread_self(), "unwind_thread");
    target_outer();
    return argument;
}

static void case_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_body, NULL);
    pthread_join(thread, NULL);
    result++;
}

static void handle(int signal)
{
    (void)signal;
    target_outer();
    result++;
}

static void case_signal(void)
{
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    result++;
}

NOINLINE static int recurse(int levels)
{
    volatile char room[400];
    room[0] = 1;
    if (levels == 0)
        target_wait();
    else
        room[1] = (char)recurse(levels - 1);
    return room[0];
}

static void case_deep(void)
{
    result += recurse(100);
}

/* Waits repeatedly at the same place, with another number in its frame each time. */
NOINLINE static void wait_with(long number)
{
    volatile long counter[8];
    for (int i = 0; i < 8; i++)
        counter[i] = number * 12345 + i;
    target_wait();
    result += (int)counter[number % 8];
}

static void case_again(void)
{
    milliseconds = 1;
    for (long i = 0; i < 200; i++)
        wait_with(i);
}

static char *volatile page;

/* Two functions with the same frame, called in turn from the same place: their stacks differ in one word. */
NOINLINE static void first_twin(void)
{
    target_wait();
    *page = 1;
    result += 1;
}

NOINLINE static void second_twin(void)
{
    target_wait();
    *page = 2;
    result += 2;
}

static void make_page(void)
{
    page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    milliseconds = 1;
}

static void call_in_turn(void (*const *functions)(void), int protection)
{
    for (int i = 0; i < 40; i++) {
        mprotect(page, 1, protection);
        functions[i % 2]();
    }
}

static void case_twins(void)
{
    static void (*const twins[])(void) = {first_twin, second_twin};
    make_page();
    call_in_turn(twins, PROT_READ | PROT_WRITE);
}

/* The same, of functions that a signal interrupts. */
NOINLINE static void first_trap(void)
{
    *page = 1;
    result += 1;
}

NOINLINE static void second_trap(void)
{
    *page = 2;
    result += 2;
}

static void allow_page(int signal)
{
    (void)signal;
    mprotect(page, 1, PROT_READ | PROT_WRITE); // NOLINT(bugprone-signal-handler): a system call
    target_wait();
    result++;
}

static void case_traps(void)
{
    static void (*const traps[])(void) = {first_trap, second_trap};
    make_page();
    signal(SIGSEGV, allow_page);
    call_in_turn(traps, PROT_NONE);
}

static void case_ever(void)
{
    for (long i = 0;; i++)
        wait_with(i);
}

NOINLINE static void target_spin(void)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_nsec < 300000000L);
    result++;
}

static void case_busy(void)
{
    target_spin();
    target_wait();
}

NOINLINE static void read_for_ever(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1)
        result++;
}

static void case_read(void)
{
    read_for_ever();
    result++;
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"chain", case_chain},   {"library", case_library}, {"sorting", case_sorting},
    {"thread", case_thread}, {"signal", case_signal},   {"deep", case_deep},
    {"again", case_again},   {"ever", case_ever},       {"busy", case_busy},
    {"read", case_read},     {"twins", case_twins},     {"traps", case_traps},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, argv[1]) != 0)
            continue;
        printf("%d\n", getpid());
        fflush(stdout);
        cases[i].run();
        return 0;
    }
    return 2;
}
