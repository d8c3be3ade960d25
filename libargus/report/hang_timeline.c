/* Each column is a stretch of the trace. If the hang covers a part of it, the column has the mark
 * of what the thread did for most of that part. Plain ASCII, because debuggers and logs show it,
 * too. */
#include "report/hang_timeline.h"

#include <string.h>

#include "base/overlap.h"
#include "base/wall_time.h"
#include "slice/timeline.h"

enum {
    WIDTH_UNKNOWN = 80,
    WIDTH_MOST = 160,
    WIDTH_LEAST = 20,
    NUMBER_COLUMNS = 7, /* "%4zu |" and the last '|' */
    MOST_LINES = 40,
};

enum doing { DOING_RUN, DOING_NO_CPU, DOING_WAIT, DOING_YIELD, DOINGS };

static const char marks[DOINGS] = {
    [DOING_RUN] = '#', [DOING_NO_CPU] = 'c', [DOING_WAIT] = '.', [DOING_YIELD] = 'y'};

struct part {
    uint64_t start_ns, end_ns;
};

static void add_vertex(const struct view *view, uint32_t vertex, struct part part,
                       uint64_t ns[DOINGS])
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint64_t own = overlap_ns(part.start_ns, part.end_ns, v->start_ns, v->end_ns),
             length = v->end_ns - v->start_ns;
    ns[DOING_WAIT] +=
        overlap_ns(part.start_ns, part.end_ns, v->end_ns, timeline_wait_end(view, vertex));
    if (v->flags & ARGUS_VERTEX_YIELDS) {
        ns[DOING_YIELD] += own;
        return;
    }
    uint64_t wanted = length ? (uint64_t)((unsigned __int128)v->runnable_ns * own / length) : 0;
    wanted = wanted < own ? wanted : own;
    ns[DOING_NO_CPU] += wanted;
    ns[DOING_RUN] += own - wanted;
}

static char mark_of(const struct view *view, uint32_t thread, struct part part)
{
    const struct argus_thread *t = &view->threads[thread];
    uint64_t ns[DOINGS] = {0};
    enum doing most = DOING_RUN;
    uint32_t v = timeline_before(view, thread, part.start_ns + 1);
    v = v == ARGUS_NONE ? t->first_vertex : v;
    for (; v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < part.end_ns; v++)
        add_vertex(view, v, part, ns);
    for (int i = 0; i < DOINGS; i++)
        if (ns[i] > ns[most])
            most = (enum doing)i;
    return marks[most];
}

/* When a column begins. */
static uint64_t column_ns(struct part whole, unsigned column, unsigned columns)
{
    return whole.start_ns +
           (uint64_t)((unsigned __int128)(whole.end_ns - whole.start_ns) * column / columns);
}

static void print_line(const struct argus_report_context *context, const struct view *view,
                       struct part whole, unsigned columns, size_t number,
                       const struct argus_hang *hang)
{
    char line[WIDTH_MOST + 1];
    for (unsigned i = 0; i < columns; i++) {
        struct part part = {column_ns(whole, i, columns), column_ns(whole, i + 1, columns)};
        uint64_t from_ns = part.start_ns > hang->start_ns ? part.start_ns : hang->start_ns;
        uint64_t to_ns = part.end_ns < hang->end_ns ? part.end_ns : hang->end_ns;
        line[i] =
            from_ns < to_ns ? mark_of(view, hang->thread, (struct part){from_ns, to_ns}) : ' ';
    }
    line[columns] = '\0';
    argus_sink_printf(context->sink, "%4zu |%s|\n", number, line);
}

static unsigned columns_of(const struct argus_sink *sink)
{
    int width = sink->width > 0 ? sink->width : WIDTH_UNKNOWN;
    width = width > WIDTH_MOST ? WIDTH_MOST : width;
    width -= NUMBER_COLUMNS;
    return (unsigned)(width < WIDTH_LEAST ? WIDTH_LEAST : width);
}

static void print_scale(const struct argus_report_context *context, struct part whole,
                        unsigned columns)
{
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    char from[WALL_TIME_BYTES], to[WALL_TIME_BYTES];
    argus_moment_text(trace, whole.start_ns, from, sizeof(from));
    argus_time_text(trace, whole.end_ns, to, sizeof(to));
    to[12] = '\0'; /* cut after the milliseconds */
    int between = (int)columns - (int)strlen(from) - (int)strlen(to);
    if (between > 0)
        argus_sink_printf(context->sink, "\n      %s%*s%s\n", from, between, "", to);
    else
        argus_sink_printf(context->sink, "\n      %s to %s\n", from, to);
}

void report_hang_timeline(const struct argus_report_context *context,
                          const struct argus_hangs *hangs)
{
    struct view view = view_of(context->graph);
    struct part whole = {argus_graph_start_ns(context->graph), argus_graph_end_ns(context->graph)};
    unsigned columns = columns_of(context->sink);
    if (whole.start_ns >= whole.end_ns)
        return;
    print_scale(context, whole, columns);
    for (size_t i = 0; i < hangs->count && i < MOST_LINES; i++)
        print_line(context, &view, whole, columns, i + 1, &hangs->items[i]);
    argus_sink_printf(context->sink,
                      "      # ran   c wanted a cpu   . waited   y polled again and again\n");
}
