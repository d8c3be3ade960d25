/* Reads the messages of a trace: feeds pairing.c with the lives of threads and their system
 * calls. */
#include "argus/messages.h"

#include <stdlib.h>

#include "event/lives.h"
#include "event/merge.h"
#include "event/pairing/pairing.h"
#include "event/syscalls.h"
#include "event/tracepoints.h"

struct argus_messages {
    struct machine machine;
    struct pairing pairing;
    VEC(struct pairing_call) calls; /* by thread index */
    VEC(struct argus_message_channel) channels;
    argus_message_pair_function pair;
    void *context;
    bool stopped;
};

static struct argus_message_end end_of(const struct message *message, uint64_t offset)
{
    return (struct argus_message_end){.time_ns = message->record_ns,
                                      .call_ns = message->call_ns,
                                      .call_bytes = message->call_bytes + offset,
                                      .bytes = message->bytes,
                                      .thread = message->thread,
                                      .offset_is_guess = message->call_bytes_unsure};
}

static void take_pair(void *context, const struct pairing_pair *found)
{
    struct argus_messages *messages = context;
    struct argus_message_pair pair = {
        .send = end_of(found->send, found->send_offset),
        .receive = end_of(found->receive, found->receive_offset),
        .bytes = found->bytes,
        .channel = found->channel,
        .exact = found->exact,
        .peek = found->receive->flags & ARGUS_MESSAGE_PEEK,
    };
    if (messages->pair && !messages->stopped)
        messages->stopped = !messages->pair(messages->context, messages, &pair);
}

/* The call state of the thread; ARGUS_NONE: the idle thread, or no memory. */
static uint32_t thread_of(struct argus_messages *messages, uint64_t tid)
{
    uint32_t thread = machine_thread(&messages->machine, tid);
    while (messages->calls.length < messages->machine.threads.length)
        if (!vec_push(&messages->calls, (struct pairing_call){0})) {
            messages->pairing.no_memory = true;
            return ARGUS_NONE;
        }
    return thread;
}

static void follow_call(struct argus_messages *messages, const struct argus_record *record)
{
    uint32_t thread = thread_of(messages, record->tid);
    if (thread == ARGUS_NONE)
        return;
    bool begins = ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START;
    messages->calls.data[thread] =
        (struct pairing_call){.enter_ns = begins ? record->timestamp : 0};
    const struct argus_trace_header *header = argus_trace_header(messages->machine.trace);
    const struct syscall_row *row =
        syscall_row(header->os, header->arch, ARGUS_DEBUGID_CODE(record->debugid));
    messages->calls.data[thread].may_message =
        begins && (row->flags & (SYSCALL_FD | SYSCALL_MESSAGES));
    if (messages->calls.data[thread].may_message)
        pairing_thread_works(&messages->pairing, thread, record->timestamp);
    else
        pairing_thread_rests(&messages->pairing, thread);
    if (!begins)
        machine_belongs(&messages->machine, thread, record->arg[3]);
}

static void follow_name(struct argus_messages *messages, const struct argus_record *record)
{
    char name[33];
    uint32_t thread = thread_of(messages, record->tid);
    tracepoint_name_bytes(record, name);
    if (thread != ARGUS_NONE)
        machine_rename(&messages->machine, thread, name);
}

static void follow_leaving(struct argus_messages *messages, const struct argus_record *record)
{
    uint32_t thread = machine_find_thread(&messages->machine, record->tid);
    if (thread == ARGUS_NONE || thread >= messages->calls.length)
        return;
    bool dead = record->arg[0] & ARGUS_LINUX_STATE_DEAD;
    pairing_call_leaves(&messages->calls.data[thread], record->arg[0] != 0);
    if (!record->arg[0])
        return;
    pairing_thread_rests(&messages->pairing, thread);
    if (dead)
        machine_thread_gone(&messages->machine, thread, record->timestamp);
}

static void follow_switch(struct argus_messages *messages, const struct argus_record *record)
{
    follow_leaving(messages, record);
    uint32_t next = machine_find_thread(&messages->machine, record->arg[1]);
    if (next == ARGUS_NONE || next >= messages->calls.length)
        return;
    pairing_call_comes(&messages->calls.data[next], record->timestamp);
    if (messages->calls.data[next].may_message)
        pairing_thread_runs(&messages->pairing, next, record->timestamp);
}

