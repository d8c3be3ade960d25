/* The picture of a hang: threads as lanes, time from left to right. A lane shows what its thread
 * did (running, waiting for a CPU, waiting). The strip below it shows when the hang's time was
 * charged to this thread (the accounting). Arrows are edges of the path; they are dashed if weak,
 * or if an expected wake-up did not come. Positions are in percent of the width, so the picture
 * fits a phone and is zoomed by widening it.
 *
 * A thread may have a million vertices in a hang. Vertices smaller than a pixel are drawn as one
 * block, with their number and how busy they were. So the size of a picture does not depend on the
 * trace.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page/lanes.h"
#include "page/parts.h"
#include "report/lines.h"
#include "report/reason_words.h"
#include "slice/timeline.h"

#define PIXELS     600 /* the smallest block is a 600th of the width */
#define LANE_Y     58
#define BAR_Y      20
#define BAR_HEIGHT 20
#define STRIP_Y    43
#define AXIS_Y     24
#define MOST_EDGES 60

struct picture {
    const struct argus_report_context *context;
    const struct argus_sink *sink;
    const struct argus_hang *hang;
    const struct argus_diagnosis *diagnosis; /* NULL: none */
    struct view view;
    struct lanes lanes;
    uint64_t pixel_ns;
};

static void rect(const struct picture *picture, const char *kind, uint64_t from_ns, uint64_t to_ns,
                 unsigned y, unsigned height)
{
    double x = html_percent(&picture->lanes.scale, from_ns);
    double end = html_percent(&picture->lanes.scale, to_ns);
    argus_sink_printf(picture->sink,
                      "<rect class=\"%s\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%u\"",
                      kind, x, y, end - x > 0.02 ? end - x : 0.02, height);
}

/* --- what a thread did --- */

/* Vertices that are drawn as one block. */
struct block {
    uint64_t from_ns, to_ns, run_ns, runnable_ns;
    uint32_t first, count;
};

static void draw_block(const struct picture *picture, const struct block *block, unsigned y)
{
    char from[32], lasted[32], ran[32];
    uint64_t busy_ns = block->run_ns + block->runnable_ns,
             length_ns = block->to_ns - block->from_ns;
    const char *kind = block->runnable_ns > block->run_ns ? "cpu" : "run";
    unsigned height = 4;
    if (length_ns && busy_ns)
        height +=
            (unsigned)((double)(BAR_HEIGHT - 4) *
                       (double)(busy_ns < length_ns ? busy_ns : length_ns) / (double)length_ns);
    rect(picture, block->count > 1 ? kind : "run", block->from_ns, block->to_ns,
         y + BAR_Y + BAR_HEIGHT - height, height);
    html_tip(picture->sink, "%" PRIu32 " vertices from v%" PRIu32 " on\nfrom %s, %s, ran %s",
             block->count, block->first,
             argus_time_text(argus_graph_trace(picture->context->graph), block->from_ns, from,
                             sizeof(from)),
             argus_duration_text(length_ns, lasted, sizeof(lasted)),
             argus_duration_text(block->run_ns, ran, sizeof(ran)));
    argus_sink_printf(picture->sink, "/>\n");
}

static void tip_of_vertex(const struct picture *picture, uint32_t id)
{
    const struct argus_vertex *vertex = &picture->view.vertices[id];
    char thread[128], ran[32], wanted[32];
    html_tip(picture->sink, "v%" PRIu32 " %s\nran %s, wanted a cpu for %s%s", id,
             report_thread(picture->context, vertex->thread, thread, sizeof(thread)),
             argus_duration_text(vertex->run_ns, ran, sizeof(ran)),
             argus_duration_text(vertex->runnable_ns, wanted, sizeof(wanted)),
             vertex->repeat > 1 ? "\na yield run: it polled a data flag again and again" : "");
    argus_sink_printf(picture->sink, " data-v=\"%" PRIu32 "\"/>\n", id);
}

