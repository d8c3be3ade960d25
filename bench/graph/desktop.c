#include "desktop.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CPUS = 4,
    THREADS = 680,
    PROCESSES = 126,
    STACKS = 4000,
    BATCH = 1 << 16, /* records in a chunk, as in the recorder */
    FIRST_TID = 1000,
    /* System calls of a vertex, in addition to those in which it receives and waits. */
    MOST_CALLS = 4,
};

#define SOCKET_TYPE (0140000u | 1ull << 16 | 1ull << 32) /* of a unix stream, as in a record */

/* A CPU and the threads assigned to it. */
struct cpu {
    uint64_t now_ns;
    struct argus_record *batch;
    size_t count;
    uint32_t queue[THREADS]; /* runnable threads, a circle */
    uint32_t head, queued;
    uint32_t waiting[THREADS], waiting_count;
};

/* Unread data in a thread's socket. */
struct unread {
    uint64_t position, bytes; /* bytes 0: nothing */
    uint32_t sender;
};

struct desktop {
    struct argus_writer *writer;
    struct unread unread[THREADS];
    uint64_t sent; /* messages */
    struct cpu cpus[CPUS];
    uint16_t call[THREADS]; /* the system call that it waits in */
    uint64_t written, random;
    struct argus_error *error;
};

static uint64_t pick(struct desktop *desktop, uint64_t below)
{
    desktop->random ^= desktop->random << 13;
    desktop->random ^= desktop->random >> 7;
    desktop->random ^= desktop->random << 17;
    return (desktop->random >> 11) % below;
}

static void emit(struct desktop *desktop, uint32_t number, uint64_t tid, uint32_t debugid,
                 uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
    struct cpu *cpu = &desktop->cpus[number];
    cpu->now_ns += 200 + pick(desktop, 2000);
    cpu->batch[cpu->count++] = (struct argus_record){.timestamp = cpu->now_ns,
                                                     .tid = tid,
                                                     .debugid = debugid,
                                                     .cpu = number,
                                                     .arg = {arg1, arg2, arg3, arg4}};
    desktop->written++;
    if (cpu->count < BATCH || desktop->error)
        return;
    desktop->error = argus_writer_records(desktop->writer, number, cpu->batch, cpu->count, 0);
    cpu->count = 0;
}

static uint64_t tid_of(uint32_t thread)
{
    return FIRST_TID + thread;
}

/* Takes a random waiting thread of `number` and queues it there. False if all run. */
static bool queue_one(struct desktop *desktop, uint32_t number, uint32_t *ret)
{
    struct cpu *cpu = &desktop->cpus[number];
    if (!cpu->waiting_count)
        return false;
    uint32_t at = (uint32_t)pick(desktop, cpu->waiting_count);
    *ret = cpu->waiting[at];
    cpu->waiting[at] = cpu->waiting[--cpu->waiting_count];
    cpu->queue[(cpu->head + cpu->queued++) % THREADS] = *ret;
    return true;
}

static uint64_t socket_of(uint32_t thread)
{
    return 100000 + thread;
}

static void emit_message(struct desktop *desktop, uint32_t number, uint32_t thread,
                         uint32_t receiver, uint32_t flags)
{
    const struct unread *unread = &desktop->unread[receiver];
    uint64_t what = ARGUS_MESSAGE_WHAT(unread->bytes, ARGUS_CHANNEL_UNIX_STREAM,
                                       flags | ARGUS_MESSAGE_POSITION | ARGUS_MESSAGE_CERTAIN);
    emit(desktop, number, tid_of(thread), ARGUS_ID_MESSAGE, socket_of(receiver), what,
         unread->position, socket_of(unread->sender));
}

/* Sends a message to the socket of `receiver` if it has read the previous one. */
static void send(struct desktop *desktop, uint32_t number, uint32_t sender, uint32_t receiver)
{
    if (desktop->unread[receiver].bytes)
        return;
    desktop->unread[receiver] = (struct unread){
        .position = 0xffff888100000000u + desktop->sent++ % (1 << 20) * 256,
        .bytes = 8 + pick(desktop, 500),
        .sender = sender,
    };
    emit_message(desktop, number, sender, receiver, 0);
}

/* The thread reads its message in a separate system call. */
static void receive(struct desktop *desktop, uint32_t number, uint32_t thread)
{
    uint32_t recvmsg = ARGUS_ID_SYSCALL(47);
    uint64_t bytes = desktop->unread[thread].bytes;
    if (!bytes)
        return;
    emit(desktop, number, tid_of(thread), recvmsg | ARGUS_FUNC_START, 5, 0x7f0012345678, 0, 0);
    emit_message(desktop, number, thread, thread, ARGUS_MESSAGE_RECEIVE);
    emit(desktop, number, tid_of(thread), recvmsg | ARGUS_FUNC_END, 0, bytes, 0,
         FIRST_TID + thread % PROCESSES);
    desktop->unread[thread].bytes = 0;
}

