/* What the cases share. */
#ifndef TESTS_WHY_STUCK_H
#define TESTS_WHY_STUCK_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

enum { LONG_S = 600, SETTLE_US = 300000 };

extern sem_t locked; /* posted by a thread that is where it has to be */

/* Prints a name and an ID. */
void say(const char *name, int id);
/* Prints "ready" when everything that may go on in the background has been done; soon_ready() does
 * so in a thread, which ends. */
void ready(void);
void soon_ready(void);

void work_slowly(void);
/* Whether a thread of this process waits for something. */
int is_asleep(int tid);
/* A child that ends with its parent. */
pid_t child_of(void (*run)(void *), void *data);
void sleep_long(void *data);
/* Begins a thread, and waits until it has posted `locked`. */
pthread_t begin(void *(*run)(void *), void *data);
/* A thread that says "worker" and sleeps. */
void *sleep_thread(void *data);

/* The cases. */
#define STUCK_CASE(name) void name(void);
#include "stuck_cases.def"
#undef STUCK_CASE

#endif