static void tip_of_wait(const struct picture *picture, uint32_t id)
{
    const struct argus_vertex *vertex = &picture->view.vertices[id];
    char wait[512], waited[32];
    html_tip(picture->sink, "v%" PRIu32 " waited %s: %s\n%s", id,
             argus_duration_text(argus_vertex_wait_ns(vertex), waited, sizeof(waited)),
             argus_wait_text(picture->context->graph, id, wait, sizeof(wait)),
             argus_outcome_name((enum argus_outcome)vertex->wait.outcome));
    argus_sink_printf(picture->sink, " data-v=\"%" PRIu32 "\"/>\n", id);
}

/* The time that it ran is drawn at the bottom, the time that it waited for a CPU above. */
static void draw_busy(const struct picture *picture, uint32_t id, unsigned y)
{
    const struct argus_vertex *vertex = &picture->view.vertices[id];
    bool yields = vertex->flags & ARGUS_VERTEX_YIELDS;
    uint64_t busy_ns = vertex->run_ns + vertex->runnable_ns;
    unsigned wanted =
        !busy_ns || yields ? 0 : (unsigned)(BAR_HEIGHT * vertex->runnable_ns / busy_ns);
    if (wanted > 1) {
        rect(picture, "cpu", vertex->start_ns, vertex->end_ns, y + BAR_Y, wanted);
        tip_of_vertex(picture, id);
    } else {
        wanted = 0;
    }
    if (wanted == BAR_HEIGHT)
        return;
    rect(picture, yields ? "yield" : "run", vertex->start_ns, vertex->end_ns, y + BAR_Y + wanted,
         BAR_HEIGHT - wanted);
    tip_of_vertex(picture, id);
}

static void draw_vertex(const struct picture *picture, uint32_t id, unsigned y)
{
    const struct argus_vertex *vertex = &picture->view.vertices[id];
    const struct html_scale *scale = &picture->lanes.scale;
    if (vertex->end_ns > scale->from_ns && vertex->start_ns < scale->to_ns)
        draw_busy(picture, id, y);
    if (vertex->wait.kind == ARGUS_WAIT_NONE || vertex->wait.end_ns <= scale->from_ns ||
        vertex->end_ns >= scale->to_ns)
        return;
    rect(picture, vertex->wait.outcome == ARGUS_OUTCOME_NEVER ? "wait never" : "wait",
         vertex->end_ns, vertex->wait.end_ns, y + BAR_Y + BAR_HEIGHT / 2 - 3, 6);
    tip_of_wait(picture, id);
}

static uint64_t end_of(const struct argus_vertex *vertex)
{
    return vertex->wait.kind == ARGUS_WAIT_NONE || vertex->wait.end_ns < vertex->end_ns
               ? vertex->end_ns
               : vertex->wait.end_ns;
}

static void add_to_block(struct block *block, const struct argus_vertex *vertex, uint32_t id)
{
    if (!block->count)
        *block = (struct block){.from_ns = vertex->start_ns, .first = id};
    block->to_ns = end_of(vertex);
    block->run_ns += vertex->run_ns;
    block->runnable_ns += vertex->runnable_ns;
    block->count++;
}

static void flush(const struct picture *picture, struct block *block, unsigned y)
{
    if (block->count == 1)
        draw_vertex(picture, block->first, y);
    else if (block->count)
        draw_block(picture, block, y);
    block->count = 0;
}

static void draw_thread(const struct picture *picture, uint32_t thread, unsigned y)
{
    const struct view *view = &picture->view;
    const struct argus_thread *t = &view->threads[thread];
    uint32_t id = timeline_before(view, thread, picture->lanes.scale.from_ns + 1);
    struct block block = {.count = 0};
    if (id == ARGUS_NONE)
        id = t->first_vertex;
    for (; id < t->first_vertex + t->vertex_count; id++) {
        const struct argus_vertex *vertex = &view->vertices[id];
        if (vertex->start_ns >= picture->lanes.scale.to_ns)
            break;
        bool is_small = end_of(vertex) - vertex->start_ns < picture->pixel_ns;
        if (!is_small || (block.count && end_of(vertex) - block.from_ns > picture->pixel_ns))
            flush(picture, &block, y);
        add_to_block(&block, vertex, id);
        if (!is_small)
            flush(picture, &block, y);
    }
    flush(picture, &block, y);
}

