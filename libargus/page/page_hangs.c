/* The hangs: all of them on a time axis, and the diagnosis of each. */
#include <stdlib.h>
#include <string.h>

#include "base/wall_time.h"
#include "page/parts.h"
#include "report/diagnosis_words.h"
#include "report/lines.h"
#include "report/reason_words.h"

#define MOST_FUNCTIONS 5
#define MOST_FRAMES    16
#define MOST_STEPS     40
#define MOST_ROWS      40
#define ROW_Y          22

static void item(const struct argus_sink *sink, const char *text)
{
    argus_sink_printf(sink, "<li>");
    html_text(sink, text);
    argus_sink_printf(sink, "</li>\n");
}

/* --- one hang --- */

static void write_stack(const struct argus_report_context *context,
                        const struct argus_culprit *culprit)
{
    if (culprit->stack == ARGUS_NONE)
        return;
    struct argus_stack frames = argus_graph_stack(context->graph, culprit->stack);
    argus_sink_printf(context->sink, "<ol class=\"stack\" aria-label=\"Call stack\">");
    for (uint32_t i = 0; i < frames.count && i < MOST_FRAMES; i++) {
        char text[512];
        struct argus_functions functions;
        uint64_t address = frames.frames[i];
        report_functions(context, culprit->vertex, address, i > 0, &functions);
        for (uint32_t k = 0; k < functions.count; k++)
            item(context->sink,
                 report_function(&functions.symbols[k], address, false, text, sizeof(text)));
    }
    argus_sink_printf(context->sink, "</ol>");
    if (frames.count > MOST_FRAMES)
        argus_sink_printf(context->sink, "<p class=\"rest\">%u more callers</p>",
                          frames.count - MOST_FRAMES);
}

static void write_culprit(const struct argus_report_context *context,
                          const struct argus_culprit *culprit, bool is_root)
{
    char text[768];
    argus_sink_printf(context->sink, "<div class=\"culprit%s\"><p><strong>%s</strong> ",
                      is_root ? " root" : "", is_root ? "Root cause" : "Culprit");
    html_text(context->sink, diagnosis_culprit_text(context, culprit, text, sizeof(text)));
    argus_sink_printf(context->sink, "</p>\n");
    if (culprit->function_count)
        argus_sink_printf(context->sink, "<ul class=\"functions\">");
    for (size_t i = 0; i < culprit->function_count && i < MOST_FUNCTIONS; i++)
        item(context->sink, diagnosis_function_text(&culprit->functions[i], text, sizeof(text)));
    argus_sink_printf(context->sink, culprit->function_count ? "</ul>\n" : "");
    write_stack(context, culprit);
    argus_sink_printf(context->sink, "</div>\n");
}

static struct argus_error *write_shares(const struct argus_report_context *context,
                                        const struct argus_diagnosis *diagnosis)
{
    struct diagnosis_share *shares;
    size_t count;
    uint64_t whole = diagnosis->hang.end_ns - diagnosis->hang.start_ns;
    struct argus_error *error = diagnosis_shares(context, diagnosis, &shares, &count);
    if (error)
        return error;
    argus_sink_printf(context->sink, "<h4>Where the time went</h4>\n<div class=\"shares\">\n");
    for (size_t i = 0; i < count; i++) {
        double part = whole ? (double)shares[i].ns * 100 / (double)whole : 0;
        char thread[128] = "nobody known", lasted[32];
        const char *state = argus_stretch_state_name((enum argus_stretch_state)shares[i].state);
        if (part < 0.5)
            break;
        if (shares[i].vertex != ARGUS_NONE)
            report_thread(context, shares[i].thread, thread, sizeof(thread));
        argus_sink_printf(context->sink,
                          "<div><i class=\"s%u\" style=\"width:%.1f%%\"></i><b>%.1f %%</b><span>",
                          shares[i].state, part, part);
        html_textf(context->sink, "%s: %s, %s", thread, state,
                   argus_duration_text(shares[i].ns, lasted, sizeof(lasted)));
        argus_sink_printf(context->sink, "</span></div>\n");
    }
    argus_sink_printf(context->sink, "</div>\n");
    free(shares);
    return NULL;
}

static const char *answered_by(const struct argus_asked *asked)
{
    static const char *const by[] = {[ARGUS_BY_USER] = "you said",
                                     [ARGUS_BY_LIST] = "from the list of answers",
                                     [ARGUS_BY_AUTO] = "a guess",
                                     [ARGUS_BY_FILE] = "as answered before"};
    return asked->answer == ARGUS_ANSWER_OPEN ? "open" : by[asked->by];
}

