/* What Perfetto's traces have and argus-import does not read: counted by name, so that a user
 * learns what the file is. */
#ifndef ARGUS_IMPORTER_PERFETTO_OTHERS_H
#define ARGUS_IMPORTER_PERFETTO_OTHERS_H

#include "import_sink.h"
#include "perfetto_trace.pb-c.h"

/* Counts what of the packet is not read. */
void perfetto_others_take_packet(struct sink *sink, const PerfettoPart__TracePacket *packet);
void perfetto_others_take_event(struct sink *sink, const PerfettoPart__FtraceEvent *event);

#endif
