/* A look through all vertices: one filter, a row each in the option table. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plugin/analysis.h"
#include "plugin/time_point.h"

static const struct command_option options[] = {
    {"process", 'p', "NAME", "of the process of this name, as the kernel has it"},
    {"pid", 0, "PID", "of this process"},
    {"thread", 0, "NAME|TID", "of the threads of this name, or of this thread"},
    {"time", 0, "TIME", "that cover this moment: 14:32:10.5 (UTC) or +1.5s after the beginning"},
    {"event", 'e', "KIND", "that handle such a UI event, e.g. button_press, key_press"},
    {"longer-than", 'l', "DURATION", "that ran or waited for at least this long"},
    {"limit", 'n', "N", "print the first N (100 as text, all as JSON)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { DEFAULT_LIMIT = 100, CHECK_EVERY = 1 << 16 };

struct filter {
    const char *process; /* NULL: any */
    const char *thread;  /* NULL: any; a name or a tid */
    const char *event;   /* NULL: any; "button_press" */
    uint64_t pid;        /* 0: any */
    uint64_t time_ns;    /* 0: any */
    uint64_t longer_ns;
    uint64_t limit;
};

static bool thread_matches(const struct argus_graph *graph, const struct filter *filter,
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

/* A name of an event has blanks, a word underscores. */
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

static bool vertex_matches(const struct filter *filter, const struct argus_vertex *vertex)
{
    uint64_t wait_ns = argus_vertex_wait_ns(vertex);
    uint64_t covered_to_ns = vertex->end_ns + wait_ns;
    uint64_t longest_ns = vertex->run_ns + vertex->runnable_ns;
    if (wait_ns > longest_ns)
        longest_ns = wait_ns;
    if (filter->time_ns && (filter->time_ns < vertex->start_ns || filter->time_ns >= covered_to_ns))
        return false;
    return longest_ns >= filter->longer_ns;
}

typedef VEC(uint32_t) vertex_list;

static struct argus_error *search(struct analysis *analysis, const struct filter *filter,
                                  vertex_list *ret)
{
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    size_t count = argus_graph_threads(analysis->graph, &threads);
    argus_graph_vertices(analysis->graph, &vertices);
    for (size_t i = 0; i < count; i++) {
        if (!threads[i].vertex_count || !thread_matches(analysis->graph, filter, (uint32_t)i))
            continue;
        uint32_t end = threads[i].first_vertex + threads[i].vertex_count;
        for (uint32_t v = threads[i].first_vertex; v < end; v++) {
            if (v % CHECK_EVERY == 0 && session_interrupted(analysis->session))
                return session_interrupt_error();
            if (vertex_matches(filter, &vertices[v]) &&
                (!filter->event || handles_event(analysis->graph, v, filter->event)) &&
                !vec_push(ret, v))
                return argus_error_memory();
        }
    }
    return NULL;
}

static struct argus_error *get_filter(const struct analysis *analysis, struct filter *ret)
{
    const struct arguments *arguments = analysis->arguments;
    *ret = (struct filter){
        .process = arguments_option(arguments, "process"),
        .thread = arguments_option(arguments, "thread"),
        .event = arguments_option(arguments, "event"),
        .limit = analysis->json ? UINT64_MAX : DEFAULT_LIMIT,
    };
    struct argus_error *error = arguments_number(arguments, "pid", &ret->pid);
    if (!error)
        error = arguments_number(arguments, "limit", &ret->limit);
    if (!error)
        error = arguments_duration_ns(arguments, "longer-than", &ret->longer_ns);
    if (!error && ret->event)
        error = check_event(ret->event);
    if (!error && ret->process)
        error = analysis_check_process(analysis, ret->process);
    if (!error && arguments_has(arguments, "time"))
        error = time_point_parse(analysis->trace->trace, arguments_option(arguments, "time"),
                                 &ret->time_ns);
    return error;
}

static struct argus_error *print(struct analysis *analysis, const vertex_list *found,
                                 uint64_t limit)
{
    size_t shown = found->length < limit ? found->length : (size_t)limit;
    struct argus_error *error =
        argus_report_vertices(&analysis->report, found->data, shown, analysis->json);
    if (!error && shown < found->length)
        session_note(analysis->session, "%zu of %zu vertices shown: --limit=N shows more", shown,
                     found->length);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct filter filter;
    vertex_list found = {0};
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = get_filter(&analysis, &filter);
    if (!error)
        error = search(&analysis, &filter, &found);
    if (!error)
        error = print(&analysis, &found, filter.limit);
    vec_deinit(&found);
    return error;
}

const struct command command_graph_find = {
    .name = "graph find",
    .summary = "find vertices by process, thread, time and duration",
    .details = "All conditions have to hold. Vertices come thread by thread, in time order.",
    .example = "argus graph find --process=gedit --longer-than=100ms freeze.argus\n"
               "argus graph find --time=14:32:10.5 --thread=4711 freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
