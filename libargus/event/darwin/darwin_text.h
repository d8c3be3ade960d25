/* Darwin's records as text. */
#ifndef ARGUS_EVENT_DARWIN_TEXT_H
#define ARGUS_EVENT_DARWIN_TEXT_H

#include "argus/event.h"

struct darwin_tracepoint {
    uint32_t debugid; /* without function bits */
    const char *name;
    bool paired;
    const char *arg[4]; /* as in tracepoints_darwin.def */
};

/* The row of a debugid; NULL: none. System calls and traps have names, but no rows. */
const struct darwin_tracepoint *darwin_tracepoint_find(uint32_t debugid);

/* Writes a name into `buffer` and returns it: "MACH_SCHED", "BSC_read", "MSC_mach_msg2_trap". NULL:
 * unknown. */
const char *darwin_record_name(const struct argus_trace *trace, uint32_t debugid, char *buffer,
                               size_t buffer_bytes);

/* Writes the arguments of a record: " next=12 priority=31". A number without a name is left out if
 * it is 0. */
void darwin_record_arguments(const struct argus_record *record, char *buffer, size_t buffer_bytes);

/* --- for darwin_arguments.c --- */
bool darwin_is_trap(uint32_t debugid);
bool darwin_is_bsd_call(uint32_t debugid);
/* The meaning of the code (" nr=") for a tracepoint with one row for all codes, and the row's
 * debugid in `*ret_id`. NULL: it has no such row, and `*ret_id` is `debugid`. */
const char *darwin_family(uint32_t debugid, uint32_t *ret_id);

#endif
