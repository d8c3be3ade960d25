/* Darwin's records as text. */
#ifndef ARGUS_EVENT_DARWIN_TEXT_H
#define ARGUS_EVENT_DARWIN_TEXT_H

#include "argus/event.h"

struct darwin_tracepoint {
    uint32_t debugid; /* without function bits */
    const char *name;
    bool paired;
    const char *arg[4]; /* as tracepoints_darwin.def says */
};

/* The row of a debugid; NULL: none. System calls and traps have none, but names. */
const struct darwin_tracepoint *darwin_tracepoint_find(uint32_t debugid);

/* Writes a name into `buffer`, which it returns: "MACH_SCHED", "BSC_read", "MSC_mach_msg2_trap"; NULL when it is not known. */
const char *darwin_record_name(const struct argus_trace *trace, uint32_t debugid, char *buffer,
                               size_t buffer_bytes);

/* Writes what a record says behind its name: " next=12 priority=31". A number without a name is left out if it is 0. */
void darwin_record_arguments(const struct argus_record *record, char *buffer, size_t buffer_bytes);

/* --- for darwin_arguments.c --- */
bool darwin_is_trap(uint32_t debugid);
bool darwin_is_bsd_call(uint32_t debugid);
/* What the code is called (" nr=") of a tracepoint that has one row for all its codes, and the row's debugid; NULL: it is none, and
 * `*ret_id` is its own. */
const char *darwin_family(uint32_t debugid, uint32_t *ret_id);

#endif