/* The running thread wakes another one, mostly on its own CPU, three times out of four by a
 * message. */
static void wake(struct desktop *desktop, uint32_t number, uint32_t thread)
{
    uint64_t waker = tid_of(thread);
    uint32_t target = pick(desktop, 4) ? number : (uint32_t)pick(desktop, CPUS), wakee;
    struct cpu *cpu = &desktop->cpus[number];
    /* Another cpu's thread may only be woken after it began to wait. */
    if (desktop->cpus[target].now_ns > cpu->now_ns || !queue_one(desktop, target, &wakee))
        return;
    if (pick(desktop, 4))
        send(desktop, number, thread, wakee);
    emit(desktop, number, waker, ARGUS_ID_MAKE_RUNNABLE, tid_of(wakee), 120, 0, 0);
    emit(desktop, number, waker, ARGUS_ID_STACK, 1 + pick(desktop, STACKS), 0, ARGUS_STACK_WAKE, 0);
    if (target != number && desktop->cpus[target].now_ns < cpu->now_ns)
        desktop->cpus[target].now_ns = cpu->now_ns;
}

/* An interrupt in the idle thread wakes a thread: two times out of three a timer, else a device. */
static void interrupt(struct desktop *desktop, uint32_t number)
{
    uint32_t wakee;
    uint64_t timer = pick(desktop, 3);
    desktop->cpus[number].now_ns += pick(desktop, 100000);
    emit(desktop, number, 0, ARGUS_ID_INTERRUPT | ARGUS_FUNC_START, timer ? 236 : 30, 0, 0, 0);
    if (queue_one(desktop, number, &wakee)) {
        uint64_t key = 0xffff888000000000u + wakee * 64u;
        if (timer)
            emit(desktop, number, 0, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, key, 0, 0, 0);
        emit(desktop, number, 0, ARGUS_ID_MAKE_RUNNABLE, tid_of(wakee), 120, 0,
             ARGUS_CONTEXT_HARDIRQ);
        if (timer)
            emit(desktop, number, 0, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, key, 0, 0, 0);
    }
    emit(desktop, number, 0, ARGUS_ID_INTERRUPT | ARGUS_FUNC_END, timer ? 236 : 30, 0, 0, 0);
}

static void work(struct desktop *desktop, uint32_t number, uint32_t thread)
{
    static const uint16_t calls[] = {0, 1, 1, 9, 20, 47, 46, 202, 16, 3};
    uint64_t tid = tid_of(thread);
    for (uint64_t i = pick(desktop, MOST_CALLS + 1); i-- > 0;) {
        uint32_t id = ARGUS_ID_SYSCALL(calls[pick(desktop, 10)]);
        emit(desktop, number, tid, id | ARGUS_FUNC_START, 3 + pick(desktop, 30), 0x7f0012345678,
             pick(desktop, 4096), 0);
        if (!pick(desktop, MOST_CALLS))
            wake(desktop, number, thread);
        emit(desktop, number, tid, id | ARGUS_FUNC_END, pick(desktop, 5) ? 0 : 11,
             pick(desktop, 4096), 0, FIRST_TID + thread % PROCESSES);
    }
}

/* The thread on the CPU waits again, in the same call as before: a poll, a futex or a read. */
static void block(struct desktop *desktop, uint32_t number, uint32_t thread)
{
    static const uint16_t calls[] = {7, 7, 232, 202, 0};
    struct cpu *cpu = &desktop->cpus[number];
    uint16_t call = calls[pick(desktop, 5)];
    uint64_t tid = tid_of(thread);
    desktop->call[thread] = call;
    emit(desktop, number, tid, ARGUS_ID_SYSCALL(call) | ARGUS_FUNC_START, 5, 1, 1000, 0);
    if (call == 7)
        emit(desktop, number, tid, ARGUS_ID_TIMER_ARMED, 0xffff888000000000u + thread * 64u, 0,
             cpu->now_ns + 1000000, 0);
    emit(desktop, number, tid, ARGUS_ID_OBJECT, 5, socket_of(thread), socket_of(thread / 2),
         SOCKET_TYPE);
    cpu->waiting[cpu->waiting_count++] = thread;
    cpu->head = (cpu->head + 1) % THREADS;
    cpu->queued--;
    uint64_t next = cpu->queued ? tid_of(cpu->queue[cpu->head]) : 0;
    emit(desktop, number, tid, ARGUS_ID_SWITCH, ARGUS_LINUX_STATE_INTERRUPTIBLE, next, 120, 120);
    emit(desktop, number, tid, ARGUS_ID_STACK, 1 + pick(desktop, STACKS), 1 + pick(desktop, STACKS),
         ARGUS_STACK_BLOCK, 0);
}

