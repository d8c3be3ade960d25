/* The graph's builder against any records (step_trace.h). For any input it must build a graph that
 * satisfies its invariants, and the graph must be the same after saving and loading. A build that
 * fails for lack of memory is no error. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "argus/schema.h"
#include "fuzz.h"
#include "graph/graph_data.h"
#include "look_at_graph.h"
#include "saved_graph.h"
#include "step_trace.h"

static const char rules[] = "enqueue queue_it key=arg1\nenqueue queue_ordered key=arg1 fifo\n"
                            "cancel cancel_it key=arg1\nexecute run_it key=arg1\n"
                            "begin begin_it space=e\nend end_it space=e\nbegin step_it space=s\n"
                            "begin unit\nbegin third space=s\nignore-wakeups from second\n"
                            "weak-wakeups from first\n";

static void check_graph(const struct argus_graph *graph)
{
    char why[200];
    if (graph_check(graph, why, sizeof(why))) {
        fprintf(stderr, "fuzz_graph: %s\n", why);
        abort();
    }
}

/* `look`: inspect and compare the graph; `save`: compare it with what is loaded again. */
static void build(const struct argus_trace *trace, const struct argus_graph_options *options,
                  bool look, bool save)
{
    struct argus_graph *graph;
    struct argus_error *error = argus_graph_build(trace, options, NULL, NULL, &graph);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    check_graph(graph);
    if (look)
        look_at_graph(graph);
    if (save)
        saved_graph_check(graph);
    argus_graph_destroy(graph);
}

static void build_with_rules(const struct argus_trace *trace)
{
    struct argus_rule_set *set = NULL;
    struct argus_error *error = argus_rule_set_create(&set);
    if (!error)
        error = argus_rule_set_parse(set, "rules", rules, sizeof(rules) - 1);
    struct argus_graph_options options = {.rules = set};
    if (!error)
        build(trace, &options, true, false);
    argus_error_destroy(error);
    argus_rule_set_destroy(set);
}

static void build_all(const char *path, const uint8_t *data, size_t size)
{
    enum { LOOK, SAVE, RULES, PARTS };
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    bool look = fuzz_does(data, size, LOOK, PARTS), save = fuzz_does(data, size, SAVE, PARTS);
    if (look || save)
        build(trace, NULL, look, save);
    if (fuzz_does(data, size, RULES, PARTS))
        build_with_rules(trace);
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
    build_all(path, data, size);
    close(fd);
    return 0;
}
