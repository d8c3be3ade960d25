/* Packets of Perfetto that were compressed together. */
#ifndef ARGUS_IMPORTER_PERFETTO_PACKED_H
#define ARGUS_IMPORTER_PERFETTO_PACKED_H

#include "argus/error.h"
#include "perfetto_trace.pb-c.h"

/* Unpacks the packets that are compressed in this one. Sets `*ret` to NULL if there are none, else
 * to `*ret_length` bytes that the caller frees. The error does not name the offset. */
struct argus_error *perfetto_unpack(const PerfettoPart__TracePacket *packet, uint8_t **ret,
                                    size_t *ret_length);

#endif
