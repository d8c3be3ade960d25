/* Loops in C: one shape for each SHAPE_…, with the variable and the writer of the table in
 * bench_loops.py. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loop_library.h"
#include "loop_scaffold.h"

#define SLEEP() usleep(2000)

#if defined(SHAPE_GLOBAL) || defined(SHAPE_YIELD) || defined(SHAPE_BUSY) ||                        \
    defined(SHAPE_BOUNDED) || defined(SHAPE_DEADLINE) || defined(SHAPE_FUNCTION) ||                \
    defined(SHAPE_CALLBACK) || defined(SHAPE_HANDLED) || defined(SHAPE_CLOCK) ||                   \
    defined(SHAPE_SLOW)
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
#endif

#if defined(SHAPE_GLOBAL)
void wait_until_done(void)
{
    while (!is_done)
        SLEEP();
}
#elif defined(SHAPE_YIELD)
void wait_until_done(void)
{
    while (!is_done)
        sched_yield();
}
#elif defined(SHAPE_BUSY)
void wait_until_done(void)
{
    while (!is_done)
        ;
}
#elif defined(SHAPE_BOUNDED)
void wait_until_done(void)
{
    for (int i = 0; i < 20000 && !is_done; i++)
        SLEEP();
}
#elif defined(SHAPE_SLOW)
void wait_until_done(void)
{
    while (!is_done)
        usleep(200000);
}
#elif defined(SHAPE_DEADLINE)
void wait_until_done(void)
{
    time_t end = time(NULL) + 60;
    while (!is_done && time(NULL) < end)
        SLEEP();
}
#elif defined(SHAPE_FUNCTION)
__attribute__((noinline)) static bool look_once(void)
{
    return is_done;
}

__attribute__((noinline)) static bool has_finished(void)
{
    return look_once();
}

void wait_until_done(void)
{
    while (!has_finished())
        SLEEP();
}
#elif defined(SHAPE_CALLBACK)
static bool look_once(void)
{
    return is_done;
}

static struct {
    void *context;
    bool (*has_finished)(void);
} operations = {NULL, look_once};

void wait_until_done(void)
{
    while (!((volatile typeof(operations) *)&operations)->has_finished())
        SLEEP();
}
#elif defined(SHAPE_HANDLED)
static volatile int events;

__attribute__((noinline)) static void handle_event(void)
{
    events++;
}

void wait_until_done(void)
{
    while (!is_done) {
        handle_event();
        SLEEP();
    }
}
#elif defined(SHAPE_ATOMIC)
static atomic_bool is_done;

void prepare(void)
{
}

void ask(void)
{
    atomic_store(&is_done, false);
}

void finish_work(void)
{
    atomic_store(&is_done, true);
}

void wait_until_done(void)
{
    while (!atomic_load_explicit(&is_done, memory_order_acquire))
        SLEEP();
}
#elif defined(SHAPE_BIT)
static atomic_uint state;

void prepare(void)
{
}

void ask(void)
{
    atomic_fetch_and(&state, ~4u);
}

void finish_work(void)
{
    atomic_fetch_or(&state, 4u);
}

void wait_until_done(void)
{
    while (!(atomic_load(&state) & 4u))
        SLEEP();
}
#elif defined(SHAPE_PENDING)
static atomic_int pending;

void prepare(void)
{
}

void ask(void)
{
    atomic_fetch_add(&pending, 1);
}

void finish_work(void)
{
    atomic_fetch_sub(&pending, 1);
}

void wait_until_done(void)
{
    while (atomic_load(&pending) > 0)
        SLEEP();
}
#elif defined(SHAPE_SEQUENCE)
static volatile unsigned asked, answered;

void prepare(void)
{
}

void ask(void)
{
    asked++;
}

void finish_work(void)
{
    answered = asked;
}

void wait_until_done(void)
{
    unsigned mine = asked;
    while (answered != mine)
        SLEEP();
}
#elif defined(SHAPE_RING)
static volatile unsigned write_at, read_at;

void prepare(void)
{
}

void ask(void)
{
    read_at = write_at;
}

void finish_work(void)
{
    write_at = write_at + 1;
}

void wait_until_done(void)
{
    while (write_at == read_at)
        SLEEP();
}
#elif defined(SHAPE_FIELD)
static struct {
    int unused[3];
    volatile int is_done;
} job;

void prepare(void)
{
}

void ask(void)
{
    job.is_done = 0;
}

void finish_work(void)
{
    job.is_done = 1;
}

void wait_until_done(void)
{
    while (!job.is_done)
        SLEEP();
}
#elif defined(SHAPE_HEAP) || defined(SHAPE_ARGUMENT) || defined(SHAPE_PREDICATE)
struct job {
    int unused[4];
    volatile int is_done;
};
static struct job *job;

void prepare(void)
{
    job = calloc(1, sizeof(*job));
}

void ask(void)
{
    job->is_done = 0;
}

void finish_work(void)
{
    job->is_done = 1;
}

__attribute__((noinline)) static void wait_for_job(struct job *one)
{
    while (!one->is_done)
        SLEEP();
}

#ifdef SHAPE_PREDICATE
static int is_job_done(const void *context)
{
    const struct job *own = context;
    return own->is_done;
}
#endif

void wait_until_done(void)
{
#if defined(SHAPE_PREDICATE)
    (void)wait_for_job;
    library_wait_for(is_job_done, job);
#elif defined(SHAPE_ARGUMENT)
    wait_for_job(job);
#else
    (void)wait_for_job;
    while (!job->is_done)
        SLEEP();
#endif
}
#elif defined(SHAPE_NESTED)
struct view {
    int unused;
    volatile int is_drawn;
};
static struct {
    void *unused;
    struct view *view;
} * window;

void prepare(void)
{
    window = calloc(1, sizeof(*window));
    window->view = calloc(1, sizeof(*window->view));
}

void ask(void)
{
    window->view->is_drawn = 0;
}

void finish_work(void)
{
    window->view->is_drawn = 1;
}

void wait_until_done(void)
{
    while (!window->view->is_drawn)
        SLEEP();
}
#elif defined(SHAPE_THREAD)
static struct own {
    int unused[2];
    volatile int is_done;
} * first;
static __thread struct own *own;

void prepare(void)
{
    first = own = calloc(1, sizeof(*own));
}

void ask(void)
{
    own->is_done = 0;
}

void finish_work(void)
{
    first->is_done = 1;
}

void wait_until_done(void)
{
    while (!own->is_done)
        SLEEP();
}
#elif defined(SHAPE_CLOCK)
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void wait_until_done(void)
{
    double end_s = now_s() + 30.0;
    while (now_s() < end_s) {
        if (is_done)
            return;
        SLEEP();
    }
}
#elif defined(SHAPE_SEMAPHORE)
static sem_t places;

void prepare(void)
{
    sem_init(&places, 0, 0);
}

void ask(void)
{
}

void finish_work(void)
{
    sem_post(&places);
}

void wait_until_done(void)
{
    while (sem_trywait(&places))
        SLEEP();
}
#elif defined(SHAPE_OPERATIONS)
struct device;
struct operations {
    bool (*is_ready)(const struct device *device);
    void (*begin)(struct device *device);
};
static struct device {
    const struct operations *operations;
    volatile bool has_data;
} * device;

static bool is_device_ready(const struct device *own)
{
    return own->has_data;
}

static void begin_device(struct device *own)
{
    own->has_data = false;
}

void prepare(void)
{
    static const struct operations operations = {is_device_ready, begin_device};
    device = calloc(1, sizeof(*device));
    device->operations = &operations;
}

void ask(void)
{
    device->operations->begin(device);
}

void finish_work(void)
{
    device->has_data = true;
}

void wait_until_done(void)
{
    while (!device->operations->is_ready(device))
        SLEEP();
}
#elif defined(SHAPE_SPIN_LOCK)
static pthread_spinlock_t busy;

void prepare(void)
{
    pthread_spin_init(&busy, 0);
}

void ask(void)
{
    pthread_spin_lock(&busy);
}

void finish_work(void)
{
    pthread_spin_unlock(&busy);
}

void wait_until_done(void)
{
    pthread_spin_lock(&busy);
    pthread_spin_unlock(&busy);
}
#elif defined(SHAPE_OWN_SPIN_LOCK)
static atomic_flag busy = ATOMIC_FLAG_INIT;

void prepare(void)
{
}

void ask(void)
{
    atomic_flag_test_and_set(&busy);
}

void finish_work(void)
{
    atomic_flag_clear(&busy);
}

void wait_until_done(void)
{
    while (atomic_flag_test_and_set(&busy))
        SLEEP();
    atomic_flag_clear(&busy);
}
#elif defined(SHAPE_SWITCH) || defined(SHAPE_SIGNAL)
#include "c_state_loops.h"
#elif defined(SHAPE_LIBRARY_VARIABLE) || defined(SHAPE_LIBRARY_FUNCTION) ||                        \
    defined(SHAPE_LIBRARY_LOOP)
void prepare(void)
{
}

void ask(void)
{
    library_ask();
}

void finish_work(void)
{
    library_finish();
}

void wait_until_done(void)
{
#if defined(SHAPE_LIBRARY_VARIABLE)
    while (!library_is_done)
        SLEEP();
#elif defined(SHAPE_LIBRARY_FUNCTION)
    while (!library_has_finished())
        SLEEP();
#else
    library_wait();
#endif
}
#elif defined(SHAPE_PROGRAM_VARIABLE)
volatile int program_is_done;

void prepare(void)
{
}

void ask(void)
{
    program_is_done = 0;
}

void finish_work(void)
{
    library_finish_program();
}

void wait_until_done(void)
{
    while (!program_is_done)
        SLEEP();
}
#endif
