/* What the two writers of a divergence share. */
#ifndef ARGUS_REPORT_DIVERGENCE_H
#define ARGUS_REPORT_DIVERGENCE_H

#include "argus/report.h"

struct argus_error *report_divergence_json(const struct argus_sink *sink,
                                           struct argus_steps *const runs[2],
                                           const struct argus_divergence *divergence);

#endif
