/* What threads share: locks, pipes, sockets, memory, callbacks, flags. */
#include "hostile.h"

void shape_futex_owners(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i, ARGUS_ID_SYSCALL(FUTEX) | ARGUS_FUNC_START, 4096, 128, 2);
        PUT(0, 10 + i, ARGUS_ID_LOCK, 4096 + i % 2 * 8, 2, 11 + i);
        PUT(0, 10 + i, ARGUS_ID_SWITCH, 1, 0);
    }
}

static void add_file_lock(struct hostile *hostile, uint64_t i, uint64_t inode, uint32_t what,
                          uint64_t first, uint64_t last)
{
    PUT(0, 10 + i % 5000, ARGUS_ID_SYSCALL(72) | ARGUS_FUNC_START, 3, 7);
    if (what == ARGUS_FILE_LOCK_WAITS) {
        PUT(0, 10 + i % 5000, ARGUS_ID_SWITCH, 1, 0);
        PUT(1, 11 + i % 5000, ARGUS_ID_MAKE_RUNNABLE, 10 + i % 5000);
        PUT(0, 0, ARGUS_ID_SWITCH, 0, 10 + i % 5000);
        what = ARGUS_FILE_LOCK_GOT;
    }
    PUT(0, 10 + i % 5000, ARGUS_ID_FILE_LOCK, inode, ARGUS_FILE_LOCK(7, what, 2, 1), first, last);
    PUT(0, 10 + i % 5000, ARGUS_ID_SYSCALL(72) | ARGUS_FUNC_END, what == 2 ? 11 : 0);
}

void shape_file_locks(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        add_file_lock(hostile, i, 5, 1 + i % 4, 0, UINT64_MAX);
}

/* One process takes every second byte of a file. */
void shape_file_lock_ranges(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        add_file_lock(hostile, i % 2 ? 0 : i, 5, i % 7 == 6 ? 4 : 1, i * 2, i * 2);
}

void shape_lock_files(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        uint64_t tid = 10 + i % 2000;
        hostile->now += i % 3000 == 0 ? 3000000000 : 0;
        PUT(0, tid, ARGUS_ID_SYSCALL(257) | ARGUS_FUNC_START, 3, 7);
        PUT(0, tid, ARGUS_ID_FILE_LOCK, i % 3000, ARGUS_FILE_LOCK(0, 1 + i % 3, 4, 1), i % 2999);
        PUT(0, tid, ARGUS_ID_FILE_LOCK_NAME, 0x2f2f2f2f, i);
        PUT(0, tid, ARGUS_ID_SYSCALL(257) | ARGUS_FUNC_END, 17);
        hostile_wait(hostile, 0, tid, NANOSLEEP);
    }
}

/* A process tries to get a lock every six seconds; meanwhile its many children do nothing. */
void shape_lock_tries(struct hostile *hostile)
{
    enum { COUNT = 1000 };
    static struct argus_thread_entry entries[COUNT];
    uint64_t most = hostile->most_bytes / 20;
    hostile_thread(hostile, 10, 10, "tries");
    for (uint64_t first = 0; first < most && hostile_room(hostile); first += COUNT) {
        for (uint64_t i = 0; i < COUNT; i++)
            entries[i] = (struct argus_thread_entry){
                .tid = 100 + first + i, .pid = 100 + first + i, .parent_pid = 10, .name = "child"};
        hostile_check(argus_writer_threads(hostile->writer, entries, COUNT));
    }
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        add_file_lock(hostile, 0, 5, 2, 0, UINT64_MAX);
        hostile_wait(hostile, 0, 10, READ);
        hostile->now += 6000000000;
        hostile_wake(hostile, 1, 100 + i % 1000, 0, 10, READ);
    }
}

void shape_pipe_unread(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10 + i % 3, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(1, 1, 8), (i << 20) + 1);
}

/* What was sent is received from the end to the beginning. */
void shape_pipe_backward(struct hostile *hostile)
{
    uint64_t count = 0;
    for (; count < hostile->most_records / 2 && hostile_room(hostile); count++)
        PUT(0, 10, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(8, 1, 8 | 4), (count << 20) + 8);
    for (; count-- > 0 && hostile_room(hostile);)
        PUT(0, 11, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(8, 1, 8 | 1), (count << 20) + 8);
}

/* The same position again and again, in every kind, in doubt. */
void shape_messages_kinds(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        uint64_t kind = 1 + i / 5 % 12;
        PUT(0, 10 + i % 4, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(8, kind, 8 | 32), 8 + i % 3, 9);
        if (i % 5 == 0)
            PUT(1, 20 + i % 4, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(8, kind, 1 | 2 | 8), 8, 9);
        if (i % 9 == 0)
            PUT(1, 20 + i % 4, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(99999, kind, 1 | 8), 12, 9);
    }
}

/* The messages of one long call belong before those of many short ones. */
void shape_messages_late(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(8, 11, 0), 0, 1);
        PUT(1, 11, ARGUS_ID_SYSCALL(WRITE) | ARGUS_FUNC_START, 3);
        PUT(1, 11, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(9, 11, 0), 0, 2);
        PUT(1, 11, ARGUS_ID_SYSCALL(WRITE) | ARGUS_FUNC_END, 0, 8);
    }
}

void shape_channels(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 3000, ARGUS_ID_MESSAGE, i, ARGUS_MESSAGE_WHAT(8, 2, 8), i, i);
        PUT(0, 10 + (i + 1) % 3000, ARGUS_ID_MESSAGE, i, ARGUS_MESSAGE_WHAT(8, 2, 9), i, i);
    }
}

