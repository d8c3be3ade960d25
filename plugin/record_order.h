/* All records of a trace, one by one. */
#ifndef ARGUS_PLUGIN_RECORD_ORDER_H
#define ARGUS_PLUGIN_RECORD_ORDER_H

#include "argus/trace.h"
#include "plugin/session.h"

/* Returns false to end. `record` is valid during the call. */
typedef bool (*record_visitor)(void *context, const struct argus_record *record);

/* As they are in the file: chunk by chunk. Chunks that cannot be read are passed over with a warning. */
struct argus_error *records_in_file_order(struct session *session, const struct argus_trace *trace,
                                          record_visitor visit, void *context);

/* By time, ties by cpu. Memory: one chunk for each cpu. */
struct argus_error *records_in_time_order(struct session *session, const struct argus_trace *trace,
                                          record_visitor visit, void *context);

#endif
