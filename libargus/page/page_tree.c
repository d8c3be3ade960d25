/* The paper's figures 5 and 6: the PA-CCTs of both workloads, one drawn over the other, with a line
 * for each call whose thickness shows its time. Times differ by orders of magnitude, so the
 * thickness is proportional to the cube root: a tenth still looks much smaller, and a thousandth is
 * still visible. The script (page.js) does zooming, and names the nodes that are large enough;
 * without it each node still has its text (<title>).
 */
#include <math.h>

#include "base/whole_number.h"
#include "page/parts.h"
#include "page/tree_drawing.h"

#define STEP     24
#define TALLEST  60 /* maximum height of a row, for a tree that is wide and low */
#define THICKEST 11.0
#define THINNEST 0.6
#define RIM      2.5 /* visible rim of the thicker line on either side of the thinner one */

/* The drawing, and the height of its rows. */
struct canvas {
    const struct argus_sink *sink;
    const struct argus_contexts_report *report;
    struct tree_drawing drawing;
    unsigned row;
    double most_ns; /* the maximum of all nodes */
};

static double thickness(const struct canvas *canvas, double ns)
{
    double width = canvas->most_ns > 0 ? THICKEST * cbrt(ns / canvas->most_ns) : 0;
    return width > THINNEST ? width : THINNEST;
}

static double x_of(const struct drawn_node *node)
{
    return node->x * STEP;
}

static unsigned y_of(const struct canvas *canvas, const struct drawn_node *node)
{
    return node->depth * canvas->row + STEP;
}

static void draw_call(const struct canvas *canvas, const struct drawn_node *from,
                      const struct drawn_node *to, double width, const char *kind)
{
    unsigned top = y_of(canvas, from), bottom = y_of(canvas, to);
    double middle = ((double)top + bottom) / 2;
    argus_sink_printf(canvas->sink,
                      "<path class=\"%s\" stroke-width=\"%.1f\" d=\"M%.1f %uC%.1f %.0f %.1f "
                      "%.0f %.1f %u\"/>",
                      kind, width, x_of(from), top, x_of(from), middle, x_of(to), middle, x_of(to),
                      bottom);
}

/* Also if the base has its functions in other paths only. */
static bool is_in_base(const struct drawn_node *node)
{
    return node->other != ARGUS_NONE || node->base_ns > 0;
}

/* The thinner line is drawn on top of the thicker one, whose rim stays visible. */
static void draw_calls(const struct canvas *canvas, const struct drawn_node *node)
{
    if (node->parent == ARGUS_NONE)
        return;
    const struct drawn_node *from = &canvas->drawing.nodes[node->parent];
    bool now_first = node->node != ARGUS_NONE && node->ns >= node->base_ns;
    double outer = thickness(canvas, now_first ? node->ns : node->base_ns);
    double inner = thickness(canvas, now_first ? node->base_ns : node->ns);
    if (inner > outer - RIM)
        inner = outer > 2 * RIM ? outer - RIM : outer / 2;
    draw_call(canvas, from, node, outer, now_first ? "now" : "base");
    if (node->node != ARGUS_NONE && is_in_base(node))
        draw_call(canvas, from, node, inner, now_first ? "base" : "now");
}

static void write_tip(const struct argus_sink *sink, const struct argus_contexts_report *report,
                      const struct drawn_node *node)
{
    const struct argus_context_function *function = drawn_function(report, node);
    const struct argus_context_node *nodes;
    char now[32], own[32], then[32];
    argus_contexts_nodes(report->contexts, &nodes);
    if (node->node == ARGUS_NONE) {
        html_tip(sink, "%s\n%s (%s)\nonly in the base: %s with callees", function->name,
                 function->image, argus_layer_name((enum argus_layer)function->layer),
                 argus_duration_text(whole_number(node->base_ns), then, sizeof(then)));
        return;
    }
    html_tip(
        sink, "%s\n%s (%s)\n%s with callees, own time %s, %llu calls%s%s%s", function->name,
        function->image, argus_layer_name((enum argus_layer)function->layer),
        argus_duration_text(whole_number(node->ns), now, sizeof(now)),
        argus_duration_text(nodes[node->node].own_ns[report->options.estimate], own, sizeof(own)),
        (unsigned long long)nodes[node->node].count, report->base ? "\nin the base: " : "",
        !report->base       ? ""
        : !is_in_base(node) ? "not there"
                            : argus_duration_text(whole_number(node->base_ns), then, sizeof(then)),
        node->other == ARGUS_NONE && is_in_base(node) ? ", in other paths" : "");
}

