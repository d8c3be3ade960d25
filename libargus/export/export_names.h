/* What a vertex ran, as the name of a slice. */
#ifndef ARGUS_EXPORT_NAMES_H
#define ARGUS_EXPORT_NAMES_H

#include "argus/report.h"

#define EXPORT_NAME_BYTES 512

/* The callback or UI event that `vertex` handles, else the function that most of its CPU samples
 * are in, else the function in which it began to wait, else its system calls, else the thread's
 * name. Well-formed UTF-8. Written into `buffer`, which is returned; so below. */
const char *export_segment_name(const struct argus_report_context *context, uint32_t vertex,
                                char *buffer, size_t bytes);

/* The system calls that `vertex` made: "read, write x3, futex"; "" if none is known. */
const char *export_calls(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                         size_t bytes);

#endif