/* A poll that was ended by a message cancels its timeout and returns the ready descriptor. */
static void wake_up(struct desktop *desktop, uint32_t number, uint32_t thread)
{
    uint64_t tid = tid_of(thread);
    if (desktop->call[thread] != 7 || !desktop->unread[thread].bytes)
        return;
    emit(desktop, number, tid, ARGUS_ID_TIMER_CANCEL, 0xffff888000000000u + thread * 64u, 0, 0, 0);
    emit(desktop, number, tid, ARGUS_ID_READY, 5 | 1ull << 32, socket_of(thread),
         socket_of(thread / 2), SOCKET_TYPE);
}

/* Runs the first thread in the queue until it waits. */
static void turn(struct desktop *desktop, uint32_t number)
{
    struct cpu *cpu = &desktop->cpus[number];
    if (!cpu->queued) {
        interrupt(desktop, number);
        if (cpu->queued)
            emit(desktop, number, 0, ARGUS_ID_SWITCH, 0, tid_of(cpu->queue[cpu->head]), 120, 120);
        return;
    }
    uint32_t thread = cpu->queue[cpu->head];
    wake_up(desktop, number, thread);
    if (desktop->call[thread] != UINT16_MAX)
        emit(desktop, number, tid_of(thread),
             ARGUS_ID_SYSCALL(desktop->call[thread]) | ARGUS_FUNC_END, 0, pick(desktop, 2), 0,
             FIRST_TID + thread % PROCESSES);
    receive(desktop, number, thread);
    work(desktop, number, thread);
    block(desktop, number, thread);
}

static uint32_t earliest(const struct desktop *desktop)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < CPUS; i++)
        if (desktop->cpus[i].now_ns < desktop->cpus[first].now_ns)
            first = i;
    return first;
}

static struct argus_error *write_tables(struct desktop *desktop)
{
    for (uint64_t id = 1; id <= STACKS; id++) {
        uint64_t frames[12];
        for (size_t i = 0; i < 12; i++)
            frames[i] = 0x7f0000000000u + id / (i + 1) * 64 + i * 4096;
        struct argus_error *error = argus_writer_stack(desktop->writer, id, frames, 12);
        if (error)
            return error;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "thread-%u", (unsigned)i);
        struct argus_thread_entry entry = {.tid = tid_of(i),
                                           .pid = FIRST_TID + i % PROCESSES,
                                           .parent_pid = 1,
                                           .seen_ticks = 1,
                                           .name = name};
        struct argus_error *error = argus_writer_threads(desktop->writer, &entry, 1);
        if (error)
            return error;
    }
    return NULL;
}

static struct argus_error *write_all(struct desktop *desktop, uint64_t records)
{
    struct argus_error *error = write_tables(desktop);
    while (!error && !desktop->error && desktop->written < records)
        turn(desktop, earliest(desktop));
    for (uint32_t i = 0; !error && !desktop->error && i < CPUS; i++)
        error = argus_writer_records(desktop->writer, i, desktop->cpus[i].batch,
                                     desktop->cpus[i].count, 0);
    if (!error && !desktop->error)
        error = argus_writer_end(desktop->writer, NULL, 0);
    return error ? error : desktop->error;
}

struct argus_error *desktop_write(int fd, uint64_t records)
{
    struct argus_trace_header header = {
        .version_major = ARGUS_TRACE_VERSION_MAJOR,
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = CPUS,
        .host = "made up by bench/graph",
    };
    struct desktop *desktop = calloc(1, sizeof(*desktop));
    if (!desktop)
        return argus_error_memory();
    struct argus_error *error = argus_writer_create(fd, &header, &desktop->writer);
    bool room = true;
    desktop->random = 88172645463325252u;
    for (uint32_t i = 0; i < CPUS; i++) {
        desktop->cpus[i].now_ns = 1000000000;
        desktop->cpus[i].batch = malloc((BATCH + 1) * sizeof(struct argus_record));
        room &= desktop->cpus[i].batch != NULL;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        struct cpu *cpu = &desktop->cpus[i % CPUS];
        cpu->waiting[cpu->waiting_count++] = i;
        desktop->call[i] = UINT16_MAX;
    }
    if (!error)
        error = room ? write_all(desktop, records) : argus_error_memory();
    argus_writer_destroy(desktop->writer);
    for (uint32_t i = 0; i < CPUS; i++)
        free(desktop->cpus[i].batch);
    free(desktop);
    return error;
}
