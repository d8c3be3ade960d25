/* What `argus status` shows of a running recording, measured from a few of its records. So
 * recording itself counts nothing for it. */
#ifndef ARGUS_RECORDER_MEASURE_H
#define ARGUS_RECORDER_MEASURE_H

#include <stdint.h>

#include "argus/error.h"
#include "server/backend.h"

/* Records a second of each category, by the newest records of each cpu (rates.h); `ret_rates` has
 * room for CATEGORY_COUNT. */
struct argus_error *measure_rates(const struct backend *backend, uint64_t started_ns,
                                  uint64_t now_ns, uint64_t *ret_rates);

/* The trace clock at the oldest and the newest record in the ring of `cpu`; both 0 when it is
 * empty. */
void measure_ring(const struct backend *backend, uint32_t cpu, uint64_t *ret_oldest_ns,
                  uint64_t *ret_newest_ns);

/* The time from which the rings of all CPUs are complete: the latest oldest record of all rings
 * that have overwritten records; `started_ns` if none has. */
uint64_t measure_oldest(const struct backend *backend, uint64_t started_ns);

#endif
