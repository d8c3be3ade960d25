/* What a vertex did for an event loop: UI events, callbacks, and the functions called for them. */
#ifndef ARGUS_REPORT_CALLBACKS_H
#define ARGUS_REPORT_CALLBACKS_H

#include "report/json.h"

/* "button press (GTK 3)", "GLib idle callback do_idle_work (work.c:12)"; into `buffer`, which is
 * returned. */
const char *report_callback(const struct argus_report_context *context,
                            const struct argus_callback *callback, char *buffer, size_t bytes);

/* Prints the callbacks of `vertex`, a line each; nothing if there are none. */
void report_callbacks(const struct argus_report_context *context, uint32_t vertex);
json_t *json_callbacks(const struct argus_report_context *context, uint32_t vertex);

/* The first UI event that `vertex` handles, e.g. "button press"; NULL: none. Motion and the like
 * only if there is no event that a user causes on purpose. */
const char *report_ui_event(const struct argus_graph *graph, uint32_t vertex);

#endif
