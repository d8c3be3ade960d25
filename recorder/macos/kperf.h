/* Call stacks by kperf, which writes them into kdebug as records of class 0x25 (osfmk/kperf,
 * bsd/dev … kperfbsd.c).
 *
 * Two actions: one for a thread that has waited (kperf calls this lazy), one for a timer on all
 * cpus. kperf belongs to the owner of kdebug, so this cannot conflict with another tool, and it
 * ends with kdebug's reset at the latest.
 */
#ifndef ARGUS_RECORDER_MACOS_KPERF_H
#define ARGUS_RECORDER_MACOS_KPERF_H

#include "argus/error.h"
#include "macos/kdebug_os.h"

struct kperf_options {
    bool wait_stacks; /* of threads that come back from a wait */
    uint32_t rate_hz; /* cpu samples a second on each cpu; 0: none */
};

/* Requires ownership of kdebug. After an error kperf is off. */
struct argus_error *kperf_begin(const struct kdebug_os *os, const struct kperf_options *options);
/* Allowed without a begin, too. */
void kperf_end(const struct kdebug_os *os);

#endif
