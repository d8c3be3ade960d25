/* CPU samples with call stacks in Perfetto's traces (PerfSample), as traced_perf and the converters
 * of other profilers write them. */
#ifndef ARGUS_IMPORTER_PERFETTO_SAMPLES_H
#define ARGUS_IMPORTER_PERFETTO_SAMPLES_H

#include "kernel_events.h"
#include "perfetto_trace.pb-c.h"

struct perfetto_samples;

/* NULL without memory. `sink` is borrowed. */
struct perfetto_samples *perfetto_samples_create(struct sink *sink);
void perfetto_samples_destroy(struct perfetto_samples *samples);

/* To be called for each packet, in the order of the file: takes what it says about clocks, what it
 * names for later packets of its sequence, and its sample. */
void perfetto_samples_take(struct perfetto_samples *samples, struct kernel_events *events,
                           const PerfettoPart__TracePacket *packet);

/* Notes what was left out. To be called at the end. */
void perfetto_samples_note(const struct perfetto_samples *samples);

#endif
