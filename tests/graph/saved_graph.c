#include "saved_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/file/graph_arrays.h"

static void expect(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "saved graph: %s\n", what);
    abort();
}

static void expect_done(struct argus_error *error)
{
    expect(!error, error ? error->message : "");
}

static void compare(const struct argus_graph *built, const struct argus_graph *loaded)
{
    struct graph_packed packed[2];
    struct graph_arrays arrays[2];
    expect(graph_arrays_of(built, &packed[0], &arrays[0]), "no memory");
    expect(graph_arrays_of(loaded, &packed[1], &arrays[1]), "no memory");
    for (int i = 0; i < GRAPH_ARRAYS; i++) {
        size_t count = arrays[0].all[i].count;
        expect(count == arrays[1].all[i].count, graph_array_names[i]);
        /* The ids of stacks are not kept: the loaded graph's stacks are compared below. */
        if (i != GRAPH_ARRAY_stacks && count)
            expect(
                !memcmp(arrays[0].all[i].data, arrays[1].all[i].data, count * graph_array_bytes[i]),
                graph_array_names[i]);
    }
    for (uint32_t i = 0; i < arrays[0].stacks.count; i++) {
        struct argus_stack a = argus_graph_stack(built, i), b = argus_graph_stack(loaded, i);
        expect(a.count == b.count && a.frames == b.frames, "a stack differs");
    }
    graph_packed_deinit(&packed[0]);
    graph_packed_deinit(&packed[1]);
}

void saved_graph_check(const struct argus_graph *graph)
{
    char path[64];
    struct argus_graph *loaded;
    /* in memory if possible: on a disk, this took a tenth of a fuzz target's time */
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof(path), "%s/argus-saved-graph-%ld", folder, (long)getpid());
    expect_done(argus_graph_save(graph, path, NULL, NULL));
    struct argus_error *error = argus_graph_load(argus_graph_trace(graph), NULL, path, &loaded);
    unlink(path);
    expect_done(error);
    compare(graph, loaded);
    argus_graph_destroy(loaded);
}
