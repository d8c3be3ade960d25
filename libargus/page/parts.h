/* The sections of the page, in their order. To add one: a function here, a file page_X.c, a call
 * and a link in page.c. */
#ifndef ARGUS_PAGE_PARTS_H
#define ARGUS_PAGE_PARTS_H

#include "page/html.h"

/* What was recorded, what is missing. */
void page_recording(const struct argus_report_context *context);

/* The hangs, each with its diagnosis. */
struct argus_error *page_hangs(const struct argus_report_context *context,
                               const struct argus_page *page);
/* The picture of a hang: threads as lanes over time. */
struct argus_error *page_lanes(const struct argus_report_context *context,
                               const struct argus_page_hang *hang);

/* The contexts: what they are inferred from, the trees, the heat map, each context, and the
 * functions. */
struct argus_error *page_contexts(const struct argus_sink *sink, const struct argus_page *page);
struct argus_error *page_tree(const struct argus_sink *sink,
                              const struct argus_contexts_report *report);
void page_heat_map(const struct argus_sink *sink, const struct argus_contexts_report *report);
struct argus_error *page_context_details(const struct argus_sink *sink,
                                         const struct argus_contexts_report *report);
struct argus_error *page_functions(const struct argus_sink *sink,
                                   const struct argus_contexts_report *report);

/* How many contexts are shown: the requested number, at most those with a cost. */
size_t page_shown(const struct argus_contexts_report *report);

/* The step of the heat map's colour scale for a time, 0 to 15: logarithmic, from a microsecond to
 * ten seconds. */
unsigned page_heat(double ns);

/* page.css and page.js, embedded by embed.cmake. */
extern const char page_style[], page_script[];

#endif
