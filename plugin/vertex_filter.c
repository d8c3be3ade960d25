#include "plugin/vertex_filter.h"

#include <string.h>

#include "plugin/time_point.h"

enum { CHECK_EVERY = 1 << 16 };

static bool thread_matches(const struct argus_graph *graph, const struct vertex_filter *filter,
                           uint32_t index)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_threads(graph, &threads);
    argus_graph_processes(graph, &processes);
    const struct argus_thread *thread = &threads[index];
    const struct argus_process *process = &processes[thread->process];
    char tid[24];
    snprintf(tid, sizeof(tid), "%llu", (unsigned long long)thread->tid);
    return (!filter->process || !strcmp(filter->process, process->name)) &&
           (!filter->pid || filter->pid == process->pid) &&
           (!filter->thread || !strcmp(filter->thread, thread->name) ||
            !strcmp(filter->thread, tid));
}

/* Names of events contain blanks; words contain underscores instead. */
static bool is_event(const char *word, const char *name)
{
    for (; *word && *name && *word == (*name == ' ' ? '_' : *name); word++)
        name++;
    return !*word && !*name;
}

static bool handles_event(const struct argus_graph *graph, uint32_t vertex, const char *word)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(graph, vertex, &callbacks);
    for (size_t i = 0; i < count; i++)
        if (callbacks[i].what == ARGUS_CALLBACK_UI_EVENT &&
            is_event(word, argus_ui_event_name(callbacks[i].ui_event)))
            return true;
    return false;
}

static struct argus_error *check_event(const char *word)
{
    for (uint32_t i = 0; i < ARGUS_UI_EVENTS; i++)
        if (is_event(word, argus_ui_event_name(i)))
            return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "there is no UI event \"%s\": key_press, key_release, button_press, "
                              "button_release, motion, scroll, touch, enter, leave, focus, expose, "
                              "resize, close, other",
                              word);
}

/* Whether the vertex itself matches, apart from its thread. */
static bool figures_match(const struct argus_graph *graph, const struct vertex_filter *filter,
                          uint32_t index)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    const struct argus_vertex *vertex = &vertices[index];
    uint64_t wait_ns = argus_vertex_wait_ns(vertex);
    uint64_t covered_to_ns = vertex->end_ns + wait_ns;
    uint64_t longest_ns = vertex->run_ns + vertex->runnable_ns;
    if (wait_ns > longest_ns)
        longest_ns = wait_ns;
    return covered_to_ns > filter->from_ns && vertex->start_ns < filter->to_ns &&
           longest_ns >= filter->longer_ns &&
           (!filter->event || handles_event(graph, index, filter->event));
}

bool vertex_filter_matches(const struct argus_graph *graph, const struct vertex_filter *filter,
                           uint32_t vertex)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    return thread_matches(graph, filter, vertices[vertex].thread) &&
           figures_match(graph, filter, vertex);
}

struct argus_error *vertex_filter_search(struct analysis *analysis,
                                         const struct vertex_filter *filter, vertex_list *ret)
{
    const struct argus_graph *graph = analysis->graph;
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(graph, &threads);
    for (size_t i = 0; i < count; i++) {
        if (!threads[i].vertex_count || !thread_matches(graph, filter, (uint32_t)i))
            continue;
        uint32_t end = threads[i].first_vertex + threads[i].vertex_count;
        for (uint32_t v = threads[i].first_vertex; v < end; v++) {
            if (v % CHECK_EVERY == 0 && session_interrupted(analysis->session))
                return session_interrupt_error();
            if (figures_match(graph, filter, v) && !vec_push(ret, v))
                return argus_error_memory();
        }
    }
    return NULL;
}

/* Sets `*ret_from_ns` and `*ret_to_ns` (NULL: not wanted) to the time that the option means. If
 * that is a minute or a second, all of it is meant. */
static struct argus_error *range_get(const struct analysis *analysis, const char *option,
                                     uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
    const char *word = arguments_option(analysis->arguments, option);
    uint64_t from_ns, until_ns;
    struct argus_error *error =
        word ? time_point_range(analysis->trace->trace, word, &from_ns, &until_ns) : NULL;
    if (!word || error)
        return error;
    if (ret_from_ns)
        *ret_from_ns = from_ns;
    if (ret_to_ns)
        *ret_to_ns = until_ns > from_ns ? until_ns + 1 : until_ns;
    return NULL;
}

static struct argus_error *times_get(const struct analysis *analysis, struct vertex_filter *ret)
{
    struct argus_error *error = range_get(analysis, "from", &ret->from_ns, NULL);
    if (!error)
        error = range_get(analysis, "to", NULL, &ret->to_ns);
    if (!error && ret->from_ns > ret->to_ns)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--from is later than --to");
    if (error || !arguments_has(analysis->arguments, "time"))
        return error;
    if (arguments_has(analysis->arguments, "from") || arguments_has(analysis->arguments, "to"))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "--time sets both ends of the range: do not combine it with --from or --to");
    error = range_get(analysis, "time", &ret->from_ns, &ret->to_ns);
    if (ret->to_ns == ret->from_ns) /* a vertex that starts at a single moment covers it */
        ret->to_ns++;
    return error;
}

struct argus_error *vertex_filter_get(const struct analysis *analysis, struct vertex_filter *ret)
{
    const struct arguments *arguments = analysis->arguments;
    *ret = (struct vertex_filter){
        .process = arguments_option(arguments, "process"),
        .thread = arguments_option(arguments, "thread"),
        .event = arguments_option(arguments, "event"),
        .to_ns = UINT64_MAX,
    };
    struct argus_error *error = arguments_number(arguments, "pid", &ret->pid);
    if (!error)
        error = arguments_duration_ns(arguments, "longer-than", &ret->longer_ns);
    if (!error && ret->event)
        error = check_event(ret->event);
    if (!error && ret->process)
        error = analysis_check_process(analysis, ret->process);
    if (!error && ret->thread)
        error = analysis_check_thread(analysis, ret->thread);
    return error ? error : times_get(analysis, ret);
}
