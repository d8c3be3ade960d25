/* A loop that looks at an object of its caller, and functions that store to objects like it;
 * test_similar_writers.c reads their code. They are never run. */
#include <stdatomic.h>
#include <unistd.h>

#define APART static __attribute__((noinline, noclone, used))

struct job {
    long number;
    _Atomic int is_done;
    _Atomic int other;
};

struct alike {
    long number;
    _Atomic int state;
};

APART void wait_job(struct job *job)
{
    while (!atomic_load_explicit(&job->is_done, memory_order_acquire))
        usleep(1000);
}

APART void set_done(struct job *job)
{
    atomic_store_explicit(&job->is_done, 1, memory_order_release);
}

/* xor eax, eax; xchg [rdi + 8], eax */
APART void clear_done(struct job *job)
{
    atomic_store(&job->is_done, 0);
}

APART void set_computed(struct job *job, int value)
{
    atomic_store_explicit(&job->is_done, value, memory_order_release);
}

APART void set_twice(struct job *job, int value)
{
    if (value)
        atomic_store_explicit(&job->is_done, 2, memory_order_release);
    else
        atomic_store_explicit(&job->is_done, 3, memory_order_release);
}

APART void set_other(struct job *job)
{
    atomic_store_explicit(&job->other, 1, memory_order_release);
}

APART void set_alike(struct alike *alike)
{
    atomic_store_explicit(&alike->state, 1, memory_order_release);
}

APART void set_element(struct job *jobs, long at)
{
    atomic_store_explicit(&jobs[at].is_done, 1, memory_order_release);
}

APART void run_job(struct job *job)
{
    usleep(10);
    set_done(job);
    usleep(10);
}

/* Debug information names no member. */
#define BLIND(number)                                                                              \
    APART void set_blind_##number(void *any)                                                       \
    {                                                                                              \
        *(volatile int *)((char *)any + 8) = 1;                                                    \
    }
BLIND(0)
BLIND(1)
BLIND(2)
BLIND(3)
BLIND(4)
BLIND(5)
BLIND(6)
BLIND(7)
BLIND(8)
BLIND(9)
BLIND(10)
BLIND(11)
BLIND(12)
BLIND(13)
BLIND(14)
BLIND(15)

int main(void)
{
    return 0;
}
