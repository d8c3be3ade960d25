/* What an answer does not show because the trace lacks something (argus/gaps.h): two lines of text,
 * or a list in JSON. */
#ifndef ARGUS_REPORT_LIMITS_H
#define ARGUS_REPORT_LIMITS_H

#include "argus/gaps.h"
#include "report/json.h"
#include "report/programs_32_bit.h"

/* The subjects of a vertex: its wait, and whether it ran. */
uint32_t limits_subjects_of(const struct argus_graph *graph, uint32_t vertex);
uint32_t limits_subjects_of_diagnosis(const struct argus_graph *graph,
                                      const struct argus_diagnosis *diagnosis);

/* Adds the 32-bit programs that a diagnosis is about. */
void programs_32_bit_of_diagnosis(struct programs_32_bit *programs, const struct argus_graph *graph,
                                  const struct argus_diagnosis *diagnosis);

/* Prints at most two sentences under a heading; nothing if nothing is missing. */
struct argus_error *report_limits(const struct argus_sink *sink, const struct argus_trace *trace,
                                  enum argus_gap_command command, uint32_t subjects);
/* A list of all, one object each: missing, partly, text. NULL without memory. */
json_t *json_limits(const struct argus_trace *trace, enum argus_gap_command command,
                    uint32_t subjects);

#endif
