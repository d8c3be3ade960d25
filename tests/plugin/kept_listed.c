/* kept_listed TRACE: prints what the records say about the hang that TRACE was kept for: "listed"
 * (by `argus hangs`), "unclear", "refuted" or "unrecorded". The watcher of --on-hang removes the
 * file of a hang that is refuted or unrecorded, and that of a doubtful hang that is unclear. */
#include <stdio.h>

#include "argus/graph.h"
#include "plugin/hang_of_file.h"

static struct argus_error *ask(const char *path, enum hang_standing *ret)
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
        error = hang_of_file_standing(graph, symbols, ret);
    argus_symbols_destroy(symbols);
    argus_graph_destroy(graph);
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {"listed", "unclear", "refuted", "unrecorded"};
    enum hang_standing standing = HANG_UNCLEAR;
    struct argus_error *error = argc == 2 ? ask(argv[1], &standing) : NULL;
    if (argc != 2 || error) {
        fprintf(stderr, "%s\n", error ? error->message : "usage: kept_listed TRACE");
        argus_error_destroy(error);
        return 1;
    }
    puts(texts[standing]);
    return 0;
}
