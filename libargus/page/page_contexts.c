/* The section about calling contexts: what they are inferred from and compared with, then pictures
 * and tables. */
#include <math.h>

#include "context/budget.h"
#include "context/charges.h"
#include "context/contexts_data.h"
#include "page/parts.h"

#define FILES_SHOWN 12

/* What was analyzed, in the same words as in the terminal. */
static bool write_line(void *context, const char *text, size_t bytes)
{
    const struct argus_sink *sink = context;
    html_textf(sink, "%.*s", (int)bytes, text);
    return true;
}

static struct argus_error *write_notes(const struct argus_sink *sink,
                                       const struct argus_contexts_report *report)
{
    struct argus_sink escaped = {.write = write_line, .context = (void *)sink};
    argus_sink_printf(sink, "<p class=\"what\">");
    contexts_write_what(&escaped, report);
    argus_sink_printf(sink, "</p>\n<p class=\"what\">");
    struct argus_error *error = budgets_write(&escaped, report);
    argus_sink_printf(sink, "</p>\n");
    return error;
}

/* --- by layer and file --- */

static void write_share(const struct argus_sink *sink, const char *name, uint8_t layer, double ns,
                        double most, bool has_base)
{
    char text[40];
    argus_sink_printf(sink, "<div><i class=\"l%u\" style=\"width:%.1f%%\"></i><b>%s</b><span>",
                      layer, most > 0 && ns > 0 ? ns * 100 / most : 0,
                      html_time(ns, has_base, text, sizeof(text)));
    html_text(sink, name);
    argus_sink_printf(sink, "</span></div>\n");
}

static void write_layers(const struct argus_sink *sink, const struct charges *charges,
                         bool has_base)
{
    double most = 0;
    for (int i = 0; i < ARGUS_LAYERS; i++)
        most = charges->charged_layers[i] > most ? charges->charged_layers[i] : most;
    argus_sink_printf(sink, "<div><h4>By layer</h4><div class=\"shares\">\n");
    for (int i = 0; i < ARGUS_LAYERS; i++)
        if (fabs(charges->charged_layers[i]) >= 1000)
            write_share(sink, argus_layer_name((enum argus_layer)i), (uint8_t)i,
                        charges->charged_layers[i], most, has_base);
    argus_sink_printf(sink, "</div></div>\n");
}

static void write_files(const struct argus_sink *sink, const struct charges *charges, bool has_base)
{
    double most = charges->file_count ? charges->files[0].cost_ns : 0;
    argus_sink_printf(sink, "<div><h4>By file</h4><div class=\"shares\">\n");
    for (size_t i = 0; i < charges->file_count && i < FILES_SHOWN; i++)
        if (charges->files[i].cost_ns > most / 1000)
            write_share(sink, charges->files[i].image[0] ? charges->files[i].image : "(no file)",
                        charges->files[i].layer, charges->files[i].cost_ns, most, has_base);
    argus_sink_printf(sink, "</div></div>\n");
}

static struct argus_error *write_charges(const struct argus_sink *sink,
                                         const struct argus_contexts_report *report)
{
    struct charges charges;
    struct argus_error *error = charges_create(report, &charges);
    if (error)
        return error;
    argus_sink_printf(sink, "<p>Charged with what it asked the C library and the kernel to "
                            "do:</p>\n<div class=\"columns\">\n");
    write_layers(sink, &charges, report->base != NULL);
    write_files(sink, &charges, report->base != NULL);
    argus_sink_printf(sink, "</div>\n");
    charges_deinit(&charges);
    return NULL;
}

/* --- all --- */

static struct argus_error *write_contexts(const struct argus_sink *sink,
                                          const struct argus_contexts_report *report)
{
    size_t shown = page_shown(report);
    struct argus_error *error = write_notes(sink, report);
    if (error)
        return error;
    if (shown) {
        argus_sink_printf(sink, "<h3>The costliest %zu of %zu</h3>\n", shown,
                          report->ranking->count);
        page_heat_map(sink, report);
    } else {
        argus_sink_printf(sink, "<p class=\"note\">No context is slower than in the base.</p>\n");
    }
    argus_sink_printf(sink, "<h3>All of it</h3>\n");
    error = page_tree(sink, report);
    if (error)
        return error;
    if (shown)
        argus_sink_printf(sink, "<h3>One by one</h3>\n");
    error = page_context_details(sink, report);
    if (error)
        return error;
    argus_sink_printf(sink, "<h3>Whose cost</h3>\n");
    error = write_charges(sink, report);
    if (error)
        return error;
    argus_sink_printf(sink, "<h3>Functions</h3>\n");
    return page_functions(sink, report);
}

struct argus_error *page_contexts(const struct argus_sink *sink, const struct argus_page *page)
{
    struct argus_error *error = NULL;
    argus_sink_printf(sink, "<section id=\"contexts\"><h2>Calling contexts</h2>\n");
    if (page->contexts_note) {
        argus_sink_printf(sink, "<p class=\"note\">");
        html_text(sink, page->contexts_note);
        argus_sink_printf(sink, "</p>\n");
    }
    if (page->contexts)
        error = write_contexts(sink, page->contexts);
    argus_sink_printf(sink, "</section>\n");
    return error;
}
