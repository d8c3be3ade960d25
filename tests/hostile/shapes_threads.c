/* Threads and processes: many, reused, in long lines. */
#include <stdio.h>
#include <string.h>

#include "hostile.h"

void shape_threads_new(struct hostile *hostile)
{
    for (uint64_t tid = 1; hostile_room(hostile); tid++)
        PUT(0, tid, ARGUS_ID_SWITCH, 0, tid + 1);
}

/* Each thread makes the next one, so a search for the ancestor goes through all of them. */
void shape_threads_forked(struct hostile *hostile)
{
    for (uint64_t tid = 10; hostile_room(hostile); tid++) {
        PUT(0, tid, ARGUS_ID_NEW_THREAD, tid + 1, tid + 1, 1, tid);
        PUT(0, tid, ARGUS_ID_MAKE_RUNNABLE, tid + 1, 120, 1);
        PUT(0, tid, ARGUS_ID_SWITCH, 1, tid + 1);
    }
}

void shape_threads_named(struct hostile *hostile)
{
    static struct argus_thread_entry entries[1024];
    static char name[1025];
    memset(name, 'n', 1024);
    for (uint64_t tid = 1; hostile_room(hostile);) {
        for (int i = 0; i < 1024; i++, tid++)
            entries[i] = (struct argus_thread_entry){
                .tid = tid, .pid = tid / 3, .parent_pid = tid / 4, .name = tid % 8 ? "x" : name};
        hostile_check(argus_writer_threads(hostile->writer, entries, 1024));
    }
    PUT(0, 3, ARGUS_ID_SWITCH, 1, 6);
    PUT(0, 6, ARGUS_ID_SWITCH, 1, 3);
}

/* A line of parents that ends in a circle, each with a hang. */
void shape_process_tree(struct hostile *hostile)
{
    static struct argus_thread_entry entries[4096];
    for (uint64_t i = 0; i < 4096; i++)
        entries[i] = (struct argus_thread_entry){
            .tid = i + 1, .pid = i + 1, .parent_pid = i ? i : 4096, .name = "tree"};
    hostile_check(argus_writer_threads(hostile->writer, entries, 4096));
    for (uint64_t i = 1; hostile_room(hostile); i++) {
        hostile_wait(hostile, (uint32_t)i, i % 4096 + 1, 61);
        if (i % 4096 == 0)
            hostile->now += 3000000000;
        hostile_wake(hostile, 0, (i + 1) % 4096 + 1, (uint32_t)i, i % 4096 + 1, 61);
    }
}

void shape_tids_reused(struct hostile *hostile)
{
    for (uint64_t i = 1; hostile_room(hostile); i++) {
        PUT(0, 5, ARGUS_ID_NEW_THREAD, 7, i, 1, 5);
        PUT(0, 5, ARGUS_ID_NAME_NEW, i, i);
        PUT(0, 5, ARGUS_ID_MAKE_RUNNABLE, 7, 120, 1);
        PUT(0, 5, ARGUS_ID_SWITCH, 1, 7);
        PUT(0, 7, ARGUS_ID_EXEC, i);
        PUT(0, 7, ARGUS_ID_THREAD_EXIT, 7, 1);
        PUT(0, 7, ARGUS_ID_SWITCH, 128, 5);
    }
}

void shape_preempted(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 300, ARGUS_ID_SWITCH, 0, 10 + (i + 1) % 300);
        PUT(0, 10 + i % 300, ARGUS_ID_STACK, 0, 0, 5);
    }
}

/* Every process is at its limit of memory, again and again. */
void shape_memory(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        uint64_t tid = 10 + i % 5000;
        hostile->now += i % 10000 == 0 ? 3000000000 : 1000;
        PUT(0, tid, ARGUS_ID_MEMORY_STALL, ARGUS_MEMORY_STALL(1 + i % 3, 4096), 900000000, i % 77,
            1 << 20);
        PUT(0, tid, ARGUS_ID_MEMORY_GROUP, i);
        PUT(0, tid, ARGUS_ID_MEMORY_SIZE, tid, i << 20, i << 21, i << 22);
    }
}

void shape_cpu_limits(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        hostile->now += i % 5000 == 0 ? 3000000000 : 0;
        PUT(0, 10 + i % 40, ARGUS_ID_CPU_LIMITS, i, i % 50 + 1, 1000 + i, 100000);
        PUT(0, 10 + i % 40, ARGUS_ID_CPU_GROUP, i);
        PUT(0, 10 + i % 40, ARGUS_ID_SWITCH, 0, 10 + (i + 1) % 40);
    }
}