/* --- whose time it was --- */

static void draw_strip(const struct picture *picture)
{
    const struct argus_account *account = &picture->diagnosis->accounting;
    uint64_t whole = picture->hang->end_ns - picture->hang->start_ns;
    for (size_t i = 0; i < account->count;) {
        const struct argus_stretch *first = &account->stretches[i];
        int lane = lanes_of_vertex(&picture->lanes, picture->context->graph, first->vertex);
        uint64_t to_ns = first->end_ns;
        for (i++; i < account->count; i++) { /* all that belongs to the same lane */
            const struct argus_stretch *next = &account->stretches[i];
            if (lanes_of_vertex(&picture->lanes, picture->context->graph, next->vertex) != lane &&
                next->end_ns - next->start_ns > picture->pixel_ns)
                break;
            to_ns = next->end_ns;
        }
        if (lane < 0)
            continue;
        char lasted[32];
        rect(picture, "whose", first->start_ns, to_ns, (unsigned)lane * LANE_Y + STRIP_Y, 6);
        html_tip(picture->sink, "%s of the hang, %.1f %%, were this thread's",
                 argus_duration_text(to_ns - first->start_ns, lasted, sizeof(lasted)),
                 (double)(to_ns - first->start_ns) * 100 / (double)(whole ? whole : 1));
        argus_sink_printf(picture->sink, "/>\n");
    }
}

/* --- edges --- */

static unsigned bar_middle(int lane)
{
    return (unsigned)lane * LANE_Y + BAR_Y + BAR_HEIGHT / 2;
}

/* From one lane to another, or within a lane: the arrow ends at the edge of the bar. */
static void draw_arrow(const struct picture *picture, const char *kind, int from, int to,
                       uint64_t from_ns, uint64_t to_ns)
{
    unsigned y1 = bar_middle(from), y2 = bar_middle(to);
    double x1 = html_percent(&picture->lanes.scale, from_ns);
    double x2 = html_percent(&picture->lanes.scale, to_ns);
    if (y2 > y1)
        y2 -= BAR_HEIGHT / 2;
    else if (y2 < y1)
        y2 += BAR_HEIGHT / 2;
    argus_sink_printf(picture->sink,
                      "<line class=\"edge %s\" x1=\"%.3f%%\" y1=\"%u\" x2=\"%.3f%%\" y2=\"%u\"",
                      kind, x1, y1, x2, y2);
}

static bool in_window(const struct picture *picture, uint64_t ns)
{
    return ns >= picture->lanes.scale.from_ns && ns <= picture->lanes.scale.to_ns;
}

/* False: it cannot be drawn. */
static bool draw_edge(const struct picture *picture, uint32_t id, const char *why)
{
    if (id == ARGUS_NONE)
        return false;
    const struct argus_edge *edge = &picture->view.edges[id];
    int from = lanes_of_vertex(&picture->lanes, picture->context->graph, edge->from);
    int to = lanes_of_vertex(&picture->lanes, picture->context->graph, edge->to);
    if (from < 0 || to < 0 || !in_window(picture, edge->to_ns))
        return false;
    char at[32];
    draw_arrow(picture, edge->strong ? "strong" : "weak", from, to, edge->from_ns, edge->to_ns);
    html_tip(
        picture->sink, "%s%s, %s: v%" PRIu32 " \xe2\x86\x92 v%" PRIu32 " at %s", why,
        argus_edge_name(edge), edge->strong ? "strong" : "weak", edge->from, edge->to,
        argus_time_text(argus_graph_trace(picture->context->graph), edge->to_ns, at, sizeof(at)));
    argus_sink_printf(picture->sink, "/>\n");
    return true;
}

