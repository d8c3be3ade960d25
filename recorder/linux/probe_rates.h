/* Probes that are hit too often are taken out.
 *
 * A hit costs the program 1 us, on virtual machines up to 10 us, whether or not it leaves a record. In an editor session
 * (Mousepad, 20 s) there were 30,000, two thirds of them calls of signal handlers. A probe that nobody asked
 * for is worth PROBE_RATE_MOST hits a second: half a percent of a cpu at 10 us.
 */
#ifndef ARGUS_RECORDER_LINUX_PROBE_RATES_H
#define ARGUS_RECORDER_LINUX_PROBE_RATES_H

#include <stdint.h>

#include "linux/probes.h"

#define PROBE_RATE_MOST 500u /* hits a second, of one probe */

/* A zeroed struct is ready. */
struct probe_rates {
    uint64_t looked_ns;         /* the trace clock at the last look */
    uint64_t hits[PROBE_LIMIT]; /* by number, then */
};

/* A probe was hit `rate` times a second, and has been taken out. */
typedef void (*probe_rates_taken_out)(void *context, const struct probe *probe, uint64_t rate);

/* Called now and then; looks once a second. */
struct argus_error *probe_rates_look(struct probe_rates *rates, struct probes *probes,
                                     uint64_t now_ns, probe_rates_taken_out taken_out,
                                     probes_refused refused, void *context);

#endif
