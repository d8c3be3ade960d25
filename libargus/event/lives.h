/* The processes of a trace without its graph: only the records of births, programs and ends are looked at. */
#ifndef ARGUS_EVENT_LIVES_H
#define ARGUS_EVENT_LIVES_H

#include "event/machine.h"

/* Reads the whole trace once. `machine` is uninitialized, and ready for machine_deinit() even after an error. */
struct argus_error *lives_read(struct machine *machine, const struct argus_trace *trace,
                               argus_progress progress, void *context);

/* The same, and each record is shown to `visit` as well, once `machine` knows what it says. */
struct lives_reading {
    const char *what; /* it is doing, for the progress */
    argus_progress progress;
    void *progress_context;
    bool (*visit)(void *context,
                  const struct argus_record *record); /* false: no memory; NULL: nobody */
    void *context;
};
struct argus_error *lives_read_and_visit(struct machine *machine, const struct argus_trace *trace,
                                         const struct lives_reading *reading);

/* What one record says about threads and processes; for those who read the records themselves. In time order. */
void lives_follow(struct machine *machine, const struct argus_record *record);

/* The process that `pid` named at `time_ns`; ARGUS_NONE if none is known. */
uint32_t lives_find(const struct machine *machine, uint64_t pid, uint64_t time_ns);

#endif
