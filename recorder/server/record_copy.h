/* What a ring held, in memory of its own. */
#ifndef ARGUS_RECORDER_RECORD_COPY_H
#define ARGUS_RECORDER_RECORD_COPY_H

#include <stddef.h>

#include "argus/error.h"
#include "argus/record.h"

/* A zeroed struct is an empty copy. The oldest record need not be the first one in memory: what the
 * ring overwrote meanwhile comes before it, and moving hundreds of megabytes would take as long as
 * copying them.
 */
struct record_copy {
    struct argus_record *records; /* the oldest one, within `memory` */
    size_t count;
    struct argus_record *memory; /* owned */
};

/* Memory for `count` records, which the caller writes. */
struct argus_error *record_copy_init(struct record_copy *copy, size_t count);
void record_copy_deinit(struct record_copy *copy);

#endif