static void write_choice(const struct argus_report_context *context,
                         const struct argus_asked *asked)
{
    const struct argus_sink *sink = context->sink;
    const struct argus_question *question = &asked->question;
    char text[ARGUS_OPTION_TEXT_BYTES];
    bool guessed = asked->answer != ARGUS_ANSWER_OPEN && asked->by == ARGUS_BY_AUTO;
    argus_sink_printf(sink, "<li%s>", guessed ? " class=\"guess\"" : "");
    html_text(sink, argus_question_text(question, text, sizeof(text)));
    argus_sink_printf(sink, "<br><em>%s</em>: ", answered_by(asked));
    if (asked->answer >= 0)
        html_text(sink, argus_option_text(context->graph, &question->options[asked->answer], text,
                                          sizeof(text)));
    else
        html_text(sink, asked->answer == ARGUS_ANSWER_STOP ? "stop" : "not answered yet");
    if (guessed)
        html_textf(sink, " (%s)", argus_default_reason_text(question, text, sizeof(text)));
    argus_sink_printf(sink, "</li>\n");
}

/* A list with a heading; nothing if it has no items. */
static void write_choices(const struct argus_report_context *context,
                          const struct argus_diagnosis *diagnosis)
{
    const struct argus_sink *sink = context->sink;
    if (!diagnosis->asked_count)
        return;
    argus_sink_printf(sink, "<h4>Choices</h4>\n<ul class=\"choices\">\n");
    for (size_t i = 0; i < diagnosis->asked_count && i < MOST_ROWS; i++)
        write_choice(context, &diagnosis->asked[i]);
    argus_sink_printf(sink, "</ul>\n");
}

static void write_uncertain(const struct argus_report_context *context,
                            const struct argus_diagnosis *diagnosis)
{
    const struct argus_sink *sink = context->sink;
    char text[REASON_TEXT_BYTES];
    if (!diagnosis->uncertain_count)
        return;
    argus_sink_printf(sink, "<h4>What is uncertain</h4>\n<ul>\n");
    for (size_t i = 0; i < diagnosis->uncertain_count && i < MOST_ROWS; i++)
        item(sink, reason_text(context, &diagnosis->uncertain[i], NULL, text, sizeof(text)));
    argus_sink_printf(sink, "</ul>\n");
}

static void write_story(const struct argus_report_context *context,
                        const struct argus_diagnosis *diagnosis)
{
    char text[768];
    argus_sink_printf(context->sink, "<h4>What happened</h4>\n<ol class=\"story\">\n");
    for (size_t i = 0; i < diagnosis->path_count && i < MOST_STEPS; i++) {
        argus_sink_printf(context->sink, "<li data-v=\"%u\">", diagnosis->path[i].vertex);
        html_text(context->sink, diagnosis_step_text(context, diagnosis, i, text, sizeof(text)));
        argus_sink_printf(context->sink, "</li>\n");
    }
    argus_sink_printf(context->sink, "</ol>\n");
    if (diagnosis->path_count > MOST_STEPS)
        argus_sink_printf(context->sink, "<p class=\"rest\">%zu more steps</p>\n",
                          diagnosis->path_count - MOST_STEPS);
    if (diagnosis->cycle_count)
        argus_sink_printf(context->sink,
                          "<p>This is a circle: each of the %zu waits for the next%s.</p>\n",
                          diagnosis->cycle_count,
                          diagnosis->cycle_broken_by_timeout ? "; a timeout ended it" : "");
}

static struct argus_error *write_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis)
{
    argus_sink_printf(context->sink, "<div class=\"columns\"><div>\n");
    write_story(context, diagnosis);
    struct argus_error *error = write_shares(context, diagnosis);
    write_choices(context, diagnosis);
    write_uncertain(context, diagnosis);
    argus_sink_printf(context->sink, "</div><div>\n");
    if (diagnosis->culprit_count)
        argus_sink_printf(context->sink, "<h4>Where to look</h4>\n");
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        write_culprit(context, &diagnosis->culprits[i], i == 0);
    argus_sink_printf(context->sink, "</div></div>\n");
    return error;
}

static void write_title(const struct argus_report_context *context, const struct argus_hang *hang,
                        size_t number)
{
    char thread[128], lasted[32], time[WALL_TIME_BYTES];
    const char *nature = argus_nature_name((enum argus_hang_nature)hang->nature);
    html_textf(context->sink, "%zu. %s: %s, %s", number,
               report_thread(context, hang->thread, thread, sizeof(thread)),
               argus_duration_text(hang->end_ns - hang->start_ns, lasted, sizeof(lasted)),
               argus_vertex_type_name((enum argus_vertex_type)hang->type));
    argus_sink_printf(
        context->sink, " <small>from %s",
        argus_moment_text(argus_graph_trace(context->graph), hang->start_ns, time, sizeof(time)));
    if (nature)
        html_textf(context->sink, ", %s", nature);
    argus_sink_printf(context->sink, "%s</small>",
                      hang->ongoing ? ", not over when the trace ended" : "");
}

