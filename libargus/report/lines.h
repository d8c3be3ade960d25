/* Text output: what the writers share. */
#ifndef ARGUS_REPORT_LINES_H
#define ARGUS_REPORT_LINES_H

#include "argus/report.h"

/* The functions of a frame, counted among those of the answer that have a symbol, or have none. */
void report_functions(const struct argus_report_context *context, uint32_t vertex, uint64_t address,
                      bool is_return, struct argus_functions *ret);
/* One of them: "function (file:line)", "function (file:line, inlined)", or image+offset; into
 * `buffer`, which is returned. `is_short`: with a long name shortened (event/names/short_names.h).
 */
const char *report_function(const struct argus_symbol *symbol, uint64_t address, bool is_short,
                            char *buffer, size_t bytes);

/* The function that an answer names for an address (argus_symbols_named()), in the same form. */
const char *report_named(const struct argus_report_context *context, uint32_t vertex,
                         uint64_t address, bool is_return, char *buffer, size_t bytes);
/* The function that covers an address, in the same form, without those that were inlined there: for
 * addresses at which a function begins. */
const char *report_frame(const struct argus_report_context *context, uint32_t vertex,
                         uint64_t address, bool is_return, char *buffer, size_t bytes);
/* Counts a frame that is printed in another way among those of the answer that have a symbol, or
 * have none. `address` 0: none. */
void report_count_frame(const struct argus_report_context *context, uint32_t vertex,
                        uint64_t address, bool is_return);

/* "editor [4711], thread worker [4712]"; into `buffer`, which is returned. */
const char *report_thread(const struct argus_report_context *context, uint32_t thread, char *buffer,
                          size_t bytes);

/* One line about a vertex: "v12  editor [4711]  ran 1.2 ms, then waited 3 s: read fd 5". */
void report_vertex_line(const struct argus_report_context *context, uint32_t vertex,
                        const char *prefix);

/* Prints `text` broken at blanks to the sink's width (at most 100 columns); indents every line
 * after the first. */
void report_wrapped(const struct argus_sink *sink, unsigned indent, const char *text);

/* A heading; bold where the sink has colours. */
void report_heading(const struct argus_sink *sink, const char *text);

/* The frames of a vertex's stack that are shown. Why a stack ends is omitted if it ends with the
 * first function of its thread. */
struct argus_stack report_frames(const struct argus_report_context *context, uint32_t vertex,
                                 uint32_t stack);

/* Prints up to `limit` frames of a stack, a line each. */
void report_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack,
                  unsigned indent, uint32_t limit);

/* Prints the questions and their answers; nothing without questions. */
void report_questions(const struct argus_report_context *context, const struct argus_asked *asked,
                      size_t count);

#endif
