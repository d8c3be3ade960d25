/* Probes that are hit too often are removed.
 *
 * A hit costs the program 1 us, on virtual machines up to 10 us, whether or not it leaves a record.
 * In an editor session (Mousepad, 20 s) there were 30,000, two thirds of them calls of signal
 * handlers. A probe that the user did not name may have PROBE_RATE_MOST hits a second: half a
 * percent of a CPU at 10 us.
 */
#ifndef ARGUS_RECORDER_LINUX_PROBE_RATES_H
#define ARGUS_RECORDER_LINUX_PROBE_RATES_H

#include <stdint.h>

#include "linux/probes.h"

#define PROBE_RATE_MOST 500u /* hits a second, of one probe */

/* A zeroed struct is ready. */
struct probe_rates {
    uint64_t looked_ns;         /* the trace clock at the last check */
    uint64_t hits[PROBE_LIMIT]; /* by number, as of the last check */
};

/* Called when a probe was hit `rate` times a second and has been removed. */
typedef void (*probe_rates_taken_out)(void *context, const struct probe *probe, uint64_t rate);

/* Call it regularly; it checks once a second. */
struct argus_error *probe_rates_look(struct probe_rates *rates, struct probes *probes,
                                     uint64_t now_ns, probe_rates_taken_out taken_out,
                                     probes_refused refused, void *context);

#endif