void shape_eventfd(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 40, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(1, 7, 8), i + 1);
        if (i % 1000 == 999)
            PUT(0, 9, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(1ull << 40, 7, 8 | 1), 0);
    }
}

void shape_tcp_wrap(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(0xffffffffffffull, 5, 8),
            (uint32_t)(i * 0x70000001u), 9);
        PUT(1, 11, ARGUS_ID_MESSAGE, 5, ARGUS_MESSAGE_WHAT(1, 5, 8 | 1 | 32 * (i % 2)),
            (uint32_t)(i * 0x30000001u), 9);
        PUT(1, 11, ARGUS_ID_REMOTE, i % 999, i, i, ARGUS_REMOTE_WHAT(i, i, 6, 4));
    }
}

void shape_ready(struct hostile *hostile)
{
    PUT(0, 10, ARGUS_ID_SYSCALL(POLL) | ARGUS_FUNC_START, 3, 1);
    PUT(0, 10, ARGUS_ID_SWITCH, 1, 0);
    PUT(0, 0, ARGUS_ID_SWITCH, 0, 10);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_READY, i | 1ull << 32, i, i + 1, 0140000);
        PUT(0, 10, ARGUS_ID_OBJECT, i, i, i + 1, 0140000);
    }
}

void shape_open_ends(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 3000, ARGUS_ID_OBJECT, 3, i % 99, (i + 1) % 99, 0010000);
        hostile_wait(hostile, 0, 10 + i % 3000, READ);
        PUT(0, 10 + i * 7 % 3000, ARGUS_ID_OPEN_END, i % 99, 1 + i % 3, i % 64, 0010000);
    }
}

void shape_shared_memory(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10 + i % 3000, ARGUS_ID_SHARED_MEMORY, (i << 12) | 1, i % 5, i % 3 << 12,
            1ull << 60 | 7);
        PUT(0, 10 + i % 3000, ARGUS_ID_FLAG_SHARED, i << 12, i % 5, 7, i % 3 << 12);
        PUT(0, 10 + i % 3000, ARGUS_ID_FLAG_WRITE, i << 12, i, ARGUS_FLAG_WHERE(77, 8, 0), i + 1);
        PUT(0, 10 + i % 3000, ARGUS_ID_MAPPING, i << 12, i % 5, i % 3 << 12, 1 | 7ull << 32);
    }
}

void shape_paths(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_FILE_NAME, i / 12, 0x6161616161612f, 0x6161616161616161, i);
        PUT(0, 10, ARGUS_ID_CALL_PATH, 0x6161616161616161, 0x6161616161616161, i, i);
    }
}

void shape_callbacks_nested(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10, ARGUS_ID_CALLBACK | ARGUS_FUNC_START, i + 1, 4096, 1, (1ull << 46) - i * 16);
}

void shape_callbacks_queued(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10 + i % 3, ARGUS_ID_CALLBACK_QUEUED, i + 1, 4096, 1 + i % 3);
}

/* One key, queued and executed in another order; ended by turns. */
void shape_callbacks_same(struct hostile *hostile)
{
    struct argus_probe_entry probes[] = {{0, 1, ARGUS_PROBE_QUEUE, 1, "/l", "q", "queue"},
                                         {0, 2, ARGUS_PROBE_BEGIN, 1, "/l", "b", "begin"}};
    hostile_check(argus_writer_probes(hostile->writer, probes, 2));
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_CALLBACK_QUEUED, 7, 4096, 1);
        PUT(0, 10, ARGUS_ID_CALLBACK_QUEUED, 7, 4096, 1);
        PUT(1, 11, ARGUS_ID_CALLBACK | ARGUS_FUNC_START, 7, 4096, 2, 1 << 20);
        PUT(1, 11, ARGUS_ID_HANDLER, i, i, 2);
        PUT(1, 11, ARGUS_ID_CALLBACK_CANCELLED, 8, 0, 1);
    }
}

void shape_ui_events(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_UI_EVENT, i % 14, 0, 0, i % 2 ? (1ull << 46) - i * 16 : 0);
        if (i % 100 == 0)
            hostile->now += 3000000000;
    }
}

void shape_flags(struct hostile *hostile)
{
    static struct argus_flag_entry flags[1024];
    for (uint32_t number = 1; hostile_room(hostile);) {
        for (int i = 0; i < 1024; i++, number++)
            flags[i] = (struct argus_flag_entry){.address = number % 7 * 8,
                                                 .since_ticks = number,
                                                 .pid = 10,
                                                 .number = number,
                                                 .bytes = 8,
                                                 .semantics = number % 3,
                                                 .label = "flag"};
        hostile_check(argus_writer_flags(hostile->writer, flags, 1024));
        PUT(0, 10, ARGUS_ID_FLAG_WRITE, number % 7 * 8, number, ARGUS_FLAG_WHERE(77, 8, 0), number);
    }
}

/* Queues whose counts grow for ever, and reads of values that nobody wrote. */
void shape_flag_accesses(struct hostile *hostile)
{
    struct argus_flag_entry flag = {
        .address = 4096, .pid = 10, .number = 1, .bytes = 8, .semantics = 2, .label = "queue"};
    hostile_thread(hostile, 10, 10, "one");
    hostile_thread(hostile, 11, 10, "one");
    hostile_check(argus_writer_flags(hostile->writer, &flag, 1));
    for (uint64_t i = 1; hostile_room(hostile); i++) {
        PUT(0, 10, ARGUS_ID_FLAG_WRITE, 4096, i * 3, ARGUS_FLAG_WHERE(77, 8, 2), i * 2);
        PUT(1, 11, ARGUS_ID_FLAG_READ, 4096, i, ARGUS_FLAG_WHERE(77, 8, 2), i * 2 + 1);
    }
}
