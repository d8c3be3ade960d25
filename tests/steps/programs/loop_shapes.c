/* Waiting loops of many shapes; test_loop_flags.c reads their code. They are never run. wait_X()
 * has the loop, go_X() calls it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* In a library every symbol can be defined by another file, so calls and variables go through
 * tables. */
#ifdef IN_LIBRARY
#define OWN   __attribute__((visibility("default")))
#define APART __attribute__((visibility("default"), noinline, noclone))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#else
#define OWN   static
#define APART static __attribute__((noinline, noclone, used))
#endif

enum { BIT = 8 };

struct document {
    char name[24];
    volatile int state;
};
struct window {
    long number;
    struct document *document;
    volatile bool is_shown;
};

OWN volatile int did_reconfigure;
OWN struct {
    int unused[3];
    volatile int done;
    volatile unsigned bits;
} settings;
OWN struct {
    long number;
    volatile int is_done;
} job, callback_job;
OWN struct window *window;
OWN struct window main_window;
OWN struct window *chosen = &main_window; /* in a library by a relocation */
OWN volatile bool is_ready_flag, is_first, is_second;
OWN atomic_bool is_atomic;
OWN atomic_int work_left;
OWN volatile int spin_lock, answer, state, turns, limit, gathered;
OWN volatile long decoded, seconds_most;
OWN __thread volatile char arrived;
static __thread volatile int unused_here, has_come; /* in a library without a symbol */
int poll_device(void);

#include "bit_shapes.h"
#include "called_shapes.h"
#include "shared_shapes.h"
#include "waiting_shapes.h"

/* --- a variable of the program --- */

APART void wait_global(void)
{
    while (!did_reconfigure)
        usleep(1500);
}

APART bool wait_while_handling(void)
{
    for (int i = 0; i < 100; i++) {
        if (did_reconfigure)
            return true;
        while (poll_device())
            poll_device();
        usleep(1500);
    }
    return false;
}

APART bool wait_bounded(void)
{
    for (int i = 0; i < 10000; i++) {
        if (did_reconfigure)
            return true;
        usleep(1500);
    }
    return false;
}

APART void wait_field_of_struct(void)
{
    while (settings.done != 3)
        sched_yield();
}

APART void wait_bit(void)
{
    while (!(settings.bits & BIT))
        usleep(100);
}

