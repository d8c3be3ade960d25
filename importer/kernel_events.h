/* Translates tracepoints of Linux, as any tracer records them, into Argus's records.
 *
 * The tracers copy the kernel's fields under the kernel's names, with few exceptions, so one table
 * of tracepoints serves all formats (kernel_events.c). Sources: include/trace/events/ of Linux 6.1;
 * for LTTng's names, lttng-modules 2.13, include/instrumentation/events/.
 */
#ifndef ARGUS_IMPORTER_KERNEL_EVENTS_H
#define ARGUS_IMPORTER_KERNEL_EVENTS_H

#include "foreign_event.h"
#include "import_sink.h"

struct kernel_events;

/* NULL without memory. `sink` is borrowed. */
struct kernel_events *kernel_events_create(struct sink *sink);
void kernel_events_destroy(struct kernel_events *events);

/* Adds the event to the sink. false: it is none of those that Argus uses, and was counted. */
bool kernel_events_take(struct kernel_events *events, const struct foreign_event *event);

/* The thread to which the CPU switched last, for traces whose events do not name the current
 * thread. The reader sets it at each switch; 0 at first. NULL: no such CPU, or no memory. Valid
 * until the next call. */
uint64_t *kernel_events_current(struct kernel_events *events, uint32_t cpu);

/* The context (enum argus_context) that common_flags of the kernel's events tell: trace_flag_type
 * in include/linux/trace_events.h. */
uint32_t kernel_events_context(uint32_t common_flags);

/* The last part of a program's path. */
const char *kernel_events_last_part(const char *path);

/* Notes what the trace lacks, because none of its tracepoints was seen. To be called at the
 * end. */
void kernel_events_note_gaps(struct kernel_events *events);

#endif
