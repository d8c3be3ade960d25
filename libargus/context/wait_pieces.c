#include "context/wait_pieces.h"

#include <string.h>

#include "event/syscalls.h"

#define LOOK_NS 1000000 /* of CPU time; after longer work, a wait is another one */

static bool sends(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(graph));
    const struct argus_op *ops;
    argus_graph_ops(graph, &ops);
    for (uint32_t i = 0; i < vertex->op_count; i++) {
        uint32_t code = ops[vertex->first_op + i].code;
        if (code >> 24 == ARGUS_OP_SYSCALL &&
            syscall_row(header->os, header->arch, code & 0xffff)->flags & SYSCALL_SEND)
            return true;
    }
    return false;
}

/* Whether the thread only looked whether it may go on. A run of turns is as each of them. */
static bool only_looks(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    return vertex->run_ns / vertex->repeat < LOOK_NS && !sends(graph, vertex);
}

bool wait_pieces_go_on(const struct wait_pieces *pieces, const struct argus_graph *graph,
                       const struct waits_place *place, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    return pieces->count && vertex - pieces->vertex <= 1 && only_looks(graph, &vertices[vertex]) &&
           memcmp(pieces->node, place->node, sizeof(place->node)) == 0;
}

void wait_pieces_add(struct wait_pieces *pieces, const struct argus_graph *graph,
                     const struct waits_place *place, uint32_t vertex, uint64_t ns)
{
    if (!wait_pieces_go_on(pieces, graph, place, vertex)) {
        *pieces = (struct wait_pieces){.count = 0};
        memcpy(pieces->node, place->node, sizeof(place->node));
    }
    pieces->vertex = vertex;
    pieces->count++;
    pieces->ns += ns;
    pieces->squares += (double)ns * (double)ns;
}
