#include "diagnose/vertex_deeds.h"

#include "event/syscalls.h"

bool vertex_calls(const struct view *view, uint32_t vertex, uint8_t kind)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(view->graph));
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_op *ops;
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++) {
        uint32_t code = ops[v->first_op + i].code;
        if (code >> 24 == ARGUS_OP_SYSCALL &&
            syscall_row(header->os, header->arch, code & 0xffff)->wait == kind)
            return true;
    }
    return false;
}

const struct argus_wait_detail *wait_detail(const struct view *view, const struct argus_wait *wait,
                                            enum argus_detail_kind kind)
{
    const struct argus_wait_detail *details;
    size_t count = argus_graph_details(view->graph, &details);
    for (uint32_t i = wait->first_detail; i < count; i = details[i].next)
        if (details[i].kind == kind)
            return &details[i];
    return NULL;
}

bool thread_left_unread(const struct view *view, uint32_t thread, uint64_t first_ns,
                        uint64_t last_ns)
{
    const struct argus_unread *unread;
    size_t count = argus_graph_unread(view->graph, &unread);
    for (size_t i = 0; i < count; i++)
        if (unread[i].sender == thread && unread[i].sent_ns >= first_ns &&
            unread[i].sent_ns <= last_ns)
            return true;
    return false;
}
