/* What is analyzed: which processes and which period; and which thread an ID belongs to at a
 * time. */
#include "context/moments.h"

#include <stdlib.h>
#include <string.h>

#include "context/command_scope.h"

static bool is_wanted(const struct argus_process *process, const char *wanted)
{
    char *end;
    unsigned long long pid = strtoull(wanted, &end, 10);
    return strcmp(process->name, wanted) == 0 || (*wanted && !*end && process->pid == pid);
}

/* Chooses by name and scope; returns the number of processes. */
static size_t choose_by(struct moments *moments)
{
    const struct argus_process *processes;
    const char *wanted = moments->options.process;
    size_t count = argus_graph_processes(moments->graph, &processes), found = 0;
    for (size_t i = 0; i < count; i++) {
        moments->chosen[i] =
            (!wanted || is_wanted(&processes[i], wanted)) && (!moments->scope || moments->scope[i]);
        found += moments->chosen[i];
    }
    return found;
}

/* Adds the processes that the caller tells of. If it tells of none, the scope stays as it is. */
static struct argus_error *add_story(struct moments *moments, size_t count)
{
    const bool *story = moments->options.story;
    bool tells = false;
    for (size_t i = 0; story && i < count; i++)
        tells |= story[i];
    if (tells && !moments->scope)
        moments->scope = calloc(count, sizeof(*moments->scope));
    if (tells && !moments->scope)
        return argus_error_memory();
    for (size_t i = 0; tells && i < count; i++)
        if (story[i] && !moments->scope[i])
            moments->scope[i] = SCOPE_STORY;
    return NULL;
}

static struct argus_error *choose(struct moments *moments)
{
    const struct argus_process *processes;
    const struct argus_contexts_options *options = &moments->options;
    size_t count = argus_graph_processes(moments->graph, &processes);
    struct argus_error *error = NULL;
    moments->chosen = calloc(count + 1, sizeof(bool));
    if (!moments->chosen)
        return argus_error_memory();
    if (options->of_command && options->vertex == ARGUS_NONE)
        error = command_scope_create(moments->graph, options->other, &moments->scope);
    if (!error)
        error = add_story(moments, count);
    moments->options.story = NULL;
    if (error || choose_by(moments))
        return error;
    free(moments->scope);
    moments->scope = NULL;
    if (choose_by(moments))
        return NULL;
    const char *path = argus_trace_name(argus_graph_trace(moments->graph));
    return options->process
               ? argus_error_create(ARGUS_ERROR_NOT_FOUND, "no process '%s' in %s",
                                    options->process, path)
               : argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s has no processes", path);
}

static void choose_window(struct moments *moments)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(moments->graph, &vertices);
    moments->to_ns = UINT64_MAX;
    if (moments->options.vertex == ARGUS_NONE)
        return;
    const struct argus_vertex *vertex = &vertices[moments->options.vertex];
    moments->from_ns = vertex->start_ns;
    moments->to_ns = vertex->wait.kind == ARGUS_WAIT_NONE || vertex->wait.end_ns < vertex->end_ns
                         ? vertex->end_ns
                         : vertex->wait.end_ns;
}

/* Links the lives of each thread ID, which the graph has in time order. */
static struct argus_error *chain_lives(struct moments *moments)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(moments->graph, &threads);
    moments->threads = calloc(count + 1, sizeof(*moments->threads));
    moments->next_life = calloc(count + 1, sizeof(*moments->next_life));
    if (!moments->threads || !moments->next_life)
        return argus_error_memory();
    for (size_t i = count; i-- > 0;) {
        uint32_t later = idmap_get(&moments->by_tid, threads[i].tid);
        moments->next_life[i] = later == IDMAP_NONE ? ARGUS_NONE : later;
        moments->threads[i] = (struct moment_thread){.held = ARGUS_NONE,
                                                     .call = NOT_IN_A_CALL,
                                                     .call_node = ARGUS_NONE,
                                                     .cpu = ARGUS_NONE,
                                                     .waker = ARGUS_NONE,
                                                     .wakee = ARGUS_NONE,
                                                     .inference.node = ARGUS_NONE};
        if (threads[i].idle)
            continue;
        if (!idmap_put(&moments->by_tid, threads[i].tid, (uint32_t)i))
            return argus_error_memory();
    }
    return NULL;
}

