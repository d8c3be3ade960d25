/* Loops in C: flags with many writers, writers that a struct of callbacks leads to, predicates of
 * condition variables, and conditions with two sides. One shape for each SHAPE_…, with the variable
 * and the writer of the table in bench_loops.py. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "loop_scaffold.h"

#define NOINLINE __attribute__((noinline))

#ifdef SHAPE_MANY_WRITERS /* more functions set it than are listed */
static volatile int is_done;
static volatile unsigned turn;
// clang-format off
#define SETTER(n)                                                                                  \
    NOINLINE static void set_##n(void)                                                             \
    {                                                                                              \
        is_done = 1 + n;                                                                           \
    }
#define SETTERS(n) SETTER(n##0) SETTER(n##1) SETTER(n##2) SETTER(n##3) SETTER(n##4)
SETTERS(1)
SETTERS(2)
SETTERS(3)
SETTERS(4)
#define NAMES(n) set_##n##0, set_##n##1, set_##n##2, set_##n##3, set_##n##4
static void (*const setters[])(void) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4)};
// clang-format on

void prepare(void)
{
}

void ask(void)
{
    is_done = 0;
}

void finish_work(void)
{
    setters[turn++ % (sizeof(setters) / sizeof(setters[0]))]();
}

void wait_until_done(void)
{
    while (!is_done)
        usleep(2000);
}
#endif

#ifdef SHAPE_CALLBACK_STRUCT /* the writer and its data are two members of a request */
struct job {
    long id;
    volatile int state;
};
struct request {
    void (*complete)(void *data, int result);
    void *data;
    struct request *next;
};
static struct job *job;
static struct request *queue;

static void on_complete(void *data, int result)
{
    struct job *own = data;
    own->state = result;
}

void prepare(void)
{
    job = calloc(1, sizeof(*job));
}

void ask(void)
{
    struct request *request = malloc(sizeof(*request));
    job->state = 0;
    request->complete = on_complete;
    request->data = job;
    __atomic_store_n(&queue, request, __ATOMIC_RELEASE);
}

void finish_work(void)
{
    struct request *request = __atomic_exchange_n(&queue, NULL, __ATOMIC_ACQ_REL);
    request->complete(request->data, 2);
    free(request);
}

void wait_until_done(void)
{
    while (job->state != 2)
        usleep(2000);
}
#endif

#ifdef SHAPE_COND_PREDICATE /* no time-out: nobody signals, since nobody sets the predicate */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool is_ready;
void prepare(void)
{
}

void ask(void)
{
    pthread_mutex_lock(&mutex);
    is_ready = false;
    pthread_mutex_unlock(&mutex);
}

void finish_work(void)
{
    pthread_mutex_lock(&mutex);
    is_ready = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

void wait_until_done(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}
#endif

#ifdef SHAPE_TIMERFD /* the pause is a read of a timer's file */
static int timer;
static volatile int is_done;
void prepare(void)
{
    const struct itimerspec every = {{0, 2000000}, {0, 2000000}};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &every, NULL);
}

void ask(void)
{
    is_done = 0;
}

void finish_work(void)
{
    is_done = 1;
}

void wait_until_done(void)
{
    uint64_t turns;
    while (!is_done)
        if (read(timer, &turns, sizeof(turns)) != sizeof(turns))
            abort();
}
#endif

#ifdef SHAPE_TWO_SIDES /* both sides change, but the waiter changes one of them itself */
static struct {
    volatile unsigned submitted, completed;
} ring;
void prepare(void)
{
}

void ask(void)
{
    ring.submitted++;
}

void finish_work(void)
{
    ring.completed++;
}

void wait_until_done(void)
{
    while (ring.submitted != ring.completed)
        usleep(2000);
}
#endif

#ifdef SHAPE_ONE_UNWRITTEN /* nothing ever sets the first flag */
static volatile int is_cancelled;
static volatile int is_done;
void prepare(void)
{
}

void ask(void)
{
    is_done = 0;
}

void finish_work(void)
{
    is_done = 1;
}

void wait_until_done(void)
{
    while (!is_cancelled && !is_done)
        usleep(2000);
}
#endif

#ifdef SHAPE_THREADS_ARRAY /* as fio: an array of objects behind a pointer, by an index of a loop */
enum state { CREATED, RUNNING, REAPED };
struct thread_data {
    long number;
    enum state runstate;
    char name[20];
};
static struct thread_data *threads;
static int thread_count;

NOINLINE static void set_state(struct thread_data *td, enum state state)
{
    __atomic_store_n(&td->runstate, state, __ATOMIC_RELEASE);
}

void prepare(void)
{
    thread_count = 4;
    threads = calloc((size_t)thread_count, sizeof(*threads));
}

void ask(void)
{
    for (int i = 0; i < thread_count; i++)
        set_state(&threads[i], RUNNING);
}

void finish_work(void)
{
    for (int i = 0; i < thread_count; i++)
        set_state(&threads[i], REAPED);
}

void wait_until_done(void)
{
    for (;;) {
        int left = 0;
        for (int i = 0; i < thread_count; i++)
            if (__atomic_load_n(&threads[i].runstate, __ATOMIC_ACQUIRE) != REAPED)
                left++;
        if (!left)
            return;
        usleep(2000);
    }
}
#endif
