/* Stops in which Argus itself held a thread: it was stepped by instructions (argus step, argus
 * watchflag --loop).
 *
 * The stepping's process makes the thread run again after the first stop. The later ones follow a
 * SIGTRAP each, and the graph has no cause for their ends (graph/rules/watchpoint.c). A stop that
 * another process ends is none of them. */
#include <string.h>

#include "diagnose/hangs/finder.h"

/* The name that the stepping's process gives itself (recorder/linux/step/step_main.c). */
#define STEPPING_PROCESS "step-engine"

static bool is_made_by_stepping(const struct view *view, const struct argus_edge *edge)
{
    return strcmp(timeline_process(view, edge->from)->name, STEPPING_PROCESS) == 0;
}

bool stepping_holds(const struct view *view, uint32_t vertex, bool *steps)
{
    uint32_t next = timeline_next(view, vertex);
    if (view->vertices[vertex].wait.kind != ARGUS_WAIT_STOPPED || next == ARGUS_NONE)
        return false;
    uint32_t cause = argus_graph_cause(view->graph, next);
    if (cause != ARGUS_NONE && view->edges[cause].to_ns == view->vertices[next].start_ns)
        *steps = is_made_by_stepping(view, &view->edges[cause]);
    return *steps;
}
