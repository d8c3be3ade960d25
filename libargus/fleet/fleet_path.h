/* The path of a diagnosis and the time of its hang, without anything that changes from run to run.
 */
#ifndef ARGUS_FLEET_PATH_H
#define ARGUS_FLEET_PATH_H

#include <jansson.h>

#include "argus/diagnose.h"
#include "slice/timeline.h"

/* "editor > spell-server > dict-server": each program once, without kernel threads; written to
 * `buffer`. */
void fleet_path_programs(const struct view *view, const struct argus_diagnosis *diagnosis,
                         char *buffer, size_t bytes);

/* "futex, read": the kinds of the waits on the path that lasted for at least a tenth of the hang,
 * in the order of the path, each once. */
void fleet_path_waits(const struct view *view, const struct argus_diagnosis *diagnosis,
                      char *buffer, size_t bytes);

/* [{"reason": "running", "ns": 3}, …], the largest first; the sum is the length of the hang. NULL
 * without memory. */
json_t *fleet_path_shares(const struct view *view, const struct argus_diagnosis *diagnosis);

/* At most 10 years: a damaged trace may have any times. */
uint64_t fleet_duration_ns(uint64_t ns);

#endif