static struct argus_error *write_hang(const struct argus_report_context *context,
                                      const struct argus_page_hang *hang, size_t number)
{
    const struct argus_sink *sink = context->sink;
    char summary[DIAGNOSIS_SUMMARY_BYTES];
    argus_sink_printf(sink, "<article id=\"h%zu\"><h3>", number);
    write_title(context, hang->hang, number);
    argus_sink_printf(sink, "</h3>\n");
    if (hang->diagnosis &&
        diagnosis_summary_text(context->graph, hang->diagnosis, summary, sizeof(summary))) {
        argus_sink_printf(sink, "<p class=\"summary\">");
        html_text(sink, summary);
        argus_sink_printf(sink, "</p>\n");
    }
    if (hang->note) {
        argus_sink_printf(sink, "<p class=\"note\">");
        html_text(sink, hang->note);
        argus_sink_printf(sink, "</p>\n");
    }
    struct argus_error *error = page_lanes(context, hang);
    if (!error && hang->diagnosis)
        error = write_diagnosis(context, hang->diagnosis);
    argus_sink_printf(sink, "</article>\n");
    return error;
}

/* --- all of them --- */

static void write_overview(const struct argus_report_context *context,
                           const struct argus_page *page)
{
    const struct argus_sink *sink = context->sink;
    size_t rows = page->hangs->count < MOST_ROWS ? page->hangs->count : MOST_ROWS;
    unsigned height = (unsigned)rows * ROW_Y + 24;
    struct html_scale scale = {argus_graph_start_ns(context->graph),
                               argus_graph_end_ns(context->graph)};
    argus_sink_printf(sink,
                      "<figure class=\"picture\"><svg class=\"all\" height=\"%u\" role=\"img\" "
                      "aria-label=\"All hangs over the time of the trace\">\n",
                      height);
    html_axis(sink, &scale, scale.from_ns, height);
    for (size_t i = 0; i < rows; i++) {
        const struct argus_hang *hang = &page->hangs->items[i];
        double x = html_percent(&scale, hang->start_ns), end = html_percent(&scale, hang->end_ns);
        unsigned y = (unsigned)i * ROW_Y;
        char thread[128], lasted[32];
        /* the name is then left of the bar, otherwise right of it, or inside a long bar */
        bool is_right = x > 55;
        double at = is_right || end > 70 ? x : end;
        argus_sink_printf(sink,
                          "<a href=\"#h%zu\"><rect class=\"hangbar\" x=\"%.3f%%\" y=\"%u\" "
                          "width=\"%.3f%%\" height=\"%u\" rx=\"2\"/>",
                          i + 1, x, y + 2, end - x > 0.2 ? end - x : 0.2, ROW_Y - 6);
        argus_sink_printf(sink, "<text%s x=\"%.3f%%\" y=\"%u\" dx=\"%s\">",
                          is_right ? " class=\"end\"" : "", at, y + 14, is_right ? "-5" : "5");
        html_textf(sink, "%zu. %s %s", i + 1,
                   report_thread(context, hang->thread, thread, sizeof(thread)),
                   argus_duration_text(hang->end_ns - hang->start_ns, lasted, sizeof(lasted)));
        argus_sink_printf(sink, "</text></a>\n");
    }
    argus_sink_printf(sink, "</svg><figcaption>All hangs, over the time of the trace");
    if (page->hangs->count > rows)
        argus_sink_printf(sink, "; %zu more are not drawn", page->hangs->count - rows);
    argus_sink_printf(sink, ".</figcaption></figure>\n");
}

struct argus_error *page_hangs(const struct argus_report_context *context,
                               const struct argus_page *page)
{
    const struct argus_sink *sink = context->sink;
    struct argus_error *error = NULL;
    argus_sink_printf(sink, "<section id=\"hangs\"><h2>Hangs</h2>\n");
    if (!page->hangs->count)
        argus_sink_printf(sink, "<p>No event loop was away from its wait for that long. A program "
                                "without an event loop is explained with "
                                "<code>--process NAME</code>.</p>\n");
    else if (page->hangs->count > 1)
        write_overview(context, page);
    for (size_t i = 0; !error && i < page->diagnosed_count; i++)
        error = write_hang(context, &page->diagnosed[i], i + 1);
    if (page->diagnosed_count < page->hangs->count)
        argus_sink_printf(sink,
                          "<p class=\"rest\">%zu more hangs are not explained here: "
                          "<code>argus diagnose</code> with their number does, "
                          "<code>--hangs N</code> explains more.</p>\n",
                          page->hangs->count - page->diagnosed_count);
    argus_sink_printf(sink, "</section>\n");
    return error;
}
