/* What a vertex ran, as the name of a slice. */
#ifndef ARGUS_EXPORT_NAMES_H
#define ARGUS_EXPORT_NAMES_H

#include "argus/report.h"
#include "report/json.h"

#define EXPORT_NAME_BYTES 512
/* The text of one stack. Each wait is written with its stack, so a file whose functions have names
 * of 64 KB would become thousands of times as large; a stack of 60 usual names fits. */
#define EXPORT_STACK_BYTES 16384

/* The callback or UI event that `vertex` handles, else the function that most of its CPU samples
 * are in, else the function in which it began to wait, else its system calls, else the thread's
 * name. Well-formed UTF-8. Written into `buffer`, which is returned; so below. */
const char *export_segment_name(const struct argus_report_context *context, uint32_t vertex,
                                char *buffer, size_t bytes);

/* The system calls that `vertex` made: "read, write x3, futex"; "" if none is known. */
const char *export_calls(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                         size_t bytes);

/* The frames of a stack as an array of texts, innermost first, for a format that repeats them at
 * every wait: a text ends with "…" after EXPORT_NAME_BYTES, and "… 12 more" stands for the frames
 * beyond EXPORT_STACK_BYTES. As json_stack(): an empty array if there is no stack. */
json_t *export_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack);

#endif
