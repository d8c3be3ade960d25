/* A sink that packs what it gets as a gzip file (RFC 1952) for another sink. */
#ifndef ARGUS_EXPORT_GZIP_SINK_H
#define ARGUS_EXPORT_GZIP_SINK_H

#include <zlib.h>

#include "argus/report.h"

struct gzip_sink {
    struct argus_sink sink;      /* to be written to */
    const struct argus_sink *to; /* borrowed */
    z_stream stream;
    bool closed; /* `to` accepts no more */
};

/* `sink` points to `ret`, which must not be moved. Only error: MEMORY. */
struct argus_error *gzip_sink_init(struct gzip_sink *ret, const struct argus_sink *to);
/* Writes the end of the file, and frees what belongs to the sink. */
void gzip_sink_end(struct gzip_sink *packed);

#endif
