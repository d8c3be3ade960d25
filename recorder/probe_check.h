/* Both sides of the protocol look at a probe before they believe it. */
#ifndef ARGUS_RECORDER_PROBE_CHECK_H
#define ARGUS_RECORDER_PROBE_CHECK_H

#include "argus/error.h"
#include "protocol.h"

/* Whether a request makes sense; nothing else of it is believed. */
struct argus_error *probe_request_check(const struct request_probe *request);

#endif
