#include "look_at_graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "argus/compare.h"
#include "argus/inspect.h"

static void expect(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "look_at_graph: not true that %s\n", what);
    abort();
}

static void look_at_inspection(const struct argus_graph *graph)
{
    struct argus_inspect_options options = {.limit = 3, .long_ns = 1000};
    struct argus_inspection inspection;
    struct argus_error *error = argus_inspect(graph, &options, &inspection);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    uint64_t unexplained = 0;
    for (int i = 0; i < ARGUS_NO_CAUSES; i++)
        unexplained += inspection.unexplained_totals[i];
    expect(unexplained <= inspection.wakeups, "at most every wake-up has no cause");
    expect(inspection.batching_count <= 3 && inspection.unexplained_count <= 3 &&
               inspection.missing_count <= 3 && inspection.loss_count <= 3,
           "lists keep to the limit");
    argus_inspection_deinit(&inspection);
}

static void look_at_comparison(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    struct argus_comparison comparison;
    struct argus_error *error = argus_compare(graph, 3, NULL, NULL, &comparison);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    uint64_t fates = 0, made = 0;
    for (int i = 0; i < ARGUS_FATES; i++)
        fates += comparison.wakeup_fates[i] + comparison.message_fates[i];
    for (size_t i = 0; i < comparison.rule_count; i++)
        made += comparison.rules[i].strong + comparison.rules[i].weak;
    expect(comparison.all.vertices == argus_graph_vertices(graph, &vertices),
           "vertices are counted");
    expect(comparison.all.edges == argus_graph_edges(graph, &edges), "edges are counted");
    expect(made == comparison.all.edges, "each edge has a rule");
    expect(fates == comparison.plain.edges, "each edge of the plain graph has a fate");
    expect(comparison.strong.edges <= comparison.all.edges &&
               comparison.strong.reach.most <= comparison.all.reach.most &&
               comparison.strong.mixed <= comparison.all.mixed,
           "strong edges are some of all");
    expect(comparison.plain.window_reach.most <= comparison.plain.reach.most, "a window is a part");
    argus_comparison_deinit(&comparison);
}

void look_at_graph(const struct argus_graph *graph)
{
    look_at_inspection(graph);
    look_at_comparison(graph);
}
