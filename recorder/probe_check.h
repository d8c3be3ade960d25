/* Validation of probes, on both sides of the protocol. */
#ifndef ARGUS_RECORDER_PROBE_CHECK_H
#define ARGUS_RECORDER_PROBE_CHECK_H

#include "argus/error.h"
#include "protocol.h"

/* Whether a probe request is valid. The recorder uses nothing else of it unchecked. */
struct argus_error *probe_request_check(const struct request_probe *request);

#endif
