#include "argus/graph.h"

#include <inttypes.h>
#include <stdio.h>

#include "event/syscalls.h"

static void text_in_call(const struct argus_graph *graph, const struct argus_wait *wait,
                         char *buffer, size_t bytes)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(graph));
    const struct syscall_row *row = syscall_row(header->os, header->arch, wait->syscall);
    char number[32];
    const char *name =
        argus_syscall_name(argus_graph_trace(graph), wait->syscall, number, sizeof(number));
    if (wait->kind == ARGUS_WAIT_FUTEX && !(row->flags & SYSCALL_FD))
        snprintf(buffer, bytes, "%s 0x%" PRIx64, name, wait->object);
    else if (wait->kind == ARGUS_WAIT_CHILD && (int64_t)wait->object > 0)
        snprintf(buffer, bytes, "%s pid %" PRIu64, name, wait->object);
    else if ((row->flags & SYSCALL_FD) && wait->inode)
        snprintf(buffer, bytes, "%s fd %" PRId32 " (inode %" PRIu64 ")", name,
                 (int32_t)wait->object, wait->inode);
    else if (row->flags & SYSCALL_FD)
        snprintf(buffer, bytes, "%s fd %" PRId32, name, (int32_t)wait->object);
    else
        snprintf(buffer, bytes, "%s", name);
}

/* Waits outside a system call, by kind. */
static const char *text_outside(uint8_t kind)
{
    switch (kind) {
    case ARGUS_WAIT_NONE:
        return "nothing";
    case ARGUS_WAIT_FAULT:
        return "a page fault";
    case ARGUS_WAIT_STOPPED:
        return "being continued (stopped by a signal or a debugger)";
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
    const struct argus_wait *wait = vertex < count ? &vertices[vertex].wait : NULL;
    uint8_t kind = wait ? wait->kind : ARGUS_WAIT_NONE;
    if (wait && wait->syscall != ARGUS_NO_SYSCALL && kind != ARGUS_WAIT_STOPPED)
        text_in_call(graph, wait, buffer, buffer_bytes);
    else
        snprintf(buffer, buffer_bytes, "%s", text_outside(kind));
    return buffer;
}
