/* Busy loops of many shapes; test_spin_loops.c reads their code. They are never run. spin_X() only
 * waits for a variable, work_X() does something else. */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART static __attribute__((noinline, noclone, used))

struct window {
    long number;
    volatile bool is_shown;
    struct window *next;
};

static volatile int is_done, is_cancelled, is_open;
static struct {
    int unused[3];
    atomic_int state;
} settings;
static atomic_bool is_atomic;
static struct window *window;
static atomic_int spin_lock, next_task;
static unsigned table[64];
static unsigned count = 64;
static volatile unsigned total, pending[8];

/* --- loops that wait --- */

APART void spin_plain(void)
{
    while (!is_done)
        ;
}

APART void spin_field(void)
{
    while (atomic_load_explicit(&settings.state, memory_order_acquire) != 3)
        ;
}

APART void spin_pointer(void)
{
    while (!window->is_shown)
        ;
}

APART bool is_ready(void)
{
    return atomic_load(&is_atomic);
}

/* The sum begins anew in each turn: it stays the same until another thread ends it. */
APART void spin_all(void)
{
    unsigned left;
    do {
        left = 0;
        for (unsigned i = 0; i < sizeof(pending) / sizeof(pending[0]); i++)
            left += pending[i];
    } while (left);
}

APART void spin_function(void)
{
    while (!is_ready())
        ;
}

/* With a pause that counts. */
APART void spin_delay(void)
{
    while (!is_done)
        for (volatile int i = 0; i < 100; i++)
            ;
}

APART bool spin_bounded(void)
{
    for (int i = 0; i < 1000000000; i++)
        if (is_done)
            return true;
    return false;
}

APART bool spin_clock(void)
{
    time_t end = time(NULL) + 5;
    while (!is_done)
        if (time(NULL) >= end)
            return false;
    return true;
}

APART void spin_yield(void)
{
    while (!is_done)
        sched_yield();
}

APART void spin_lock_exchange(void)
{
    while (atomic_exchange(&spin_lock, 1))
        ;
}

APART void spin_lock_compare(void)
{
    int expected = 0;
    while (!atomic_compare_exchange_weak(&spin_lock, &expected, 1))
        expected = 0;
}

APART void spin_either(void)
{
    while (!is_done && is_open)
        ;
}

/* Within a loop that does more. */
APART void spin_inside(void)
{
    while (!is_cancelled) {
        while (!is_done)
            ;
        puts("");
    }
}

/* --- loops that do something else --- */

APART unsigned work_sum(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count && !is_cancelled; i++)
        sum += table[i & 63];
    return sum;
}

APART bool work_prime(unsigned number)
{
    for (unsigned i = 2; i * i <= number && !is_cancelled; i++)
        if (number % i == 0)
            return false;
    return true;
}

APART void work_store(void)
{
    for (unsigned i = 0; !is_cancelled; i++)
        table[i & 63]++;
}

APART void work_count(void)
{
    while (!is_cancelled)
        total++;
}

APART unsigned work_tickets(void)
{
    int task;
    unsigned last = 0;
    while ((task = atomic_fetch_add(&next_task, 1)) < 64)
        last = (unsigned)task;
    return last;
}

APART void work_library(void)
{
    while (!is_cancelled)
        puts("");
}

APART void step(void)
{
    if (--count == 0)
        is_done = 1;
}

APART void work_function(void)
{
    while (!is_done)
        step();
}

APART struct window *work_list(struct window *first)
{
    while (first && !first->is_shown)
        first = first->next;
    return first;
}

APART void work_pause(void)
{
    for (volatile int i = 0; i < 1000000; i++)
        ;
}

APART void work_callback(void (*run)(void))
{
    while (!is_cancelled)
        run();
}

int main(void)
{
    window = calloc(1, sizeof(*window));
    return !window;
}
