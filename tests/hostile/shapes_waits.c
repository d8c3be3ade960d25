/* Waits and wake-ups: chains, fans, circles, hangs. */
#include <stdio.h>

#include "hostile.h"

#define HANG_NS 3000000000ull

/* A thread that looks like the event loop of a window: it polls, gets input, and handles it. */
static void add_loop(struct hostile *hostile, uint64_t tid)
{
    for (int i = 0; i < 4; i++) {
        hostile_wait(hostile, 0, tid, POLL);
        PUT(1, 2, ARGUS_ID_MESSAGE, 77, ARGUS_MESSAGE_WHAT(8, 2, 8), tid * 8 + (uint64_t)i, 78);
        hostile_wake(hostile, 1, 2, 0, tid, POLL);
    }
}

void shape_ping_pong(struct hostile *hostile)
{
    while (hostile_room(hostile)) {
        hostile_wait(hostile, 0, 10, READ);
        hostile_wake(hostile, 0, 11, 0, 10, READ);
        hostile_wait(hostile, 1, 11, READ);
        hostile_wake(hostile, 1, 10, 1, 11, READ);
    }
}

/* Thread n+1 wakes thread n, which had waited since the beginning of the trace. */
void shape_chain(struct hostile *hostile)
{
    uint64_t most = hostile->most_records / 8, count = 0;
    for (; count < most && hostile_room(hostile); count++)
        hostile_wait(hostile, 0, 10 + count, READ);
    hostile->now += HANG_NS;
    for (uint64_t i = count; i-- > 0 && hostile_room(hostile);)
        hostile_wake(hostile, 1, 11 + i, 1, 10 + i, READ);
}

void shape_fan_out(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10, ARGUS_ID_MAKE_RUNNABLE, 11 + i % 100000);
}

void shape_fan_in(struct hostile *hostile)
{
    add_loop(hostile, 10);
    hostile_wait(hostile, 0, 10, READ);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        if (i == 1000)
            hostile->now += HANG_NS;
        PUT(1, 11 + i % 100000, ARGUS_ID_MAKE_RUNNABLE, 10);
    }
    PUT(0, 0, ARGUS_ID_SWITCH, 0, 10);
    PUT(0, 10, ARGUS_ID_SYSCALL(READ) | ARGUS_FUNC_END, 0, 1);
    hostile_wait(hostile, 0, 10, POLL);
}

void shape_woken_again(struct hostile *hostile)
{
    hostile_wait(hostile, 0, 10, READ);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(1, 11, ARGUS_ID_MAKE_RUNNABLE, 10);
        PUT(0, 0, ARGUS_ID_SWITCH, 0, 10);
        PUT(0, 10, ARGUS_ID_SWITCH, 1, 0);
    }
}

void shape_hangs_of_one(struct hostile *hostile)
{
    add_loop(hostile, 10);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        hostile_wait(hostile, 0, 10, POLL);
        hostile_wake(hostile, 1, 2, 0, 10, POLL);
        hostile_wait(hostile, 0, 10, READ);
        hostile->now += HANG_NS;
        hostile_wake(hostile, 1, 11 + i % 7, 0, 10, READ);
    }
}

void shape_hangs_of_many(struct hostile *hostile)
{
    for (uint64_t tid = 10; hostile_room(hostile); tid++) {
        add_loop(hostile, tid);
        hostile_wait(hostile, 0, tid, POLL);
        hostile_wake(hostile, 1, 2, 0, tid, POLL);
        hostile_wait(hostile, 0, tid, READ);
        hostile->now += HANG_NS;
        hostile_wake(hostile, 1, tid - 1, 0, tid, READ);
        hostile_wait(hostile, 0, tid, POLL);
    }
}

/* One hang; each thread of the chain waited for the next one, which waited a little less. */
void shape_hang_chain(struct hostile *hostile)
{
    uint64_t most = hostile->most_records / 10, count = 0;
    hostile_thread(hostile, 10, 10, "window");
    add_loop(hostile, 10);
    for (; count < most && hostile_room(hostile); count++) {
        hostile->now += 10;
        hostile_wait(hostile, 0, 10 + count, READ);
    }
    hostile->now += HANG_NS;
    for (uint64_t i = count; i-- > 0 && hostile_room(hostile);) {
        hostile->now += 10;
        hostile_wake(hostile, 1, 11 + i, 1, 10 + i, READ);
    }
    hostile_wait(hostile, 0, 10, POLL);
}

