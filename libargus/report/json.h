/* JSON with jansson, for all writers. Keys are written in the order in which they were put in. */
#ifndef ARGUS_REPORT_JSON_H
#define ARGUS_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "argus/report.h"

/* The object with "format" as its first member: the name and version of what it is, such as
 * "argus-hangs 1". docs/schema describes each format. Takes `json`; NULL: there was no memory. */
json_t *json_with_format(const char *format, json_t *json);
/* Writes `json`, which it frees, with that member, and a newline. `format` NULL: `json` has it, or
 * is of another program's format. NULL as `json` means that there was no memory. */
struct argus_error *json_write(const struct argus_sink *sink, const char *format, json_t *json);

/* The form of all JSON that is written, for json_dump…(). */
#define JSON_FORM (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12))
/* Whether no part of `json` is missing for lack of memory. */
bool json_is_whole(const json_t *json);

/* A string; text that is not UTF-8 becomes "?". NULL text becomes null. */
json_t *json_text(const char *text);
json_t *json_ns(uint64_t ns);
/* A moment on the trace's clock, as "2026-11-23T13:32:10.123456Z". */
json_t *json_time(const struct argus_trace *trace, uint64_t ns);

/* Puts `value`, which it takes, under `key`. A NULL value makes the object invalid, and
 * json_write() then returns an error. */
void json_put(json_t *object, const char *key, json_t *value);
/* Adds `value`, which it takes. False: no memory, also if `value` is NULL. */
bool json_add(json_t *array, json_t *value);

/* The object of a vertex (DESIGN section 8). `threshold_ns`: the duration from which its type
 * counts as long. */
json_t *json_vertex(const struct argus_report_context *context, uint32_t vertex,
                    uint64_t threshold_ns);
/* The same, but null for ARGUS_NONE. */
json_t *json_vertex_or_null(const struct argus_report_context *context, uint32_t vertex,
                            uint64_t threshold_ns);
/* The frames of a stack of `vertex`, innermost first, as strings. */
json_t *json_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack);
/* Questions with their answers: an option's number from 1, "stop", or null if not answered yet. */
json_t *json_questions(const struct argus_graph *graph, const struct argus_asked *asked,
                       size_t count);

#endif
