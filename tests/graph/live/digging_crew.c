/* A pool of threads: two foremen take turns in handing out a job; any digger takes it, digs, and
 * reports that it is done. The wait of a foreman is ended by the digger that had his job. That
 * digger worked for him, not for the other foreman, and no other digger was involved. All waits are
 * for condition variables, which are signalled outside of their mutex. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "truth.h"

enum { DIGGERS = 3, FOREMEN = 2, JOBS = 8, JOB_MS = 25 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there_is_work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t is_done[FOREMEN] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static bool waits[FOREMEN]; /* a job of the foreman, to be taken */
static int dug_by[FOREMEN]; /* 0: not dug yet */
static int digger_tids[DIGGERS], foreman_tids[FOREMEN];
static uint64_t start_ns;

static void *dig(void *number)
{
    int own = truth_tid();
    digger_tids[(intptr_t)number] = own;
    for (int foreman;;) {
        pthread_mutex_lock(&lock);
        while (!waits[0] && !waits[1])
            pthread_cond_wait(&there_is_work, &lock);
        foreman = waits[0] ? 0 : 1;
        waits[foreman] = false;
        pthread_mutex_unlock(&lock);
        truth_spin_ms(4);
        pthread_mutex_lock(&lock);
        dug_by[foreman] = own;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&is_done[foreman]);
    }
    return NULL;
}

static void say(int foreman, struct truth_wait wait, int digger)
{
    wait.direct = digger;
    wait.through[0] = foreman_tids[foreman];
    wait.never[0] = foreman_tids[!foreman];
    for (int i = 0, count = 1; i < DIGGERS; i++)
        if (digger_tids[i] != digger)
            wait.never[count++] = digger_tids[i];
    truth_say(&wait);
}

static void *lead(void *number)
{
    int own = (int)(intptr_t)number;
    foreman_tids[own] = truth_tid();
    for (int job = 0; job < JOBS; job++) {
        truth_sleep_until_ns(start_ns + (uint64_t)((job * FOREMEN + own) * JOB_MS) * 1000000);
        struct truth_wait wait = truth_begin();
        pthread_mutex_lock(&lock);
        waits[own] = true;
        dug_by[own] = 0;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&there_is_work);
        /* Until the digger has taken the job, so that the two do not contend for the mutex. */
        truth_spin_ms(2);
        pthread_mutex_lock(&lock);
        while (!dug_by[own])
            pthread_cond_wait(&is_done[own], &lock);
        int digger = dug_by[own];
        pthread_mutex_unlock(&lock);
        say(own, wait, digger);
    }
    return NULL;
}

int main(void)
{
    pthread_t diggers[DIGGERS], foremen[FOREMEN];
    start_ns = truth_now_ns() + 150000000;
    for (intptr_t i = 0; i < DIGGERS; i++)
        if (pthread_create(&diggers[i], NULL, dig, (void *)i))
            return 1;
    for (intptr_t i = 0; i < FOREMEN; i++)
        if (pthread_create(&foremen[i], NULL, lead, (void *)i))
            return 1;
    for (int i = 0; i < FOREMEN; i++)
        pthread_join(foremen[i], NULL);
    _exit(0); /* while the diggers still dig */
}
