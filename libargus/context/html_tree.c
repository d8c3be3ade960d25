/* The paper's figures 5 and 6. The whole tree would be too much to look at: what took less than a two-hundredth of the
 * largest program, and is on no listed path, is left out, which the page says. Thickness goes with the logarithm: between
 * what matters and what does not are orders of magnitude.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context/html_parts.h"
#include "context/route.h"

#define LEAST_SHARE 0.005
#define STEP_X      14
#define STEP_Y      16
#define ROW_Y       20
#define THICKEST    9.0
#define BASE_SHIFT  6 /* the base is drawn beside */
#define NEIGHBOURS  4 /* other callees of a function on the path */

/* What is drawn, by node. */
struct drawing {
    const struct argus_contexts_report *report;
    const struct argus_context_node *nodes;
    size_t count;
    bool *drawn;               /* owned */
    uint32_t *child, *sibling; /* owned; ARGUS_NONE: no more; the first child is the newest */
    double *x;                 /* owned */
    double width;
    uint32_t left_out, deepest;
};

static double total_of(const struct argus_contexts_report *report, uint32_t node)
{
    const struct argus_context_node *nodes;
    argus_contexts_nodes(report->contexts, &nodes);
    return (double)nodes[node].total_ns[report->options.estimate];
}

static double total_in_base(const struct argus_contexts_report *report, uint32_t node)
{
    const struct argus_context_node *nodes;
    uint32_t other = report->ranking->base_node[node];
    if (!report->base || other == ARGUS_NONE)
        return 0;
    argus_contexts_nodes(report->base, &nodes);
    return (double)nodes[other].total_ns[report->options.estimate];
}

/* From a microsecond on, three pixels for each factor of ten. */
static double thickness(double ns)
{
    double width = ns > 1000 ? 0.5 + (log10(ns) - 3) * 1.4 : 0.3;
    return ns <= 0 ? 0 : width < THICKEST ? width : THICKEST;
}

static void choose(struct drawing *drawing)
{
    const struct argus_ranking *ranking = drawing->report->ranking;
    double least = total_of(drawing->report, 0) * LEAST_SHARE;
    for (size_t i = 1; i < drawing->count; i++)
        drawing->drawn[i] = total_of(drawing->report, (uint32_t)i) >= least;
    for (size_t i = 0; i < ranking->count && i < drawing->report->top; i++)
        for (uint32_t at = ranking->paths[i].node; at; at = drawing->nodes[at].parent)
            drawing->drawn[at] = true;
    for (size_t i = 1; i < drawing->count; i++) {
        uint32_t parent = drawing->nodes[i].parent;
        drawing->left_out += !drawing->drawn[i];
        if (!drawing->drawn[i])
            continue;
        drawing->sibling[i] = drawing->child[parent];
        drawing->child[parent] = (uint32_t)i;
        if (drawing->nodes[i].depth > drawing->deepest)
            drawing->deepest = drawing->nodes[i].depth;
    }
}

/* Leaves side by side, callers above the middle of their callees. A tree is as deep as a stack at most. */
static double place(struct drawing *drawing, uint32_t node)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t at = drawing->child[node]; at != ARGUS_NONE; at = drawing->sibling[at], count++)
        sum += place(drawing, at);
    if (!count)
        drawing->width += STEP_X;
    drawing->x[node] = count ? sum / count : drawing->width;
    return drawing->x[node];
}

static void draw_line(const struct argus_sink *sink, const struct drawing *drawing, uint32_t node,
                      double ns, const char *kind)
{
    uint32_t parent = drawing->nodes[node].parent;
    double shift = kind[0] == 'b' ? BASE_SHIFT : 0;
    if (ns <= 0)
        return;
    argus_sink_printf(sink, "<path class=\"%s\" stroke-width=\"%.1f\" d=\"M%.1f %uL%.1f %u\"/>\n",
                      kind, thickness(ns), drawing->x[parent] + shift,
                      (drawing->nodes[parent].depth + 1) * STEP_Y, drawing->x[node] + shift,
                      (drawing->nodes[node].depth + 1) * STEP_Y);
}

static void draw(const struct argus_sink *sink, const struct drawing *drawing)
{
    const struct argus_context_function *functions;
    char now[32], then[32];
    argus_contexts_functions(drawing->report->contexts, &functions);
    argus_sink_printf(sink, "<svg width=\"%.0f\" height=\"%u\" role=\"img\">\n",
                      drawing->width + STEP_X, (drawing->deepest + 2) * STEP_Y);
    for (uint32_t i = 1; i < drawing->count; i++) {
        if (!drawing->drawn[i])
            continue;
        double base_ns = total_in_base(drawing->report, i), ns = total_of(drawing->report, i);
        argus_sink_printf(sink, "<g><title>");
        html_text(sink, functions[drawing->nodes[i].function].name);
        argus_sink_printf(sink, ": %s", argus_duration_text((uint64_t)ns, now, sizeof(now)));
        if (drawing->report->base)
            argus_sink_printf(sink, ", in the base %s",
                              argus_duration_text((uint64_t)base_ns, then, sizeof(then)));
        argus_sink_printf(sink, "</title>\n");
        draw_line(sink, drawing, i, ns, "now");
        draw_line(sink, drawing, i, base_ns, "base");
        argus_sink_printf(sink, "<circle cx=\"%.1f\" cy=\"%u\" r=\"2\"/></g>\n", drawing->x[i],
                          (drawing->nodes[i].depth + 1) * STEP_Y);
    }
    argus_sink_printf(sink, "</svg>\n");
}