/* A step of the path without an edge: an expected wake-up from one thread to another that did not
 * come during the wait. */
static void draw_expected(const struct picture *picture, size_t at)
{
    const struct argus_path_step *path = picture->diagnosis->path;
    int from = lanes_of_vertex(&picture->lanes, picture->context->graph, path[at].vertex);
    int to = lanes_of_vertex(&picture->lanes, picture->context->graph, path[at - 1].vertex);
    const struct argus_vertex *vertex = &picture->view.vertices[path[at].vertex];
    if (from < 0 || to < 0 || from == to)
        return;
    uint64_t when = end_of(vertex) < picture->hang->end_ns ? end_of(vertex) : picture->hang->end_ns;
    draw_arrow(picture, "expected", from, to, when, when);
    html_tip(picture->sink, "v%" PRIu32 " should have woken v%" PRIu32 " go on%s", path[at].vertex,
             path[at - 1].vertex, path[at].expected ? ", as it usually does" : "");
    argus_sink_printf(picture->sink, "/>\n");
}

static int by_length(const void *left, const void *right)
{
    const struct argus_stretch *a = left, *b = right;
    uint64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;
    if (x != y)
        return x > y ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static bool on_path(const struct argus_diagnosis *diagnosis, uint32_t edge)
{
    for (size_t i = 0; i < diagnosis->path_count; i++)
        if (diagnosis->path[i].edge == edge)
            return true;
    return false;
}

/* How the accounting moved from thread to thread, for its longest periods. */
static void draw_actual(const struct picture *picture)
{
    const struct argus_account *account = &picture->diagnosis->accounting;
    struct argus_stretch *longest = malloc((account->count + 1) * sizeof(*longest));
    uint32_t drawn[MOST_EDGES];
    size_t count = 0;
    if (!longest || !account->count) { /* without memory the picture has no such arrows */
        free(longest);
        return;
    }
    memcpy(longest, account->stretches, account->count * sizeof(*longest));
    qsort(longest, account->count, sizeof(*longest), by_length);
    for (size_t i = 0; i < account->count && i < MOST_EDGES; i++) {
        uint32_t edge = longest[i].edge;
        bool seen = on_path(picture->diagnosis, edge);
        for (size_t k = 0; k < count; k++)
            seen |= drawn[k] == edge;
        if (!seen && longest[i].end_ns - longest[i].start_ns >= picture->pixel_ns &&
            draw_edge(picture, edge, "went on by: "))
            drawn[count++] = edge;
    }
    free(longest);
}

static void draw_path(const struct picture *picture)
{
    const struct argus_diagnosis *diagnosis = picture->diagnosis;
    for (size_t i = 1; i < diagnosis->path_count && i < MOST_EDGES; i++)
        if (diagnosis->path[i].expected || diagnosis->path[i].edge == ARGUS_NONE)
            draw_expected(picture, i);
        else
            draw_edge(picture, diagnosis->path[i].edge, "");
}

/* --- marks --- */

static void draw_culprit(const struct picture *picture, size_t at)
{
    const struct argus_culprit *culprit = &picture->diagnosis->culprits[at];
    int lane = lanes_of_vertex(&picture->lanes, picture->context->graph, culprit->vertex);
    if (lane < 0)
        return;
    double x = html_percent(&picture->lanes.scale, culprit->start_ns);
    char why[REASON_TEXT_BYTES];
    rect(picture, at ? "culprit" : "culprit root", culprit->start_ns, culprit->end_ns,
         (unsigned)lane * LANE_Y + BAR_Y - 2, BAR_HEIGHT + 4);
    html_tip(picture->sink, "%s, v%" PRIu32 ": %s", at ? "culprit" : "root cause", culprit->vertex,
             argus_culprit_why(picture->context, culprit, why, sizeof(why)));
    argus_sink_printf(picture->sink, " data-v=\"%" PRIu32 "\" tabindex=\"0\"/>\n", culprit->vertex);
    argus_sink_printf(picture->sink, "<text class=\"mark%s\" x=\"%.3f%%\" y=\"%u\">%s</text>\n",
                      x > 80 ? " end" : "", x > 80 ? 100.0 : x,
                      (unsigned)lane * LANE_Y + STRIP_Y + 14, at ? "culprit" : "root cause");
}

static void draw_names(const struct picture *picture)
{
    argus_sink_printf(picture->sink, "<div class=\"names\">");
    for (size_t i = 0; i < picture->lanes.count; i++) {
        char thread[128];
        argus_sink_printf(picture->sink, "<b style=\"top:%zupx\">", i * LANE_Y + 1);
        html_text(picture->sink, report_thread(picture->context, picture->lanes.threads[i], thread,
                                               sizeof(thread)));
        argus_sink_printf(picture->sink, "</b>");
    }
    argus_sink_printf(picture->sink, "</div>\n");
}

static void write_legend(const struct argus_sink *sink)
{
    static const struct {
        const char *kind, *text;
    } entries[] = {
        {"run", "running"},
        {"cpu", "wanted a cpu"},
        {"yield", "polling again and again"},
        {"wait", "waiting"},
        {"whose", "the hang\xe2\x80\x99s time was this thread\xe2\x80\x99s"},
        {"root", "culprit"},
        {"strong", "edge"},
        {"weak", "weak edge, or guessed"},
        {"expected", "expected, did not come"},
    };
    argus_sink_printf(sink, "<p class=\"legend\">");
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        argus_sink_printf(sink, "<span><i class=\"k %s\"></i>%s</span> ", entries[i].kind,
                          entries[i].text);
    argus_sink_printf(sink, "</p>\n");
}

static void draw(struct picture *picture)
{
    unsigned height = (unsigned)picture->lanes.count * LANE_Y + AXIS_Y;
    argus_sink_printf(
        picture->sink,
        "<figure class=\"picture\"><div class=\"tools\"></div>"
        "<div class=\"lanes\" tabindex=\"0\" role=\"group\" aria-label=\"Threads over "
        "time; plus and minus zoom, arrows scroll\">\n");
    draw_names(picture);
    argus_sink_printf(picture->sink,
                      "<svg height=\"%u\" role=\"img\" aria-label=\"Threads over "
                      "time\">\n",
                      height);
    rect(picture, "hang", picture->hang->start_ns, picture->hang->end_ns, 0, height - 18);
    argus_sink_printf(picture->sink, "/>\n");
    html_axis(picture->sink, &picture->lanes.scale, picture->hang->start_ns, height);
    for (size_t i = 0; i < picture->lanes.count; i++)
        draw_thread(picture, picture->lanes.threads[i], (unsigned)i * LANE_Y);
    if (picture->diagnosis) {
        draw_strip(picture);
        draw_actual(picture);
        draw_path(picture);
        for (size_t i = 0; i < picture->diagnosis->culprit_count; i++)
            draw_culprit(picture, i);
    }
    argus_sink_printf(picture->sink, "</svg></div>\n<figcaption>");
    write_legend(picture->sink);
    if (picture->lanes.left_out)
        argus_sink_printf(picture->sink, "<p>%zu more threads were involved and are not drawn.</p>",
                          picture->lanes.left_out);
    argus_sink_printf(picture->sink, "</figcaption></figure>\n");
}

struct argus_error *page_lanes(const struct argus_report_context *context,
                               const struct argus_page_hang *hang)
{
    struct picture picture = {.context = context,
                              .sink = context->sink,
                              .hang = hang->hang,
                              .diagnosis = hang->diagnosis,
                              .view = view_of(context->graph)};
    struct argus_error *error =
        lanes_choose(context->graph, hang->hang, hang->diagnosis, &picture.lanes);
    if (error)
        return error;
    picture.pixel_ns = (picture.lanes.scale.to_ns - picture.lanes.scale.from_ns) / PIXELS + 1;
    draw(&picture);
    return NULL;
}
