/* Conditions compared with locks. One thread waits for a bell (condition variable) that another
 * thread rings, one for a coin (semaphore) that another thread throws, and one for a gate (mutex)
 * that another thread holds for a while. Bell and coin are meant for the waiter, so their edges are
 * strong; the gate is only released, so its edge is weak. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "truth.h"

enum { ROUNDS = 6, ROUND_MS = 60, LATE_MS = 20 };

static pthread_mutex_t bell_lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int rung;
static sem_t coin;
static volatile int ringer_tid, thrower_tid, holder_tid;
static uint64_t start_ns;

static void wait_for_round(int round, unsigned late_ms)
{
    truth_sleep_until_ns(start_ns + (uint64_t)(round * ROUND_MS + (int)late_ms) * 1000000);
}

static void say(struct truth_wait wait, int direct, bool weak, int other, int another)
{
    wait.direct = direct;
    wait.weak = weak;
    wait.never[0] = other;
    wait.never[1] = another;
    truth_say(&wait);
}

static void *listen(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct truth_wait wait = truth_begin();
        pthread_mutex_lock(&bell_lock);
        while (rung <= round)
            pthread_cond_wait(&bell, &bell_lock);
        pthread_mutex_unlock(&bell_lock);
        say(wait, ringer_tid, false, thrower_tid, holder_tid);
    }
    return unused;
}

static void *ring(void *unused)
{
    ringer_tid = truth_tid();
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_round(round, LATE_MS);
        pthread_mutex_lock(&bell_lock);
        rung++;
        pthread_mutex_unlock(&bell_lock);
        pthread_cond_broadcast(&bell);
    }
    return unused;
}

static void *beg(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct truth_wait wait = truth_begin();
        while (sem_wait(&coin))
            continue;
        say(wait, thrower_tid, false, ringer_tid, holder_tid);
    }
    return unused;
}

static void *throw(void *unused)
{
    thrower_tid = truth_tid();
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_round(round, LATE_MS + 2);
        sem_post(&coin);
    }
    return unused;
}

static void *hold(void *unused)
{
    holder_tid = truth_tid();
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_round(round, 0);
        pthread_mutex_lock(&gate);
        wait_for_round(round, LATE_MS + 4);
        pthread_mutex_unlock(&gate);
    }
    return unused;
}

static void *pass(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_round(round, LATE_MS / 2);
        struct truth_wait wait = truth_begin();
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
        say(wait, holder_tid, true, ringer_tid, thrower_tid);
    }
    return unused;
}

int main(void)
{
    void *(*const parts[])(void *) = {listen, ring, beg, throw, hold, pass};
    enum { PARTS = sizeof(parts) / sizeof(*parts) };
    pthread_t threads[PARTS];
    start_ns = truth_now_ns() + 100000000;
    if (sem_init(&coin, 0, 0))
        return 1;
    for (int i = 0; i < PARTS; i++)
        if (pthread_create(&threads[i], NULL, parts[i], NULL))
            return 1;
    for (int i = 0; i < PARTS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
