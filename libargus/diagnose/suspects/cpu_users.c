/* Who had the cpus while a thread wanted one.
 *
 * A vertex knows how long it ran, not on which cpu, so this says who ran most in the whole machine: on a machine with many
 * cpus that may not be the one that stood in the way, and the sentence claims no more.
 */
#include <stdio.h>

#include "diagnose/diagnoser.h"
#include "diagnose/words.h"

/* What `vertex` ran in `window`, as if it had run evenly. */
static uint64_t ran_in(const struct argus_vertex *v, struct window window)
{
    uint64_t from = v->start_ns > window.start_ns ? v->start_ns : window.start_ns;
    uint64_t to = v->end_ns < window.end_ns ? v->end_ns : window.end_ns;
    uint64_t whole = v->end_ns - v->start_ns;
    if (to <= from || whole == 0)
        return 0;
    return (uint64_t)((unsigned __int128)v->run_ns * (to - from) / whole);
}

static uint64_t thread_ran(const struct view *view, uint32_t thread, struct window window)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t v = timeline_before(view, thread, window.start_ns + 1);
    uint64_t ran_ns = 0;
    for (v = v == ARGUS_NONE ? t->first_vertex : v;
         v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < window.end_ns; v++)
        ran_ns += ran_in(&view->vertices[v], window);
    return ran_ns;
}

bool tell_cpu_user(const struct diagnoser *d, uint32_t thread, struct window window, char *buffer,
                   size_t bytes)
{
    const struct view *view = &d->view;
    uint64_t *ran_ns = calloc(view->process_count + 1, sizeof(*ran_ns));
    size_t most = view->threads[thread].process;
    char lasted[32];
    buffer[0] = '\0';
    if (!ran_ns)
        return false;
    for (uint32_t i = 0; i < view->thread_count; i++)
        if (!view->threads[i].idle && view->threads[i].vertex_count)
            ran_ns[view->threads[i].process] += thread_ran(view, i, window);
    for (size_t i = 0; i < view->process_count; i++)
        if (ran_ns[i] > ran_ns[most])
            most = i;
    if (most != view->threads[thread].process)
        snprintf(buffer, bytes, "; of all, %s [%llu] ran most meanwhile, %s",
                 view->processes[most].name, (unsigned long long)view->processes[most].pid,
                 text_duration(ran_ns[most], lasted, sizeof(lasted)));
    free(ran_ns);
    return true;
}
