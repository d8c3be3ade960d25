/* The output of a program with a known graph, for live_graphs.py:
 *
 *     wait TID FROM_NS TO_NS direct TID strong|weak through TID,… never TID,…
 *
 * Between these times thread TID waited, and the thread after `direct` ended that wait. Backward
 * from there, but not before FROM_NS, the graph leads to the threads after `through`, if necessary
 * by answering a question (a weak edge). By strong edges alone it leads to none of the threads
 * after `never`. 0 is no thread. Times are CLOCK_MONOTONIC, as in traces. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdbool.h>
#include <stdint.h>

uint64_t truth_now_ns(void);
int truth_tid(void);

struct truth_wait {
    int thread;
    uint64_t from_ns;
    long switches; /* how often the thread had waited before */
    int direct;    /* this and the following are the caller's */
    bool weak;
    int through[2], never[4];
};

/* A wait of this thread may follow. */
struct truth_wait truth_begin(void);
/* The wait is over. Prints one line if the thread has really waited. */
void truth_say(const struct truth_wait *wait);

void truth_sleep_until_ns(uint64_t time_ns);
/* Works, without any system call. */
void truth_spin_ms(unsigned ms);

#endif
