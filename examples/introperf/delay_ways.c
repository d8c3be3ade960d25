/* The ways in which a function can be slow (DELAY_HOW): it computes, sleeps, polls what never comes, writes to the disk, needs a lock
 * that another thread holds for long, or waits for a signal until it gives up. To add a way, add a row to the table. */
#define _GNU_SOURCE
#include "delay.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000
#define NS_PER_S  1000000000L

static long elapsed_ms(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / NS_PER_MS;
}

static void delay_compute(long ms)
{
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (volatile int i = 0; i < 100000; i++)
            ;
    } while (elapsed_ms(&begin) < ms);
}

static void delay_sleep(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * NS_PER_MS}, NULL);
}

static void delay_poll(long ms)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, (int)ms);
    close(ends[0]);
    close(ends[1]);
}

/* How long one fsync() takes differs from disk to disk. */
static void delay_fsync(long ms)
{
    static const char block[65536];
    struct timespec begin;
    int file = open("/var/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (file >= 0 && write(file, block, sizeof(block)) > 0 && fsync(file) == 0 &&
           elapsed_ms(&begin) < ms)
        ;
    if (file >= 0)
        close(file);
}

static struct {
    pthread_mutex_t lock;
    sem_t wanted, taken;
    long ms;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The slow function of this way: not inlined, so that it is found by its name. */
static __attribute__((noinline)) void hold_lock(void)
{
    pthread_mutex_lock(&shared.lock);
    sem_post(&shared.taken);
    delay_sleep(shared.ms);
    pthread_mutex_unlock(&shared.lock);
}

static void *holder(void *unused)
{
    for (;;) {
        while (sem_wait(&shared.wanted) != 0)
            ;
        hold_lock();
    }
    return unused;
}

static void start_holder(void)
{
    pthread_t thread;
    sem_init(&shared.wanted, 0, 0);
    sem_init(&shared.taken, 0, 0);
    if (pthread_create(&thread, NULL, holder, NULL) != 0)
        abort();
    pthread_detach(thread);
}

static void delay_lock(long ms)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_holder);
    shared.ms = ms;
    sem_post(&shared.wanted);
    while (sem_wait(&shared.taken) != 0)
        ;
    pthread_mutex_lock(&shared.lock);
    pthread_mutex_unlock(&shared.lock);
}

static void delay_timeout(long ms)
{
    sem_t never;
    struct timespec until;
    sem_init(&never, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    long ns = until.tv_nsec + ms * NS_PER_MS;
    until = (struct timespec){until.tv_sec + ns / NS_PER_S, ns % NS_PER_S};
    sem_timedwait(&never, &until);
    sem_destroy(&never);
}

static const struct {
    const char *name;
    void (*delay)(long ms);
} WAYS[] = {
    {"sleep", delay_sleep}, {"compute", delay_compute}, {"poll", delay_poll},
    {"fsync", delay_fsync}, {"lock", delay_lock},       {"timeout", delay_timeout},
};

void delay_way(const char *name, long ms)
{
    for (size_t i = 0; i < sizeof(WAYS) / sizeof(*WAYS); i++)
        if (!name || strcmp(name, WAYS[i].name) == 0) {
            WAYS[i].delay(ms);
            return;
        }
}
