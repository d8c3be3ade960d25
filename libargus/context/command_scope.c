/* A trace holds the whole system, but a user who records a command asks why the command is slow.
 * Its time went to its own processes, and to those that were at work while its threads waited
 * (argus_account()): a database that it asks, but not the desktop beside it.
 *
 * A process counts as a server if the command's threads waited for it for at least a hundredth of
 * the command's life in all; less may be by chance. */
#include "context/command_scope.h"

#include <stdlib.h>
#include <string.h>

#include "argus/recorded_command.h"
#include "argus/slice.h"
#include "base/idmap.h"

#define SERVER_SHARE 100  /* of the command's life */
#define SHORT_SHARE  1000 /* of the trace: shorter waits are not looked at */
/* So many processes with one ID are compared; no real trace has that many. */
#define MOST_LIVES 256

struct scope {
    const struct argus_graph *graph;
    const struct argus_process *processes;
    size_t count;
    uint8_t *parts;     /* by process */
    uint64_t *waits_ns; /* by process: how long the command waited for it */
    uint32_t *parents;  /* by process */
};

/* Notes the parent of each process: of those with its ID, the one that began last before it. False:
 * no memory. */
static bool find_parents(struct scope *scope)
{
    struct idmap last = {0};                                      /* by process ID */
    uint32_t *before = calloc(scope->count + 1, sizeof(*before)); /* another one with the same ID */
    bool good = before != NULL;
    for (uint32_t i = 0; good && i < scope->count; i++) {
        before[i] = idmap_get(&last, scope->processes[i].pid);
        good = idmap_put(&last, scope->processes[i].pid, i);
    }
    for (uint32_t i = 0; good && i < scope->count; i++) {
        const struct argus_process *process = &scope->processes[i], *best = NULL;
        scope->parents[i] = ARGUS_NONE;
        if (!process->parent_pid || !process->start_ns)
            continue;
        uint32_t at = idmap_get(&last, process->parent_pid);
        for (unsigned k = 0; k < MOST_LIVES && at != IDMAP_NONE; k++, at = before[at])
            if (scope->processes[at].start_ns <= process->start_ns &&
                (!best || scope->processes[at].start_ns >= best->start_ns))
                best = &scope->processes[at];
        scope->parents[i] = best ? (uint32_t)(best - scope->processes) : ARGUS_NONE;
    }
    idmap_deinit(&last);
    free(before);
    return good;
}

/* What the command started, also through others. The graph may have parents after their children,
 * so each process looks for the command among its ancestors; those that have been looked at are
 * marked, so that all of it takes one look at each. */
static void add_children(struct scope *scope)
{
    enum { OUTSIDE = SCOPE_SERVER + 1 };
    for (uint32_t i = 0; i < scope->count; i++) {
        uint32_t at = i;
        for (; at != ARGUS_NONE && !scope->parts[at]; at = scope->parents[at])
            scope->parts[at] = OUTSIDE;
        if (at == ARGUS_NONE || scope->parts[at] != SCOPE_COMMAND)
            continue;
        for (at = i; scope->parts[at] == OUTSIDE; at = scope->parents[at])
            scope->parts[at] = SCOPE_COMMAND;
    }
    for (uint32_t i = 0; i < scope->count; i++)
        if (scope->parts[i] == OUTSIDE)
            scope->parts[i] = SCOPE_NONE;
}

/* The latest process with this ID; ARGUS_NONE. */
static uint32_t process_of(const struct scope *scope, uint64_t pid)
{
    uint32_t found = ARGUS_NONE;
    for (uint32_t i = 0; i < scope->count; i++)
        if (scope->processes[i].pid == pid &&
            (found == ARGUS_NONE ||
             scope->processes[i].start_ns >= scope->processes[found].start_ns))
            found = i;
    return found;
}

static struct argus_error *add_wait(struct scope *scope, uint32_t thread,
                                    const struct argus_vertex *vertex)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    struct argus_account account;
    struct argus_error *error =
        argus_account(scope->graph, thread, vertex->end_ns, vertex->wait.end_ns, &account);
    if (error)
        return error;
    argus_graph_vertices(scope->graph, &vertices);
    argus_graph_threads(scope->graph, &threads);
    for (size_t i = 0; i < account.count; i++) {
        const struct argus_stretch *stretch = &account.stretches[i];
        if (stretch->vertex != ARGUS_NONE && stretch->state != ARGUS_STRETCH_UNKNOWN)
            scope->waits_ns[threads[vertices[stretch->vertex].thread].process] +=
                stretch->end_ns - stretch->start_ns;
    }
    argus_account_deinit(&account);
    return NULL;
}

