#include "export/export_edges.h"

#include <stdlib.h>

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void argus_export_order(uint32_t *vertices, size_t count)
{
    if (count > 0)
        qsort(vertices, count, sizeof(*vertices), compare_ids);
}

bool export_has(const struct argus_export *part, uint32_t vertex)
{
    return part->count > 0 &&
           bsearch(&vertex, part->vertices, part->count, sizeof(vertex), compare_ids);
}

bool export_draws(const struct argus_export *part, const struct argus_edge *edge)
{
    return edge->kind != ARGUS_EDGE_SEQUENCE && export_has(part, edge->from) &&
           export_has(part, edge->to);
}

uint64_t export_count_cut(const struct argus_graph *graph, const struct argus_export *part)
{
    const struct argus_edge *all, *in;
    const uint32_t *out;
    uint64_t cut = 0;
    argus_graph_edges(graph, &all);
    for (size_t i = 0; i < part->count; i++) {
        size_t in_count = argus_graph_in_edges(graph, part->vertices[i], &in);
        for (size_t j = 0; j < in_count; j++)
            cut += in[j].kind != ARGUS_EDGE_SEQUENCE && !export_has(part, in[j].from);
        size_t out_count = argus_graph_out_edges(graph, part->vertices[i], &out);
        for (size_t j = 0; j < out_count; j++)
            cut += all[out[j]].kind != ARGUS_EDGE_SEQUENCE && !export_has(part, all[out[j]].to);
    }
    return cut;
}
