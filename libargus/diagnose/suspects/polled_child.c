/* A loop that asks again and again whether a child has ended, and sleeps or reads its output in
 * between: an editor that runs a command. It polls no data flag but waits for that child. */
#include "diagnose/diagnoser.h"
#include "diagnose/hangs/habits.h"

/* How much of `part` the process lived. */
static uint64_t lived_ns(const struct argus_process *process, struct window part)
{
    uint64_t from_ns = process->start_ns > part.start_ns ? process->start_ns : part.start_ns;
    uint64_t to_ns = process->end_ns < part.end_ns ? process->end_ns : part.end_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

uint32_t find_polled_child(const struct view *view, uint32_t vertex, struct window part)
{
    uint32_t found = ARGUS_NONE;
    uint64_t pid = view->processes[view->threads[view->vertices[vertex].thread].process].pid;
    for (uint32_t i = 0; asks_for_children(view, vertex) && i < view->process_count; i++) {
        const struct argus_process *child = &view->processes[i];
        bool is_for_it = child->parent_pid == pid && child->main_thread != ARGUS_NONE &&
                         lived_ns(child, part) * 2 > window_ns(part);
        if (is_for_it && (found == ARGUS_NONE ||
                          child->start_ns > view->processes[found].start_ns)) /* the latest */
            found = i;
    }
    return found == ARGUS_NONE ? ARGUS_NONE : view->processes[found].main_thread;
}