/* Adds up what the threads of the command waited for. */
static struct argus_error *add_waits(struct scope *scope)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    struct argus_error *error = NULL;
    size_t count = argus_graph_threads(scope->graph, &threads);
    uint64_t whole_ns = argus_graph_end_ns(scope->graph) - argus_graph_start_ns(scope->graph);
    argus_graph_vertices(scope->graph, &vertices);
    for (uint32_t i = 0; i < count; i++) {
        if (scope->parts[threads[i].process] != SCOPE_COMMAND)
            continue;
        const struct argus_vertex *first = &vertices[threads[i].first_vertex];
        for (uint32_t k = 0; !error && k < threads[i].vertex_count; k++)
            if (argus_vertex_wait_ns(&first[k]) >= whole_ns / SHORT_SHARE &&
                first[k].end_ns >= scope->processes[threads[i].process].exec_ns)
                error = add_wait(scope, i, &first[k]);
    }
    return error;
}

static void add_servers(struct scope *scope, uint32_t command)
{
    const struct argus_process *process = &scope->processes[command];
    uint64_t from_ns = argus_graph_start_ns(scope->graph);
    uint64_t to_ns = argus_graph_end_ns(scope->graph);
    from_ns = process->exec_ns > from_ns ? process->exec_ns : from_ns;
    to_ns = process->end_ns < to_ns ? process->end_ns : to_ns;
    uint64_t least_ns = to_ns > from_ns ? (to_ns - from_ns) / SERVER_SHARE : 0;
    for (uint32_t i = 0; i < scope->count; i++)
        if (!scope->parts[i] && !scope->processes[i].kernel && scope->waits_ns[i] &&
            scope->waits_ns[i] >= least_ns)
            scope->parts[i] = SCOPE_SERVER;
}

static struct argus_error *command_scope_find(const struct argus_graph *graph, uint8_t **ret)
{
    struct scope scope = {.graph = graph};
    uint64_t pid = argus_recorded_command_pid(argus_graph_trace(graph));
    *ret = NULL;
    scope.count = argus_graph_processes(graph, &scope.processes);
    uint32_t command = pid ? process_of(&scope, pid) : ARGUS_NONE;
    if (command == ARGUS_NONE)
        return NULL;
    scope.parts = calloc(scope.count + 1, sizeof(*scope.parts));
    scope.waits_ns = calloc(scope.count + 1, sizeof(*scope.waits_ns));
    scope.parents = calloc(scope.count + 1, sizeof(*scope.parents));
    bool good = scope.parts && scope.waits_ns && scope.parents && find_parents(&scope);
    struct argus_error *error = good ? NULL : argus_error_memory();
    if (!error) {
        scope.parts[command] = SCOPE_COMMAND;
        add_children(&scope);
        error = add_waits(&scope);
    }
    if (!error)
        add_servers(&scope, command);
    free(scope.waits_ns);
    free(scope.parents);
    if (error)
        free(scope.parts);
    else
        *ret = scope.parts;
    return error;
}

static bool is_server(const struct argus_process *processes, size_t count, const uint8_t *parts,
                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i] == SCOPE_SERVER && strcmp(processes[i].name, name) == 0)
            return true;
    return false;
}

/* A server that the command waited for only in the other trace has to be looked at in both. */
struct argus_error *command_scope_create(const struct argus_graph *graph,
                                         const struct argus_graph *other, uint8_t **ret)
{
    const struct argus_process *processes, *others;
    uint8_t *other_parts = NULL;
    struct argus_error *error = command_scope_find(graph, ret);
    if (!error && *ret && other)
        error = command_scope_find(other, &other_parts);
    size_t count = argus_graph_processes(graph, &processes);
    size_t other_count = other_parts ? argus_graph_processes(other, &others) : 0;
    for (size_t i = 0; i < count && other_count; i++)
        if (!(*ret)[i] && is_server(others, other_count, other_parts, processes[i].name))
            (*ret)[i] = SCOPE_SERVER;
    free(other_parts);
    return error;
}