static void draw_node(const struct canvas *canvas, uint32_t at)
{
    const struct drawn_node *node = &canvas->drawing.nodes[at];
    argus_sink_printf(canvas->sink, "<g class=\"n\" data-n=\"%u\"", at);
    if (node->parent != ARGUS_NONE)
        argus_sink_printf(canvas->sink, " data-p=\"%u\"", node->parent);
    char text[32];
    argus_sink_printf(canvas->sink, " data-w=\"%.0f\" data-i=\"%s\"",
                      node->ns > node->base_ns ? node->ns : node->base_ns,
                      argus_duration_text(whole_number(node->ns), text, sizeof(text)));
    write_tip(canvas->sink, canvas->report, node);
    argus_sink_printf(canvas->sink, ">");
    draw_calls(canvas, node);
    argus_sink_printf(canvas->sink, "<circle cx=\"%.1f\" cy=\"%u\" r=\"2.5\"%s/></g>\n", x_of(node),
                      y_of(canvas, node), node->node == ARGUS_NONE ? " class=\"gone\"" : "");
}

/* For the script: the node at which each listed context ends, and its bottleneck. */
static void write_goals(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    argus_sink_printf(sink, " data-goals=\"");
    for (size_t i = 0; i < page_shown(report); i++)
        argus_sink_printf(sink, "%s%u:%u", i ? " " : "", ranking->paths[i].node - 1,
                          ranking->paths[i].bottleneck - 1);
    argus_sink_printf(sink, "\"");
}

static void write_legend(const struct canvas *canvas)
{
    const struct argus_sink *sink = canvas->sink;
    char text[32];
    argus_sink_printf(sink, "<p class=\"legend\"><span><i class=\"k now\"></i>this trace</span> ");
    if (canvas->report->base)
        argus_sink_printf(sink, "<span><i class=\"k base\"></i>the base</span> ");
    for (int i = 0; i < 4; i++) {
        double ns = canvas->most_ns / pow(10, i);
        argus_sink_printf(sink,
                          "<span><svg class=\"sample\" width=\"34\" height=\"12\" "
                          "aria-hidden=\"true\"><path class=\"now\" stroke-width=\"%.1f\" d=\"M5 "
                          "6H29\"/></svg>%s</span> ",
                          thickness(canvas, ns),
                          argus_duration_text(whole_number(ns), text, sizeof(text)));
    }
    argus_sink_printf(sink, "</p>\n");
}

static double most_of(const struct tree_drawing *drawing)
{
    double most = 0;
    for (size_t i = 0; i < drawing->count; i++) {
        const struct drawn_node *node = &drawing->nodes[i];
        most = node->ns > most ? node->ns : most;
        most = node->base_ns > most ? node->base_ns : most;
    }
    return most;
}

/* A picture twice as wide as high looks good. */
static unsigned row_height(const struct tree_drawing *drawing)
{
    double row = drawing->width * STEP / 2 / (drawing->deepest + 1);
    return row < STEP ? STEP : row > TALLEST ? TALLEST : (unsigned)row;
}

static void draw_tree(const struct canvas *canvas)
{
    const struct tree_drawing *drawing = &canvas->drawing;
    double width = drawing->width * STEP + STEP;
    unsigned height = drawing->deepest * canvas->row + 2 * STEP;
    argus_sink_printf(canvas->sink,
                      "<svg class=\"tree\" tabindex=\"0\" role=\"group\" aria-label=\"Calling "
                      "context tree; plus and minus zoom, arrows move, 0 shows all\" "
                      "style=\"aspect-ratio:%.0f/%u\" viewBox=\"0 0 %.0f %u\"",
                      width, height, width, height);
    write_goals(canvas->sink, canvas->report);
    argus_sink_printf(canvas->sink, ">\n");
    for (size_t i = 0; i < drawing->count; i++)
        if (drawing->nodes[i].drawn)
            draw_node(canvas, (uint32_t)i);
    argus_sink_printf(canvas->sink, "<g class=\"labels\"></g></svg>\n");
}

struct argus_error *page_tree(const struct argus_sink *sink,
                              const struct argus_contexts_report *report)
{
    static const char *const times[ARGUS_RANKS] = {
        [ARGUS_RANK_BLAME] = "the work and sleep, without waits for a CPU or for others,",
        [ARGUS_RANK_TOTAL] = "the time, with all waits,",
        [ARGUS_RANK_MEAN] = "the work and sleep, without waits for a CPU or for others,",
    };
    struct canvas canvas = {.sink = sink, .report = report};
    struct argus_error *error = tree_drawing_create(report, &canvas.drawing);
    if (error)
        return error;
    canvas.row = row_height(&canvas.drawing);
    canvas.most_ns = most_of(&canvas.drawing);
    argus_sink_printf(sink, "<figure class=\"picture\"><div class=\"tools\"></div>\n");
    draw_tree(&canvas);
    argus_sink_printf(sink, "<figcaption>");
    write_legend(&canvas);
    argus_sink_printf(sink,
                      "<p>A line is a call, from the program at the top down to the kernel; "
                      "as thick as the cube root of %s of the callee and its own callees.",
                      times[report->options.rank]);
    if (canvas.drawing.left_out)
        argus_sink_printf(sink, " %u nodes that took little are left out.",
                          canvas.drawing.left_out);
    argus_sink_printf(sink, "</p></figcaption></figure>\n");
    tree_drawing_deinit(&canvas.drawing);
    return NULL;
}