APART void wait_atomic(void)
{
    while (!atomic_load_explicit(&is_atomic, memory_order_acquire)) {
        struct timespec pause = {0, 1000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

APART void wait_count(void)
{
    while (atomic_load(&work_left) > 0)
        usleep(100);
}

APART void wait_spin(void)
{
    while (__sync_lock_test_and_set(&spin_lock, 1))
        sched_yield();
}

APART void wait_chosen(void)
{
    while (!chosen->is_shown)
        usleep(100);
}

/* A pointer of the C library. A program may have a copy of it. */
APART void wait_copied(void)
{
    while (*(volatile char *)optarg != 'x')
        usleep(100);
}

APART void choose(struct window *which)
{
    chosen = which;
}

APART void wait_callback(void)
{
    while (!callback_job.is_done)
        usleep(100);
}

APART void wait_sequence(long wanted)
{
    while (decoded != wanted)
        usleep(100);
}

APART void wait_cleared(void)
{
    do {
        did_reconfigure = 0;
        usleep(1000);
    } while (!did_reconfigure);
}

APART void wait_interrupted(void)
{
    while (!did_reconfigure) {
        struct timespec pause = {0, 1000000};
        while (nanosleep(&pause, &pause) == -1 && errno == EINTR)
            ;
    }
}

APART void wait_checked(void)
{
    while (!did_reconfigure) {
        if (!window)
            abort();
        usleep(1000);
    }
}

/* --- behind pointers --- */

APART void wait_object(void)
{
    while (!job.is_done)
        usleep(1000);
}

APART void wait_pointer(void)
{
    while (!window->is_shown)
        usleep(1000);
}

APART void wait_pointers(void)
{
    while (window->document->state != 3)
        usleep(1000);
}

APART void wait_argument(struct window *of)
{
    while (!of->is_shown)
        usleep(1000);
}

APART void go_argument(void)
{
    wait_argument(window);
    puts("");
}

APART void wait_address(struct window *of)
{
    while (!of->is_shown)
        usleep(1000);
}

APART void go_address(void)
{
    wait_address(&main_window);
    puts("");
}

/* --- behind a function --- */

static inline bool is_ready_inlined(void)
{
    return is_ready_flag;
}

APART void wait_inlined(void)
{
    while (!is_ready_inlined())
        usleep(1000);
}

APART bool is_ready(void)
{
    return is_ready_flag;
}

APART void wait_function(void)
{
    while (!is_ready())
        usleep(1000);
}

/* A pointer to a function, which may be changed. */
static bool (*volatile check_ready)(void) = is_ready;

APART void wait_pointed(void)
{
    while (!check_ready())
        usleep(1000);
}

/* A jump through a table, by a constant of the caller. */
APART bool load_as(const volatile bool *flag, int order)
{
    switch (order) {
    case 0:
        return *flag;
    case 1:
        atomic_thread_fence(memory_order_acquire);
        return *flag;
    case 2:
        atomic_thread_fence(memory_order_release);
        return *flag;
    case 3:
        atomic_thread_fence(memory_order_acq_rel);
        return *flag;
    case 4:
        atomic_thread_fence(memory_order_seq_cst);
        return *flag;
    default:
        abort();
    }
}

APART void wait_switched(void)
{
    while (!load_as(&is_ready_flag, 4))
        usleep(1000);
}

APART bool is_document_ready(const struct document *document)
{
    if (document->state == 3)
        return true;
    return false;
}

APART bool is_window_ready(const struct window *of)
{
    return is_document_ready(of->document);
}

APART void wait_two_functions(void)
{
    while (!is_window_ready(window))
        usleep(1000);
}

APART int advance(int from)
{
    switch (from) {
    case 0:
        return answer == 42 ? 1 : 0;
    default:
        return 2;
    }
}

APART void wait_state(void)
{
    while (state != 2) {
        state = advance(state);
        usleep(1000);
    }
}

/* The function that tests the variable also waits. */
APART bool step_and_tell(void)
{
    usleep(1000);
    return is_ready_flag;
}

APART void wait_stepped(void)
{
    while (!step_and_tell())
        puts("");
}

/* --- several variables --- */

APART void wait_either(void)
{
    while (!is_first && !is_second)
        usleep(1000);
}

APART void wait_both(void)
{
    while (!(is_first && is_second))
        usleep(1000);
}

APART void wait_or_device(void)
{
    while (!is_first && poll_device())
        usleep(1000);
}

APART void wait_own_thread(void)
{
    while (!arrived)
        usleep(1000);
}

APART void wait_static_thread(void)
{
    unused_here = 1;
    while (!has_come)
        usleep(1000);
}

/* --- no variable that could be named --- */

APART void wait_counter(void)
{
    for (int i = 0; i < 1000000; i++)
        usleep(100);
}

APART void go_counter(void)
{
    while (!did_reconfigure)
        wait_counter();
}

APART void wait_global_counter(void)
{
    for (turns = 0; turns < limit; turns++)
        usleep(100);
}

APART void wait_once(void)
{
    usleep(100);
}

APART void wait_for_ever(void)
{
    for (;;)
        usleep(100);
}

APART void wait_device(void)
{
    while (poll_device())
        usleep(100);
}

APART void wait_clock(void)
{
    time_t end = time(NULL) + 5;
    while (time(NULL) < end)
        usleep(100);
}

APART void go_device(void)
{
    while (!did_reconfigure)
        wait_device();
}

#include "loop_elements.h"

APART void wait_list(struct window **all)
{
    while (!(*all)->is_shown) {
        all++;
        usleep(100);
    }
}

APART void wait_stack(void *(*run)(void *))
{
    pthread_t thread;
    volatile int done = 0;
    pthread_create(&thread, NULL, run, (void *)&done);
    while (!done)
        usleep(100);
}

/* A loop of its own inside of an outer one, which does not wait for it. */
APART void go_list(struct window **all)
{
    while (!did_reconfigure)
        wait_list(all);
}

/* --- what ends the loops: set_X() writes a variable, other functions write what is beside it --- */

APART void set_global(void)
{
    did_reconfigure = 1;
}

APART int read_global(void)
{
    return did_reconfigure;
}

APART void set_field_of_struct(void)
{
    settings.done = 3;
}

APART void set_beside(void)
{
    settings.unused[1] = 3;
    main_window.number = 3;
    limit = 7;
}

APART void set_bit(void)
{
    settings.bits |= BIT;
}

APART void set_atomic(void)
{
    atomic_store(&is_atomic, true);
}

APART void set_count(void)
{
    atomic_fetch_sub(&work_left, 1);
}

APART void set_spin(void)
{
    __sync_lock_release(&spin_lock);
}

APART void set_sequence(long number)
{
    decoded = number;
}

APART void set_pointer(void)
{
    window->is_shown = true;
}

APART void set_pointers(void)
{
    window->document->state = 3;
}

APART void show(struct window *which)
{
    which->is_shown = true;
}

APART void set_by_argument(void)
{
    show(window);
    puts("");
}

APART void set_address(void)
{
    show(&main_window);
    puts("");
}

static inline void store_ready(bool is_ready)
{
    is_ready_flag = is_ready;
}

APART void set_inlined(void)
{
    puts("ready");
    store_ready(true);
}

APART void set_by_library(void)
{
    if (read(0, (void *)&answer, sizeof(answer)) < 0)
        abort();
}

APART void set_first(void)
{
    is_first = true;
}

APART void *run_job(void *context)
{
    struct {
        long number;
        volatile int is_done;
    } *own = context;
    puts("");
    own->is_done = 1;
    return NULL;
}

APART void start_job(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_job, &job);
}

/* A callback that gets the variable as its second argument. */
APART void on_end(int status, void *context)
{
    struct {
        long number;
        volatile int is_done;
    } *own = context;
    if (status == 0)
        own->is_done = 1;
}

APART void watch_end(void)
{
    on_exit(on_end, &callback_job);
    puts("");
}

APART void go_set_global(void)
{
    set_global();
    puts("");
}

APART void go_go_set_global(void)
{
    go_set_global();
    puts("");
}

int poll_device(void)
{
    return getchar();
}

int main(void)
{
    window = calloc(1, sizeof(*window));
    return !window;
}
