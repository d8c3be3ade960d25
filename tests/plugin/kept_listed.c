/* kept_listed TRACE: prints "listed" if `argus hangs` lists the hang that TRACE was kept for, else
 * "not listed". The watcher of --on-hang removes the file of a doubtful hang that is not listed. */
#include <stdio.h>

#include "argus/graph.h"
#include "plugin/hang_of_file.h"

static struct argus_error *ask(const char *path, bool *ret)
{
    struct argus_trace *trace = NULL;
    struct argus_graph *graph = NULL;
    struct argus_symbols *symbols = NULL;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (!error)
        error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (!error)
        error = argus_symbols_create(graph, &symbols);
    if (!error)
        error = hang_of_file_is_listed(graph, symbols, ret);
    argus_symbols_destroy(symbols);
    argus_graph_destroy(graph);
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    bool is_listed = false;
    struct argus_error *error = argc == 2 ? ask(argv[1], &is_listed) : NULL;
    if (argc != 2 || error) {
        fprintf(stderr, "%s\n", error ? error->message : "usage: kept_listed TRACE");
        argus_error_destroy(error);
        return 1;
    }
    printf("%slisted\n", is_listed ? "" : "not ");
    return 0;
}