/* The threads of a circle wait for each other, and are all woken late. */
void shape_hang_ring(struct hostile *hostile)
{
    enum { THREADS = 1000 };
    add_loop(hostile, 10);
    for (uint64_t turn = 0; hostile_room(hostile); turn++) {
        for (uint64_t i = 0; i < THREADS && hostile_room(hostile); i++) {
            PUT(0, 10 + i, ARGUS_ID_SYSCALL(FUTEX) | ARGUS_FUNC_START, 4096 + i * 8, 128, 2);
            PUT(0, 10 + i, ARGUS_ID_LOCK, 4096 + i * 8, 2, 10 + (i + 1) % THREADS);
            PUT(0, 10 + i, ARGUS_ID_SWITCH, 1, 0);
        }
        hostile->now += HANG_NS;
        for (uint64_t i = 0; i < THREADS && hostile_room(hostile); i++)
            hostile_wake(hostile, 1, 10 + (i + 1) % THREADS, 0, 10 + i, FUTEX);
    }
}

/* While one thread hangs, all others wait for it and are woken by it and by each other. */
void shape_hang_wide(struct hostile *hostile)
{
    add_loop(hostile, 10);
    hostile_wait(hostile, 0, 10, READ);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        uint64_t tid = 11 + i * 7919 % 997;
        hostile->now += 1000000;
        hostile_wait(hostile, 1, tid, READ);
        hostile_wake(hostile, 1, 11 + (i + 1) * 7919 % 997, 1, tid, READ);
    }
    hostile_wake(hostile, 1, 11, 0, 10, READ);
    hostile_wait(hostile, 0, 10, POLL);
}

void shape_sleeps(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        hostile_wait(hostile, 0, 10 + i % 2, NANOSLEEP);
        PUT(1, 0, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, 77, 1);
        hostile_wake(hostile, 1, 0, 0, 10 + i % 2, NANOSLEEP);
        PUT(1, 0, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, 77);
    }
}

/* Calls that do not end, each of another number. */
void shape_calls_open(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 3, ARGUS_ID_SYSCALL(i % 16384) | ARGUS_FUNC_START, i, i, i, i);
        PUT(0, 10 + i % 3, ARGUS_ID_SYSCALL_MORE, i % 16384, i, i);
    }
}

void shape_interrupts(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT((uint32_t)i, 10, ARGUS_ID_INTERRUPT | ARGUS_FUNC_START, i);
        PUT((uint32_t)i, 10, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START, i % 10);
        PUT((uint32_t)i, 10, ARGUS_ID_MAKE_RUNNABLE, 11 + i % 50, 0, 0, 1 + i % 3);
    }
}

void shape_timers(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_TIMER_ARMED, i, i, i * 1000, 1);
        if (i % 4 == 0)
            PUT(0, 10, ARGUS_ID_ITIMER_ARMED, i % 3, 1000000, 1000);
        if (i % 4 == 1)
            PUT(0, 10, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, i / 2, 1, i);
        if (i % 4 == 2)
            PUT(0, 10, ARGUS_ID_MAKE_RUNNABLE, 11, 0, 0, 2);
    }
}

void shape_works(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_WORK_QUEUED, i, i * 16, 0, i % 4);
        if (i % 3 == 0)
            PUT(1, 11, ARGUS_ID_WORK | ARGUS_FUNC_START, i / 2, i * 16);
    }
}

void shape_blocks(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_BLOCK_QUEUED, i, i);
        PUT(0, 11, ARGUS_ID_BLOCK_ISSUED, i, i, 4096, i % 9);
        PUT(0, 11, ARGUS_ID_BLOCK_FILE, i, i, i, 7);
        if (i % 3 == 0)
            PUT(1, 12, ARGUS_ID_BLOCK_COMPLETED, i / 2, 0, 4096);
    }
}

void shape_signals(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_SIGNAL_SENT, 1 + i % 64, (11 + i % 500) | 1ull << 32, 0, 0);
        PUT(1, 11 + i % 500, ARGUS_ID_SIGNAL_DELIVERED, 1 + i % 31, i, 0);
    }
}

void shape_waiting(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10 + i, ARGUS_ID_WAITING, ARGUS_WAITING(FUTEX, 1), i % 9, 128, i);
}
