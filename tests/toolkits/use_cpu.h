/* Shared code of the toolkit programs: work that uses CPU time, and a word on standard output. */
#ifndef ARGUS_TESTS_TOOLKITS_USE_CPU_H
#define ARGUS_TESTS_TOOLKITS_USE_CPU_H

#include <stdio.h>
#include <time.h>

/* Uses `ms` of CPU time. */
static inline void work(long ms)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    long long until_ns = used.tv_sec * 1000000000ll + used.tv_nsec + ms * 1000000ll;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec * 1000000000ll + used.tv_nsec < until_ns);
}

static inline void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

#endif
