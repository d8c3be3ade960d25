#include "base/parallel.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 8 };

struct shares {
    void (*work)(void *context, size_t i);
    void *context;
    size_t count;
    atomic_size_t next;
};

unsigned parallel_threads(unsigned most)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus < 1)
        return 1;
    return (unsigned long)cpus < most ? (unsigned)cpus : most;
}

bool parallel_start(pthread_t *ret, void *(*body)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_BLOCK, &all, &before))
        return false;
    bool started = pthread_create(ret, NULL, body, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void *take_shares(void *context)
{
    struct shares *shares = context;
    size_t i;
    while ((i = atomic_fetch_add(&shares->next, 1)) < shares->count)
        shares->work(shares->context, i);
    return NULL;
}

void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context)
{
    struct shares shares = {.work = work, .context = context, .count = count};
    pthread_t threads[MOST_THREADS];
    unsigned helpers = count > 1 ? parallel_threads(MOST_THREADS) - 1 : 0, started = 0;
    while (started < helpers && started + 1 < count &&
           parallel_start(&threads[started], take_shares, &shares))
        started++;
    take_shares(&shares);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