static void follow_wakeup(struct argus_messages *messages, const struct argus_record *record)
{
    uint32_t wakee = machine_find_thread(&messages->machine, record->arg[0]);
    uint32_t waker = machine_find_thread(&messages->machine, record->tid);
    size_t count = messages->calls.length;
    if (wakee == ARGUS_NONE || wakee >= count)
        return;
    bool by_call = waker != ARGUS_NONE && waker < count &&
                   messages->calls.data[waker].may_message && record->arg[3] == ARGUS_CONTEXT_TASK;
    pairing_call_woken(&messages->calls.data[wakee], by_call ? &messages->calls.data[waker] : NULL,
                       record->timestamp);
}

static void follow_message(struct argus_messages *messages, const struct argus_record *record)
{
    uint32_t thread = thread_of(messages, record->tid);
    if (thread != ARGUS_NONE)
        pairing_feed(&messages->pairing, record, &messages->calls.data[thread], thread, 0);
}

static void handle(struct argus_messages *messages, const struct argus_record *record)
{
    lives_follow(&messages->machine, record);
    if (tracepoint_is_syscall(record->debugid)) {
        follow_call(messages, record);
        return;
    }
    switch (record->debugid) {
    case ARGUS_ID_MESSAGE:
        follow_message(messages, record);
        break;
    case ARGUS_ID_SWITCH:
        follow_switch(messages, record);
        break;
    case ARGUS_ID_MAKE_RUNNABLE:
        follow_wakeup(messages, record);
        break;
    case ARGUS_ID_NAME_EXEC:
    case ARGUS_ID_NAME_THREAD:
        follow_name(messages, record);
        break;
    case MERGE_ID_LOST:
        pairing_lost(&messages->pairing);
        break;
    default:
        break;
    }
}

static bool list_channels(struct argus_messages *messages)
{
    size_t count = messages->pairing.channels.length;
    if (!vec_reserve(&messages->channels, count))
        return false;
    for (size_t i = 0; i < count; i++)
        messages->channels.data[i] = messages->pairing.channels.data[i].seen;
    messages->channels.length = count;
    return true;
}

static struct argus_error *read_all(struct argus_messages *messages, struct merge *merge)
{
    for (;;) {
        const struct argus_record *record;
        struct argus_error *error = merge_next(merge, &record);
        if (error)
            return error;
        if (messages->pairing.no_memory || messages->machine.no_memory)
            return argus_error_memory();
        if (messages->stopped)
            return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        if (!record)
            break;
        handle(messages, record);
    }
    pairing_finish(&messages->pairing);
    machine_finish(&messages->machine);
    bool full = messages->pairing.no_memory || messages->machine.no_memory;
    return full || !list_channels(messages) ? argus_error_memory() : NULL;
}

struct argus_error *argus_messages_read(const struct argus_trace *trace,
                                        argus_message_pair_function pair, void *context,
                                        struct argus_messages **ret)
{
    struct argus_messages *messages = calloc(1, sizeof(*messages));
    if (!messages)
        return argus_error_memory();
    messages->pair = pair;
    messages->context = context;
    pairing_init(&messages->pairing, argus_trace_header(trace)->page_bytes, take_pair, messages);
    struct merge *merge = NULL;
    struct argus_error *error = machine_init(&messages->machine, trace);
    if (!error)
        error = merge_create(trace, &merge);
    if (!error)
        error = read_all(messages, merge);
    merge_destroy(merge);
    if (error)
        argus_messages_destroy(messages);
    else
        *ret = messages;
    return error;
}

void argus_messages_destroy(struct argus_messages *messages)
{
    if (!messages)
        return;
    machine_deinit(&messages->machine);
    pairing_deinit(&messages->pairing);
    vec_deinit(&messages->calls);
    vec_deinit(&messages->channels);
    free(messages);
}

size_t argus_messages_channels(const struct argus_messages *messages,
                               const struct argus_message_channel **ret)
{
    *ret = messages->channels.data;
    return messages->channels.length;
}

size_t argus_messages_threads(const struct argus_messages *messages,
                              const struct argus_thread **ret)
{
    *ret = messages->machine.threads.data;
    return messages->machine.threads.length;
}

size_t argus_messages_processes(const struct argus_messages *messages,
                                const struct argus_process **ret)
{
    *ret = messages->machine.processes.data;
    return messages->machine.processes.length;
}

const struct argus_message_counts *argus_messages_counts(const struct argus_messages *messages)
{
    return &messages->pairing.counts;
}
