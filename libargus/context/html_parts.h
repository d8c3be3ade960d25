/* The pieces of the page of `argus contexts --html`. */
#ifndef ARGUS_CONTEXT_HTML_PARTS_H
#define ARGUS_CONTEXT_HTML_PARTS_H

#include "argus/contexts.h"

/* Text, with what has a meaning in HTML written as references. */
void html_text(const struct argus_sink *sink, const char *text);

/* Both trees, one over the other: a line for each call, as thick as what it took; red in the trace, blue in the base. */
struct argus_error *html_tree(const struct argus_sink *sink,
                              const struct argus_contexts_report *report);

/* The same around one path, with names. */
void html_path(const struct argus_sink *sink, const struct argus_contexts_report *report,
               const struct argus_ranked_path *path);

#endif
