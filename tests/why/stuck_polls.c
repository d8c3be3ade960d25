/* Programs that try to take a lock again and again, and sleep in between. */
#include "stuck.h"

#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t polled = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int taken;

struct store {
    long items[3];
    pthread_mutex_t lock;
};

static void *hold(void *mutex)
{
    if (mutex)
        pthread_mutex_lock(mutex);
    pthread_rwlock_wrlock(&table);
    atomic_store(&taken, 1);
    say("holder", gettid());
    sem_post(&locked);
    work_slowly();
    return NULL;
}

void polls_mutex(void)
{
    begin(hold, &polled);
    soon_ready();
    while (pthread_mutex_trylock(&polled) != 0)
        usleep(SETTLE_US);
}

static void lock_store(struct store *store)
{
    while (pthread_mutex_trylock(&store->lock) != 0)
        usleep(SETTLE_US);
}

/* Of an object to which no variable of the file leads. */
void polls_member(void)
{
    struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
    begin(hold, &store.lock);
    soon_ready();
    lock_store(&store);
}

void polls_rwlock(void)
{
    begin(hold, NULL);
    soon_ready();
    while (pthread_rwlock_tryrdlock(&table) != 0)
        usleep(SETTLE_US);
}

/* A lock of its own, in which no holder is kept. */
void polls_own_lock(void)
{
    int is_free = 0;
    begin(hold, NULL);
    soon_ready();
    while (!atomic_compare_exchange_strong(&taken, &is_free, 1)) {
        is_free = 0;
        usleep(SETTLE_US);
    }
}
