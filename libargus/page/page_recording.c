/* What was recorded, and what is missing; the sections below depend on it. */
#include "page/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/recorded_host.h"

#define MOST_ROWS 50

static void write_card(const struct argus_sink *sink, const char *name, const char *kind,
                       const char *value)
{
    argus_sink_printf(sink, "<div class=\"card%s\"><dt>%s</dt><dd>%s</dd></div>\n", kind, name,
                      value);
}

static void write_number(const struct argus_sink *sink, const char *name, const char *kind,
                         uint64_t value)
{
    char digits[32], text[64];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            at += snprintf(text + at, sizeof(text) - (size_t)at, "\xe2\x80\xaf"); /* narrow space */
        text[at++] = digits[i];
    }
    text[at] = 0;
    write_card(sink, name, kind, text);
}

static void write_cards(const struct argus_report_context *context)
{
    const struct argus_sink *sink = context->sink;
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    uint64_t start_ns, end_ns, lost = argus_trace_lost_count(trace);
    char text[64];
    argus_trace_time_range(trace, &start_ns, &end_ns);
    argus_sink_printf(sink, "<dl class=\"cards\">\n");
    write_card(sink, "Recorded for", "",
               argus_duration_text(end_ns - start_ns, text, sizeof(text)));
    write_card(sink, "From", "", argus_moment_text(trace, start_ns, text, sizeof(text)));
    write_number(sink, "Records", "", argus_trace_record_count(trace));
    write_number(sink, "Lost records", lost ? " bad" : "", lost);
    write_number(sink, "Processes", "", argus_graph_process_count(context->graph));
    write_number(sink, "Threads", "", argus_graph_threads(context->graph, &threads));
    write_number(sink, "Call stacks", "", argus_trace_stack_count(trace));
    write_number(sink, "Vertices", "", argus_graph_vertices(context->graph, &vertices));
    write_number(sink, "Edges", "", argus_graph_edges(context->graph, &edges));
    argus_sink_printf(sink, "</dl>\n");
}

static void write_losses(const struct argus_sink *sink, const struct argus_trace *trace)
{
    const struct argus_loss *losses;
    size_t count = argus_trace_losses(trace, &losses);
    char from[32], to[32];
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        const struct argus_loss *loss = &losses[i];
        argus_sink_printf(
            sink, "<li>%" PRIu64 " records were lost on cpu %u between %s and %s.</li>\n",
            loss->count, loss->cpu,
            loss->from_ticks
                ? argus_time_text(trace, argus_trace_ticks_to_ns(trace, loss->from_ticks), from,
                                  sizeof(from))
                : "the beginning",
            argus_time_text(trace, argus_trace_ticks_to_ns(trace, loss->to_ticks), to, sizeof(to)));
    }
    if (count > MOST_ROWS)
        argus_sink_printf(sink, "<li>Records were lost %zu more times.</li>\n", count - MOST_ROWS);
}

static void write_damage(const struct argus_sink *sink, const struct argus_trace *trace,
                         uint64_t damaged_chunks)
{
    const struct argus_damage *damage;
    size_t count = argus_trace_damage(trace, &damage);
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        argus_sink_printf(
            sink, "<li>%" PRIu64 " bytes at offset %" PRIu64 " of the file could not be used: ",
            damage[i].length_bytes, damage[i].offset_bytes);
        html_text(sink, damage[i].reason);
        argus_sink_printf(sink, ".</li>\n");
    }
    if (count > MOST_ROWS)
        argus_sink_printf(sink, "<li>%zu more places are damaged.</li>\n", count - MOST_ROWS);
    if (damaged_chunks)
        argus_sink_printf(sink, "<li>%" PRIu64 " chunks of records are damaged.</li>\n",
                          damaged_chunks);
    if (!argus_trace_complete(trace))
        argus_sink_printf(sink, "<li>The file was cut off; what is there was used.</li>\n");
}

static bool is_of_package(const char *note)
{
    return strncmp(note, ARGUS_PACKAGE_NOTE, strlen(ARGUS_PACKAGE_NOTE)) == 0;
}

/* Writes the notes that name packages, or the others, MOST_ROWS at most. */
static void write_note_items(const struct argus_sink *sink, const char *const *notes, size_t count,
                             bool of_packages)
{
    size_t written = 0, left_out = 0;
    argus_sink_printf(sink, "<ul class=\"notes\">\n");
    for (size_t i = 0; i < count; i++) {
        if (is_of_package(notes[i]) != of_packages)
            continue;
        if (written == MOST_ROWS) {
            left_out++;
            continue;
        }
        written++;
        argus_sink_printf(sink, "<li>");
        html_text(sink, notes[i]);
        argus_sink_printf(sink, "</li>\n");
    }
    argus_sink_printf(sink, "</ul>\n");
    if (left_out)
        argus_sink_printf(sink, "<p>%zu more %s not shown.</p>\n", left_out,
                          left_out == 1 ? "is" : "are");
}

/* Most notes name the packages of the programs. They are folded, because the answer comes below;
 * the others say what is missing or was left out, at any place among them. */
static void write_notes(const struct argus_sink *sink, const struct argus_trace *trace)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes), packages = 0;
    for (size_t i = 0; i < count; i++)
        packages += is_of_package(notes[i]);
    write_note_items(sink, notes, count, false);
    if (!packages)
        return;
    argus_sink_printf(sink, "<details><summary>Packages of the programs: %zu</summary>\n",
                      packages);
    write_note_items(sink, notes, count, true);
    argus_sink_printf(sink, "</details>\n");
}

void page_recording(const struct argus_report_context *context)
{
    const struct argus_sink *sink = context->sink;
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    argus_sink_printf(sink, "<section id=\"recording\"><h2>Recording</h2>\n");
    write_cards(context);
    argus_sink_printf(sink, "<ul class=\"missing\">\n");
    write_losses(sink, trace);
    write_damage(sink, trace, argus_graph_damaged_chunks(context->graph));
    argus_sink_printf(sink, "</ul>\n");
    write_notes(sink, trace);
    argus_sink_printf(sink, "</section>\n");
}
