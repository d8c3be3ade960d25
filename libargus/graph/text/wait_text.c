/* What a vertex waited for, as a sentence: the call, its arguments, then the recorded details. */
#include <inttypes.h>
#include <string.h>

#include "event/syscalls.h"
#include "graph/text/detail_text.h"
#include "graph/text/object_name.h"

static void add_descriptor(const struct argus_graph *graph, uint32_t thread,
                           const struct argus_wait *wait, struct text *text)
{
    char object[384];
    struct object_of_wait of = {graph, thread, wait->inode, wait->peer_inode, wait->object_type};
    text_add(text, " fd %" PRId32, (int32_t)wait->object);
    if (*object_named_text(&of, object, sizeof(object)))
        text_add(text, " (%s)", object);
}

static void add_address(const struct argus_wait *wait, struct text *text)
{
    text_add(text, " 0x%" PRIx64, wait->object);
}

static void add_child(const struct argus_wait *wait, struct text *text)
{
    int32_t pid = (int32_t)wait->object; /* negative: any child, or any child of a group */
    if (pid > 0)
        text_add(text, " pid %" PRId32, pid);
    else if (wait->has_result && wait->result > 0)
        text_add(text, " any child, which was pid %" PRId64, wait->result);
}

static void add_time(const struct argus_wait *wait, struct text *text)
{
    if (wait->timeout_ns < 1000000)
        text_add(text, " for %" PRIu64 " us", (wait->timeout_ns + 500) / 1000);
    else if (wait->timeout_ns != UINT64_MAX)
        text_add(text, " for %" PRIu64 " ms", (wait->timeout_ns + 500000) / 1000000);
}

static void add_semaphores(const struct argus_wait *wait, struct text *text)
{
    text_add(text, ", semaphore set %" PRId32, (int32_t)wait->object);
}

static void add_queue(const struct argus_wait *wait, struct text *text)
{
    text_add(text, ", message queue %" PRId32, (int32_t)wait->object);
}

/* The meaning of a call's first argument, if it is not a descriptor. To add one: a row. */
static const struct {
    const char *call;
    void (*add)(const struct argus_wait *wait, struct text *text);
} calls[] = {
    {"futex", add_address},         {"futex_wait", add_address}, {"wait4", add_child},
    {"waitid", add_child},          {"nanosleep", add_time},     {"clock_nanosleep", add_time},
    {"semop", add_semaphores},      {"msgrcv", add_queue},       {"msgsnd", add_queue},
    {"semtimedop", add_semaphores},
};

static void text_in_call(const struct argus_graph *graph, uint32_t thread,
                         const struct argus_wait *wait, struct text *text)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(graph));
    const struct syscall_row *row = syscall_row(header->os, header->arch, wait->syscall);
    char number[32];
    const char *name =
        argus_syscall_name(argus_graph_trace(graph), wait->syscall, number, sizeof(number));
    text_add(text, "%s", name);
    if (row->flags & SYSCALL_FD)
        add_descriptor(graph, thread, wait, text);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!strcmp(name, calls[i].call))
            calls[i].add(wait, text);
}

/* Waits outside of a system call, by kind. */
static const char *text_outside(const struct argus_wait *wait)
{
    switch (wait->kind) {
    case ARGUS_WAIT_NONE:
        return "nothing";
    case ARGUS_WAIT_FAULT:
        return "a page fault";
    case ARGUS_WAIT_STOPPED:
        return wait->first_detail == ARGUS_NONE
                   ? "being continued (stopped by a signal or a debugger)"
                   : "being continued";
    case ARGUS_WAIT_KERNEL:
        return "work for a kernel thread";
    default:
        return "something unknown";
    }
}

const char *argus_wait_text(const struct argus_graph *graph, uint32_t vertex, char *buffer,
                            size_t buffer_bytes)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    static const struct argus_wait none = {.syscall = ARGUS_NO_SYSCALL};
    const struct argus_wait *wait = vertex < count ? &vertices[vertex].wait : &none;
    struct text text = {.buffer = buffer, .bytes = buffer_bytes};
    if (buffer_bytes)
        buffer[0] = '\0';
    if (wait->syscall == ARGUS_NO_SYSCALL || wait->kind == ARGUS_WAIT_STOPPED)
        text_add(&text, "%s", text_outside(wait));
    else
        text_in_call(graph, vertices[vertex].thread, wait, &text);
    if (vertex < count)
        detail_texts(graph, &vertices[vertex], &text);
    return buffer;
}