struct argus_error *html_tree(const struct argus_sink *sink,
                              const struct argus_contexts_report *report)
{
    struct drawing drawing = {.report = report};
    drawing.count = argus_contexts_nodes(report->contexts, &drawing.nodes);
    drawing.drawn = calloc(drawing.count, sizeof(*drawing.drawn));
    drawing.child = malloc(drawing.count * sizeof(*drawing.child));
    drawing.sibling = malloc(drawing.count * sizeof(*drawing.sibling));
    drawing.x = calloc(drawing.count, sizeof(*drawing.x));
    bool good = drawing.drawn && drawing.child && drawing.sibling && drawing.x;
    if (good) {
        memset(drawing.child, 0xff, drawing.count * sizeof(*drawing.child));
        memset(drawing.sibling, 0xff, drawing.count * sizeof(*drawing.sibling));
        choose(&drawing);
        place(&drawing, 0);
        argus_sink_printf(sink, "<p>%u functions that took little are left out.</p>\n",
                          drawing.left_out);
        draw(sink, &drawing);
    }
    free(drawing.drawn);
    free(drawing.child);
    free(drawing.sibling);
    free(drawing.x);
    return good ? NULL : argus_error_memory();
}

/* --- one path --- */

static void write_label(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        uint32_t node, unsigned x, unsigned y, const char *kind)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    char now[32], then[32];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    argus_sink_printf(sink, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, kind);
    html_text(sink, functions[nodes[node].function].name);
    argus_sink_printf(sink, " %s",
                      argus_duration_text((uint64_t)total_of(report, node), now, sizeof(now)));
    if (report->base)
        argus_sink_printf(
            sink, " (%s)",
            argus_duration_text((uint64_t)total_in_base(report, node), then, sizeof(then)));
    argus_sink_printf(sink, "</text>\n");
}

/* Callees of `node` that took something, but for the one that the path goes on with. */
static unsigned find_neighbours(const struct argus_contexts_report *report, uint32_t node,
                                uint32_t on_path, uint32_t ret[NEIGHBOURS])
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    unsigned found = 0;
    for (uint32_t i = node + 1; i < count && found < NEIGHBOURS; i++)
        if (nodes[i].parent == node && i != on_path &&
            total_of(report, i) >= total_of(report, node) * LEAST_SHARE)
            ret[found++] = i;
    return found;
}

static void write_neighbours(const struct argus_sink *sink,
                             const struct argus_contexts_report *report, const uint32_t *neighbours,
                             unsigned count, unsigned y)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned end = y + (i + 1) * ROW_Y;
        argus_sink_printf(sink, "<path class=\"now\" stroke-width=\"%.1f\" d=\"M24 %uL54 %u\"/>\n",
                          thickness(total_of(report, neighbours[i])), y, end);
        write_label(sink, report, neighbours[i], 60, end + 4, "other");
    }
}

static unsigned height_of(const struct argus_contexts_report *report, const struct route *route)
{
    uint32_t neighbours[NEIGHBOURS];
    unsigned lines = 1;
    for (uint32_t i = 0; i < route->count; i++)
        lines += 1 + find_neighbours(report, route->nodes[i],
                                     i + 1 < route->count ? route->nodes[i + 1] : 0, neighbours);
    return lines * ROW_Y;
}

void html_path(const struct argus_sink *sink, const struct argus_contexts_report *report,
               const struct argus_ranked_path *path)
{
    struct route route;
    unsigned y = ROW_Y;
    route_fill(report, path->node, &route);
    argus_sink_printf(sink, "<svg width=\"1200\" height=\"%u\" role=\"img\">\n",
                      height_of(report, &route));
    for (uint32_t i = 0; i < route.count; i++) {
        uint32_t node = route.nodes[i], next = i + 1 < route.count ? route.nodes[i + 1] : 0;
        write_label(sink, report, node, 34, y + 4, node == path->bottleneck ? "worst" : "on");
        argus_sink_printf(sink, "<circle cx=\"24\" cy=\"%u\" r=\"4\"/>\n", y);
        uint32_t neighbours[NEIGHBOURS];
        unsigned from = y, count = find_neighbours(report, node, next, neighbours);
        write_neighbours(sink, report, neighbours, count, y);
        y += (1 + count) * ROW_Y;
        if (!next)
            break;
        argus_sink_printf(sink, "<path class=\"now\" stroke-width=\"%.1f\" d=\"M24 %uV%u\"/>\n",
                          thickness(total_of(report, next)), from, y);
        if (total_in_base(report, next) > 0)
            argus_sink_printf(sink,
                              "<path class=\"base\" stroke-width=\"%.1f\" d=\"M14 %uV%u\"/>\n",
                              thickness(total_in_base(report, next)), from, y);
    }
    argus_sink_printf(sink, "</svg>\n");
}
