/* How many processes there are: as argus info counts them. */
#include <stdlib.h>

#include "graph/graph_data.h"

static int compare_ids(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

size_t argus_graph_process_count(const struct argus_graph *graph)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    size_t count = argus_graph_threads(graph, &threads), ids = 0, distinct = 0;
    argus_graph_processes(graph, &processes);
    uint64_t *all = calloc(count + 1, sizeof(*all));
    if (!all)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!threads[i].idle)
            all[ids++] = processes[threads[i].process].pid;
    qsort(all, ids, sizeof(*all), compare_ids);
    for (size_t i = 0; i < ids; i++)
        distinct += i == 0 || all[i] != all[i - 1];
    free(all);
    return distinct;
}
