/* The frame of the page: style, heading, sections, script. argus/page.h describes the page's
 * properties. The content security policy in its head makes browsers enforce that it loads
 * nothing. */
#include "page/parts.h"

#include <string.h>

void html_begin(const struct argus_sink *sink, const char *title)
{
    argus_sink_printf(
        sink, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_textf(sink, "%s \xe2\x80\x93 Argus", title);
    argus_sink_printf(sink, "</title>\n<style>\n%s</style></head>\n<body>\n", page_style);
}

void html_end(const struct argus_sink *sink)
{
    argus_sink_printf(sink,
                      "</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script>\n%s"
                      "</script>\n</body></html>\n",
                      page_script);
}

static void write_link(const struct argus_sink *sink, const char *id, const char *name,
                       size_t count)
{
    argus_sink_printf(sink, "<a href=\"#%s\">%s", id, name);
    if (count)
        argus_sink_printf(sink, " <small>%zu</small>", count);
    argus_sink_printf(sink, "</a>");
}

static void write_heading(const struct argus_report_context *context, const struct argus_page *page)
{
    const struct argus_sink *sink = context->sink;
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    argus_sink_printf(sink, "<header><h1>");
    html_text(sink, argus_trace_name(trace));
    argus_sink_printf(sink, "</h1><p>");
    html_text(sink, argus_trace_header(trace)->host);
    argus_sink_printf(sink, "</p>\n<nav aria-label=\"Sections\">");
    write_link(sink, "recording", "Recording", 0);
    if (page->hangs)
        write_link(sink, "hangs", "Hangs", page->hangs->count);
    write_link(sink, "contexts", "Contexts", 0);
    argus_sink_printf(sink, "</nav></header>\n<main>\n");
}

/* Follows every part that shows frames. */
static void write_unnamed(const struct argus_report_context *context)
{
    char text[512];
    if (!argus_report_unnamed(context->symbols, text, sizeof(text)))
        return;
    argus_sink_printf(context->sink, "<section id=\"symbols\"><p class=\"note\">");
    html_text(context->sink, text);
    argus_sink_printf(context->sink, ".</p></section>\n");
}

struct argus_error *argus_page_write(const struct argus_report_context *context,
                                     const struct argus_page *page)
{
    const struct argus_sink *sink = context->sink;
    const char *path = argus_trace_name(argus_graph_trace(context->graph));
    html_begin(sink, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    write_heading(context, page);
    page_recording(context);
    struct argus_error *error = page->hangs ? page_hangs(context, page) : NULL;
    if (!error)
        error = page_contexts(sink, page);
    write_unnamed(context);
    html_end(sink);
    return error;
}
