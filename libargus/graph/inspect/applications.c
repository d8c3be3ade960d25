/* Applications: groups of processes that a person would call one running program.
 *
 * A browser has thirty processes; an editor and its spell checker have two. The inspection asks
 * whether a segment serves one request or several, and the requests of one application mostly
 * belong together. So a process joins its parent's application unless something says that it is a
 * different program. It joins if it is a fork that kept the parent's name, or was started from the
 * same executable. An interpreter's executable runs any program, so there the file says nothing.
 */
#include "argus/inspect.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* Executables that run other programs, by the beginning of the file's name. To add one: a row. */
static const char *const interpreters[] = {
    "python", "perl", "ruby", "node", "java", "php",  "lua", "tclsh",
    "wish",   "bash", "dash", "sh",   "zsh",  "fish", "env", "busybox",
};

struct search {
    const struct argus_process *processes;
    size_t count;
    const char **executables; /* owned: by process; NULL: unknown */
    uint64_t *lowest;         /* owned: the lowest address of an image of each process */
    struct idmap by_pid;      /* process id → the last process that had it */
    uint32_t *earlier;        /* owned: the previous process with the same id, or ARGUS_NONE */
};

static bool is_interpreter(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++)
        if (strncmp(name, interpreters[i], strlen(interpreters[i])) == 0)
            return true;
    return false;
}

/* The process that `pid` named at `time_ns`, or else the first one with that id. */
static uint32_t process_at(const struct search *search, uint64_t pid, uint64_t time_ns)
{
    uint32_t found = idmap_get(&search->by_pid, pid);
    while (found != ARGUS_NONE && search->earlier[found] != ARGUS_NONE &&
           search->processes[found].start_ns > time_ns)
        found = search->earlier[found];
    return found;
}

/* The executable is the image at the lowest address: the kernel puts libraries and the loader above
 * it. */
static void find_executables(struct search *search, const struct argus_trace *trace)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images);
    for (size_t i = 0; i < count; i++) {
        uint64_t mapped_ns = argus_trace_ticks_to_ns(trace, images[i].mapped_ticks);
        uint32_t process = process_at(search, images[i].pid, mapped_ns);
        if (process == ARGUS_NONE || images[i].path[0] != '/')
            continue;
        if (search->executables[process] && search->lowest[process] <= images[i].start)
            continue;
        search->executables[process] = images[i].path;
        search->lowest[process] = images[i].start;
    }
}

static bool is_same_program(const struct search *search, uint32_t child, uint32_t parent)
{
    const struct argus_process *process = &search->processes[child];
    const char *own = search->executables[child], *other = search->executables[parent];
    bool forked = process->forked_from == parent && !process->exec_ns;
    if (forked || !own || !other)
        return strcmp(process->name, search->processes[parent].name) == 0;
    return strcmp(own, other) == 0 && !is_interpreter(own);
}

static uint32_t parent_of(const struct search *search, uint32_t child)
{
    const struct argus_process *process = &search->processes[child];
    if (process->forked_from < search->count)
        return process->forked_from;
    return process->parent_pid ? process_at(search, process->parent_pid, process->start_ns)
                               : ARGUS_NONE;
}

/* The parent, if it is the same program; otherwise `process` itself. */
static uint32_t same_program_parent(const struct search *search, uint32_t process)
{
    uint32_t parent = parent_of(search, process);
    bool same = parent != ARGUS_NONE && !search->processes[parent].kernel &&
                is_same_program(search, process, parent);
    return same ? parent : process;
}

/* Makes all on the way from `process` to the end of its chain point to that end. */
static void shorten(uint32_t *roots, uint32_t process)
{
    uint32_t root = process;
    while (roots[root] != root)
        root = roots[root];
    while (process != root) {
        uint32_t next = roots[process];
        roots[process] = root;
        process = next;
    }
}

/* Follows parents as long as they are the same program, until one whose root is known. Reused ids
 * can make a circle of parents: then the process at which it is closed is the root of all. */
static void find_root(const struct search *search, uint32_t process, uint32_t *roots)
{
    uint32_t at = process;
    while (roots[at] == ARGUS_NONE) {
        uint32_t parent = same_program_parent(search, at);
        roots[at] = parent;
        at = parent;
    }
    uint32_t next = roots[at];
    if (roots[next] != next) { /* a known root is its own root */
        roots[at] = at;
        shorten(roots, next);
    }
    shorten(roots, process);
}

static bool prepare(struct search *search, const struct argus_graph *graph)
{
    search->count = argus_graph_processes(graph, &search->processes);
    search->executables = calloc(search->count + 1, sizeof(*search->executables));
    search->lowest = calloc(search->count + 1, sizeof(*search->lowest));
    search->earlier = calloc(search->count + 1, sizeof(*search->earlier));
    if (!search->executables || !search->lowest || !search->earlier)
        return false;
    for (size_t i = 0; i < search->count; i++) {
        search->earlier[i] = idmap_get(&search->by_pid, search->processes[i].pid);
        if (!idmap_put(&search->by_pid, search->processes[i].pid, (uint32_t)i))
            return false;
    }
    find_executables(search, argus_graph_trace(graph));
    return true;
}

static void search_deinit(struct search *search)
{
    free(search->executables);
    free(search->lowest);
    free(search->earlier);
    idmap_deinit(&search->by_pid);
}

struct argus_error *argus_applications(const struct argus_graph *graph, uint32_t **ret)
{
    struct search search = {0};
    uint32_t *roots = NULL;
    if (prepare(&search, graph))
        roots = malloc((search.count + 1) * sizeof(*roots));
    if (roots)
        memset(roots, 0xff, (search.count + 1) * sizeof(*roots));
    for (size_t i = 0; roots && i < search.count; i++)
        if (!search.processes[i].kernel)
            find_root(&search, (uint32_t)i, roots);
    search_deinit(&search);
    if (!roots)
        return argus_error_memory();
    *ret = roots;
    return NULL;
}
