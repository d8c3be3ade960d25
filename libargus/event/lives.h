/* The processes of a trace without its graph: only records about creation, exec and exit are
 * used. */
#ifndef ARGUS_EVENT_LIVES_H
#define ARGUS_EVENT_LIVES_H

#include "event/machine.h"

/* Reads the whole trace once. `machine` is uninitialized; machine_deinit() must be called even
 * after an error. */
struct argus_error *lives_read(struct machine *machine, const struct argus_trace *trace,
                               argus_progress progress, void *context);

/* The same, and calls `visit` for each record after `machine` was updated by it. */
struct lives_reading {
    const char *what; /* what is being done, for progress output */
    argus_progress progress;
    void *progress_context;
    bool (*visit)(void *context,
                  const struct argus_record *record); /* false: no memory; may be NULL */
    void *context;
};
struct argus_error *lives_read_and_visit(struct machine *machine, const struct argus_trace *trace,
                                         const struct lives_reading *reading);

/* Updates threads and processes by one record, for callers that read the records themselves. In
 * time order. */
void lives_follow(struct machine *machine, const struct argus_record *record);

/* The process that had the ID `pid` at `time_ns`; ARGUS_NONE if unknown. */
uint32_t lives_find(const struct machine *machine, uint64_t pid, uint64_t time_ns);

#endif
