/* The graph's builder against any records (step_trace.h). Whatever comes, it must build, and keep its invariants, and the graph
 * must be the same when it was saved and loaded. A build that was refused for want of memory is no fault. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "graph/graph_data.h"
#include "look_at_graph.h"
#include "saved_graph.h"
#include "step_trace.h"

static void build(const char *path)
{
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (error) {
        argus_error_destroy(error);
    } else {
        char why[200];
        if (graph_check(graph, why, sizeof(why))) {
            fprintf(stderr, "fuzz_graph: %s\n", why);
            abort();
        }
        saved_graph_check(graph);
        look_at_graph(graph);
        argus_graph_destroy(graph);
    }
    argus_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int fd = memfd_create("fuzz_graph", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    step_trace_write(fd, data, size);
    build(path);
    close(fd);
    return 0;
}
