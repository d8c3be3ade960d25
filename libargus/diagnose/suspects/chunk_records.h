/* Records that are not in the graph, read from the trace's chunks once more. */
#ifndef ARGUS_DIAGNOSE_CHUNK_RECORDS_H
#define ARGUS_DIAGNOSE_CHUNK_RECORDS_H

#include "diagnose/diagnoser.h"

/* Called with the records of one chunk, whose times are in ticks; may change them. Returns false if
 * memory ran out. */
typedef bool (*take_records)(void *context, struct argus_record *records, size_t count);

/* Reads one chunk. A damaged chunk is skipped: the graph has reported it. */
struct argus_error *chunk_records_read(const struct argus_trace *trace,
                                       const struct argus_chunk *chunk, take_records take,
                                       void *context);

/* Reads the chunks that may have records of `window`. Such a chunk also has records before or after
 * the window. */
struct argus_error *chunk_records_read_window(const struct argus_trace *trace, struct window window,
                                              take_records take, void *context);

#endif
