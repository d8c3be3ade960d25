/* The conditions of `graph find` and `graph export`, and the search for vertices that meet them. */
#ifndef ARGUS_PLUGIN_VERTEX_FILTER_H
#define ARGUS_PLUGIN_VERTEX_FILTER_H

#include "base/vec.h"
#include "plugin/analysis.h"

/* A condition is an option here and a member of the filter. All given conditions have to hold. */
#define VERTEX_FILTER_OPTIONS                                                                      \
    {"process", 'p', "NAME", "only vertices of the process of this name, as the kernel has it"},   \
        {"pid", 0, "PID", "only vertices of this process"},                                        \
        {"thread", 0, "NAME|TID", "only vertices of the threads of this name, or of this thread"}, \
        {"time", 0, "TIME",                                                                        \
         "only at this time: 14:32, 14:32:10.5 (local) or +1.5s from the start"},                  \
        {"from", 0, "TIME", "only those that end, with their wait, at this moment or later"},      \
        {"to", 0, "TIME", "only those that start before this time ends"},                          \
        {"event", 'e', "KIND",                                                                     \
         "only those that handle such a UI event, e.g. button_press, key_press"},                  \
    {                                                                                              \
        "longer-than", 'l', "DURATION", "only those that ran or waited for at least this long"     \
    }

struct vertex_filter {
    const char *process; /* NULL: any */
    const char *thread;  /* NULL: any; a name or a tid */
    const char *event;   /* NULL: any; "button_press" */
    uint64_t pid;        /* 0: any */
    uint64_t from_ns, to_ns;
    uint64_t longer_ns;
};

typedef VEC(uint32_t) vertex_list;

/* Reads the options. Strings are borrowed from the arguments. */
struct argus_error *vertex_filter_get(const struct analysis *analysis, struct vertex_filter *ret);

bool vertex_filter_matches(const struct argus_graph *graph, const struct vertex_filter *filter,
                           uint32_t vertex);

/* All vertices that match, by id, which is by thread and then by time. The caller frees `ret` by
 * vec_deinit(), also after an error. */
struct argus_error *vertex_filter_search(struct analysis *analysis,
                                         const struct vertex_filter *filter, vertex_list *ret);

#endif
