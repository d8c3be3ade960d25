/* Loops as programs of distributions have them, built as distributions build: optimized at link
 * time, hardened, position-independent. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "loop_scaffold.h"

#define NOINLINE __attribute__((noinline))

/* In 3 ms. */
__attribute__((unused)) static struct timespec soon(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 3000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

#ifdef SHAPE_TIMEDWAIT /* condition with time-out, predicate in a heap object */
static struct conn {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int count;
    bool established;
} * conn;
void prepare(void)
{
    conn = calloc(1, sizeof(*conn));
    pthread_mutex_init(&conn->mutex, NULL);
    pthread_cond_init(&conn->cond, NULL);
}

void ask(void)
{
    pthread_mutex_lock(&conn->mutex);
    conn->established = false;
    pthread_mutex_unlock(&conn->mutex);
}

void finish_work(void)
{
    pthread_mutex_lock(&conn->mutex);
    conn->established = true;
    pthread_mutex_unlock(&conn->mutex);
}

void wait_until_done(void)
{
    pthread_mutex_lock(&conn->mutex);
    while (!conn->established) {
        struct timespec t = soon();
        pthread_cond_timedwait(&conn->cond, &conn->mutex, &t);
    }
    pthread_mutex_unlock(&conn->mutex);
}
#endif

#ifdef SHAPE_COND_GLOBAL /* static mutex, cond and predicate */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int queue_length;
void prepare(void)
{
}

void ask(void)
{
    pthread_mutex_lock(&mutex);
    queue_length = 0;
    pthread_mutex_unlock(&mutex);
}

void finish_work(void)
{
    pthread_mutex_lock(&mutex);
    queue_length++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

void wait_until_done(void)
{
    pthread_mutex_lock(&mutex);
    while (queue_length < 1) {
        struct timespec t = soon();
        if (pthread_cond_timedwait(&cond, &mutex, &t) == ETIMEDOUT)
            continue;
    }
    pthread_mutex_unlock(&mutex);
}
#endif

#ifdef SHAPE_LOCKED_COPY /* the flag is copied under a lock */
static struct {
    pthread_mutex_t lock;
    int jobs;
    int finished;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
void prepare(void)
{
}

void ask(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.finished = 0;
    pthread_mutex_unlock(&pool.lock);
}

void finish_work(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.jobs++;
    pool.finished = 1;
    pthread_mutex_unlock(&pool.lock);
}

void wait_until_done(void)
{
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        int done = pool.finished;
        pthread_mutex_unlock(&pool.lock);
        if (done)
            break;
        poll(NULL, 0, 2);
    }
}
#endif

#ifdef SHAPE_ENUM_STATE /* a state of a machine, select as a pause */
enum state { IDLE, CONNECTING, HANDSHAKE, READY, FAILED };
static struct session {
    char name[24];
    enum state state;
} session;
static void NOINLINE set_state(struct session *s, enum state state)
{
    s->state = state;
}

void prepare(void)
{
}

void ask(void)
{
    set_state(&session, CONNECTING);
}

void finish_work(void)
{
    set_state(&session, HANDSHAKE);
    set_state(&session, READY);
}

void wait_until_done(void)
{
    while (session.state != READY && session.state != FAILED) {
        struct timeval t = {0, 2000};
        select(0, NULL, NULL, NULL, &t);
    }
}
#endif

#ifdef SHAPE_RESULT_POINTER /* a result that appears */
struct result {
    int number;
};
static _Atomic(struct result *) result;
void prepare(void)
{
}

void ask(void)
{
    free(atomic_exchange(&result, NULL));
}

void finish_work(void)
{
    struct result *r = malloc(sizeof(*r));
    r->number = 7;
    atomic_store_explicit(&result, r, memory_order_release);
}

static volatile int sum;
void wait_until_done(void)
{
    struct result *r;
    struct timespec t = {0, 2000000};
    while (!(r = atomic_load_explicit(&result, memory_order_acquire)))
        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    sum += r->number;
}
#endif

#ifdef SHAPE_REFCOUNT /* until the only reference is the own */
static struct buffer {
    char data[64];
    atomic_int refs;
} * buffer;
static NOINLINE void buffer_unref(struct buffer *b)
{
    if (atomic_fetch_sub(&b->refs, 1) == 1)
        abort();
}

void prepare(void)
{
    buffer = calloc(1, sizeof(*buffer));
    buffer->refs = 1;
}

void ask(void)
{
    atomic_fetch_add(&buffer->refs, 1);
}

void finish_work(void)
{
    buffer_unref(buffer);
}

void wait_until_done(void)
{
    while (atomic_load(&buffer->refs) > 1)
        usleep(2000);
}
#endif

#ifdef SHAPE_SLOT_STATUS /* -EINPROGRESS of a slot in a table */
static struct slot {
    int id;
    int status;
    void *data;
} slots[16];
static int current = 3;
void prepare(void)
{
}

void ask(void)
{
    slots[current].status = -EINPROGRESS;
}

void finish_work(void)
{
    slots[current].status = 0;
}

void wait_until_done(void)
{
    while (slots[current].status == -EINPROGRESS)
        usleep(2000);
}
#endif

#ifdef SHAPE_QUEUE_PTRS /* head and tail of a list behind a pointer */
struct item {
    struct item *next;
};
static struct queue {
    struct item *head, *tail;
    int n;
} * queue;
static NOINLINE void push(struct queue *q, struct item *i)
{
    i->next = NULL;
    if (q->tail)
        q->tail->next = i;
    else
        __atomic_store_n(&q->head, i, __ATOMIC_RELEASE);
    q->tail = i;
    q->n++;
}

static struct item *take(struct queue *q)
{
    struct item *i = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
    if (!i)
        return NULL;
    q->head = i->next;
    if (!i->next)
        q->tail = NULL;
    q->n--;
    return i;
}

void prepare(void)
{
    queue = calloc(1, sizeof(*queue));
}

void ask(void)
{
}

void finish_work(void)
{
    push(queue, malloc(sizeof(struct item)));
}

void wait_until_done(void)
{
    struct item *i;
    while (!(i = take(queue)))
        usleep(1500);
    free(i);
}
#endif

#ifdef SHAPE_SEM_TIMED /* a semaphore that is only a pause */
static sem_t sem;
static volatile sig_atomic_t stop;
void prepare(void)
{
    sem_init(&sem, 0, 0);
}

void ask(void)
{
    stop = 0;
}

void finish_work(void)
{
    stop = 1;
}

void wait_until_done(void)
{
    while (!stop) {
        struct timespec t = soon();
        sem_timedwait(&sem, &t);
    }
}
#endif

#ifdef SHAPE_EPOLL /* an event loop with a time-out and a member of a struct that main has */
struct app {
    int epoll;
    int exit_code;
    unsigned running : 1, verbose : 1;
};
static struct app app;
static NOINLINE void app_quit(struct app *a, int code)
{
    a->exit_code = code;
    a->running = 0;
}

static NOINLINE void app_run(struct app *a)
{
    struct epoll_event e[4];
    while (a->running) {
        int n = epoll_wait(a->epoll, e, 4, 2);
        for (int i = 0; i < n; i++)
            a->verbose ^= 1;
    }
}

void prepare(void)
{
    app.epoll = epoll_create1(0);
}

void ask(void)
{
    app.running = 1;
}

void finish_work(void)
{
    app_quit(&app, 3);
}

void wait_until_done(void)
{
    app_run(&app);
}
#endif

#ifdef SHAPE_GENERATION /* a generation that goes on, 64 bits, two-level object */
struct cache {
    uint64_t pad[5];
    uint64_t generation;
};
struct engine {
    int id;
    struct cache *cache;
};
static struct engine *engine;
static uint64_t asked;
void prepare(void)
{
    engine = calloc(1, sizeof(*engine));
    engine->cache = calloc(1, sizeof(struct cache));
}

void ask(void)
{
    asked = __atomic_load_n(&engine->cache->generation, __ATOMIC_RELAXED) + 1;
}

static NOINLINE void cache_flush(struct cache *c)
{
    memset(c->pad, 1, sizeof(c->pad));
    __atomic_add_fetch(&c->generation, 1, __ATOMIC_RELEASE);
}

void finish_work(void)
{
    cache_flush(engine->cache);
}

static NOINLINE void engine_sync(struct engine *e, uint64_t g)
{
    while (__atomic_load_n(&e->cache->generation, __ATOMIC_ACQUIRE) < g) {
        struct timespec t = {0, 1500000};
        nanosleep(&t, NULL);
    }
}

void wait_until_done(void)
{
    engine_sync(engine, asked);
}
#endif

#ifdef SHAPE_BACKOFF /* growing pauses, several flags; aborted is never set */
static volatile int ready, aborted;
void prepare(void)
{
}

void ask(void)
{
    ready = 0;
}

static void abort_work(void)
{
    aborted = 1;
}

void finish_work(void)
{
    if (aborted == 5)
        abort_work();
    ready = 1;
}

void wait_until_done(void)
{
    unsigned pause = 100;
    while (!ready && !aborted) {
        usleep(pause);
        if (pause < 4000)
            pause *= 2;
    }
}
#endif

#ifdef SHAPE_CALLBACK_CTX /* the flag is a local of the waiter that a request has */
struct request {
    void (*done)(void *);
    void *data;
};
static struct request request;
static void on_done(void *data)
{
    *(volatile int *)data = 1;
}

void prepare(void)
{
}

void ask(void)
{
}

void finish_work(void)
{
    while (!__atomic_load_n(&request.done, __ATOMIC_ACQUIRE))
        usleep(100);
    request.done(request.data);
}

void wait_until_done(void)
{
    volatile int done = 0;
    request.data = (void *)&done;
    __atomic_store_n(&request.done, on_done, __ATOMIC_RELEASE);
    while (!done)
        usleep(2000);
    __atomic_store_n(&request.done, NULL, __ATOMIC_RELEASE);
}
#endif

#ifdef SHAPE_STRING_STATE /* a string that is compared */
static char volatile status[16] = "busy";
void prepare(void)
{
}

void ask(void)
{
    memcpy((char *)status, "busy", 5);
}

void finish_work(void)
{
    memcpy((char *)status, "idle", 5);
}

void wait_until_done(void)
{
    while (strcmp((char *)status, "idle") != 0)
        usleep(2000);
}
#endif