struct life_span moments_life(const struct moments *moments, uint32_t thread)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    const struct argus_vertex *vertices;
    argus_graph_threads(moments->graph, &threads);
    argus_graph_processes(moments->graph, &processes);
    argus_graph_vertices(moments->graph, &vertices);
    const struct argus_thread *of = &threads[thread];
    uint32_t vertex = moments->options.vertex;
    if (of->idle || processes[of->process].kernel || !moments->chosen[of->process] ||
        (vertex != ARGUS_NONE && vertices[vertex].thread != thread))
        return (struct life_span){0};
    uint64_t start_ns = argus_graph_start_ns(moments->graph);
    uint64_t end_ns = argus_graph_end_ns(moments->graph);
    start_ns = start_ns > moments->from_ns ? start_ns : moments->from_ns;
    end_ns = end_ns < moments->to_ns ? end_ns : moments->to_ns;
    return (struct life_span){of->start_ns > start_ns ? of->start_ns : start_ns,
                              of->end_ns < end_ns ? of->end_ns : end_ns};
}

static void begin_lives(struct moments *moments)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    size_t count = argus_graph_threads(moments->graph, &threads);
    argus_graph_processes(moments->graph, &processes);
    for (uint32_t i = 0; i < count; i++)
        life_begin(&moments->threads[i].life, moments_life(moments, i).from_ns,
                   processes[threads[i].process].exec_ns);
}

struct argus_error *moments_init(struct moments *moments, const struct argus_graph *graph,
                                 struct paths *paths, const struct argus_contexts_options *options)
{
    moments->graph = graph;
    moments->paths = paths;
    moments->options = *options;
    struct argus_error *error = choose(moments);
    if (!error)
        error = chain_lives(moments);
    cut_stacks_init(&moments->cuts, paths);
    moments->waits.graph = graph;
    moments->waits.chosen = moments->chosen;
    moments->waits.scope = moments->scope;
    choose_window(moments);
    if (!error)
        begin_lives(moments);
    return error;
}

void moments_deinit(struct moments *moments)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(moments->graph, &threads);
    for (size_t i = 0; moments->threads && i < count; i++) {
        vec_deinit(&moments->threads[i].stretch.samples);
        vec_deinit(&moments->threads[i].offs);
    }
    vec_deinit(&moments->programs);
    waits_deinit(&moments->waits);
    cut_stacks_deinit(&moments->cuts);
    sampled_deinit(&moments->sampled);
    free(moments->threads);
    free(moments->next_life);
    free(moments->chosen);
    free(moments->scope);
    idmap_deinit(&moments->by_tid);
    vec_deinit(&moments->wrappers);
}

uint32_t moments_thread(struct moments *moments, uint64_t tid)
{
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    uint32_t thread = idmap_get(&moments->by_tid, tid), next;
    if (thread == IDMAP_NONE)
        return ARGUS_NONE;
    argus_graph_threads(moments->graph, &threads);
    argus_graph_vertices(moments->graph, &vertices);
    bool moved = false;
    while ((next = moments->next_life[thread]) != ARGUS_NONE &&
           threads[next].start_ns <= moments->now_ns) {
        thread = next;
        moved = true;
    }
    if (moved) /* needs no memory, because the ID is in the table already */
        idmap_put(&moments->by_tid, tid, thread);
    if (!moments->chosen[threads[thread].process])
        return ARGUS_NONE;
    uint32_t vertex = moments->options.vertex;
    return vertex == ARGUS_NONE || vertices[vertex].thread == thread ? thread : ARGUS_NONE;
}
